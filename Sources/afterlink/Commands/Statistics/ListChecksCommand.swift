internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink checks`.
enum ListChecksCommand {
    static let description = CommandDescription(
        name: "checks",
        summary: "List recorded checks with their answers, the newest first",
        discussion: [
            "Lists the same checks as the dashboard's launches and GET /admin/api/checks, with the same filters."
                + " `afterlink explain` with a check's id gives the reason for its answer."
        ],
        options: CommandOption.table([
            "app APP": "Only checks of this app, by id or name.",
            "test": "Test checks instead of live ones.",
            "outcome OUTCOME": "Only checks with this outcome: match, replay or no_match.",
            "reason REASON": "Only checks without a match for this reason, such as no_click or expired.",
            "campaign KEY": "Only checks that were given this campaign.",
            "method METHOD":
                "Only checks that were recognised in this way, such as signed_token or fingerprint.",
            "platform PLATFORM": "Only checks from this platform, such as ios or android.",
            "os-version VERSION": "Only checks from this version of the system: 17 includes 17.4.",
            "sdk VERSION": "Only checks from this version of the SDK.",
            "fingerprint HEX": "Only checks with this fingerprint, 64 hexadecimal digits.",
            "from TIME": "Only checks from this time on: 2027-01-31 or 2027-01-31T12:00:00Z.",
            "to TIME": "Only checks before this time.",
            "limit N": "The maximum number of checks. Default: 50.",
        ]) + [.json],
        settings: CommandDatabase.settings + ["server-key-file", "secret-file"],
        examples: [
            "afterlink checks --outcome no_match --from 2027-01-31":
                "Show which launches got no match, and why."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        var query = CheckQuery(isTest: arguments.has("test"))
        query.outcome = try arguments.word("outcome")
        query.reason = try arguments.word("reason")
        query.campaign = try arguments.campaign
        query.method = try arguments.word("method")
        query.platform = try arguments.word("platform")
        (query.osVersion, query.sdk) = (arguments.value("os-version"), arguments.value("sdk"))
        (query.from, query.to) = try arguments.range
        let count = try arguments.limit ?? CheckQuery.standardLimit
        let configuration = try ConfigurationReader.read(invocation)
        try CommandDatabase.require(configuration)
        let fingerprint = try arguments.read("fingerprint", "must have 64 hexadecimal digits") {
            Fingerprint(hex: $0)
        }
        if let fingerprint {
            query.fingerprints = try configuration.storedServerKeys().map { $0.keyed(fingerprint) }
        }
        let database = try CommandDatabase.open(configuration, for: .reading)
        defer { database.close() }
        let directory = try database.directory()
        query.app = try AppChoice.named(arguments, in: directory)?.id
        var page = CheckPage()
        repeat {
            query.limit = min(count - page.records.count, CheckQuery.limits.upperBound)
            let next = try await database.checks.checks(query)
            page.records += next.records
            (page.next, query.before) = (next.next, next.next)
        } while query.before != nil && page.records.count < count
        let json = JSONWriter.text { CheckListBody.write(page, to: &$0) }
        invocation.show(table(page.records, in: directory), json: json)
    }

    private static func table(_ records: [RecordedCheck], in directory: Directory) -> String {
        records.table([
            .left("TIME", \.facts.at.iso8601),
            .left("ANSWER") { record in
                let facts = record.facts
                return [facts.outcome.rawValue, facts.reason?.rawValue].compactMap(\.self)
                    .joined(separator: ": ")
            },
            .left("METHOD") { $0.facts.method?.rawValue ?? "–" },
            .left("CONFIDENCE") { $0.facts.confidence.map { "\($0)" } ?? "–" },
            .left("CAMPAIGN") { $0.campaign?.text ?? "–" },
            .left("PLATFORM", \.facts.platform.rawValue),
            .left("APP") { directory.app($0.app)?.settings.name ?? $0.app.text },
            .left("CHECK", \.id.text),
        ])
    }
}
