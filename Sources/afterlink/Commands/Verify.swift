internal import Attribution
internal import Server

/// The command `afterlink verify`.
enum Verify {
    static let description = CommandDescription(
        name: "verify",
        summary: "Compare the database with itself, and counters with facts",
        discussion: [
            "Reads the whole database as of one moment, also while a service uses it, and changes nothing: pages and"
                + " indexes, references, migrations, the server key, claims against clicks, what can be matched, and"
                + " counters against facts. Exit status 0 only when all is well.",
            "Clicks, robots' clicks, matches and times to install are counted again for the hours and days whose clicks"
                + " are all still held; what retention deleted cannot be counted, nor what leaves nothing behind"
                + " (checks that matched nothing, repeated posts, replays). For these, hours, days and the whole are"
                + " compared with each other.",
            "--repair-counters makes right what is known to be wrong, in one transaction, and nothing but counters. It"
                + " needs the database for itself.",
        ],
        options: [
            CommandOption("repair-counters", help: "Mend the counters, and say which."),
            CommandOption("json", help: "Print a JSON object instead."),
        ],
        settings: CommandDatabase.settings + ["server-key-file"],
        examples: [
            "afterlink verify --database /var/backups/afterlink.db": "Is this backup good?"
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let configuration = try ConfigurationReader.read(invocation)
        try CommandDatabase.require(configuration)
        var outcome = Outcome(database: configuration.databasePath, checks: try checks(configuration))
        if invocation.arguments.has("repair-counters") {
            try refuseDamaged(outcome.checks)
            do throws(StoreError) {
                outcome.repairs = try Wiring.repairCounters(configuration)
            } catch {
                throw CommandFailure(
                    "Nothing was repaired: \(error.explanation).",
                    advice: "The service must not run meanwhile, and the database must be writable."
                )
            }
            outcome.checks = try checks(configuration)
        }
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
            return try Wiring.verify(configuration, keys).map { check in
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

    /// What is broken in depth is not written to.
    private static func refuseDamaged(_ checks: [VerifiedCheck]) throws(CommandFailure) {
        let damaged = checks.filter { !countingChecks.contains($0.name) && !$0.findings.isEmpty }
        guard let first = damaged.first?.findings.first, damaged.first?.name != "server_key" else { return }
        throw CommandFailure(
            "Counters are repaired only where all else is well, and it is not: \(first.text).",
            advice: "Without --repair-counters, `afterlink verify` shows everything."
        )
    }

    private static let countingChecks = ["counters", "counter_sums", "live_clicks", "probability_sums"]

    private struct Outcome {
        let database: String
        var checks: [VerifiedCheck]
        /// Nil where no repair was asked for.
        var repairs: (lines: [String], count: Int)?

        var isWhole: Bool { checks.allSatisfy(\.findings.isEmpty) }

        var text: String {
            var lines: [String] = []
            for check in checks {
                if check.findings.isEmpty { lines.append("ok       \(check.name): \(check.scope)") }
                for finding in check.findings {
                    lines.append("problem  \(check.name): \(finding.text); \(finding.advice)")
                }
            }
            if let repairs {
                lines += repairs.lines.map { "changed  \($0)" } + [""]
                lines.append(
                    repairs.count == 0
                        ? "No counter had to be changed."
                        : "\(repairs.count) counters were changed, nothing else."
                )
            }
            lines += ["", "\(database) is \(isWhole ? "" : "not ")whole."]
            return lines.map(Table.printable).joined(separator: "\n")
        }

        var json: String {
            var json = JSONWriter()
            json.object { json in
                json.member("database", database)
                json.member("ok", isWhole)
                json.member("checks") { json in
                    json.array { json in
                        for check in checks { write(check, to: &json) }
                    }
                }
                guard let repairs else { return }
                json.member("changed_counters", repairs.count)
                json.member("changes") { json in
                    json.array { json in
                        for line in repairs.lines { json.value(line) }
                    }
                }
            }
            return json.text
        }

        private func write(_ check: VerifiedCheck, to json: inout JSONWriter) {
            json.object { json in
                json.member("name", check.name)
                json.member("ok", check.findings.isEmpty)
                json.member("scope", check.scope)
                json.member("findings") { json in
                    json.array { json in
                        for finding in check.findings {
                            json.object { json in
                                json.member("text", finding.text)
                                json.member("advice", finding.advice)
                            }
                        }
                    }
                }
            }
        }
    }
}
