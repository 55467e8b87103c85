import Foundation
import SQLite
import Support
import Testing

extension TemporaryFolder {
    /// Returns a connection to a new database with a write-ahead log.
    func makeDatabase(_ name: String = "a.db") throws -> SQLiteConnection {
        try Data().write(to: URL(fileURLWithPath: file(name)))
        let connection = try SQLiteConnection(path: file(name), access: .readWrite, busyMilliseconds: 0)
        try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE numbers (value INTEGER)")
        return connection
    }
}

@Suite("Connections")
struct ConnectionTests {
    private let folder: TemporaryFolder
    private let connection: SQLiteConnection

    init() throws {
        folder = try TemporaryFolder()
        connection = try folder.makeDatabase()
    }

    private func count() throws -> Int64 { try connection.integer("SELECT count(*) FROM numbers") }

    @Test("a transaction that throws changes nothing")
    func undoesTransaction() throws {
        #expect(throws: SQLiteError.self) {
            try connection.transaction(.immediate) { () throws(SQLiteError) in
                try connection.execute("INSERT INTO numbers VALUES (1)")
                try connection.execute("nonsense")
            }
        }
        #expect(!connection.isInTransaction)
        #expect(try count() == 0)
    }

    @Test("a rollback to a savepoint undoes only the changes after it")
    func undoesToSavepoint() throws {
        try connection.begin(.immediate)
        try connection.execute("INSERT INTO numbers VALUES (1)")
        try connection.savepoint()
        try connection.execute("INSERT INTO numbers VALUES (2)")
        try connection.rollbackToSavepoint()
        try connection.savepoint()
        try connection.execute("INSERT INTO numbers VALUES (3)")
        try connection.releaseSavepoint()
        try connection.commit()
        #expect(try connection.integer("SELECT sum(value) FROM numbers") == 4)
    }

    @Test("a reader keeps its snapshot until the reader's transaction ends")
    func keepsSnapshot() throws {
        let reader = try SQLiteConnection(path: folder.file("a.db"), access: .readOnly, busyMilliseconds: 0)
        try reader.begin(.deferred)
        #expect(try reader.integer("SELECT count(*) FROM numbers") == 0)
        try connection.execute("INSERT INTO numbers VALUES (1)")
        #expect(try reader.integer("SELECT count(*) FROM numbers") == 0)
        try reader.commit()
        #expect(try reader.integer("SELECT count(*) FROM numbers") == 1)
    }

    @Test("another connection's commit changes the data version, the connection's own does not")
    func movesDataVersion() throws {
        let other = try SQLiteConnection(path: folder.file("a.db"), access: .readOnly, busyMilliseconds: 0)
        let (own, others) = (try connection.dataVersion(), try other.dataVersion())
        try connection.execute("INSERT INTO numbers VALUES (1)")
        #expect(try connection.dataVersion() == own)
        #expect(try other.dataVersion() != others)
    }

    @Test("the write lock excludes other writers")
    func reportsBusy() throws {
        let other = try SQLiteConnection(path: folder.file("a.db"), access: .readWrite, busyMilliseconds: 0)
        try connection.begin(.immediate)
        let error = #expect(throws: SQLiteError.self) { try other.begin(.immediate) }
        #expect(error?.code == .busy)
    }

    @Test("a database that may not grow reports that it is full")
    func reportsFull() throws {
        try connection.execute("PRAGMA max_page_count = 2")
        let error = #expect(throws: SQLiteError.self) {
            try connection.execute("CREATE TABLE more (a); CREATE TABLE evenmore (a)")
        }
        #expect(error?.code == .full)
    }

    @Test("a read-only connection cannot write")
    func refusesToWrite() throws {
        let reader = try SQLiteConnection(path: folder.file("a.db"), access: .readOnly, busyMilliseconds: 0)
        let error = #expect(throws: SQLiteError.self) { try reader.execute("INSERT INTO numbers VALUES (1)") }
        #expect(error?.code == .readOnly)
    }

    @Test("a file that does not exist, and a symbolic link, are not opened")
    func refusesPaths() throws {
        let link = folder.file("link.db")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.file("a.db"))
        for path in [folder.file("missing.db"), link] {
            let error = #expect(throws: SQLiteError.self) {
                try SQLiteConnection(path: path, access: .readWrite, busyMilliseconds: 0)
            }
            #expect(error?.code == .cannotOpen)
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("missing.db")))
    }

    @Test("a checkpoint copies the log, and truncating empties its file")
    func checkpoints() throws {
        try connection.execute("INSERT INTO numbers VALUES (1)")
        #expect(connection.logPageCount > 0)
        let passive = try connection.checkpoint(.passive)
        #expect(passive.copiedPages == passive.logPages && !passive.isBlocked)
        _ = try connection.checkpoint(.truncate)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("a.db-wal"))
        #expect(attributes[.size] as? Int == 0)
    }

    @Test("a checkpoint reports that another connection blocks it")
    func reportsBlockedCheckpoint() throws {
        let other = try SQLiteConnection(path: folder.file("a.db"), access: .readWrite, busyMilliseconds: 0)
        try other.begin(.immediate)
        #expect(try connection.checkpoint(.truncate).isBlocked)
    }

    @Test("a copy contains committed changes")
    func copies() throws {
        try connection.execute("INSERT INTO numbers VALUES (7)")
        try connection.copy(into: folder.file("copy.db"))
        let copy = try SQLiteConnection(path: folder.file("copy.db"), access: .immutable, busyMilliseconds: 0)
        #expect(try copy.integer("SELECT value FROM numbers") == 7)
        #expect(try copy.databaseByteCount() == 8192)
    }

    @Test("a statement may outlive its connection, and its commits write to no freed memory")
    func outlivesConnection() throws {
        for _ in 0..<100 {
            let insert = try SQLiteConnection(
                path: folder.file("a.db"),
                access: .readWrite,
                busyMilliseconds: 0
            ).prepare("INSERT INTO numbers VALUES (?1)")
            // This is probably the memory that the connection has freed, which a commit would then damage.
            let memory = (0..<8).map { _ in [UInt8](repeating: 1, count: 4) }
            try insert.run(1)
            #expect(memory.allSatisfy { $0 == [1, 1, 1, 1] })
        }
        #expect(try count() == 100)
    }

    @Test("a path may contain characters with a meaning in URIs")
    func readsOddPaths() throws {
        let odd = "a?b#c%41 ü.db"
        try folder.makeDatabase(odd).execute("INSERT INTO numbers VALUES (7); PRAGMA journal_mode = DELETE")
        let copy = try SQLiteConnection(path: folder.file(odd), access: .immutable, busyMilliseconds: 0)
        #expect(try copy.integer("SELECT value FROM numbers") == 7)
    }

    @Test("use by a second thread ends the process, unless the first thread released the connection")
    func confinesToThread() async throws {
        await #expect(processExitsWith: .failure) {
            let connection = try TemporaryFolder().makeDatabase()
            let shared = UncheckedBox(connection)
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    _ = try? shared.value.integer("SELECT 1")
                    continuation.resume()
                }
            }
        }
        let connection = try TemporaryFolder().makeDatabase()
        connection.releaseFromThread()
        let shared = UncheckedBox(connection)
        let one = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: try? shared.value.integer("SELECT 1"))
                shared.value.releaseFromThread()
            }
        }
        #expect(one == 1)
    }
}

/// Shares a connection between threads, which the test needs.
private final class UncheckedBox: @unchecked Sendable {
    // Sendable: the tests never use it on two threads at once.
    let value: SQLiteConnection

    init(_ value: SQLiteConnection) { self.value = value }
}
