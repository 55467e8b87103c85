import Foundation
import Support
import Testing
import afterlink

@Suite("The output of commands", .blocking)
struct TerminalTests {
    private static let rude = "\u{1B}[31mred\u{9B}2J\u{202E}txt\r\u{7}"

    @Test("characters that steer a terminal are printed as escapes of JSON, and no other characters are")
    func printable() {
        #expect(Console.printable("Größe\t1 🐻\n") == "Größe\t1 🐻\n")
        #expect(Console.printable(Self.rude) == #"\u001b[31mred\u009b2J\u202etxt\u000d\u0007"#)
    }

    @Test("failures never steer the terminal by the arguments that they repeat")
    func commands() throws {
        let installation = try Installation()
        for words in [
            ["apps", "create", Self.rude], ["apps", "set", "--app", Self.rude, "--name", "x"],
            ["keys", "create", "--kind", "app", "--label", Self.rude],
            ["keys", "create", "--kind", Self.rude], ["keys", "revoke", Self.rude],
            ["stats", "--from", Self.rude], ["stats", "--app", Self.rude], ["stats", Self.rude], [Self.rude],
            ["apps", Self.rude], ["help", Self.rude], ["stats", "--\(Self.rude)"],
            ["serve", "--listen", Self.rude], ["serve", "--config", Self.rude],
        ] {
            let output = try Installation.run(
                words + [
                    "--database",
                    words.first == "serve" ? "/dev/null/\(Self.rude)" : installation.database.path,
                ]
            )
            #expect(output.status != 0)
            expectHarmless(output)
        }
    }

    @Test("values of clients never steer the terminal, and are unchanged in JSON")
    func campaigns() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        let campaign = "\u{1B}[31mred\u{9B}2J\u{202E}"
        #expect(try server.connect().click(fingerprint(1), ["campaign_key": campaign]).status == 201)
        let table = try installation.run(["stats"])
        #expect(table.status == 0 && table.text.contains("red"))
        expectHarmless(table)
        let json = try installation.run(["stats", "--json"])
        expectHarmless(json)
        let object = try JSONSerialization.jsonObject(with: json.standardOutput) as? [String: Any]
        let campaigns = object?["campaigns"] as? [[String: Any]]
        #expect(campaigns?.first?["campaign"] as? String == campaign)
    }

    @Test("the failure for a wrong option states the option's rule")
    func wrongValue() throws {
        let installation = try Installation()
        let output = try installation.run(["stats", "--from", "yesterday"])
        #expect(output.status == 2)
        #expect(output.errors.contains("--from \"yesterday\" must be a time such as 2026-01-31"))
        #expect(!output.errors.contains("changed"))
    }

    private func expectHarmless(
        _ output: ChildProcess.Output,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for text in [output.text, output.errors] {
            let steers = text.unicodeScalars.filter { scalar in
                scalar.value < 0x20 && scalar != "\n" || (0x7F...0x9F).contains(scalar.value)
                    || (0x202A...0x202E).contains(scalar.value)
            }
            #expect(steers.isEmpty, "\(text.debugDescription)", sourceLocation: sourceLocation)
        }
    }
}
