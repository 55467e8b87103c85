import Attribution
import Foundation
import SQLite
import SQLiteStorage
import Storage
import Support
import Testing

@Suite("Migrations")
struct MigrationTests {
    private typealias File = (name: String, text: String)

    private let own = SQLiteConfiguration(path: "", clock: .fixed(TestStore.noon)).migrations
    private let second: File = (
        "9001_second.sql", "CREATE TABLE second (a INTEGER) STRICT; INSERT INTO second VALUES (1)"
    )
    private let third: File = ("9002_third.sql", "UPDATE second SET a = a * 10 + 2")

    private func configuration(_ path: String, _ files: [File]) -> SQLiteConfiguration {
        var configuration = SQLiteConfiguration(path: path, clock: .fixed(TestStore.noon))
        configuration.hasBackgroundWork = false
        configuration.migrations = files
        return configuration
    }

    private func open(_ path: String, _ files: [File]) throws(StoreError) {
        try SQLiteStore.open(configuration(path, files)).stop(within: 60_000)
    }

    private func integer(_ path: String, _ sql: SQL) throws -> Int64 {
        try SQLiteConnection(path: path, access: .readOnly, busyMilliseconds: 0).integer(sql)
    }

    @Test("migrations are applied once each, in the order of their numbers")
    func appliesInOrder() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        try open(path, [third] + own.reversed() + [second])
        try open(path, own + [second, third])
        #expect(try integer(path, "SELECT a FROM second") == 12)
        #expect(try integer(path, "PRAGMA user_version") == 9002)
        #expect(
            try integer(path, "SELECT count(*) FROM migrations WHERE length(digest) = 32") == Int64(own.count)
                + 2
        )
    }

    @Test("a database of a newer program is refused, and stays unchanged")
    func refusesNewer() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        try open(path, own + [second])
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let error = #expect(throws: StoreError.self) { try open(path, own) }
        #expect(error?.code == .incompatible)
        #expect(error?.explanation.contains(path) == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test("a database that lists an unknown migration is refused, even if its version is known")
    func refusesUnknown() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        try open(path, own + [second])
        let connection = try SQLiteConnection(path: path, access: .readWrite, busyMilliseconds: 0)
        try connection.execute("PRAGMA user_version = \(own.count)")
        let error = #expect(throws: StoreError.self) { try open(path, own) }
        #expect(error?.code == .incompatible)
        #expect(error?.explanation.contains("migration 9001") == true)
        #expect(throws: StoreError.self) {
            try SQLiteStore.migrationPlan(configuration(path, own))
        }
    }

    @Test("a newer database that a kill left with its log is refused, and both files stay unchanged")
    func refusesNewerWithLog() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        try open(path, own + [second])
        do {
            let killed = try SQLiteConnection(path: path, access: .readWrite, busyMilliseconds: 0)
            try killed.setCheckpointOnClose(false)
            try killed.execute("UPDATE second SET a = 7")
        }
        let files = [path, path + "-wal"]
        let before = try files.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        #expect(before[1].count > 4096)
        #expect(throws: StoreError.self) { try open(path, own) }
        #expect(try files.map { try Data(contentsOf: URL(fileURLWithPath: $0)) } == before)
    }

    @Test("a migration that was changed after it was applied is refused")
    func refusesChanged() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        try open(path, own + [second])
        let changed: File = (second.name, second.text + " ")
        let error = #expect(throws: StoreError.self) { try open(path, own + [changed]) }
        #expect(error?.code == .incompatible)
        #expect(error?.explanation.contains(second.name) == true)
    }

    @Test("a database of the development versions before the first release is refused and unchanged")
    func refusesDevelopment() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        let former: [File] = [
            ("0001_clicks_claims_counters.sql", "CREATE TABLE clicks (id INTEGER PRIMARY KEY) STRICT"),
            ("0002_app_localizations.sql", "CREATE TABLE app_localizations (app INTEGER) STRICT"),
        ]
        for count in 1...2 {
            // Opening applies the migrations, and then fails: the tables that a store reads are missing.
            #expect(throws: StoreError.self) { try open(path, Array(former.prefix(count))) }
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            let error = #expect(throws: StoreError.self) { try open(path, own) }
            #expect(error?.code == .unsupported)
            #expect(error?.explanation.contains("\(path) was made by a development version") == true)
            #expect(throws: StoreError.self) {
                try SQLiteStore.migrationPlan(configuration(path, own))
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test("a migration that fails leaves the database at the previous migration")
    func undoesFailed() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        let broken: File = ("9002_broken.sql", "CREATE TABLE half (a); INSERT INTO nowhere VALUES (1)")
        #expect(throws: StoreError.self) { try open(path, own + [second, broken]) }
        #expect(try integer(path, "PRAGMA user_version") == 9001)
        #expect(try integer(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'") == 0)
        try open(path, own + [second, third])
        #expect(try integer(path, "SELECT a FROM second") == 12)
    }

    @Test("the database is copied before the first pending migration, unless it is new")
    func backsUp() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        try open(path, own + [second])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["a.db"])
        try open(path, own + [second, third])
        let backup = path + ".backup-9001-\(TestStore.noon.milliseconds)"
        #expect(try integer(backup, "SELECT a FROM second") == 1)
        #expect(try integer(backup, "PRAGMA user_version") == 9001)
        let attributes = try FileManager.default.attributesOfItem(atPath: backup)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("a copy has the name of a backup only when it is whole, and replaces what a killed process left")
    func replacesPartialCopy() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        try open(path, own + [second])
        let backup = path + ".backup-9001-\(TestStore.noon.milliseconds)"
        let draft = path + ".backup-partial"
        try Data("half".utf8).write(to: URL(fileURLWithPath: draft))
        // Another file has the name of the backup.
        try Data("other".utf8).write(to: URL(fileURLWithPath: backup))
        let error = #expect(throws: StoreError.self) { try open(path, own + [second, third]) }
        #expect(error?.explanation.contains("exists already") == true)
        #expect(!FileManager.default.fileExists(atPath: draft))
        #expect(try Data(contentsOf: URL(fileURLWithPath: backup)) == Data("other".utf8))
        try FileManager.default.removeItem(atPath: backup)
        try Data("half".utf8).write(to: URL(fileURLWithPath: draft))
        try open(path, own + [second, third])
        #expect(try integer(backup, "PRAGMA user_version") == 9001)
        #expect(!FileManager.default.fileExists(atPath: draft))
    }

    @Test("the plan lists applied and pending migrations and the copy's path; making it changes nothing")
    func plans() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        let new = try SQLiteStore.migrationPlan(configuration(path, own + [second]))
        let numbers = own.compactMap { Int64($0.name.prefix(4)) }
        #expect(new.pending.compactMap { Int64($0.prefix(4)) } == numbers.sorted() + [9001])
        #expect((new.applied, new.backupPath) == ([], nil))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])

        try open(path, own + [second])
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let plan = try SQLiteStore.migrationPlan(configuration(path, own + [second, third]))
        #expect(plan.applied == own.map(\.name) + [second.name])
        #expect(plan.pending == [third.name])
        #expect(plan.backupPath == path + ".backup-9001-\(TestStore.noon.milliseconds)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.db"])
        let none = try SQLiteStore.migrationPlan(configuration(path, own + [second]))
        #expect((none.pending, none.backupPath) == ([], nil))
    }

    @Test("the built-in migrations can be applied, and none is pending afterwards")
    func appliesEmbedded() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        try SQLiteStore.open(configuration(path, own)).stop(within: 60_000)
        let plan = try SQLiteStore.migrationPlan(configuration(path, own))
        #expect(plan.pending.isEmpty)
        #expect(plan.applied.count == own.count)
    }

    @Test("the migration that lets `erased_rows` name events keeps the names of other erased rows")
    func keepsErasedRows() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        try open(path, own.filter { $0.name < "0004" })
        let connection = try SQLiteConnection(path: path, access: .readWrite, busyMilliseconds: 0)
        try connection.execute(
            "INSERT INTO erased_rows VALUES (9, 'checks', -3, -4, 1, 2, 50), (7, 'clicks', 5, 6, 1, 2, 40)"
        )
        let event = "INSERT INTO erased_rows VALUES (12, 'events', 5, 0, 1, 2, 60)"
        #expect(throws: SQLiteError.self) { try connection.execute(event) }
        try open(path, own)
        try connection.execute(event)
        #expect(throws: SQLiteError.self) {
            try connection.execute("INSERT INTO erased_rows VALUES (13, 'links', 5, 0, 1, 2, 60)")
        }
        let rows = try connection.prepare("SELECT * FROM erased_rows ORDER BY number").all { row in
            [row.integer(0).description, row.text(1)] + (2..<7).map { row.integer($0).description }
        }
        #expect(
            rows.map { $0.joined(separator: " ") } == [
                "7 clicks 5 6 1 2 40", "9 checks -3 -4 1 2 50", "12 events 5 0 1 2 60",
            ]
        )
    }

    @Test("the migrations make the schema that Migrations/SQLite/schema.sql shows")
    func schemaFile() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        try open(path, own)
        let connection = try SQLiteConnection(path: path, access: .readOnly, busyMilliseconds: 0)
        let statements = try connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").all {
            $0.text(0) + ";\n"
        }
        let first = try #require(own.min { $0.name < $1.name }).text
        let preface = first.split(separator: "\n", omittingEmptySubsequences: false).prefix {
            $0.hasPrefix("--")
        }
        let schema =
            ([Self.notice, preface.joined(separator: "\n") + "\n"] + statements).joined(separator: "\n")
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Migrations/SQLite/schema.sql").standardizedFileURL
        let isCurrent = (try? String(contentsOf: file, encoding: .utf8)) == schema
        if !isCurrent { try? schema.write(to: file, atomically: true, encoding: .utf8) }
        #expect(isCurrent, "Migrations/SQLite/schema.sql was not current. The test wrote it: commit it.")
    }

    private static let notice =
        "-- The schema that all migrations make. A test writes this file: change a migration instead.\n"
}
