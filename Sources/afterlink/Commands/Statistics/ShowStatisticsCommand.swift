internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink stats`.
enum ShowStatisticsCommand {
    static let description = CommandDescription(
        name: "stats",
        summary: "Show clicks, checks and matches",
        discussion: [
            "Prints the statistics of GET /admin/stats: totals, then counts by app, campaign, link, source, platform, system, browser, hour of the day and period."
                + " The service counts each click and check as it records it, so this command takes the same time for"
                + " any number of them. Of campaigns, links, sources, systems and browsers, it shows at most the hundred with"
                + " the most clicks.",
            "The match rate is the number of matches per check, without replays; the conversion rate is the number of"
                + " matches per click. Checks count in total and by app, platform, hour of the day and period only, because a"
                + " check without a match belongs to no click.",
            "The table LAST 7 DAYS has the match rates of one app's launches by system version, and ignores the chosen"
                + " campaign and time. So does the table of match rates that have fallen, by system, SDK version and browser:"
                + " it compares each rate with its own past.",
            "A serving process writes checks without a match within a second.",
        ],
        options: CommandOption.table([
            "app APP": "Only this app, by id or name.",
            "campaign KEY": "Only this campaign.",
            "source SOURCE": "Only the totals and periods of this source.",
            "platform PLATFORM": "Only the totals and periods of this platform.",
            "os-version VERSION": "Only the totals and periods of this system version.",
            "browser BROWSER": "Only the totals and periods of this browser, as in `chrome 131`.",
            "link ID": "Only the totals and periods of this link, by its id.",
            "from TIME": "Only counts from this time on: 2026-01-31 or 2026-01-31T12:00:00Z.",
            "to TIME": "Only counts before this time.",
            "interval hour|day": "The length of each period. Default: day.",
            "offset HOURS": "How many whole hours before midnight UTC days begin, -12 to 14. Default: 0.",
            "test": "Test clicks and checks instead of live ones.",
        ]) + [.json],
        settings: CommandDatabase.settings,
        examples: [
            "afterlink stats --campaign SUMMER25 --from 2026-06-01": "Show the campaign's counts since June."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        var query = try query(arguments)
        let database = try CommandDatabase.open(invocation, for: .reading)
        defer { database.close() }
        let directory = try database.directory()
        query.app = try AppChoice.named(arguments, in: directory)?.id
        query.hasLaunchRates = true
        let now = WallClock.system.now()
        let report = try await database.statistics.statistics(query, at: now)
        if report.totals.isEmpty, let campaign = query.campaign {
            Console.printError(try await absence(of: campaign, query, in: database, at: now))
        }
        let warnings =
            directory.warnings(at: now)
            + (try await database.postbacks.endpoints()).compactMap(\.endpoint.warning)
            + directory.policyWarnings(report.policyFigures(of: query))
        var body = StatisticsBody(report: report, query: query, directory: directory, now: now)
        body.version = ProgramVersion.text
        body.warnings = warnings
        let tables = StatisticsTables(report: report, query: query, directory: directory)
        invocation.show(tables.text, json: body.json().text)
        guard !arguments.has("json") else { return }
        for warning in warnings { Console.printError("\nWarning: \(warning).\n") }
    }

    /// Returns why a campaign has no counts: none in the chosen time, or none at all.
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
            return "The campaign \"\(campaign.text)\" has no \(kind) and no match in this time.\n\n"
        }
        let absence = "The campaign \"\(campaign.text)\" has no \(kind)."
        guard !names.isEmpty else { return "\(absence) There is no campaign yet.\n\n" }
        let known = names.prefix(5).map { "\"\($0)\"" }.joined(separator: ", ")
        let more = names.count > 5 ? " and \(names.count - 5) more" : ""
        return "\(absence) Known campaigns, case-sensitive: \(known)\(more).\n\n"
    }

    private static func query(_ arguments: Arguments) throws -> StatisticsQuery {
        var query = StatisticsQuery(isTest: arguments.has("test"))
        query.campaign = try arguments.campaign
        (query.from, query.to) = try arguments.range
        let interval = try arguments.read("interval", "must be hour or day") {
            StatisticsQuery.Interval(rawValue: $0)
        }
        if let interval { query.interval = interval }
        let hours = "must be whole hours from -12 to 14"
        query.offset = try arguments.read("offset", hours, App.Settings.reportingOffset) ?? 0
        for (dimension, word) in CountedValue.words {
            let option = word.replacing("_", with: "-")
            guard let value = arguments.value(option) else { continue }
            let isCounted = query.campaign == nil || CountedValue.withinCampaigns.contains(dimension)
            guard query.slice == nil, isCounted else {
                throw CommandFailure.usage("--\(option) cannot be combined with the other options.")
                    .advising("Leave one of them out: no count has both values.")
            }
            query.slice = CountedValue(dimension, value)
        }
        return query
    }
}
