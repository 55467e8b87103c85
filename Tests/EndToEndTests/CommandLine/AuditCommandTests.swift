import Foundation
import Support
import Testing

/// The audit log and read keys on the command line.
@Suite("Audit log and read keys on the command line", .blocking)
struct AuditCommandTests {
    private struct Log: Decodable {
        struct Entry: Decodable {
            struct Actor: Decodable {
                let kind: String
                let name: String
            }
            let action: String
            let actor: Actor
        }
        let entries: [Entry]
    }

    @Test("every command that changes something is in the log, with the system's user")
    func commands() throws {
        let installation = try Installation()
        for arguments in [
            ["apps", "set", "--destination", "shop://"], ["apps", "create", "Other"],
            ["keys", "create", "--kind", "read", "--app", installation.appID, "--label", "wall"],
            ["links", "create", "spring", "--app", installation.appID, "--destination", "shop://spring"],
            ["links", "set", "spring", "--title", "Spring"], ["links", "archive", "spring"],
            ["links", "restore", "spring"], ["links", "delete", "spring"],
            ["model", "reset", "--app", installation.appID], ["server-key", "rotate"],
        ] {
            var arguments = arguments
            if arguments[1] == "set", arguments[0] == "apps" { arguments += ["--app", installation.appID] }
            let output = try installation.run(arguments)
            #expect(output.status == 0, "\(arguments): \(output.errors)")
        }
        let output = try installation.run(["audit", "--json"])
        let log = try JSONDecoder().decode(Log.self, from: output.standardOutput)
        #expect(
            Set(log.entries.map(\.action)) == [
                "app.create", "app.set", "key.create", "link.create", "link.set", "link.archive",
                "link.restore", "link.delete", "model.reset", "server_key.rotate",
            ]
        )
        #expect(log.entries.allSatisfy { $0.actor.kind == "command" && $0.actor.name == NSUserName() })
        #expect(output.text.contains(#""before":{"destinations":"#) == false)
        for key in [installation.keys.admin, installation.keys.app] { #expect(!output.text.contains(key)) }
        let table = try installation.run(["audit", "--action", "link.set", "--limit", "1"])
        #expect(table.text.contains(#"{"title":"Spring"}"#) && table.text.hasPrefix("TIME"))
        #expect(try installation.run(["audit", "--until", "2001-01-01", "--json"]).text.contains("[]"))
        let wrong = try installation.run(["audit", "--action", "link.sett"])
        #expect(wrong.status == 2 && wrong.errors.contains("link.set"))
    }

    @Test("a read key belongs to one app or to all apps, and --all-apps is refused for other keys")
    func readKeys() throws {
        let installation = try Installation()
        let one = try installation.run(["keys", "create", "--kind", "read"])
        #expect(one.status == 0 && one.text.hasPrefix("read_") && one.errors.contains("of the app"))
        let all = try installation.run(["keys", "create", "--kind", "read", "--all-apps"])
        #expect(all.status == 0 && all.errors.contains("for all apps"))
        for arguments in [
            ["--kind", "admin", "--all-apps"], ["--kind", "read", "--all-apps", "--app", "app"],
        ] {
            let output = try installation.run(["keys", "create"] + arguments)
            #expect(output.status == 2 && output.errors.contains("--all-apps is for a read key"))
        }
    }
}
