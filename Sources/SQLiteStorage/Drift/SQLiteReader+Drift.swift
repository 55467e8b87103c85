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

    /// What the last look found, at most so many groups; those with an alarm are all among them.
    func driftReadings(of scope: Scope, atMost limit: Int) throws(SQLiteError) -> [DriftReading] {
        var readings = try driftAlarms(of: scope)
        let told = Set(readings.map(\.group))
        try connection.statement(Self.driftGroups).forEach(scope.number, limit) { row throws(SQLiteError) in
            let reading = try Self.driftReading(row)
            if !told.contains(reading.group), readings.count < limit { readings.append(reading) }
        }
        return readings
    }

    static let driftGroups: SQL = """
        SELECT side, name, trials, matches, usual_rate, since, began, fallen_rate FROM drift_groups
        WHERE scope = ?1 ORDER BY side, name LIMIT ?2
        """

    func driftAlarms(of scope: Scope) throws(SQLiteError) -> [DriftReading] {
        try connection.statement(Self.driftAlarms).all(scope.number) { row throws(SQLiteError) in
            try Self.driftReading(row)
        }
    }

    static let driftAlarms: SQL = """
        SELECT side, name, trials, matches, usual_rate, since, began, fallen_rate
        FROM drift_groups INDEXED BY drift_alarms
        WHERE scope = ?1 AND began IS NOT NULL ORDER BY side, name
        """
    static let watchedDriftGroups: SQL = "SELECT name FROM drift_groups WHERE scope = ?1 AND side = ?2"

    private static func driftReading(_ row: Statement) throws(SQLiteError) -> DriftReading {
        guard let side = DriftSide(rawValue: row.text(0)), let group = DriftGroup(side, name: row.text(1))
        else {
            throw .corrupt("reading a group of the watch on match rates")
        }
        let usual = row.optionalReal(4)
        let alarm = row.optionalInteger(6).map { began in
            DriftAlarm(
                group: group,
                since: Timestamp(milliseconds: row.integer(5)),
                began: Timestamp(milliseconds: began),
                usualRate: usual ?? 0,
                rate: row.real(7)
            )
        }
        return DriftReading(
            group: group,
            recent: DriftCount(trials: row.integer(2), matches: row.integer(3)),
            usualRate: usual,
            alarm: alarm
        )
    }
}

extension WriteContext {
    /// Keeps what a look found, and takes the oldest counts away that nobody looks at any more.
    func keep(_ findings: DriftDetector.Findings, of scope: Scope, lookedAt end: Timestamp)
        throws(SQLiteError)
    {
        try connection.statement(Self.removeGroups).run(scope.number)
        for reading in findings.readings {
            let (group, alarm) = (reading.group, reading.alarm)
            try connection.statement(Self.addGroup).run(
                scope.number,
                group.side.rawValue,
                group.name,
                reading.recent.trials,
                reading.recent.matches,
                reading.usualRate,
                alarm?.since.milliseconds,
                alarm?.began.milliseconds,
                alarm?.rate
            )
        }
        let start = DriftHistory.start(before: end).milliseconds
        for side in DriftSide.allCases {
            for _ in 0..<Self.spansRemoved {
                try connection.statement(Self.removeOldest).run(scope.number, start, side.dimension.rawValue)
                if connection.changeCount == 0 { break }
            }
        }
    }

    /// One span grows too old with each look; after a time without looks, several have.
    private static let spansRemoved = 4

    static let removeGroups: SQL = "DELETE FROM drift_groups WHERE scope = ?1"
    static let addGroup: SQL = """
        INSERT INTO drift_groups VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        """
    static let removeOldest: SQL = """
        DELETE FROM counts
        WHERE scope = ?1 AND campaign = '' AND dimension = ?3 AND span = 'quarter' AND +period < ?2
            AND period = (
                SELECT min(period) FROM counts
                WHERE scope = ?1 AND campaign = '' AND dimension = ?3 AND span = 'quarter'
            )
        """
}
