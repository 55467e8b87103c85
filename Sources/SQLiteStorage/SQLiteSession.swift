internal import Attribution
internal import SQLite
internal import Storage

/// An event loop's session on SQLite, which reads on a separate connection.
final class SQLiteSession: DatabaseSession, LoopSession {
    let loop: LoopState<SQLiteBackend>

    init(_ loop: LoopState<SQLiteBackend>) { self.loop = loop }

    /// The cost of the session's reads since its connection was opened, in steps of SQLite's virtual machine; for tests.
    var readStepCount: Int { loop.reader?.connection.stepCount ?? 0 }
}

/// The database file of an open store.
struct SQLiteBackend: StorageBackend {
    let opening: DatabaseOpening

    func openReader() throws(SQLiteError) -> SQLiteReader {
        SQLiteReader(connection: try opening.openReader())
    }

    func openScanner() throws(SQLiteError) -> SQLiteReader {
        let reader = try openReader()
        try reader.connection.execute("PRAGMA cache_size = -256")
        return reader
    }

    var logByteCount: Int64 { DatabaseFile.byteCount(opening.file.logPath) }

    func clearLog() throws(StoreError) -> Bool {
        let connection = try opening.reopen()
        return try opening.translated { () throws(SQLiteError) in
            // The second checkpoint delays writers, so the first one copies most pages.
            _ = try connection.checkpoint(.passive)
            return try !connection.checkpoint(.truncate).isBlocked
        }
    }
}

/// A connection that reads; extensions in the folders `Checks`, `Clicks` and others add its statements.
///
/// Only its connection's thread may use it. It reads the state that the connection's transaction sees.
struct SQLiteReader: LoopReader, LoopRows, WriterReader, KeyNeedsReader {
    typealias Failure = SQLiteError

    let connection: SQLiteConnection

    static func translated(_ error: SQLiteError) -> EngineFailure {
        EngineFailure(StoreError(error), endsBatch: error.endsBatch, endsConnection: error.endsConnection)
    }

    func beginSnapshot() throws(SQLiteError) { try connection.begin(.deferred) }
    func endSnapshot() throws(SQLiteError) { try connection.rollback() }
}
