public import Attribution
internal import Threads

/// Reads the apps and keys of a database.
public protocol DirectoryReader {
    associatedtype Failure: Error

    /// Returns a number that every change of apps and keys increases.
    func directoryVersion() throws(Failure) -> Int64
    /// Returns all apps and keys, in one snapshot if the caller has opened a transaction.
    func directorySnapshot() throws(Failure) -> DirectoryCache.Snapshot
}

/// The apps and keys as last read, shared by all loops.
public final class DirectoryCache: Sendable {
    public struct Snapshot: Sendable {
        public let version: Int64
        public let directory: Directory
        /// The numbers by which the database knows the apps; may be empty if loops read the numbers themselves.
        public let numbers: [AppID: Int64]

        public init(version: Int64, directory: Directory, numbers: [AppID: Int64] = [:]) {
            (self.version, self.directory, self.numbers) = (version, directory, numbers)
        }

        /// Returns a snapshot with a separate copy of the directory: loops would contend for a shared directory's
        /// reference counts.
        public func copy() -> Snapshot {
            let directory = Directory(apps: directory.apps, keys: directory.keys)
            return Snapshot(version: version, directory: directory, numbers: numbers)
        }
    }

    private let latest: ConditionLock<Snapshot>

    public init<Reader: DirectoryReader>(reading reader: Reader) throws(Reader.Failure) {
        latest = ConditionLock(try reader.directorySnapshot())
    }

    public var snapshot: Snapshot { latest.withLock { $0 } }

    /// Makes a snapshot the current one, unless the current one is later.
    ///
    /// Loops use it within 200 ms, and at once after ``StoreState/noteDirectoryChange()``.
    public func publish(_ fresh: Snapshot) {
        latest.withLock { if $0.version < fresh.version { $0 = fresh } }
    }

    /// Returns the current snapshot; reads the apps and keys only if their version has changed.
    public func current<Reader: DirectoryReader>(by reader: Reader) throws(Reader.Failure) -> Snapshot {
        let version = try reader.directoryVersion()
        let known = snapshot
        if known.version == version { return known }
        let fresh = try reader.directorySnapshot()
        // Another loop may have read a later version meanwhile.
        publish(fresh)
        return fresh
    }
}
