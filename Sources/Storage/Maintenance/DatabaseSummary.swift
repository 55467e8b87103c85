public import Attribution

/// The contents of a database in numbers, for commands that copy or examine it.
public struct DatabaseSummary: Equatable, Sendable {
    public var apps: Int64 = 0
    /// API keys, including revoked ones.
    public var keys: Int64 = 0
    public var clicks: Int64 = 0
    public var claims: Int64 = 0
    /// When the newest click was recorded; nil without clicks.
    public var newestClickAt: Timestamp?
    /// The number of the last migration.
    public let schemaVersion: Int64
    /// The migrations of this program that the database lacks, as file names.
    public var pendingMigrations: [String]
    public var byteCount: Int64 = 0
    /// The first word of the check value of the server key that was used last; nil if no key is recorded.
    public var serverKey: UInt64?
    /// The first words of the check values of the former server keys that stored hashes still need.
    public var formerServerKeys: [UInt64] = []

    public init(schemaVersion: Int64, pendingMigrations: [String]) {
        (self.schemaVersion, self.pendingMigrations) = (schemaVersion, pendingMigrations)
    }

    /// Returns whether the server key that was used last is one of these; nil if no key is recorded.
    public func fits(_ keys: [ServerKey]) -> Bool? {
        serverKey.map { stored in keys.contains { $0.checkValue.index == stored } }
    }

    /// Returns the number of former server keys that the database needs and `keys` lacks.
    public func missingKeys(of keys: [ServerKey]) -> Int {
        formerServerKeys.count { former in !keys.contains { $0.checkValue.index == former } }
    }
}

/// A copy of a database that is complete and on disk, but does not have its final name yet.
public struct DatabaseCopy {
    public let summary: DatabaseSummary
    /// Gives the copy its final name.
    ///
    /// - Returns: the path to which a previous database, or its log alone, was moved aside; nil if nothing was moved.
    public let publish: () throws(StoreError) -> String?

    public init(_ summary: DatabaseSummary, publish: @escaping () throws(StoreError) -> String?) {
        (self.summary, self.publish) = (summary, publish)
    }
}

/// The migrations that a database has, and the migrations that a start would apply.
public struct MigrationPlan: Equatable, Sendable {
    /// File names, ascending.
    public let applied: [String]
    /// File names, ascending.
    public let pending: [String]
    /// The path to which a start would first copy the database; it contains the current time.
    ///
    /// Nil if there is nothing to copy, or nothing is pending.
    public let backupPath: String?

    public init(applied: [String], pending: [String], backupPath: String?) {
        (self.applied, self.pending, self.backupPath) = (applied, pending, backupPath)
    }
}

/// The result of examining a database without changing it.
public struct DatabaseReport: Sendable {
    /// The path of the database, without symbolic links in its folders.
    public let path: String
    public let summary: DatabaseSummary
    public let directory: Directory
    /// The id of a process that has the database open; 0 if it cannot be seen, nil if there is no such process.
    public var holder: Int32?
    public var writeAheadLogBytes: Int64 = 0
    /// The number of free bytes on the disk; nil if the system does not report it.
    public var freeBytes: Int64?
    /// The number of clicks, also of robots, in the clock hours that started within the last 24 hours.
    public var clicksOfLastDay: Int64 = 0
    /// The start of the first day on which anything was counted.
    public var firstDay: Timestamp?
    /// The database server; nil if the database is a file.
    public var server: DatabaseServerReport?

    public init(path: String, _ summary: DatabaseSummary, _ directory: Directory) {
        (self.path, self.summary, self.directory) = (path, summary, directory)
    }
}
