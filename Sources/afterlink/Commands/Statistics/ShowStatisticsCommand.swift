internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink stats`.
enum ShowStatisticsCommand {
    static let description = CommandDescription(
        name: "stats",
        summary: "Show clicks, checks and matches",
        discussion: [
            "Prints what GET /admin/stats answers: totals, then by app, campaign, source, platform and period. Counts"
                + " are kept with each click and check, so that the command costs the same however many there were.",
            "The match rate is matches per check, replays left out; the conversion rate is matches per click. A campaign"
                + " and a source are known of a check only when it matched.",
            "Match rates that have fallen are shown by system, SDK version and browser, whatever campaign and time are"
                + " asked for: they are judged by their own past.",
            "A serving process writes checks that matched nothing with up to a second's delay.",
        ],
        options: CommandOption.table([
            "app APP": "Only this app, by id or name.",
            "campaign KEY": "Only this campaign.",
            "from TIME": "From this moment on: 2026-01-31 or 2026-01-31T12:00:00Z.",
            "to TIME": "Up to this moment, itself left out.",
            "interval hour|day": "How long each period is. Default: day.",
            "test": "Test clicks and checks instead of live ones.",
        ]) + [.json],
        settings: CommandDatabase.settings,
        examples: [
            "afterlink stats --campaign SUMMER25 --from 2026-06-01": "How the campaign has done since June."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        var query = try query(arguments)
        let database = try CommandDatabase.open(invocation, for: .reading)
        defer { database.close() }
        let directory = try database.directory()
        query.app = try AppChoice.named(arguments, in: directory)?.id
        let now = WallClock.system.now()
        let report = try await database.statistics.statistics(query, at: now)
        if report.totals.isEmpty, let campaign = query.campaign {
            Console.printError(try await absence(of: campaign, query, in: database, at: now))
        }
        let warnings = directory.warnings + directory.policyWarnings(report.policyFigures(of: query))
        guard !arguments.has("json") else {
            var body = StatisticsBody(report: report, query: query, directory: directory, now: now)
            body.version = ProgramVersion.text
            body.warnings = warnings
            Console.print(body.json().text)
            return .success
        }
        Console.print(StatisticsTables(report: report, query: query, directory: directory).text)
        for warning in warnings { Console.printError("\nWarning: \(warning).\n") }
        return .success
    }

    /// Why there is nothing to show of a campaign: nothing in this time, or nothing at all.
    private static func absence(
        of campaign: CampaignKey,
        _ query: StatisticsQuery,
        in database: CommandDatabase,
        at now: Timestamp
    ) async throws -> String {
        var whole = StatisticsQuery(isTest: query.isTest)
        whole.app = query.app
        let names = try await database.statistics.statistics(whole, at: now).byCampaign.map(\.name)
        whole.campaign = campaign
        let kind = query.isTest ? "test click" : "click"
        guard try await database.statistics.statistics(whole, at: now).totals.isEmpty else {
            return "No \(kind) or match of the campaign \"\(campaign.text)\" was counted in this time.\n\n"
        }
        let absence = "No \(kind) is counted for a campaign \"\(campaign.text)\""
        guard !names.isEmpty else { return "\(absence); there is no campaign yet.\n\n" }
        let known = names.prefix(5).map { "\"\($0)\"" }.joined(separator: ", ")
        let more = names.count > 5 ? " and \(names.count - 5) more" : ""
        return
            "\(absence); there \(names.count == 1 ? "is" : "are") \(known)\(more). Capital and small letters differ.\n\n"
    }

    private static func query(_ arguments: Arguments) throws -> StatisticsQuery {
        var query = StatisticsQuery(isTest: arguments.has("test"))
        query.campaign = try arguments.read("campaign", "must have 1 to 255 characters") { CampaignKey($0) }
        let sentence = "must be a moment such as 2026-01-31 or 2026-01-31T12:00:00Z"
        query.from = try arguments.read("from", sentence, TimeArgument.moment)
        query.to = try arguments.read("to", sentence, TimeArgument.moment)
        if let from = query.from, let to = query.to, to < from {
            throw CommandFailure.wrongValue("to", arguments.value("to") ?? "", "must not lie before --from")
        }
        let interval = try arguments.read("interval", "must be hour or day") {
            StatisticsQuery.Interval(rawValue: $0)
        }
        if let interval { query.interval = interval }
        return query
    }
}
