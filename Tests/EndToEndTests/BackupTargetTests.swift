import Foundation
import Support
import Testing

@Suite("The target of a backup", .blocking)
struct BackupTargetTests {
    @Test(
        "with --overwrite, a backup replaces no key, no text, no pipe, no folder and no symbolic link",
        arguments: ["key", "letter", "pipe", "folder", "link"]
    )
    func refusesTargets(kind: String) throws {
        let installation = try Installation()
        let files = FileManager.default
        let target = kind == "key" ? installation.database.path + ".key" : installation.backup
        switch kind {
        case "letter": try Data("dear reader".utf8).write(to: URL(fileURLWithPath: target))
        // Only the owner has rights; the path is valid during the call.
        case "pipe": #expect(unsafe mkfifo(target, 0o600) == 0)
        case "folder": try files.createDirectory(atPath: target, withIntermediateDirectories: false)
        case "link":
            let letter = installation.folder.appending(path: "letter")
            try Data("dear reader".utf8).write(to: letter)
            try files.createSymbolicLink(atPath: target, withDestinationPath: letter.path)
        default: break
        }
        let before = try files.attributesOfItem(atPath: target)
        let output = try installation.run(["backup", target, "--overwrite", "--without-server-key"])
        #expect(output.status == 1, "\(output.text)")
        #expect(output.errors.contains(target))
        let after = try files.attributesOfItem(atPath: target)
        #expect(after[.systemFileNumber] as? Int == before[.systemFileNumber] as? Int)
        #expect(after[.size] as? Int == before[.size] as? Int)
        #expect(try installation.run(["verify"]).status == 0)
    }

    @Test("a backup does not change a served database that has the name of an unfinished copy")
    func sparesDatabases() throws {
        let installation = try Installation()
        for (name, suffix) in [("one", ".partial"), ("two", ".afterlink-partial")] {
            let path = installation.folder.appending(path: name).path
            let settings = ["--database", path + suffix]
            #expect(try Installation.run(["init"] + settings).status == 0)
            let server = try ChildProcess(
                Installation.binary,
                ["serve", "--listen", "127.0.0.1:0"] + settings,
                errorLog: installation.folder.appending(path: "log")
            )
            #expect(server.line(containing: "listening on") != nil)
            _ = try Installation.run(["backup", path] + settings)
            // A backup of another installation to the same path does not change the database either.
            _ = try installation.run(["backup", path])
            server.send(SIGTERM)
            #expect(server.waitUntilExit() == 0)
            #expect(try Installation.run(["verify"] + settings).status == 0)
        }
    }

    @Test("a restore does not empty its backup, whatever the backup's name")
    func sparesBackups() throws {
        let installation = try Installation()
        #expect(try installation.run(["backup", installation.backup]).status == 0)
        let target = installation.folder.appending(path: "other.db").path
        for suffix in [".partial", ".afterlink-partial"] {
            let backup = target + suffix
            try FileManager.default.copyItem(atPath: installation.backup, toPath: backup)
            try FileManager.default.copyItem(atPath: installation.backup + ".key", toPath: backup + ".key")
            let before = try Data(contentsOf: URL(fileURLWithPath: backup))
            _ = try Installation.run(["restore", backup, "--database", target, "--overwrite"])
            #expect(try Data(contentsOf: URL(fileURLWithPath: backup)) == before)
        }
    }
}
