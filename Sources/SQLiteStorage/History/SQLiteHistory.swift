public import Attribution
internal import SQLite
internal import Storage

/// The clicks and checks that a database holds of one app, read beside a server or alone.
///
/// Page by page, each a look of its own: no snapshot is held that would keep the write-ahead log from being copied.
public struct SQLiteHistory: TrafficHistory {
    public let span: (first: Timestamp, last: Timestamp)?
    public let isWhole: Bool
    public private(set) var gaps = HistoryGaps()

    private let look: DatabaseSnapshot
    private var clicks: HistoryClicks
    private var checks: HistoryChecks

    /// - Parameters:
    ///   - configuration: names the database, which is up to date.
    ///   - app: whose clicks and checks.
    ///   - isTest: test traffic instead of live one.
    ///   - remaking: how fingerprints are made again.
    /// - Throws: when there is no database, or nothing can be read of it.
    public init(
        _ configuration: SQLiteConfiguration,
        of app: AppID,
        isTest: Bool,
        remaking: FingerprintReconstruction
    ) throws(StoreError) {
        let look = try DatabaseSnapshot(configuration)
        let connection = look.connection
        let facts = try look.opening.translated { () throws(SQLiteError) in
            var apps = AppNumbers()
            return try apps.scope(of: app, isTest: isTest, find: SQLiteReader(connection: connection).number)
                .map {
                    (scope) throws(SQLiteError) in
                    try HistoryFacts(of: scope, on: connection)
                }
        }
        guard let facts else { throw StoreError(.notFound, "the app does not exist") }
        self.look = look
        span = facts.span
        isWhole = facts.isWhole(keeping: configuration.retentionSeconds * 1000)
        clicks = HistoryClicks(facts, remaking)
        checks = HistoryChecks(facts)
    }

    public mutating func next() throws(StoreError) -> RecordedEvent? {
        try look.opening.translated { () throws(SQLiteError) in
            if clicks.needsMore { try clicks.read(on: look.connection, &gaps) }
            if checks.needsMore { try checks.read(on: look.connection, &gaps) }
        }
        guard let launch = checks.first else { return clicks.takeFirst().map { .click($0) } }
        // A click of the same millisecond was there before.
        guard let click = clicks.first, RecordedEvent.click(click).at <= launch.at else {
            return checks.takeFirst().map { .launch($0) }
        }
        return clicks.takeFirst().map { .click($0) }
    }
}

enum HistorySQL {
    static let lastClick: SQL = "SELECT max(id) FROM clicks"
    static let lastCheck: SQL = "SELECT max(id) FROM checks"
    static let firstClickAt: SQL = """
        SELECT recorded_at FROM clicks WHERE scope = ?1 ORDER BY id LIMIT 1
        """
    static let lastClickAt: SQL = """
        SELECT recorded_at FROM clicks WHERE scope = ?1 ORDER BY id DESC LIMIT 1
        """
    static let firstCheckAt: SQL =
        "SELECT checked_at FROM checks WHERE scope = ?1 ORDER BY id LIMIT 1"
    static let lastCheckAt: SQL = """
        SELECT checked_at FROM checks WHERE scope = ?1 ORDER BY id DESC LIMIT 1
        """
    static let clicks: SQL = """
        SELECT \(ClickRecord.columns, of: "clicks"), claimed_at
        FROM clicks LEFT JOIN claims ON claims.click = clicks.id
        WHERE clicks.id > ?1 AND clicks.id <= ?2 AND clicks.scope = ?3 ORDER BY clicks.id LIMIT ?4
        """
    static let checks: SQL = """
        SELECT \(CheckRecord.columns) FROM checks WHERE id > ?1 AND id <= ?2 AND scope = ?3 ORDER BY id LIMIT ?4
        """
}
