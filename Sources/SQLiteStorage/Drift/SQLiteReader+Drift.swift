internal import Attribution
internal import SQLite
internal import Storage

/// The watch on match rates as it stands in its tables.
extension SQLiteReader {
    /// The counts of a scope up to the end of a span.
    func driftHistory(of scope: Scope, end: Timestamp) throws(SQLiteError) -> DriftHistory {
        var history = DriftHistory(end: end)
        // The same names come again in each span.
        var groups: [String: DriftGroup?] = [:]
        for side in DriftSide.allCases {
            groups.removeAll(keepingCapacity: true)
            try connection.statement(Self.driftCounts).forEach(
                scope.number,
                DriftHistory.start(before: end).milliseconds,
                end.milliseconds,
                side.dimension.rawValue
            ) { row in
                let name = row.text(1)
                let group = groups[name] ?? DriftGroup(side, name: name)
                groups[name] = .some(group)
                guard let group else { return }
                let isTrials = row.text(2) == CountWord.trials
                let count = DriftCount(
                    trials: isTrials ? row.integer(3) : 0,
                    matches: isTrials ? 0 : row.integer(3)
                )
                history.add(count, of: group, in: Timestamp(milliseconds: row.integer(0)))
            }
        }
        return history
    }

    static let driftCounts: SQL = """
        SELECT period, value, metric, count FROM counts
        WHERE scope = ?1 AND campaign = '' AND dimension = ?4 AND span = 'quarter' AND period >= ?2 AND period < ?3
        """

    /// What the last evaluation found, at most so many groups; those with an alarm are all among them.
    func driftReadings(of scope: Scope, atMost limit: Int) throws(SQLiteError) -> [DriftReading] {
        var readings = try driftAlarms(of: scope)
        let alarmed = Set(readings.map(\.group))
        let others = try connection.statement(Self.driftGroups).all(DriftRecord.self, scope.number, limit)
        for reading in others.map(\.reading) where !alarmed.contains(reading.group) && readings.count < limit
        {
            readings.append(reading)
        }
        return readings
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
    /// Stores what an evaluation found, and deletes the oldest counts, which no later one reads.
    func keep(_ findings: DriftDetector.Findings, of scope: Scope, lookedAt end: Timestamp)
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

    /// One span grows too old with each evaluation; after a time without any, several have.
    private static let spansRemoved = 4

    static let removeGroups: SQL = "DELETE FROM drift_groups WHERE scope = ?1"
    static let addGroup = SQL.insert("drift_groups", DriftRecord.columns)
    static let removeOldest: SQL = """
        DELETE FROM counts
        WHERE scope = ?1 AND campaign = '' AND dimension = ?3 AND span = 'quarter' AND +period < ?2
            AND period = (
                SELECT min(period) FROM counts
                WHERE scope = ?1 AND campaign = '' AND dimension = ?3 AND span = 'quarter'
            )
        """
}
