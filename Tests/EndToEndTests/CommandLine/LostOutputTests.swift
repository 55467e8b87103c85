import Foundation
import Support
import Testing

/// Commands whose standard output is closed or full.
@Suite("Lost output", .blocking)
struct LostOutputTests {
    private static let kinds = ["closed", "full", "unread"]

    /// Runs a command, and returns its exit status and its standard error.
    private func run(_ words: [String], output kind: String) throws -> (status: Int32, errors: String) {
        let redirections = ["closed": ">&-", "full": ">/dev/full"]
        let (unread, errors) = (Pipe(), Pipe())
        try unread.fileHandleForReading.close()
        let process = try SpawnedProgram(
            URL(filePath: "/usr/bin/env"),
            // SIGPIPE has its default action, whatever the action in the tests' process.
            ["--default-signal=PIPE", "/bin/sh", "-c", "exec \"$0\" \"$@\" \(redirections[kind] ?? "")"]
                + [Installation.binary.path] + words,
            (.none, .pipe(unread.fileHandleForWriting), .pipe(errors.fileHandleForWriting))
        )
        let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        return (process.waitUntilExit(), text)
    }

    @Test("the failure names a new key, with the command that revokes the key", arguments: kinds)
    func key(kind: String) throws {
        let installation = try Installation()
        let database = ["--database", installation.database.path]
        let output = try run(["keys", "create", "--kind", "app"] + database, output: kind)
        #expect(output.status == 1)
        #expect(output.errors.contains("was created, but could not be printed."))
        let advice = try #require(output.errors.components(separatedBy: "`afterlink ").dropFirst().first)
        let words = advice.prefix { $0 != "`" }.split(separator: " ").map(String.init)
        #expect(words.starts(with: ["keys", "revoke"]))
        let revoked = try installation.run(words)
        #expect(revoked.status == 0 && revoked.text.hasPrefix("Revoked key_"))
    }

    @Test("the failure names a new endpoint, with the command that makes another secret", arguments: kinds)
    func endpoint(kind: String) throws {
        let installation = try Installation()
        let database = ["--database", installation.database.path]
        let create = ["postbacks", "create", "--url", "https://example.com/hooks", "--type", "match.created"]
        let output = try run(create + database, output: kind)
        #expect(output.status == 1)
        #expect(output.errors.contains("was created, but could not be printed."))
        let advice = try #require(output.errors.components(separatedBy: "`afterlink ").dropFirst().first)
        let words = advice.prefix { $0 != "`" }.split(separator: " ").map(String.init)
        #expect(words.starts(with: ["postbacks", "rotate"]))
        #expect(try installation.run(words).text.hasPrefix("The new secret, shown only now: whsec_"))
        let rotated = try run(words + database, output: kind)
        #expect(rotated.status == 1 && rotated.errors.contains("was replaced, but could not be printed."))
    }

    @Test("findings of `doctor` that could not be printed are reported", arguments: ["closed", "full"])
    func findings(kind: String) throws {
        let installation = try Installation()
        try FileManager.default.removeItem(atPath: installation.database.path + ".key")
        for command in ["doctor", "verify"] {
            let output = try run([command, "--database", installation.database.path], output: kind)
            #expect(output.status == 1)
            #expect(output.errors.contains("has failed, and its output could not be written."))
        }
    }

    @Test("the failure names a new app, which exists", arguments: kinds)
    func app(kind: String) throws {
        let installation = try Installation()
        let database = ["--database", installation.database.path]
        let output = try run(["apps", "create", "Shop"] + database, output: kind)
        #expect(output.status == 1)
        #expect(
            output.errors.contains("The app \"Shop\", app_") && output.errors.contains("was created, but")
        )
        #expect(output.errors.contains("`afterlink apps list`"))
        #expect(try installation.run(["apps", "list"]).text.contains("Shop"))
    }

    @Test("the failure names a new database whose keys were lost, and the files to delete", arguments: kinds)
    func database(kind: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("new.db")
        let output = try run(["init", "--database", path], output: kind)
        #expect(output.status == 1)
        #expect(output.errors.contains("its keys could not be printed."))
        #expect(output.errors.contains("Delete \(path) and \(path).key"))
        #expect(try Installation.run(["verify", "--database", path]).status == 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            try FileManager.default.removeItem(atPath: folder.file(name))
        }
        #expect(try Installation.run(["init", "--database", path]).status == 0)
    }

    @Test("a service continues, writes its keys into no log, and logs that the keys were not printed")
    func service() throws {
        let folder = try TemporaryFolder()
        let log = folder.file("afterlink.log")
        let server = try ChildProcess(
            URL(fileURLWithPath: "/bin/sh"),
            [
                "-c", "exec \"$0\" \"$@\" >&-", Installation.binary.path, "serve", "--listen", "127.0.0.1:0",
                "--data-directory", folder.path, "--log-file", log,
            ],
            errorLog: folder.url.appending(path: "errors")
        )
        func logged() -> String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
        #expect(Polling.until { logged().contains("could not be printed") })
        #expect(logged().contains("`afterlink keys create`"))
        server.send(SIGTERM)
        #expect(server.waitUntilExit() == 0)
        #expect(!logged().contains("They are shown only now") && !logged().contains("Bearer"))
        let database = ["--database", folder.file("afterlink.db")]
        #expect(try Installation.run(["verify"] + database).status == 0)
    }
}
