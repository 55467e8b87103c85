import Foundation
import SQLite
import Support
import Testing

/// Commands on an existing file that is not a database.
@Suite("A file that is not a database", .blocking)
struct UnusableDatabaseTests {
    private static let commands = [
        "verify", "stats", "apps list", "keys list", "migrate", "backup copy.db", "apps create Shop",
        "apps set --open-clicks off", "keys create --kind admin",
    ]

    private func run(_ command: String, on content: String) throws -> ChildProcess.Output {
        let folder = try TemporaryFolder()
        let path = folder.file("some.db")
        try Data(content.utf8).write(to: URL(fileURLWithPath: path))
        try setMode(0o600, of: path)
        try setMode(0o700, of: folder.path)
        let words = command.split(separator: " ").map(String.init)
        let output = try Installation.run(words + ["--database", path])
        #expect(try String(contentsOfFile: path, encoding: .utf8) == content, "the file stays unchanged")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["some.db"])
        return output
    }

    private func runWithinModes(_ words: [String], on installation: Installation) throws
        -> ChildProcess.Output
    { try Installation.runWithinModes(words + ["--database", installation.database.path]) }

    @Test("an empty file is refused, with the command that creates a database", arguments: commands)
    func empty(command: String) throws {
        let output = try run(command, on: "")
        #expect(output.status == 1)
        #expect(output.text.isEmpty)
        #expect(output.errors.contains("some.db is missing or empty."))
        #expect(output.errors.contains("`afterlink init`"))
    }

    @Test("a file with other bytes is refused as no SQLite database", arguments: commands)
    func text(command: String) throws {
        let output = try run(command, on: "some words that are no database")
        #expect(output.status == 1)
        #expect(output.text.isEmpty)
        #expect(output.errors.contains("is not a SQLite database, or its beginning is damaged."))
        #expect(output.errors.contains("Restore a backup, or name another database with --database."))
        #expect(!output.errors.contains("key"))
    }

    @Test(
        "`doctor` reports a file that is not a database as a problem",
        arguments: ["", "some words that are no database"]
    )
    func doctor(content: String) throws {
        let output = try run("doctor", on: content)
        #expect(output.status == 1)
        #expect(output.text.contains("problem  database: the database "))
        #expect(!output.text.contains(".;"))
    }

    @Test(
        "a missing backup, or a backup that is not a database, is not restored",
        arguments: ["", "some words that are no database"]
    )
    func restore(content: String) throws {
        let folder = try TemporaryFolder()
        let output = try run("restore \(folder.file("backup.db"))", on: content)
        #expect(output.errors.contains("There is no backup at"))
        try Data(content.utf8).write(to: URL(fileURLWithPath: folder.file("backup.db")))
        let refused = try Installation.run([
            "restore", folder.file("backup.db"), "--database", folder.file("new.db"),
        ])
        #expect(refused.status == 1)
        #expect(
            refused.errors.contains("backup.db is missing or empty.")
                || refused.errors.contains("is not a SQLite database")
        )
        #expect(!refused.errors.contains("key"))
    }

    @Test(
        "a database that this user may not open is not reported as missing or as a fault of the disk",
        arguments: [
            ("afterlink.db", "Permission denied"), ("afterlink.db-shm", "check owners and modes"),
            (".", "cannot be opened"),
        ]
    )
    func outOfReach(name: String, says: String) throws {
        let installation = try Installation()
        let path = installation.folder.appending(path: name).path
        try setMode(0, of: path)
        defer { try? setMode(0o700, of: path) }
        let output = try runWithinModes(["stats"], on: installation)
        #expect(output.status == 1)
        #expect(output.errors.contains(says))
        #expect(!output.errors.contains("There is no") && !output.errors.contains("the disk"))
        #expect(output.errors.contains("user that Afterlink runs as"))
    }

    @Test("a start that refuses a file does not change its mode", arguments: ["pipe", "text", "database"])
    func modes(kind: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("some.db")
        switch kind {
        case "pipe": #expect(unsafe mkfifo(path, 0o600) == 0)
        case "text": try Data("some words that are no database".utf8).write(to: URL(fileURLWithPath: path))
        default:
            try Data().write(to: URL(fileURLWithPath: path))
            // The database of another program.
            let connection = try SQLiteConnection(path: path, access: .readWrite, busyMilliseconds: 0)
            try connection.execute("CREATE TABLE visitors (name TEXT)")
        }
        try setMode(0o666, of: path)
        let output = try Installation.run(["serve", "--listen", "127.0.0.1:0", "--database", path])
        #expect(output.errors.contains("Nothing was changed."), "\(output.errors)")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o666)
    }

    @Test("files in a directory that this user may not enter are not reported as missing")
    func closedDirectory() throws {
        let installation = try Installation(isCopy: true)
        let folder = installation.folder.path
        try setMode(0, of: folder)
        defer { try? setMode(0o700, of: folder) }
        for command in [["doctor"], ["server-key", "list"], ["serve", "--listen", "127.0.0.1:0"]] {
            let output = try runWithinModes(command, on: installation)
            let text = output.text + output.errors
            #expect(output.status == 1, "\(text)")
            #expect(text.contains("Permission denied"), "\(text)")
            #expect(!text.contains("missing") && !text.contains("there is no database"), "\(text)")
        }
    }

    @Test("the server keys of a database that does not exist are not reported as lost")
    func noDatabase() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("misspelt.db")
        let output = try Installation.run(["server-key", "list", "--database", path])
        #expect(output.status == 1)
        #expect(output.errors.hasPrefix("afterlink: There is no database at \(path).\n"))
    }

    @Test("a start on a read-only database creates no file, and works when the file can be written to again")
    func readOnlyDatabase() throws {
        let installation = try Installation()
        // If these files exist, the log is empty. SQLite would create both again, with the mode of the database.
        for end in ["-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: installation.database.path + end)
        }
        let files = { try FileManager.default.contentsOfDirectory(atPath: installation.folder.path).sorted() }
        let before = try files()
        try setMode(0o400, of: installation.database.path)
        let addresses = ["--listen", "127.0.0.1:0", "--dashboard-listen", "off"]
        let refused = try runWithinModes(["serve"] + addresses, on: installation)
        #expect(refused.status == 1)
        #expect(refused.errors.contains("cannot be written to; check its mode and its owner"))
        #expect(try files() == before)
        // A command that reads may create files with the mode of the database.
        _ = try runWithinModes(["stats"], on: installation)
        try setMode(0o600, of: installation.database.path)
        let output = try runWithinModes(["keys", "create", "--kind", "admin"], on: installation)
        #expect(output.status == 0, "\(output.errors)")
    }

    @Test("a database without its server key is reported without a stray full stop")
    func missingKey() throws {
        let installation = try Installation()
        try FileManager.default.removeItem(atPath: installation.database.path + ".key")
        for command in ["verify", "doctor"] {
            let output = try installation.run([command])
            #expect(output.status == 1)
            #expect(output.text.contains("server_key: the server key "))
            #expect(output.text.contains("; restore it from the backup"))
            #expect(!output.text.contains(".;") && !output.text.contains("file.\n"))
        }
    }
}
