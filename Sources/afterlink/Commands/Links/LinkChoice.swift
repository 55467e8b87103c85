internal import Attribution
internal import Server

/// Finds the link that a command is about.
enum LinkChoice {
    static let operand = CommandDescription.Operand(
        placeholder: "LINK",
        isRequired: true,
        help: "The link, by id or slug."
    )
    static let app = CommandOption(
        "app",
        "APP",
        help: "The app, by id or name; needed where several have a link of this slug."
    )

    static func find(_ invocation: Invocation, in database: CommandDatabase) async throws
        -> LinkListing
    {
        let text = invocation.arguments.operands.first ?? ""
        let directory = try database.directory()
        if let id = LinkID(text) {
            guard let listing = try await database.links.link(id) else { throw unknown(text) }
            return listing
        }
        let chosen = try invocation.arguments.value("app").map { name in
            [try AppChoice.find(name, in: directory)]
        }
        let apps = (chosen ?? directory.apps).map(\.id)
        guard let listing = try await database.links.link(LinkSlug(stored: text), of: apps) else {
            throw unknown(text)
        }
        let others = apps.filter { $0 != listing.link.app }
        guard try await database.links.link(LinkSlug(stored: text), of: others) == nil else {
            throw CommandFailure(
                .usage,
                "Several apps have a link \"\(text)\".",
                advice: "Say which one with --app, or give the link's id."
            )
        }
        return listing
    }

    private static func unknown(_ text: String) -> CommandFailure {
        CommandFailure(
            "There is no link \"\(text)\".",
            advice:
                "`afterlink links list` shows those there are, with --archived also those that lead nowhere any more."
        )
    }
}

extension CommandDatabase {
    /// Changes a link, and retries if another process has changed it meanwhile.
    func change(
        _ listing: LinkListing,
        _ change: (inout Link) throws -> Void
    ) async throws -> LinkListing {
        var listing = listing
        for _ in 0..<4 {
            var link = listing.link
            try change(&link)
            link.updatedAt = WallClock.system.now()
            do throws(LinkStoreError) {
                try await links.update(link, ifUpdatedAt: listing.link.updatedAt)
            } catch {
                guard error == .changed, let changed = try await links.link(link.id) else { throw error }
                listing = changed
                continue
            }
            return try await links.link(link.id) ?? listing
        }
        throw LinkStoreError.changed
    }
}
