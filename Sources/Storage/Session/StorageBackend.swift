internal import Attribution

/// The reads of a database on one connection.
public protocol DatabaseReader: SendableMetatype {
    associatedtype Failure: Error

    /// Returns the error for the caller, and whether the connection must be replaced.
    static func translated(_ failure: Failure) -> EngineFailure
}

/// An event loop's connection, which reads the database in snapshots.
public protocol LoopReader: CheckRowReader, DirectoryReader, DatabaseReader {
    /// Begins to read one snapshot of the database.
    func beginSnapshot() throws(Failure)
    func endSnapshot() throws(Failure)
}

/// A database that is open.
public protocol StorageBackend: Sendable {
    associatedtype Reader: LoopReader

    func openReader() throws(Reader.Failure) -> Reader
    /// Opens a connection with a small cache, for a job that reads every page once.
    func openScanner() throws(Reader.Failure) -> Reader
    /// The size of the write-ahead log; 0 for a database without one.
    var logByteCount: Int64 { get }
    associatedtype Rules: StoreRules = FileRules
}
