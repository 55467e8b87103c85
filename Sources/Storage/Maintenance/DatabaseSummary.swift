public import Attribution

/// What a database contains, for commands that copy or examine it.
public struct DatabaseSummary: Equatable, Sendable {
    public let apps: Int64
    /// API keys, revoked ones included.
    public let keys: Int64
    public let clicks: Int64
    public let claims: Int64
    /// When the newest click was recorded; nil without clicks.
    public let newestClickAt: Timestamp?
    /// The number of the last migration.
    public let schemaVersion: Int64
    /// The migrations of this program that the database lacks, as file names.
    public let pendingMigrations: [String]
    public let byteCount: Int64
    /// The first word of the check value of the server key that was used last; nil if nothing was hashed.
    private let serverKey: UInt64?

    public init(
        apps: Int64,
        keys: Int64,
        clicks: Int64,
        claims: Int64,
        newestClickAt: Timestamp?,
        schemaVersion: Int64,
        pendingMigrations: [String],
        byteCount: Int64,
        serverKey: UInt64?
    ) {
        self.apps = apps
        self.keys = keys
        self.clicks = clicks
        self.claims = claims
        self.newestClickAt = newestClickAt
        self.schemaVersion = schemaVersion
        self.pendingMigrations = pendingMigrations
        self.byteCount = byteCount
        self.serverKey = serverKey
    }

    /// Whether the server key that the database used last is one of these; nil if nothing was hashed.
    public func fits(_ keys: [ServerKey]) -> Bool? {
        serverKey.map { stored in keys.contains { $0.checkValue.index == stored } }
    }
}

/// What a start would change in a database's schema.
public struct MigrationPlan: Equatable, Sendable {
    /// File names, ascending.
    public let applied: [String]
    /// File names, ascending.
    public let pending: [String]
    /// Where the database would be copied to first; nil if there is nothing to copy, or nothing is pending.
    public let backupPath: String?

    public init(applied: [String], pending: [String], backupPath: String?) {
        self.applied = applied
        self.pending = pending
        self.backupPath = backupPath
    }
}

/// The result of examining a database without changing it.
public struct DatabaseReport: Sendable {
    /// Without symbolic links in its folders.
    public let path: String
    /// A process that has the database open; 0 if its number cannot be seen, nil if there is none.
    public let holder: Int32?
    public let summary: DatabaseSummary
    public let directory: Directory
    public let writeAheadLogBytes: Int64
    /// Bytes that the disk still takes; nil if it does not say.
    public let freeBytes: Int64?
    /// Clicks of the last 24 hours, those of robots included, to the hour.
    public let clicksOfLastDay: Int64
    /// The beginning of the first day on which anything was counted.
    public let firstDay: Timestamp?

    public init(
        path: String,
        holder: Int32?,
        summary: DatabaseSummary,
        directory: Directory,
        writeAheadLogBytes: Int64,
        freeBytes: Int64?,
        clicksOfLastDay: Int64,
        firstDay: Timestamp?
    ) {
        self.path = path
        self.holder = holder
        self.summary = summary
        self.directory = directory
        self.writeAheadLogBytes = writeAheadLogBytes
        self.freeBytes = freeBytes
        self.clicksOfLastDay = clicksOfLastDay
        self.firstDay = firstDay
    }
}
