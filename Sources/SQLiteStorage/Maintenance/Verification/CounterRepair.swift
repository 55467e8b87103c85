public import Attribution
internal import SQLite
internal import Storage

/// Makes counters agree with the facts, and with each other where that decides which one is wrong; changes nothing
/// else.
public struct CounterRepair {
    private let connection: SQLiteConnection
    private var lines: [String] = []
    private var count = 0

    /// Changes that are told one by one.
    private static let lineLimit = 100

    /// Repairs in one transaction, while no other process has the database open.
    ///
    /// - Returns: the changes, at most a hundred as a line each, and how many there were.
    /// - Throws: when a server has the database open, which counts in memory meanwhile.
    public static func run(_ configuration: SQLiteConfiguration) throws(StoreError) -> (
        lines: [String], count: Int
    ) {
        let opening = try DatabaseOpening(configuration, migrations: Migration.embedded)
        // A server that starts now waits until the counters are right.
        return try opening.file.whileNobodyElseOpens { () throws(StoreError) in
            guard DatabaseUse.holder(of: opening.file.path) == nil else {
                throw StoreError(
                    .locked,
                    "another process has \(opening.file.path) open; stop the service first"
                )
            }
            let connection = try opening.reopen()
            return try opening.translated { () throws(SQLiteError) in
                var repair = CounterRepair(connection: connection)
                try connection.transaction(.immediate) { () throws(SQLiteError) in
                    try repair.repair(at: configuration.clock.now())
                }
                return (repair.lines, repair.count)
            }
        }
    }

    private init(connection: SQLiteConnection) {
        self.connection = connection
    }

    private mutating func repair(at now: Timestamp) throws(SQLiteError) {
        let recount = try CounterRecount(connection, at: now)
        // All are found before the first is changed: a statement must not meet what changes under it.
        var differences: [CounterRecount.Difference] = []
        try recount.forEachDifference { if $0.isDecided { differences.append($0) } }
        try recount.forEachLiveDifference { differences.append($0) }
        for difference in differences {
            try store(difference.row, in: difference.table)
            note(difference.text)
        }
        // Of what is right now, the sums tell the rest.
        var sums: [CounterSums.Difference] = []
        try CounterSums(connection, recount.thinned).forEachDifference {
            if $0.wrong != nil { sums.append($0) }
        }
        for difference in sums {
            try add(difference)
            note(difference.text)
        }
        try addDelays(recount.thinned)
        for line in try ProbabilitySums(connection).repair() { note(line) }
    }

    private mutating func note(_ text: String) {
        count += 1
        if lines.count < Self.lineLimit { lines.append(text) }
    }

    private func store(_ row: CountingTable.Row, in table: CountingTable) throws(SQLiteError) {
        let sql: StaticString =
            switch row.key.count {
            case CountingTable.counters.keyIsText.count: Self.setCounter
            case CountingTable.installDelays.keyIsText.count: Self.setDelay
            default: Self.setLive
            }
        let statement = try connection.statement(sql)
        for (index, part) in row.key.enumerated() {
            switch part {
            case .integer(let number): try statement.bindInteger(number, at: Int32(index + 1))
            case .text: try statement.bindText(part.words, at: Int32(index + 1))
            }
        }
        for (index, count) in row.counts.enumerated() {
            try statement.bindInteger(count, at: Int32(row.key.count + index + 1))
        }
        while try statement.step() {}
        statement.reset()
    }

    /// Makes the days, or the whole, what their hours or days add up to.
    private func add(_ difference: CounterSums.Difference) throws(SQLiteError) {
        let isWhole = difference.wrong == .all
        let finer = isWhole ? Granularity.day : .hour
        let key = difference.key
        var sums: [Int64: Int64] = [:]
        let first = difference.start.milliseconds
        try rows(key, finer, difference.metric) { period, count in
            guard period >= first else { return }
            let start = isWhole ? 0 : Granularity.day.start(of: Timestamp(milliseconds: period)).milliseconds
            sums[start, default: 0] += count
        }
        let coarser = isWhole ? Granularity.all : .day
        try rows(key, coarser, difference.metric) { period, _ in
            if period >= first { sums[period] = sums[period] ?? 0 }
        }
        for (period, sum) in sums {
            var counts = try row(key, coarser, period)
            guard counts[difference.metric.column] != sum else { continue }
            counts[difference.metric.column] = sum
            let whole = [
                key[0], key[1], key[2], .text(Array(coarser.rawValue.utf8)), .integer(period), key[3],
            ]
            try store(CountingTable.Row(key: whole, counts: counts), in: .counters)
        }
    }

    private func rows(
        _ key: [RowKeyPart],
        _ granularity: Granularity,
        _ metric: Metric,
        _ body: (Int64, Int64) -> Void
    ) throws(SQLiteError) {
        try connection.statement(Self.selectRows).forEach(
            key[0].number,
            key[1].words,
            key[2].words,
            granularity.rawValue,
            key[3].words
        ) { body($0.integer(0), $0.integer(1 + Int32(metric.column))) }
    }

    private func row(_ key: [RowKeyPart], _ granularity: Granularity, _ period: Int64) throws(SQLiteError)
        -> [Int64]
    {
        var counts = Metric.allCases.map { _ in Int64(0) }
        for metric in Metric.allCases {
            try rows(key, granularity, metric) { if $0 == period { counts[metric.column] = $1 } }
        }
        return counts
    }

    /// Days are the finer record: the whole is what they add up to.
    private mutating func addDelays(_ thinned: ThinnedSpans) throws(SQLiteError) {
        let wrong = try connection.prepare(Self.delaySums).all { row in
            CountingTable.Row(
                key: [
                    .integer(row.integer(0)), .text(row.bytes(1)),
                    .text(Array(Granularity.all.rawValue.utf8)),
                    .integer(0), .integer(row.integer(2)),
                ],
                counts: [row.integer(3)]
            )
        }
        let names = try ScopeNames(connection)
        // Of campaigns that were added up in days, others are in the whole.
        for row in wrong where thinned.isWholeDelay(row.key) {
            try store(row, in: .installDelays)
            note("\(names.delay(row.key)): now \(row.counts[0]), as its days add up to")
        }
    }

    private static let selectRows: StaticString = """
        SELECT period, clicks, duplicates, robots, checks, matches, replays, no_match_no_click, no_match_expired,
            no_match_already_claimed, no_match_robot_click,
            no_match_below_threshold, no_match_ambiguous, no_match_other_app,
            no_match_token_invalid, no_match_token_used, no_match_fingerprint_disabled
        FROM counters WHERE scope = ?1 AND campaign = ?2 AND dimension = ?3 AND granularity = ?4 AND value = ?5
        """
    private static let delaySums: StaticString = """
        SELECT scope, campaign, bin, sum(CASE granularity WHEN 'day' THEN count ELSE 0 END) AS days
        FROM install_delays GROUP BY scope, campaign, bin
        HAVING days <> sum(CASE granularity WHEN 'all' THEN count ELSE 0 END)
        """
    private static let setCounter: StaticString = """
        INSERT INTO counters VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
            ?17, ?18, ?19, ?20, ?21, ?22)
        ON CONFLICT DO UPDATE SET
            clicks = excluded.clicks,
            duplicates = excluded.duplicates,
            robots = excluded.robots,
            checks = excluded.checks,
            matches = excluded.matches,
            replays = excluded.replays,
            no_match_no_click = excluded.no_match_no_click,
            no_match_expired = excluded.no_match_expired,
            no_match_already_claimed = excluded.no_match_already_claimed,
            no_match_robot_click = excluded.no_match_robot_click,
            no_match_below_threshold = excluded.no_match_below_threshold,
            no_match_ambiguous = excluded.no_match_ambiguous,
            no_match_other_app = excluded.no_match_other_app,
            no_match_token_invalid = excluded.no_match_token_invalid,
            no_match_token_used = excluded.no_match_token_used,
            no_match_fingerprint_disabled = excluded.no_match_fingerprint_disabled
        """
    private static let setDelay: StaticString = """
        INSERT INTO install_delays VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT DO UPDATE SET count = excluded.count
        """
    private static let setLive: StaticString = """
        INSERT INTO live_clicks VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET count = excluded.count
        """
}
