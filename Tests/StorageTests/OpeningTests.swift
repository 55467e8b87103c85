import Attribution
import Foundation
import SQLite
import SQLiteStorage
import Storage
import Support
import TestDatabases
import Testing

@Suite("Opening a database")
struct OpeningTests {
    private func configuration(_ path: String) -> SQLiteConfiguration {
        var configuration = SQLiteConfiguration(path: path, clock: .fixed(TestStore.noon))
        configuration.hasBackgroundWork = false
        return configuration
    }

    private func refusal(_ path: String) throws -> StoreError {
        try #require(throws: StoreError.self) { try SQLiteStore.open(configuration(path)) }
    }

    @Test("only the owner can read a new database and the files of its log")
    func makesPrivateFiles() async throws {
        let test = try await TestStore()
        #expect(test.store.isNew)
        for suffix in ["", "-wal", "-shm"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: test.path + suffix)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(suffix)")
        }
        test.stop()
        let again = try await TestStore(in: test.place)
        #expect(!again.store.isNew)
    }

    @Test("opening reads only a part of the database")
    func readsLittle() async throws {
        let test = try await TestStore()
        test.stop()
        try test.execute("CREATE TABLE padding AS SELECT hex(zeroblob(4000000)) AS text")
        // The bytes that this thread has read, from disks and from caches.
        func readByteCount() throws -> Int {
            let text = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("rchar: ") })
            return try #require(Int(line.dropFirst(7)))
        }
        let before = try readByteCount()
        let store = try SQLiteStore.open(configuration(test.path))
        let count = try readByteCount() - before
        store.stop(within: 60_000)
        #expect(count > 4096 && count < 2_000_000)
    }

    @Test("a database has the application id, a write-ahead log and the newest version")
    func setsPragmas() async throws {
        let test = try await TestStore()
        let connection = try SQLiteConnection(path: test.path, access: .readOnly, busyMilliseconds: 0)
        #expect(try connection.integer("PRAGMA application_id") == 0x4146_4C4B)
        #expect(try connection.prepare("PRAGMA journal_mode").first { $0.text(0) } == "wal")
        let own = SQLiteConfiguration(path: test.path, clock: .fixed(TestStore.noon)).migrations
        let newest = own.compactMap { Int64($0.name.prefix(4)) }.max() ?? 0
        #expect(try connection.integer("PRAGMA user_version") == newest)
        #expect(throws: SQLiteError.self) { try connection.execute("DELETE FROM apps") }
    }

    @Test(
        "a file that is not a database is refused with a message that names it, and stays unchanged",
        arguments: [
            (
                content: Data("this is no database, but a text of more than sixteen bytes".utf8),
                code: .corrupted
            ),
            (content: Data("SQLite format 3\0 and nothing behind it".utf8), code: .corrupted),
            (content: Data("short".utf8), code: .corrupted),
            (content: Data(count: 4096), code: .corrupted),
        ] as [(content: Data, code: StoreError.Code)]
    )
    func refusesForeignFiles(content: Data, code: StoreError.Code) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        try content.write(to: URL(fileURLWithPath: path))
        let error = try refusal(path)
        #expect(error.code == code)
        #expect(error.explanation.contains(path))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
    }

    @Test("zeros with a rollback journal, which a power cut in the first page leaves, open as a new database")
    func rollsBackFirstPage() throws {
        let folder = try TemporaryFolder()
        let (path, other) = (folder.file("a.db"), folder.file("other.db"))
        try Data().write(to: URL(fileURLWithPath: other))
        let connection = try SQLiteConnection(path: other, access: .readWrite, busyMilliseconds: 0)
        try connection.begin(.immediate)
        try connection.execute("CREATE TABLE numbers (value INTEGER)")
        var journal = try Data(contentsOf: URL(fileURLWithPath: other + "-journal"))
        // SQLite writes these first bytes when it syncs the journal (sqlite.org/fileformat2.html, section 3).
        journal.replaceSubrange(0..<8, with: [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])
        try journal.write(to: URL(fileURLWithPath: path + "-journal"))
        try Data(count: 4096).write(to: URL(fileURLWithPath: path))
        let store = try SQLiteStore.open(configuration(path))
        #expect(store.isNew)
        store.stop(within: 60_000)
    }

    @Test("files beside the database that were created while it was read-only can be written to again")
    func unlocksCompanions() async throws {
        let test = try await TestStore()
        test.stop()
        try Data().write(to: URL(fileURLWithPath: test.path + "-shm"))
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: test.path + "-shm")
        let store = try SQLiteStore.open(configuration(test.path))
        let attributes = try FileManager.default.attributesOfItem(atPath: test.path + "-shm")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        store.stop(within: 60_000)
    }

    @Test("another program's database is refused")
    func refusesOtherProgram() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        try Data().write(to: URL(fileURLWithPath: path))
        try SQLiteConnection(path: path, access: .readWrite, busyMilliseconds: 0).execute(
            "CREATE TABLE t (a)"
        )
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let error = try refusal(path)
        #expect(error.code == .unsupported)
        #expect(error.explanation.contains(path))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test("a damaged database is refused, and stays unchanged", arguments: [100, 4096 + 8] as [Int])
    func refusesDamage(offset: Int) async throws {
        let test = try await TestStore()
        try await test.run { session in
            for number in 0..<200 { _ = try await session.record(.sample(fingerprint: UInt64(number))) }
        }
        test.stop()
        var content = try Data(contentsOf: URL(fileURLWithPath: test.path))
        content.replaceSubrange(offset..<offset + 64, with: Data(repeating: 0xAA, count: 64))
        try content.write(to: URL(fileURLWithPath: test.path))
        let error = try refusal(test.path)
        #expect(error.code == .corrupted)
        #expect(error.explanation.contains(test.path))
        #expect(try Data(contentsOf: URL(fileURLWithPath: test.path)) == content)
    }

    @Test("a truncated database is refused")
    func refusesTruncation() async throws {
        let test = try await TestStore()
        test.stop()
        let content = try Data(contentsOf: URL(fileURLWithPath: test.path))
        try content.prefix(content.count / 2).write(to: URL(fileURLWithPath: test.path))
        #expect(try refusal(test.path).code == .corrupted)
    }

    @Test("a folder, a file in a missing folder and a symbolic link to a file are refused")
    func refusesPaths() async throws {
        let folder = try TemporaryFolder()
        #expect(try refusal(folder.path + "/").code == .notFound)
        #expect(try refusal(folder.path).code == .incompatible)
        #expect(try refusal(folder.file("missing/a.db")).code == .notFound)

        let test = try await TestStore()
        test.stop()
        let link = folder.file("link.db")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: test.path)
        #expect(throws: StoreError.self) { try SQLiteStore.open(configuration(link)) }
        let viaFolder = folder.file("folder")
        try FileManager.default.createSymbolicLink(atPath: viaFolder, withDestinationPath: test.folder.path)
        try SQLiteStore.open(configuration(viaFolder + "/afterlink.db")).stop(within: 60_000)
    }

    @Test("a database that another process has locked is not opened")
    func refusesLocked() async throws {
        let test = try await TestStore()
        test.stop()
        let other = try SQLiteConnection(path: test.path, access: .readWrite, busyMilliseconds: 0)
        try other.begin(.immediate)
        #expect(try refusal(test.path).code == .locked)
        try other.rollback()
        try SQLiteStore.open(configuration(test.path)).stop(within: 60_000)
    }

    @Test("acknowledged clicks are on disk after a kill")
    func survivesWithoutStop() async throws {
        let test = try await TestStore()
        let click = try await test.run { try await $0.record(.sample()).click }
        // A copy of the files as they are now equals what a kill would leave.
        let copy = try TemporaryFolder()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: test.path + suffix,
                toPath: copy.file("afterlink.db" + suffix)
            )
        }
        let second = try await TestStore(in: SQLitePlace(copy))
        #expect(!second.store.isNew)
        let view = try await second.run { try await $0.view(for: .sample()) }
        #expect(view.live == [click.id.high])
    }
}
