internal import Attribution
internal import SQLite
internal import Storage

/// The last report on collisions of an app, stored as named figures.
extension SQLiteReader {
    /// Returns the report of a scope; nil where nothing has been counted yet.
    func collisionReport(of scope: Scope) throws(SQLiteError) -> CollisionReport? {
        let rows = try connection.statement(Self.collisionFigures).all(scope.number) {
            ($0.text(0), $0.real(1))
        }
        return rows.isEmpty ? nil : try CollisionFigures.report(rows)
    }

    static let collisionFigures: SQL = """
        SELECT name, value FROM figures WHERE scope = ?1 AND report = 'collisions'
        """
}

/// A report on collisions as named figures.
private enum CollisionFigures {
    static func report(_ rows: [(String, Double)]) throws(SQLiteError) -> CollisionReport {
        let figures = Dictionary(rows) { first, _ in first }
        guard let countedAt = figures["counted_at"].flatMap({ Int64(exactly: $0) }) else { throw damage }
        return CollisionReport(
            countedAt: Timestamp(milliseconds: countedAt),
            window: try window(figures["window_seconds"]),
            forms: try forms(figures),
            matches: count(figures["matches"]),
            expectedFalse: figures["expected_false"] ?? 0,
            spread: figures["spread"] ?? 0,
            limits: try FalseMatchLimit.shares.map { share throws(SQLiteError) in try limit(share, figures) }
        )
    }

    private static func forms(_ figures: [String: Double]) throws(SQLiteError) -> [CollisionReport.Form] {
        var forms: [CollisionReport.Form] = []
        for (name, clicks) in figures {
            let parts = name.split(separator: "/")
            guard parts.count == 3, parts[0] == "form", parts[2] == "clicks" else { continue }
            guard let code = UInt64(parts[1]), let form = PlatformForm(code: code) else { throw damage }
            let crowding = FingerprintSharing(
                clicks: clicks,
                aloneSum: figures["form/\(code)/alone"] ?? 0,
                competingSum: figures["form/\(code)/competing"] ?? 0
            )
            forms.append(CollisionReport.Form(platformForm: form, crowding: crowding))
        }
        return forms.sorted { $0.platformForm.code < $1.platformForm.code }
    }

    private static func limit(_ share: Double, _ figures: [String: Double]) throws(SQLiteError)
        -> FalseMatchLimit
    {
        var limit = FalseMatchLimit(share: share)
        if let minimum = figures["limit/\(share)/minimum_confidence"] {
            let matches = count(figures["limit/\(share)/matches_by_confidence"])
            limit.threshold = .init(minimum: minimum, matches: matches)
        }
        if let seconds = figures["limit/\(share)/window_seconds"] {
            let matches = count(figures["limit/\(share)/matches_in_window"])
            limit.window = .init(window: try window(seconds), matches: matches)
        }
        return limit
    }

    private static func window(_ seconds: Double?) throws(SQLiteError) -> AttributionWindow {
        guard let seconds = seconds.flatMap({ Int64(exactly: $0) }),
            let window = AttributionWindow(seconds: seconds)
        else { throw damage }
        return window
    }

    private static func count(_ value: Double?) -> Int {
        value.flatMap { Int(exactly: $0) } ?? 0
    }

    private static var damage: SQLiteError { .corrupt("reading the report on collisions") }

    /// A report under the names that ``report(_:)`` reads.
    static func figures(of report: CollisionReport) -> [(name: String, value: Double)] {
        var figures: [(name: String, value: Double)] = [
            ("counted_at", Double(report.countedAt.milliseconds)),
            ("window_seconds", Double(report.window.seconds)), ("matches", Double(report.matches)),
            ("expected_false", report.expectedFalse), ("spread", report.spread),
        ]
        for form in report.forms {
            let prefix = "form/\(form.platformForm.code)"
            figures.append(("\(prefix)/clicks", form.crowding.clicks))
            figures.append(("\(prefix)/alone", form.crowding.aloneSum))
            figures.append(("\(prefix)/competing", form.crowding.competingSum))
        }
        for limit in report.limits {
            let prefix = "limit/\(limit.share)"
            if let threshold = limit.threshold {
                figures.append(("\(prefix)/minimum_confidence", threshold.minimum))
                figures.append(("\(prefix)/matches_by_confidence", Double(threshold.matches)))
            }
            if let window = limit.window {
                figures.append(("\(prefix)/window_seconds", Double(window.window.seconds)))
                figures.append(("\(prefix)/matches_in_window", Double(window.matches)))
            }
        }
        return figures
    }
}

extension WriteContext {
    /// Stores a report in place of the scope's last one.
    func keep(_ report: CollisionReport, of scope: Scope) throws(SQLiteError) {
        try connection.statement(Self.removeCollisions).run(scope.number)
        for figure in CollisionFigures.figures(of: report) {
            try connection.statement(Self.addCollisions).run(scope.number, figure.name, figure.value)
        }
    }

    static let removeCollisions: SQL = """
        DELETE FROM figures WHERE scope = ?1 AND report = 'collisions'
        """
    static let addCollisions: SQL = "INSERT INTO figures VALUES (?1, 'collisions', ?2, ?3)"
}
