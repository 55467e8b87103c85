internal import Attribution
internal import HTTPServer

/// Finds the link that a click belongs to.
enum ClickLink {
    /// Finds the link that the body names by its slug, or spells out; nil where it does neither.
    ///
    /// Searches the links of the key's app or the app that the body names; else those of the requested host; else all
    /// links, because pages post to other hosts than their links are on.
    ///
    /// - Throws: 404 where there is none, 400 where several apps have one.
    static func find(_ body: ClickBody, _ exchange: Exchange, _ context: LoopContext) async throws(APIError)
        -> TappedLink?
    {
        guard let text = body.link else { return nil }
        // No slug has a question mark.
        guard !text.utf8.contains(UInt8(ascii: "?")) else {
            return try longLink(text, of: body, exchange, context)
        }
        return TappedLink(try await stored(LinkSlug(stored: text), of: body, exchange, context))
    }

    private static func stored(
        _ slug: LinkSlug,
        of body: ClickBody,
        _ exchange: Exchange,
        _ context: LoopContext
    ) async throws(APIError) -> Link {
        let directory = exchange.directory
        if let app = exchange.key?.app ?? body.app.flatMap({ AppID($0) }) {
            return try await required(slug, of: [app], exchange, context)
        }
        let host = RequestHost.of(exchange.request, trusting: context.service.settings.trustedProxies)
        let nearest = directory.apps(onHost: host).map(\.id)
        if let link = try await link(slug, of: nearest, exchange, context) { return link }
        let all = directory.apps.map(\.id)
        let link = try await required(slug, of: all, exchange, context)
        let others = all.filter { $0 != link.app }
        guard try await self.link(slug, of: others, exchange, context) == nil else {
            throw .missingField(
                "app",
                "Several apps have this link: send a key of one, or its id as \"app\", or post to its link host"
            )
        }
        return link
    }

    /// Reads a link that the body spells out: of the key's app, the app that the body names, or those of the
    /// requested host.
    private static func longLink(
        _ text: String,
        of body: ClickBody,
        _ exchange: Exchange,
        _ context: LoopContext
    ) throws(APIError) -> TappedLink {
        let directory = exchange.directory
        let apps: [App]
        if let app = exchange.key?.app ?? body.app.flatMap({ AppID($0) }) {
            apps = directory.app(app).map { [$0] } ?? []
        } else {
            let host = RequestHost.of(exchange.request, trusting: context.service.settings.trustedProxies)
            let nearest = directory.apps(onHost: host)
            apps = nearest.isEmpty ? directory.apps : nearest
        }
        guard let found = LongLink.find(text, of: apps) else {
            throw .notFound(
                "The long link has no \"link\", or names no app of this server: send a slug, or the part of its "
                    + "address after the link host, with \"apn\" or \"ibi\"",
                field: "link"
            )
        }
        do {
            return try found.link.get()
        } catch {
            let first = error.all.first
            throw .invalidURL("link", first?.message ?? "The link leads nowhere")
        }
    }

    private static func required(
        _ slug: LinkSlug,
        of apps: [AppID],
        _ exchange: Exchange,
        _ context: LoopContext
    ) async throws(APIError) -> Link {
        guard let link = try await link(slug, of: apps, exchange, context) else {
            throw .notFound("There is no link \"\(slug.text.prefix(64))\" on this server", field: "link")
        }
        return link
    }

    private static func link(
        _ slug: LinkSlug,
        of apps: [AppID],
        _ exchange: Exchange,
        _ context: LoopContext
    ) async throws(APIError) -> Link? {
        guard !apps.isEmpty else { return nil }
        return try await exchange.store(await context.stores.links.link(slug, of: apps)?.link)
    }
}

extension APIError {
    /// The error for a click of a link that no longer leads anywhere.
    static func linkEnded(_ ending: Link.Ending) -> APIError {
        let reason =
            switch ending {
            case .archived: "was archived"
            case .expired: "has expired"
            case .usedUp: "has had as many clicks as it may have"
            }
        return APIError(
            status: .gone,
            code: .linkEnded,
            message: "The link \(reason), and no longer leads anywhere",
            field: "link"
        )
    }
}
