public import Attribution
internal import Threads

/// What is asked of a database about its apps and keys.
public protocol DirectoryReader {
    associatedtype Failure: Error

    /// A number that every change of apps and keys raises.
    func directoryVersion() throws(Failure) -> Int64
    /// All apps and keys, at one moment if the caller has opened a transaction.
    func directorySnapshot() throws(Failure) -> DirectoryCache.Snapshot
}

/// The apps and keys as last read, shared by all loops.
public final class DirectoryCache: Sendable {
    public struct Snapshot: Sendable {
        public let version: Int64
        public let directory: Directory

        public init(version: Int64, directory: Directory) {
            self.version = version
            self.directory = directory
        }

        /// The same with a directory of its own: loops that count references to one take turns at it.
        public func copy() -> Snapshot {
            Snapshot(version: version, directory: Directory(apps: directory.apps, keys: directory.keys))
        }
    }

    private let latest: ConditionLock<Snapshot>

    public init<Reader: DirectoryReader>(reading reader: Reader) throws(Reader.Failure) {
        latest = ConditionLock(try reader.directorySnapshot())
    }

    public var snapshot: Snapshot { latest.withLock { $0 } }

    /// Returns what the database holds, which is read only if its version is not the known one.
    public func current<Reader: DirectoryReader>(by reader: Reader) throws(Reader.Failure) -> Snapshot {
        let version = try reader.directoryVersion()
        let known = snapshot
        if known.version == version { return known }
        let fresh = try reader.directorySnapshot()
        // Another loop may have read a later one meanwhile.
        latest.withLock { if $0.version < fresh.version { $0 = fresh } }
        return fresh
    }
}
