internal import Attribution
internal import JSON

/// The command `afterlink verify`.
enum VerifyCommand {
    static let description = CommandDescription(
        name: "verify",
        summary: "Compare the database with itself",
        discussion: [
            "Reads the whole database as of one moment, also while a service uses it, and changes nothing: pages and"
                + " indexes, references, migrations, the server key, claims against clicks, what can be matched, and"
                + " counts. Exit status 0 only when all is well.",
            "Counts must not be lower than the clicks and matches that are held, hours must add up to days, and days to"
                + " the whole. Counts move in the transaction of what they count: wrong ones mean a defect or damage, and"
                + " damage means a backup.",
        ],
        options: [.jsonObject],
        settings: CommandDatabase.settings + ["server-key-file"],
        examples: ["afterlink verify --database /var/backups/afterlink.db": "Is this backup good?"],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let configuration = try ConfigurationReader.read(invocation)
        try CommandDatabase.require(configuration)
        let outcome = Outcome(database: configuration.databasePath, checks: try checks(configuration))
        Console.print(invocation.arguments.has("json") ? outcome.json : outcome.text)
        return outcome.isWhole ? .success : .failed
    }

    private static func checks(_ configuration: Configuration) throws(CommandFailure) -> [VerifiedCheck] {
        var keys: [ServerKey] = []
        var failure: CommandFailure?
        do {
            keys = try KeyCopy(server: configuration.serverKeyPath).keys
        } catch {
            failure = CommandFailure(describing: error)
        }
        do throws(StoreError) {
            return try Wiring.database(configuration).verify(keys).map { check in
                var check = check
                if check.name == "server_key", let failure {
                    check.findings.append(failure.finding)
                }
                return check
            }
        } catch {
            throw CommandFailure(opening: error)
        }
    }

    private struct Outcome {
        let database: String
        let checks: [VerifiedCheck]

        var isWhole: Bool { checks.allSatisfy(\.findings.isEmpty) }

        var text: String {
            var lines: [String] = []
            for check in checks {
                if check.findings.isEmpty { lines.append("ok       \(check.name): \(check.scope)") }
                for finding in check.findings {
                    lines.append("problem  \(check.name): \(finding.text); \(finding.advice)")
                }
            }
            lines += ["", "\(database) is \(isWhole ? "" : "not ")whole."]
            return lines.map(Table.printable).joined(separator: "\n")
        }

        var json: String {
            JSONWriter.text { json in
                json.member("database", database)
                json.member("ok", isWhole)
                json.list("checks", checks) { check, json in write(check, to: &json) }
            }
        }

        private func write(_ check: VerifiedCheck, to json: inout JSONWriter) {
            json.object { json in
                json.member("name", check.name)
                json.member("ok", check.findings.isEmpty)
                json.member("scope", check.scope)
                json.objects("findings", check.findings) { finding, json in
                    json.member("text", finding.text)
                    json.member("advice", finding.advice)
                }
            }
        }
    }
}
