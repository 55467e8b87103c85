internal import Attribution
internal import HTTPServer

/// Which of the links a click is of.
enum ClickLink {
    /// The link that the body names by its slug; nil where it names none.
    ///
    /// It is looked for among the links of the key's app or the app that the body names; else among those that are
    /// answered on the host that was asked; else, because pages post to other hosts than links are on, among all.
    ///
    /// - Throws: 404 where there is none, 400 where several apps have one.
    static func find(_ body: ClickBody, _ exchange: Exchange, _ context: LoopContext) async throws(APIError)
        -> Link?
    {
        guard let text = body.link else { return nil }
        let slug = LinkSlug(stored: text)
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
        do throws(StoreError) {
            return try await context.stores.links.link(slug, of: apps)?.link
        } catch {
            throw APIError(error, requestID: exchange.requestID)
        }
    }
}

extension APIError {
    /// What a click of a link that leads nowhere any more is told.
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
            message: "The link \(reason), and leads nowhere any more",
            field: "link"
        )
    }
}
