internal import Attribution

/// The reads of a database on one connection.
public protocol DatabaseReader: SendableMetatype {
    associatedtype Failure: Error

    /// Returns the error for the caller, and whether the connection must be replaced.
    static func translated(_ failure: Failure) -> EngineFailure
}

/// The connection of an event loop, which holds one state of the database over a turn.
public protocol LoopReader: CheckRowReader, DirectoryReader, DatabaseReader {
    /// Begins to read one state of the database.
    func beginSnapshot() throws(Failure)
    func endSnapshot() throws(Failure)
}

/// A database that is open.
public protocol StorageBackend: Sendable {
    associatedtype Reader: LoopReader

    func openReader() throws(Reader.Failure) -> Reader
    /// Opens a connection for a job that reads everything once, and so needs no cache.
    func openScanner() throws(Reader.Failure) -> Reader
    /// The size of the write-ahead log; 0 for a database without one.
    var logByteCount: Int64 { get }
}
