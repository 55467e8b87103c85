import Foundation
import SQLite
import Support
import Testing

@Suite("Online backups")
struct OnlineBackupTests {
    private let folder: TemporaryFolder
    private let source: SQLiteConnection

    init() throws {
        folder = try TemporaryFolder()
        source = try folder.makeDatabase()
        try source.execute(
            "INSERT INTO numbers WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
                + " SELECT i FROM n"
        )
    }

    private func target() throws -> SQLiteConnection {
        try Data().write(to: URL(fileURLWithPath: folder.file("copy.db")))
        return try SQLiteConnection(path: folder.file("copy.db"), access: .readWrite, busyMilliseconds: 0)
    }

    @Test("contain the snapshot of the open transaction, and end while other connections write")
    func snapshot() throws {
        let reader = try SQLiteConnection(path: folder.file("a.db"), access: .readOnly, busyMilliseconds: 0)
        try reader.begin(.deferred)
        let before = try reader.integer("SELECT sum(value) FROM numbers")
        let target = try target()
        let copy = try OnlineBackup(from: reader, to: target)
        var steps = 0
        while try copy.step(pages: 1) {
            steps += 1
            try source.execute("INSERT INTO numbers VALUES (1000000)")
        }
        try copy.finish()
        #expect(steps > 20)
        #expect(try target.integer("SELECT sum(value) FROM numbers") == before)
        #expect(try source.integer("SELECT sum(value) FROM numbers") > before)
    }

    @Test("report their progress")
    func progress() throws {
        let copy = try OnlineBackup(from: source, to: target())
        #expect(try copy.step(pages: 5))
        #expect(copy.progress.pageCount - copy.progress.remaining == 5)
    }

    @Test("leave no database if they are abandoned")
    func abandoned() throws {
        do {
            let copy = try OnlineBackup(from: source, to: target())
            _ = try copy.step(pages: 5)
        }
        let copy = try SQLiteConnection(path: folder.file("copy.db"), access: .readOnly, busyMilliseconds: 0)
        #expect(try copy.integer("SELECT count(*) FROM sqlite_schema") == 0)
    }

    @Test("refuse a step after the end")
    func stepAfterEnd() throws {
        let copy = try OnlineBackup(from: source, to: target())
        try copy.finish()
        #expect(throws: SQLiteError.self) { try copy.step(pages: 1) }
    }
}
