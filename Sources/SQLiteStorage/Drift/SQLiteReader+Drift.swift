internal import Attribution
internal import SQLite
internal import Storage

/// Reads counts and stored results for the drift detector, which watches match rates.
extension SQLiteReader {
    func driftCounts(
        of scope: Scope,
        _ side: DriftSide,
        from first: Timestamp,
        before end: Timestamp,
        _ body: (_ period: Timestamp, _ name: String, _ metric: String, _ count: Int64) -> Void
    ) throws(SQLiteError) {
        let (first, end) = (first.milliseconds, end.milliseconds)
        try connection.statement(Self.driftCounts)
            .forEach(scope.number, first, end, side.dimension.rawValue) { row in
                let period = row.time(0)
                body(period, row.text(1), row.text(2), row.integer(3))
            }
    }

    static let driftCounts: SQL = """
        SELECT period, value, metric, count FROM counts
        WHERE scope = ?1 AND campaign = '' AND dimension = ?4 AND span = \(Granularity.quarter)
            AND period >= ?2 AND period < ?3
        """

    func driftGroups(of scope: Scope, atMost limit: Int) throws(SQLiteError) -> [DriftReading] {
        try connection.statement(Self.driftGroups).all(DriftRecord.self, scope.number, limit).map(\.reading)
    }

    static let driftGroups: SQL = """
        SELECT \(DriftRecord.columns) FROM drift_groups WHERE scope = ?1 ORDER BY side, name LIMIT ?2
        """

    func driftAlarms(of scope: Scope) throws(SQLiteError) -> [DriftReading] {
        try connection.statement(Self.driftAlarms).all(DriftRecord.self, scope.number).map(\.reading)
    }

    static let driftAlarms: SQL = """
        SELECT \(DriftRecord.columns) FROM drift_groups INDEXED BY drift_alarms
        WHERE scope = ?1 AND began IS NOT NULL ORDER BY side, name
        """
    static let watchedDriftGroups: SQL = "SELECT name FROM drift_groups WHERE scope = ?1 AND side = ?2"
}

extension SQLiteWriter {
    /// Stores the findings of an evaluation, and deletes the oldest counts, which no later evaluation reads.
    func keep(_ findings: DriftDetector.Findings, of scope: Scope, end: Timestamp)
        throws(SQLiteError)
    {
        try connection.statement(Self.removeGroups).run(scope.number)
        for reading in findings.readings {
            try connection.statement(Self.addGroup).run(DriftRecord(reading, of: scope))
        }
        let start = DriftHistory.start(before: end).milliseconds
        for side in DriftSide.allCases {
            for _ in 0..<Self.spansRemoved {
                try connection.statement(Self.removeOldest).run(scope.number, start, side.dimension.rawValue)
                if connection.changeCount == 0 { break }
            }
        }
    }

    /// The maximum number of spans to delete in one evaluation; clicks and launches count separately.
    ///
    /// Usually one span is too old; after a pause, several are.
    private static let spansRemoved = 4

    static let removeGroups: SQL = "DELETE FROM drift_groups WHERE scope = ?1"
    static let addGroup = SQL.insert("drift_groups", DriftRecord.columns)
    static let removeOldest: SQL = """
        DELETE FROM counts
        WHERE scope = ?1 AND campaign = '' AND dimension = ?3 AND span = \(Granularity.quarter)
            AND +period < ?2 AND period = (
                SELECT min(period) FROM counts
                WHERE scope = ?1 AND campaign = '' AND dimension = ?3 AND span = \(Granularity.quarter)
            )
        """
}
