import Foundation
import Support
import Testing

@Suite("Restore", .blocking)
struct RestoreTests {
    /// Returns an installation with a backup of it.
    private func backedUp() throws -> Installation {
        let installation = try Installation()
        #expect(try installation.run(["backup", installation.backup]).status == 0)
        return installation
    }

    @Test("a restore is refused while a server has the database open, and over an existing database")
    func refused() throws {
        let installation = try backedUp()
        let server = try AfterlinkProcess(installation)
        for words in [[], ["--overwrite"]] {
            let output = try installation.run(["restore", installation.backup] + words)
            #expect(output.status == 1)
            #expect(output.errors.contains("process \(server.identifier) has"), "\(output.errors)")
        }
        #expect(try server.connect().click(fingerprint(1)).status == 201)
        server.kill()
        let output = try installation.run(["restore", installation.backup])
        #expect(output.status == 1 && output.errors.contains("exists already"))
    }

    @Test("a restore with --overwrite keeps the previous database with its log, and serves the backup")
    func movesAside() throws {
        let installation = try backedUp()
        let server = try AfterlinkProcess(installation)
        #expect(try server.connect().click(fingerprint(1)).status == 201)
        // Only the previous database's log has the click; the log must not be applied to the restored database.
        server.kill()
        let output = try installation.run(["restore", installation.backup, "--overwrite", "--json"])
        #expect(output.status == 0, "\(output.errors)")
        let json = try #require(JSONSerialization.jsonObject(with: output.standardOutput) as? [String: Any])
        let aside = try #require(json["replaced"] as? String)
        #expect(json["clicks"] as? Int == 0)
        #expect(try installation.run(["verify"]).status == 0)
        let second = try AfterlinkProcess(installation, ["--replay-grace", "0"])
        #expect(try second.connect().check(fingerprint(1)).isNoMatch)
        second.kill()

        // The previous database is restored, with the clicks after the backup.
        #expect(try installation.run(["restore", aside, "--overwrite"]).errors.contains("afterlink backup"))
        let whole = aside + ".copy"
        #expect(try Installation.run(["backup", whole, "--database", aside]).status == 0)
        let again = try installation.run(["restore", whole, "--overwrite"])
        #expect(again.status == 0, "\(again.errors)")
        let third = try AfterlinkProcess(installation, ["--replay-grace", "0"])
        #expect(try third.connect().check(fingerprint(1)).isMatch)
    }

    @Test(
        "a damaged, incomplete or newer backup, or another program's, is refused, and nothing changes",
        arguments: ["page", "half", "application", "version", "text", "log"]
    )
    func refusesBackups(damage: String) throws {
        let installation = try backedUp()
        let file = URL(fileURLWithPath: installation.backup)
        var content = try Data(contentsOf: file)
        switch damage {
        case "page": content.replaceSubrange(8 * 4096..<8 * 4096 + 64, with: Data(repeating: 0xAA, count: 64))
        case "half": content = content.prefix(content.count / 2)
        case "application": content.replaceSubrange(68..<72, with: [1, 2, 3, 4])
        case "version": content.replaceSubrange(60..<64, with: [0, 0, 0x27, 0x0F])
        case "log": try Data([1]).write(to: URL(fileURLWithPath: installation.backup + "-wal"))
        default: content = Data("this is no database, but a letter of some length".utf8)
        }
        try content.write(to: file)
        let before = try Data(contentsOf: installation.database)
        let output = try installation.run(["restore", installation.backup, "--overwrite"])
        #expect(output.status == 1)
        #expect(output.errors.contains("Nothing was restored"), "\(output.errors)")
        #expect(try Data(contentsOf: installation.database) == before)
        let names = try FileManager.default.contentsOfDirectory(atPath: installation.folder.path)
        #expect(!names.contains { $0.contains("partial") || $0.contains("replaced") })
    }

    @Test("a restore with --overwrite moves another key aside, also to another file system")
    func keyElsewhere() throws {
        let installation = try backedUp()
        let folder = "/dev/shm/afterlink-\(UUID().uuidString)"
        let files = FileManager.default
        try files.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? files.removeItem(atPath: folder) }
        let (key, other) = (folder + "/server.key", Data((String(repeating: "ab", count: 32) + "\n").utf8))
        #expect(files.createFile(atPath: key, contents: other, attributes: [.posixPermissions: 0o600]))
        let words = ["restore", installation.backup, "--overwrite", "--server-key-file", key]
        let output = try installation.run(words)
        #expect(output.status == 0, "\(output.errors)")
        #expect(files.contents(atPath: key) == files.contents(atPath: installation.backup + ".key"))
        let names = try files.contentsOfDirectory(atPath: installation.folder.path)
        let aside = try #require(names.first { $0.contains(".replaced-") && $0.hasSuffix(".key") })
        #expect(files.contents(atPath: installation.folder.path + "/" + aside) == other)
    }

    @Test("a restore is not affected by a log without its database")
    func strayLog() throws {
        let installation = try backedUp()
        let server = try AfterlinkProcess(installation)
        #expect(try server.connect().click(fingerprint(1)).status == 201)
        server.kill()
        try FileManager.default.removeItem(at: installation.database)
        let output = try installation.run(["restore", installation.backup])
        #expect(output.status == 0 && output.text.contains("-wal."), "\(output.errors)")
        #expect(try installation.run(["verify"]).status == 0)
        let second = try AfterlinkProcess(installation, ["--replay-grace", "0"])
        #expect(try second.connect().check(fingerprint(1)).isNoMatch)
    }
}

@Suite("The command verify", .blocking)
struct VerifyCommandTests {
    @Test("`verify` finds nothing wrong in a database in use, and prints all steps as JSON")
    func whileServing() throws {
        let (installation, _, connection) = try Installation.serving()
        for number in 1...20 { #expect(try connection.click(fingerprint(number)).status == 201) }
        for number in 1...10 { #expect(try connection.check(fingerprint(number)).isMatch) }
        let output = try installation.run(["verify", "--json"])
        #expect(output.status == 0, "\(output.text)")
        let json = try #require(JSONSerialization.jsonObject(with: output.standardOutput) as? [String: Any])
        #expect(json["ok"] as? Bool == true)
        let checks = try #require(json["checks"] as? [[String: Any]])
        #expect(checks.count == 10 && checks.allSatisfy { $0["ok"] as? Bool == true })
    }

    @Test("`verify` fails for a damaged page with advice, and for a file that is no database or is missing")
    func fails() throws {
        let installation = try Installation()
        let file = try FileHandle(forUpdating: installation.database)
        try file.seek(toOffset: 8 * 4096)
        try file.write(contentsOf: Data(repeating: 0xAA, count: 64))
        try file.close()
        let output = try installation.run(["verify"])
        #expect(output.status == 1)
        let line = output.text.split(separator: "\n").first { $0.hasPrefix("problem  integrity: ") }
        #expect(line?.contains("restore the newest backup") == true, "\(output.text)")
        try Data("no database".utf8).write(to: installation.database)
        #expect(try installation.run(["verify"]).status == 1)
        try FileManager.default.removeItem(at: installation.database)
        #expect(try installation.run(["verify"]).errors.contains("There is no database"))
    }

    @Test("a missing server key is a finding of `verify`")
    func missingKey() throws {
        let installation = try Installation()
        try FileManager.default.removeItem(atPath: installation.database.path + ".key")
        let output = try installation.run(["verify"])
        #expect(output.status == 1)
        #expect(output.text.contains("problem  server_key: "))
    }
}
