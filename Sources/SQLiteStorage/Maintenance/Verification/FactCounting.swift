internal import Attribution
internal import SQLite
internal import Storage

/// Counts all facts that are held once more, through the code that counts them when they come, into a database of
/// its own.
struct FactCounting {
    private let connection: SQLiteConnection
    /// Has the tables of this program, and in them what was counted.
    let counted: SQLiteConnection
    private var batch = CounterBatch()
    private var register = AdmittedNames()
    private var gathered = 0

    /// - Parameters:
    ///   - connection: within a transaction.
    ///   - now: clicks that expire earlier are live no more.
    /// - Throws: also for facts that this program does not write.
    init(_ connection: SQLiteConnection, at now: Timestamp) throws(SQLiteError) {
        self.connection = connection
        counted = try SQLiteConnection.temporary()
        for migration in Migration.embedded { try counted.execute(migration.text) }
        try counted.begin(.immediate)
        try countClicks()
        try countClaims()
        try countLive(at: now)
        try flush()
        try counted.commit()
    }

    private mutating func countClicks() throws(SQLiteError) {
        let statement = try connection.prepare(Self.clicks)
        defer { statement.reset() }
        while try statement.step() {
            let metric = statement.integer(7) != 0 ? Metric.robots : .clicks
            try add(metric, statement.integer(8), statement)
        }
    }

    private mutating func countClaims() throws(SQLiteError) {
        let statement = try connection.prepare(Self.claims)
        defer { statement.reset() }
        while try statement.step() {
            let claimedAt = Timestamp(milliseconds: statement.integer(0))
            let clickedAt = Timestamp(milliseconds: statement.integer(7))
            let campaign = try add(.matches, 1, statement)
            guard let method = AttributionMethod(rawValue: statement.text(8)) else {
                throw .damaged("counting a claim")
            }
            let scope = Scope(number: statement.integer(1))
            batch.addMatch(by: method, of: scope, campaign: campaign, at: claimedAt)
            batch.addDelay(
                claimedAt.milliseconds(since: clickedAt),
                of: scope,
                campaign: campaign,
                on: Granularity.day.start(of: claimedAt)
            )
        }
    }

    private mutating func countLive(at now: Timestamp) throws(SQLiteError) {
        let statement = try connection.prepare(Self.live)
        defer { statement.reset() }
        try statement.bind(LiveClicks.second(of: now) * 1000)
        while try statement.step() {
            let expiresAt = Timestamp(milliseconds: statement.integer(1) * 1000)
            batch.addLive(
                statement.integer(2),
                of: Scope(number: statement.integer(0)),
                expiringAt: expiresAt
            )
            try flushIfLarge()
        }
    }

    /// Reads columns `moment, scope, campaign_key, source, raw_source, platform, os_version`.
    @discardableResult
    private mutating func add(_ metric: Metric, _ times: Int64, _ row: Statement) throws(SQLiteError)
        -> String?
    {
        guard let source = SourceToken(rawValue: row.text(3)), let platform = Platform(rawValue: row.text(5))
        else {
            throw .damaged("counting a click")
        }
        let traits = CountedTraits(
            campaign: row.optionalText(2),
            sourceToken: source,
            rawSource: row.optionalText(4),
            platform: platform,
            osVersion: row.optionalText(6)
        )
        try flushIfLarge()
        return try batch.add(
            times,
            metric,
            of: traits,
            Scope(number: row.integer(1)),
            at: Timestamp(milliseconds: row.integer(0)),
            admittedBy: &register,
            on: connection
        )
    }

    private mutating func flushIfLarge() throws(SQLiteError) {
        gathered += 1
        if gathered.isMultiple(of: 10_000) { try flush() }
    }

    private mutating func flush() throws(SQLiteError) {
        try batch.write(to: counted)
        batch.removeAll()
    }

    // Rounded down to the hour, before 1970 too. Ordered by time, so that the names that a day admits are read once.
    private static let clicks: StaticString = """
        SELECT recorded_at - (recorded_at % 3600000 + 3600000) % 3600000 AS hour, scope, campaign_key, source,
            raw_source, platform, os_version, is_robot, count(*)
        FROM clicks
        GROUP BY hour, scope, campaign_key, source, raw_source, platform, os_version, is_robot ORDER BY hour
        """
    private static let claims: StaticString = """
        SELECT claimed_at, claims.scope, campaign_key, source, raw_source, platform, os_version, clicked_at, method
        FROM claims CROSS JOIN clicks ON id = click ORDER BY claimed_at
        """
    // A click that was matched or retired with another one is closed as claimed.
    private static let live: StaticString = """
        SELECT scope, expires_at / 1000 AS second, count(*) FROM clicks
        WHERE expires_at >= ?1 AND is_robot = 0
            AND id NOT IN (SELECT click FROM click_index WHERE closed_as = 'already_claimed' UNION SELECT click FROM claims)
        GROUP BY scope, second
        """
}
