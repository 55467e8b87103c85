internal import Attribution
internal import JSON
internal import Storage

/// The command `afterlink verify`.
enum VerifyCommand {
    static let description = CommandDescription(
        name: "verify",
        summary: "Verify the database",
        discussion: [
            "Reads one snapshot of the whole database, also while a service uses it, and changes nothing. It verifies pages"
                + " and indexes, references, migrations, the server key, claims, the index of clicks, and counts. The exit"
                + " status is 0 only if there is no finding.",
            "Counts must not be lower than the stored clicks and matches, hours must add up to days, and days to the total."
                + " The service counts in the transaction of each record: a wrong count is a defect or damage. If the"
                + " database is damaged, restore a backup.",
        ],
        options: [.jsonObject],
        settings: CommandDatabase.settings + ["server-key-file", "secret-file"],
        examples: ["afterlink verify --database /var/backups/afterlink.db": "Verify a backup."],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let configuration = try ConfigurationReader.read(invocation)
        try CommandDatabase.require(configuration)
        let outcome = Outcome(database: configuration.databaseName, report: try report(configuration))
        invocation.show(outcome.text, json: outcome.json)
        if !outcome.report.isWhole { throw ExitCode.failed }
    }

    private static func report(_ configuration: Configuration) throws -> VerificationReport {
        var keys: [ServerKey] = []
        var failure: CommandFailure?
        do {
            keys = try configuration.storedServerKeys()
        } catch {
            failure = CommandFailure(describing: error)
        }
        var report = try CommandDatabase.explaining(configuration) { try $0.verify(keys) }
        if let (text, advice) = failure?.finding {
            for index in report.checks.indices where report.checks[index].name == "server_key" {
                report.checks[index].add(text, advice)
            }
        }
        return report
    }

    private struct Outcome {
        let database: String
        let report: VerificationReport

        var text: String {
            var lines: [String] = []
            for check in report.checks {
                if check.findings.isEmpty { lines.append("ok       \(check.name): \(check.scope)") }
                for finding in check.findings {
                    lines.append("problem  \(check.name): \(finding.text); \(finding.advice)")
                }
            }
            lines += ["", "\(database) is \(report.isWhole ? "" : "not ")whole."]
            return lines.map(Table.printable).joined(separator: "\n")
        }

        var json: String {
            JSONWriter.text { json in
                json.member("database", database)
                json.member("ok", report.isWhole)
                json.objects("checks", report.checks) { json, check in
                    json.member("name", check.name)
                    json.member("ok", check.findings.isEmpty)
                    json.member("scope", check.scope)
                    json.objects("findings", check.findings) { json, finding in
                        json.member("text", finding.text)
                        json.member("advice", finding.advice)
                    }
                }
            }
        }
    }
}
