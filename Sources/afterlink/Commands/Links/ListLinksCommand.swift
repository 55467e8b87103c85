internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink links list`.
enum ListLinksCommand {
    static let description = CommandDescription(
        name: "links list",
        summary: "Show the links with their clicks and matches",
        discussion: ["Prints links, the newest first, without archived ones."],
        options: CommandOption.table([
            "app APP": "Only links of this app, by id or name.",
            "search TEXT":
                "Only links with this text in the slug, the title, the campaign key or a destination.",
            "tag TAG": "Only links with this tag.",
            "campaign KEY": "Only links with this campaign key.",
            "archived": "Only archived links.",
            "limit N": "The maximum number of links. Default: 100.",
        ]) + [.json],
        settings: CommandDatabase.settings,
        examples: ["afterlink links list --tag summer --limit 20": "Show the newest links with a tag."],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        let count = try arguments.limit
        var query = LinkQuery(isArchived: arguments.has("archived"))
        query.search = arguments.value("search")
        query.tag = arguments.value("tag")
        query.campaignKey = try arguments.read("campaign", "must have 1 to 255 characters") {
            CampaignKey($0)
        }
        let database = try CommandDatabase.open(invocation, for: .reading)
        defer { database.close() }
        let directory = try database.directory()
        query.app = try AppChoice.named(arguments, in: directory)?.id
        let listings = try await links(query, atMost: count ?? LinkQuery.standardLimit, in: database)
        let now = WallClock.system.now()
        let text = LinkTable.text(listings, in: directory, at: now)
        invocation.show(text, json: LinkTable.json(listings, in: directory, at: now))
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
    static let description = LinkChoice.description(
        "links show",
        summary: "Show one link, field by field",
        discussion: "Prints the fields of a link, its state and its counts.",
        examples: ["afterlink links show summer25": "Show the destination and the clicks of a link."],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let database = try CommandDatabase.open(invocation, for: .reading)
        defer { database.close() }
        let listing = try await LinkChoice.find(invocation, in: database)
        LinkTable.show(listing, invocation, in: try database.directory())
    }
}

/// Links as tables and JSON.
enum LinkTable {
    static func text(_ listings: [LinkListing], in directory: Directory, at now: Timestamp) -> String {
        func app(_ listing: LinkListing) -> App? { directory.app(listing.link.app) }
        return listings.table([
            .left("LINK") { app($0).flatMap($0.link.url(of:)) ?? $0.link.slug.text },
            .left("APP") { app($0)?.settings.name ?? "–" },
            .left("LEADS TO") { destination($0.link.settings) },
            .left("CAMPAIGN") { $0.link.settings.campaignKey?.text ?? "–" },
            .right("CLICKS") { String($0.clicks) },
            .right("MATCHES") { String($0.matches) },
            .left("STATE") { state($0, at: now) },
            .left("CREATED", \.link.createdAt.iso8601),
            .left("ID", \.link.id.text),
        ])
    }

    private static func state(_ listing: LinkListing, at now: Timestamp) -> String {
        let ending = listing.link.ending(at: now, clicks: listing.clicks)
        return ending?.rawValue.replacing("_", with: " ") ?? "live"
    }

    /// Returns one link, field by field.
    static func text(_ listing: LinkListing, in directory: Directory, at now: Timestamp) -> String {
        let link = listing.link
        let app = directory.app(link.app)
        let fields = link.settings.fields.all.filter { $0.0 != .variants }.map { field, texts in
            (field.rawValue, Optional(texts.joined(separator: ", ")))
        }
        let variants = link.settings.variants.map { variant in
            let counts = listing.variants.first { $0.name == variant.name }
            let counted = "\(counts?.clicks ?? 0) clicks, \(counts?.matches ?? 0) matches"
            let text = "\(variant.weight) \(variant.target.text): \(counted)"
            return ("variant \(variant.name)", Optional(text))
        }
        let before: [(String, String?)] = [
            ("id", link.id.text),
            ("app", app.map { "\($0.settings.name) (\($0.id.text))" } ?? link.app.text),
            ("slug", link.slug.text), ("url", app.flatMap(link.url(of:))),
        ]
        let after: [(String, String?)] = [
            ("state", state(listing, at: now)),
            ("clicks", "\(listing.clicks), and \(listing.robots) of robots"),
            ("matches", String(listing.matches)), ("created_at", link.createdAt.iso8601),
            ("updated_at", link.updatedAt.iso8601), ("archived_at", link.archivedAt?.iso8601),
        ]
        return Table.text(facts: before + fields + variants + after, ("FIELD", "VALUE"))
    }

    /// Returns links as JSON: `{"links":[…]}`.
    static func json(_ listings: [LinkListing], in directory: Directory, at now: Timestamp) -> String {
        JSONWriter.text { json in
            json.objects("links", listings) { LinkBody.write($1, in: directory, at: now, to: &$0) }
        }
    }

    /// Returns one link as JSON: `{"link":{…}}`.
    static func json(_ listing: LinkListing, in directory: Directory, at now: Timestamp) -> String {
        JSONWriter.text { json in
            json.object("link") { LinkBody.write(listing, in: directory, at: now, to: &$0) }
        }
    }

    /// Prints one link as text or JSON.
    static func show(_ listing: LinkListing, _ invocation: Invocation, in directory: Directory) {
        let now = WallClock.system.now()
        invocation.show(text(listing, in: directory, at: now), json: json(listing, in: directory, at: now))
    }

    private static func destination(_ settings: Link.Settings) -> String {
        let variants = settings.variants
        guard variants.isEmpty else { return "\(variants.count) variants" }
        return (settings.target ?? settings.iosTarget ?? settings.androidTarget)?.text ?? "–"
    }
}

extension CommandFailure {
    /// Explains why a link was not stored.
    init(_ error: LinkStoreError) {
        if case .store(let error) = error {
            self.init(error)
            return
        }
        let advice =
            switch error {
            case .slugTaken: "`afterlink links list --search SLUG` shows it."
            case .notFound: "`afterlink links list` shows all links."
            case .clicked: "Run `afterlink links archive` with the same link."
            case .changed, .store: "Run the command again."
            }
        self.init(error.advice ?? "", advice: advice)
    }
}
