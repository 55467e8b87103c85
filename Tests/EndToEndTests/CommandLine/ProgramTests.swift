import Foundation
import Support
import Testing
import afterlink

/// The outputs and exit codes that scripts rely on.
@Suite("The program", .blocking)
struct ProgramTests {
    @Test("help and version go to standard output and end with 0")
    func help() throws {
        for command in Program.standard.commands.map(\.name) {
            let words = command.split(separator: " ").map(String.init)
            let asked = try Installation.run(["help"] + words)
            #expect(asked.status == 0 && asked.errors.isEmpty)
            for flag in ["--help", "-h"] {
                #expect(try Installation.run(words + [flag]).standardOutput == asked.standardOutput)
            }
        }
        #expect(try Installation.run(["--help"]).text == Installation.run(["help"]).text)
        #expect(try Installation.run(["apps", "--help"]).text == Installation.run(["help", "apps"]).text)
        #expect(try Installation.run(["--version"]).text == Installation.run(["version"]).text)
        #expect(try Installation.run(["version", "--json"]).text.hasPrefix("{\"version\":\""))
        #expect(try Installation.run(["help", "settings"]).text.contains("AFTERLINK_LISTEN"))
    }

    @Test(
        "a wrong command line ends with 2 and advice on standard error",
        arguments: [
            ([], "Usage: afterlink COMMAND"), (["srve"], "Did you mean `afterlink serve`?"),
            (["serve", "--listn"], "Did you mean --listen?"), (["apps"], "afterlink apps create"),
            (["apps", "lst"], "Did you mean `afterlink apps list`?"),
            (["help", "srve"], "Did you mean `afterlink serve`?"),
            (["serve", "now"], "`afterlink help serve`"),
            (["banana"], "`afterlink help` lists the commands."),
        ]
    )
    func wrongUse(words: [String], says: String) throws {
        let output = try Installation.run(words)
        #expect(output.status == 2)
        #expect(output.text.isEmpty)
        #expect(output.errors.contains(says))
    }

    @Test("a wrong setting ends with 78 and creates no file")
    func wrongConfiguration() throws {
        let folder = try TemporaryFolder()
        let words = ["serve", "--database", folder.file("x.db"), "--listen", "nowhere"]
        let output = try Installation.run(words, environment: ["AFTERLINK_RETENTION": "x"])
        #expect(output.status == 78)
        #expect(
            output.errors.contains("--listen \"nowhere\"")
                && output.errors.contains("AFTERLINK_RETENTION \"x\"")
        )
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        #expect(try Installation.run(["serve", "--config", folder.file("none.json")]).status == 78)
        #expect(try Installation.run(["serve", "--database", "postgres://u:secret@h/d"]).status == 78)
    }

    @Test(
        "a wrong command line is reported before wrong settings and a missing database",
        arguments: [
            "apps create --open-clicks maybe Shop", "apps create --name Shop Shop", "apps set",
            "apps set --open-clicks maybe", "apps set --name ", "backup", "backup folder/",
            "doctor --request-from nowhere", "doctor --forwarded-for 203.0.113.9", "keys create",
            "keys create --kind none", "keys create --kind app --expires never", "keys revoke none",
            "restore", "serve now", "stats --interval week", "stats --from yesterday",
            "stats --from 2026-02-01 --to 2026-01-01",
        ]
    )
    func wrongUseFirst(command: String) throws {
        let words = command.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        for settings in [["--database", "postgres://u:secret@h/d"], ["--database", "/nowhere/x.db"]] {
            let output = try Installation.run(words + settings)
            #expect(output.status == 2)
            #expect(!output.errors.contains("setting is wrong") && !output.errors.contains("no database"))
        }
    }

    @Test(
        "a command on a missing database reports that the database is missing, and creates no file",
        arguments: [
            "apps list", "stats", "migrate", "verify", "backup copy.db", "keys list", "apps create Shop",
            "apps set --open-clicks off", "keys create --kind admin",
            "keys revoke key_01jz8w6t7n3k5m9q2r4v6x8y0z",
        ]
    )
    func noDatabase(command: String) throws {
        let folder = try TemporaryFolder()
        let words = command.split(separator: " ").map(String.init)
        let output = try Installation.run(words + ["--database", folder.file("x.db")])
        #expect(output.status == 1)
        #expect(output.errors.contains("There is no database at "))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("the help says that only `serve` and `init` create the database")
    func madeDatabase() throws {
        for command in Program.standard.commands where command.settings.contains("database") {
            let help = HelpText.command(command).split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(help.contains("`serve` and `init` create if it is missing"))
            #expect(!help.contains("It is created when"))
        }
    }

    @Test("migrate shows the applied migrations and the pending migrations")
    func migrate() throws {
        let installation = try Installation()
        for words in [["migrate", "--dry-run", "--json"], ["migrate", "--json"]] {
            let output = try installation.run(words)
            #expect(output.status == 0)
            let plan = try JSONSerialization.jsonObject(with: output.standardOutput) as? [String: Any]
            #expect((plan?["applied"] as? [String])?.first?.hasPrefix("0001_") == true)
            #expect((plan?["pending"] as? [String])?.isEmpty == true)
        }
        #expect(try installation.run(["migrate"]).text.contains("The database is up to date."))
    }

    @Test("the demo plays its whole sequence, and ends with 0")
    func demo() throws {
        let output = try Installation.run(["demo"])
        #expect(output.status == 0, "\(output.errors)")
        for part in [
            "< 201 Created", "< 401 Unauthorized", "\"status\": \"match\"", "\"status\": \"no_match\"",
            "SUMMER25", "(The demo serves with --replay-grace 0.",
        ] { #expect(output.text.contains(part)) }
        #expect(
            output.text.hasSuffix("Every response was right: one click, one match, and no second match.\n")
        )
        #expect(output.errors.isEmpty)
    }
}
