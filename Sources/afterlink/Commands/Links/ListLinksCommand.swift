internal import Attribution
internal import Server

/// The command `afterlink links list`.
enum ListLinksCommand {
    static let description = CommandDescription(
        name: "links list",
        summary: "Show the links and what they brought",
        discussion: ["Prints links, the newest first; archived ones only where they are asked for."],
        options: [
            CommandOption("app", "APP", help: "Only those of this app, by id or name."),
            CommandOption(
                "search",
                "TEXT",
                help: "Only those with this in the slug, the title, the campaign key or a destination."
            ),
            CommandOption("tag", "TAG", help: "Only those with this tag."),
            CommandOption("campaign", "KEY", help: "Only those with this campaign key."),
            CommandOption("archived", help: "The archived ones instead."),
            CommandOption("limit", "N", help: "How many at most; 100 if it is not given."),
            .json,
        ],
        settings: CommandDatabase.settings,
        examples: [
            "afterlink links list --tag summer --limit 20": "The newest of a campaign's links."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        let count: Int? = try arguments.value("limit").map { text in
            guard let count: Int = ValueText.integer(text, in: 1...1_000_000) else {
                throw CommandFailure.wrongValue("limit", text, "must be a whole number from 1 to 1000000")
            }
            return count
        }
        var query = LinkQuery(isArchived: arguments.has("archived"))
        query.search = arguments.value("search")
        query.tag = arguments.value("tag")
        if let text = arguments.value("campaign") {
            guard let key = CampaignKey(text) else {
                throw CommandFailure.wrongValue("campaign", text, "must have 1 to 255 characters")
            }
            query.campaignKey = key
        }
        let database = try CommandDatabase.open(ConfigurationReader.read(invocation), for: .reading)
        defer { database.close() }
        let directory = try database.directory()
        query.app = try arguments.value("app").map { text in
            try AppChoice.find(text, in: directory).id
        }
        let listings = try await links(query, atMost: count ?? LinkQuery.standardLimit, in: database)
        let now = WallClock.system.now()
        Console.print(
            arguments.has("json")
                ? LinkTable.json(listings, in: directory, at: now)
                : LinkTable.text(listings, in: directory, at: now)
        )
        return .success
    }

    private static func links(_ query: LinkQuery, atMost count: Int, in database: CommandDatabase)
        async throws -> [LinkListing]
    {
        var (query, listings) = (query, [] as [LinkListing])
        repeat {
            query.limit = min(count - listings.count, LinkQuery.limits.upperBound)
            let page = try await database.links.links(query)
            listings += page.links
            query.before = page.next
        } while query.before != nil && listings.count < count
        return listings
    }
}

/// The command `afterlink links show`.
enum ShowLinkCommand {
    static let description = CommandDescription(
        name: "links show",
        summary: "Show one link, field by field",
        discussion: ["Prints what a link says, and what came of it."],
        operands: [LinkChoice.operand],
        options: [LinkChoice.app, .json],
        settings: CommandDatabase.settings,
        examples: [
            "afterlink links show summer25": "Where does it lead, and how often was it clicked?"
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let database = try CommandDatabase.open(ConfigurationReader.read(invocation), for: .reading)
        defer { database.close() }
        let listing = try await LinkChoice.find(invocation, in: database)
        LinkTable.show(listing, invocation, in: try database.directory())
        return .success
    }
}
