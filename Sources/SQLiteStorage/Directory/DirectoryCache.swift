internal import Attribution
internal import SQLite
internal import Threads

/// The apps and keys as last read, shared by all loops.
final class DirectoryCache: Sendable {
    struct Snapshot: Sendable {
        /// What the database counted when they were read.
        let version: Int64
        let directory: Directory

        /// The same as a directory of one's own: loops that count references to one take turns at it.
        func copy() -> Snapshot {
            Snapshot(version: version, directory: Directory(apps: directory.apps, keys: directory.keys))
        }
    }

    private let latest: ConditionLock<Snapshot>

    init(reading reader: SQLiteReader) throws(SQLiteError) {
        latest = ConditionLock(try reader.directorySnapshot())
    }

    var snapshot: Snapshot { latest.withLock { $0 } }

    /// What the database holds, read only if it is another version than the one at hand.
    func current(by reader: SQLiteReader) throws(SQLiteError) -> Snapshot {
        let version = try reader.directoryVersion()
        let known = snapshot
        if known.version == version { return known }
        let fresh = try reader.directorySnapshot()
        // Another loop may have read a later one meanwhile.
        latest.withLock { if $0.version < fresh.version { $0 = fresh } }
        return fresh
    }
}
