internal import Attribution
internal import Server

/// The command `afterlink links set`.
enum ChangeLinkCommand {
    static let description = CommandDescription(
        name: "links set",
        summary: "Change a link",
        discussion: [
            "Changes the given fields and keeps the others. A given list replaces the previous one; an empty text"
                + " removes a field. Slug and app cannot be changed."
        ],
        operands: [LinkChoice.operand],
        options: [LinkChoice.app] + LinkOptions.all + [.json],
        settings: CommandDatabase.settings,
        examples: [
            "afterlink links set summer25 --expires-at 2027-09-01T00:00:00Z --title ''":
                "Set the end of a link, and remove its title."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        guard LinkOptions.all.contains(where: { arguments.has($0.name) }) else {
            throw CommandFailure.usage("`afterlink links set` needs at least one field to change.")
                .advising("`afterlink help links set` lists the fields.")
        }
        let database = try CommandDatabase.open(invocation)
        defer { database.close() }
        let directory = try database.directory()
        let listing = try await LinkChoice.find(invocation, in: database)
        guard let app = directory.app(listing.link.app) else { throw LinkStoreError.notFound }
        let changed = try await database.change(listing) { link in
            var fields = link.settings.fields
            LinkOptions.apply(arguments, to: &fields)
            let now = WallClock.system.now()
            let former = link.settings
            link.settings = try LinkOptions.namingOptions {
                try LinkDraft.settings(fields, for: app, at: now, insteadOf: former)
            }
        }
        LinkTable.show(changed, invocation, in: directory)
    }
}

/// The command `afterlink links archive`.
enum ArchiveLinkCommand {
    static let description = LinkChoice.description(
        "links archive",
        summary: "Switch a link off",
        discussion: "Keeps the slug and the counts; `afterlink links restore` undoes it.",
        examples: ["afterlink links archive summer25": "Switch off the link of last summer."],
        run: { invocation in try await Self.archive(invocation) { $0 ?? WallClock.system.now() } }
    )

    /// Replaces the time at which a link was archived (nil if it is not archived) with the result of `since`.
    static func archive(_ invocation: Invocation, _ since: (Timestamp?) -> Timestamp?) async throws {
        let database = try CommandDatabase.open(invocation)
        defer { database.close() }
        let listing = try await LinkChoice.find(invocation, in: database)
        let changed = try await database.change(listing) { link in link.archivedAt = since(link.archivedAt) }
        LinkTable.show(changed, invocation, in: try database.directory())
    }
}

/// The command `afterlink links restore`.
enum RestoreLinkCommand {
    static let description = LinkChoice.description(
        "links restore",
        summary: "Switch an archived link on again",
        discussion: "Undoes `afterlink links archive`.",
        examples: ["afterlink links restore summer25": "Use the link again."],
        run: { invocation in try await ArchiveLinkCommand.archive(invocation) { _ in nil } }
    )
}

/// The command `afterlink links delete`.
enum DeleteLinkCommand {
    static let description = LinkChoice.description(
        "links delete",
        summary: "Delete a link that was never clicked",
        discussion: "Its slug is free again. A link that was clicked can be archived.",
        examples: ["afterlink links delete sumer25": "Delete a link with a misspelt slug."],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let database = try CommandDatabase.open(invocation)
        defer { database.close() }
        let listing = try await LinkChoice.find(invocation, in: database)
        try await database.links.delete(listing.link.id, by: .commandLine)
        let directory = try database.directory()
        let json = LinkTable.json(listing, in: directory, at: WallClock.system.now())
        invocation.show("Deleted the link \"\(listing.link.slug.text)\".", json: json)
    }
}

/// The command `afterlink links create`.
enum CreateLinkCommand {
    static let description = CommandDescription(
        name: "links create",
        summary: "Create a short link",
        discussion: [
            "Creates a short link for a campaign. It validates all fields at once, and refuses a destination that released"
                + " apps would lose, a scheme or page of another app, and a preview that would be cut off.",
            "Without SLUG, it generates one that cannot be guessed. Slugs are case-sensitive.",
        ],
        operands: [.optional("SLUG", "The path after the link host, as in summer25 or go/summer25.")],
        options: [AppChoice.option] + LinkOptions.all + [.json],
        settings: CommandDatabase.settings,
        examples: [
            "afterlink links create summer25 --destination shopapp://promo/summer --campaign-key SUMMER25":
                "Create a link into the app for a campaign.",
            "afterlink links create --variant 'a 50 shopapp://promo/a' --variant 'b 50 shopapp://promo/b'":
                "Create a link with two destinations, each for half of the visitors.",
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        var fields = LinkFields()
        LinkOptions.apply(arguments, to: &fields)
        let database = try CommandDatabase.open(invocation)
        defer { database.close() }
        let directory = try database.directory()
        let app = try AppChoice.find(arguments.value("app"), in: directory)
        let new = try LinkOptions.namingOptions {
            try LinkDraft.link(
                arguments.operands.first,
                fields,
                of: app,
                in: directory,
                at: WallClock.system.now(),
                random: .system
            )
        }
        try await database.links.create([new], by: .commandLine)
        LinkTable.show(LinkListing(link: new.link), invocation, in: directory)
    }
}
