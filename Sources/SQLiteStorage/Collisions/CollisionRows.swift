internal import Attribution
internal import SQLite

/// The last report on collisions, as it stands in its tables.
enum CollisionRows {
    /// Nil where nobody has counted yet.
    static func report(of scope: Scope, on connection: SQLiteConnection) throws(SQLiteError)
        -> CollisionReport?
    {
        let report = try connection.statement(Self.report).first(scope.number) { row throws(SQLiteError) in
            CollisionReport(
                countedAt: Timestamp(milliseconds: row.integer(0)),
                window: try window(row.integer(1)),
                forms: [],
                matches: Int(clamping: row.integer(2)),
                expectedFalse: row.real(3),
                spread: row.real(4),
                limits: []
            )
        }
        guard var report else { return nil }
        report.forms = try connection.statement(forms).all(scope.number) { row throws(SQLiteError) in
            guard let lane = PlatformForm(code: UInt64(bitPattern: row.integer(0))) else { throw damage }
            let crowding = FingerprintSharing(
                clicks: row.real(1),
                aloneSum: row.real(2),
                competingSum: row.real(3)
            )
            return CollisionReport.Form(lane: lane, crowding: crowding)
        }
        report.limits = try connection.statement(limits).all(scope.number) { row throws(SQLiteError) in
            var limit = FalseMatchLimit(share: row.real(0))
            if let minimum = row.optionalReal(1) {
                limit.threshold = .init(minimum: minimum, matches: Int(clamping: row.integer(2)))
            }
            if let seconds = row.optionalInteger(3) {
                limit.window = .init(window: try window(seconds), matches: Int(clamping: row.integer(4)))
            }
            return limit
        }
        return report
    }

    private static func window(_ seconds: Int64) throws(SQLiteError) -> AttributionWindow {
        guard let window = AttributionWindow(seconds: seconds) else { throw damage }
        return window
    }

    private static var damage: SQLiteError { .damaged("reading the report on collisions") }

    static let report: StaticString = """
        SELECT counted_at, window_seconds, matches, expected_false, spread FROM collision_reports WHERE scope = ?1
        """
    static let forms: StaticString = """
        SELECT lane, clicks, alone, competing FROM collision_forms WHERE scope = ?1 ORDER BY lane
        """
    static let limits: StaticString = """
        SELECT share, minimum_confidence, matches_by_confidence, window_seconds, matches_in_window
        FROM collision_limits WHERE scope = ?1 ORDER BY share
        """
    static let newest: StaticString = "SELECT max(counted_at) FROM collision_reports"
}

extension WriteContext {
    /// Keeps a report in the place of the last one.
    func keep(_ report: CollisionReport, of scope: Scope) throws(SQLiteError) {
        try connection.statement(Self.putCollisionReport).run(
            scope.number,
            report.countedAt.milliseconds,
            report.window.seconds,
            report.matches,
            report.expectedFalse,
            report.spread
        )
        try connection.statement(Self.removeCollisionForms).run(scope.number)
        for form in report.forms {
            try connection.statement(Self.addCollisionForm).run(
                scope.number,
                form.lane.code,
                form.crowding.clicks,
                form.crowding.aloneSum,
                form.crowding.competingSum
            )
        }
        try connection.statement(Self.removeCollisionLimits).run(scope.number)
        for limit in report.limits {
            try connection.statement(Self.addCollisionLimit).run(
                scope.number,
                limit.share,
                limit.threshold?.minimum,
                limit.threshold?.matches,
                limit.window?.window.seconds,
                limit.window?.matches
            )
        }
    }

    static let putCollisionReport: StaticString = """
        INSERT OR REPLACE INTO collision_reports VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        """
    static let removeCollisionForms: StaticString = "DELETE FROM collision_forms WHERE scope = ?1"
    static let addCollisionForm: StaticString = "INSERT INTO collision_forms VALUES (?1, ?2, ?3, ?4, ?5)"
    static let removeCollisionLimits: StaticString = "DELETE FROM collision_limits WHERE scope = ?1"
    static let addCollisionLimit: StaticString = """
        INSERT INTO collision_limits VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        """
}
