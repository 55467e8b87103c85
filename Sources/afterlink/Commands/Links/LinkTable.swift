internal import Attribution
internal import Server

/// How links are shown.
enum LinkTable {
    static func text(_ listings: [LinkListing], in directory: Directory, at now: Timestamp) -> String {
        var table = Table([
            ("LINK", .left), ("APP", .left), ("LEADS TO", .left), ("CAMPAIGN", .left), ("CLICKS", .right),
            ("MATCHES", .right), ("STATE", .left), ("CREATED", .left), ("ID", .left),
        ])
        for listing in listings {
            let link = listing.link
            let app = directory.app(link.app)
            table.add([
                app.flatMap(link.url(of:)) ?? link.slug.text,
                app?.settings.name ?? "–",
                destination(link.settings),
                link.settings.campaignKey?.text ?? "–",
                String(listing.clicks),
                String(listing.matches),
                link.ending(at: now, clicks: listing.clicks)?.rawValue.replacing("_", with: " ") ?? "live",
                link.createdAt.iso8601,
                link.id.text,
            ])
        }
        return table.text
    }

    /// One of them, field by field.
    static func text(_ listing: LinkListing, in directory: Directory, at now: Timestamp) -> String {
        let link = listing.link
        let app = directory.app(link.app)
        var table = Table([("FIELD", .left), ("VALUE", .left)])
        table.add(["id", link.id.text])
        table.add(["app", app.map { "\($0.settings.name) (\($0.id.text))" } ?? link.app.text])
        table.add(["slug", link.slug.text])
        if let url = app.flatMap(link.url(of:)) { table.add(["url", url]) }
        for (field, texts) in link.settings.fields.all where field != .variants {
            table.add([field.rawValue, texts.joined(separator: ", ")])
        }
        for variant in link.settings.variants {
            let counts = listing.variants.first { $0.name == variant.name }
            table.add([
                "variant \(variant.name)",
                "\(variant.weight) \(variant.target.text): \(counts?.clicks ?? 0) clicks, \(counts?.matches ?? 0) matches",
            ])
        }
        let state = link.ending(at: now, clicks: listing.clicks)?.rawValue.replacing("_", with: " ") ?? "live"
        table.add(["state", state])
        table.add(["clicks", "\(listing.clicks), and \(listing.robots) of robots"])
        table.add(["matches", String(listing.matches)])
        table.add(["created_at", link.createdAt.iso8601])
        table.add(["updated_at", link.updatedAt.iso8601])
        if let archivedAt = link.archivedAt { table.add(["archived_at", archivedAt.iso8601]) }
        return table.text
    }

    /// As in `{"links":[…]}`.
    static func json(_ listings: [LinkListing], in directory: Directory, at now: Timestamp) -> String {
        var json = JSONWriter()
        json.object { json in
            json.member("links") { json in
                json.array { json in
                    for listing in listings {
                        LinkBody(listing, of: directory.app(listing.link.app), at: now).write(to: &json)
                    }
                }
            }
        }
        return json.text
    }

    /// As in `{"link":{…}}`.
    static func json(_ listing: LinkListing, in directory: Directory, at now: Timestamp) -> String {
        var json = JSONWriter()
        json.object { json in
            json.member("link") { json in
                LinkBody(listing, of: directory.app(listing.link.app), at: now).write(to: &json)
            }
        }
        return json.text
    }

    /// Prints one link as the arguments ask for it.
    static func show(_ listing: LinkListing, _ invocation: Invocation, in directory: Directory) {
        let now = WallClock.system.now()
        Console.print(
            invocation.arguments.has("json")
                ? json(listing, in: directory, at: now) : text(listing, in: directory, at: now)
        )
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
            case .notFound: "`afterlink links list` shows those there are."
            case .clicked: "Run `afterlink links archive` with the same link."
            case .changed, .store: "Run the command again."
            }
        self.init(error.advice ?? "", advice: advice)
    }
}
