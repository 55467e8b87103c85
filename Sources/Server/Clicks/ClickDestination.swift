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
        let nearest = directory.apps(onHost: context.host(of: exchange)).map(\.id)
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
        let named = exchange.key?.app ?? body.app.flatMap { AppID($0) }
        let apps = named.map { exchange.directory.app($0).map { [$0] } ?? [] }
        guard let found = LongLink.find(text, of: apps ?? context.nearestApps(exchange)) else {
            throw .notFound(
                "The long link has no \"link\", or names no app of this server: send a slug, or the part of its "
                    + "address after the link host, with \"apn\" or \"ibi\"",
                field: "link"
            )
        }
        do {
            return try found.link.get()
        } catch {
            throw .invalidURL("link", error.all.first?.message ?? "The link leads nowhere")
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

/// Finds the app of a click: the key's; else the body's; else the link's; else the app whose allowed origins contain
/// the page's origin; else the only app.
enum ClickOwner {
    static func app(of body: ClickBody, _ link: TappedLink?, _ exchange: Exchange) throws(APIError) -> App {
        let origin = exchange.request.field("origin").flatMap(Origin.init)
        let app = try find(body, link, exchange, origin: origin)
        // The link's own page may always post, on a link host or on the host of the request.
        let asked = exchange.request.host.flatMap { LinkHost($0) }
        let isOwnPage =
            link != nil && origin?.host.map { $0 == asked || app.settings.links.hosts.contains($0) } == true
        if exchange.key == nil, !isOwnPage {
            guard app.settings.openClicks else { throw .invalidAPIKey }
            try checkOrigin(exchange.request, origin, app)
        }
        return app
    }

    private static func find(
        _ body: ClickBody,
        _ link: TappedLink?,
        _ exchange: Exchange,
        origin: Origin?
    ) throws(APIError) -> App {
        if let id = exchange.key?.app, let app = exchange.directory.app(id) {
            guard body.app == nil || body.app == id.text else {
                throw .forbidden("The key belongs to another app than the one that \"app\" names")
            }
            return app
        }
        if let text = body.app {
            guard let id = AppID(text) else {
                throw .invalidField("app", "is not the id of an app; leave it out or send one such as app_…")
            }
            guard let app = exchange.directory.app(id) else {
                throw .notFound("There is no such app on this server", field: "app")
            }
            return app
        }
        if let link, let app = exchange.directory.app(link.app) { return app }
        if let origin {
            let owners = exchange.directory.apps.filter {
                !$0.settings.allowedOrigins.isEmpty && $0.settings.allows(origin)
            }
            if owners.count == 1, let owner = owners.first { return owner }
        }
        guard exchange.directory.apps.count == 1, let only = exchange.directory.apps.first else {
            throw .missingField(
                "app",
                "This server has several apps: send a key of one, or its id as \"app\", or list the page's "
                    + "origin among one app's allowed origins"
            )
        }
        return only
    }

    /// Checks that a click without a key comes from one of the app's origins, where it lists any.
    private static func checkOrigin(_ request: Request, _ origin: Origin?, _ app: App) throws(APIError) {
        guard !app.settings.allowedOrigins.isEmpty else { return }
        guard let origin, app.settings.allows(origin) else {
            throw .forbidden("Clicks without a key are accepted from the app's allowed origins only")
        }
    }
}

/// The destination of a click: a link that released clients can open, and for strangers one that the app allows.
struct ClickDestination {
    let url: DeepLinkURL
    /// The link that was tapped.
    let link: TappedLink?
    let variant: Link.Variant?
    /// The query of the tapped link, without the parameters that spell a long link out.
    let query: [QueryItem]

    /// What a visit is recognised by: the link, whatever its variant and query, or else the URL.
    var visited: String { link?.id?.text ?? url.text }

    /// Parameters that may name the source, the tap's own first.
    var sourceItems: [QueryItem] {
        let own = link?.settings.source.map { [QueryItem(name: "source", value: $0)] } ?? []
        return query + own + url.queryItems
    }

    /// Chooses the destination: the body's own, `stated`, wins over the link's.
    ///
    /// - Throws: 404 for a link without a destination for the platform.
    init(
        stated: DeepLinkURL?,
        of link: TappedLink?,
        _ body: ClickBody,
        app: App,
        platform: Platform,
        choice: (LinkID) -> UInt64
    ) throws(APIError) {
        self.link = link
        let items = body.query.map { QueryItem.items(ofQuery: $0[...].utf8) } ?? []
        query = link?.besides(items) ?? items
        let named = body.variant.flatMap { name in link?.settings.variant(named: name) }
        if let stated {
            url = stated
            variant = named
            return
        }
        guard let link else { throw .noDestination }
        variant = named ?? link.variant(choice: choice)
        guard let target = link.settings.deepLink(variant, on: platform, of: app.settings.links) else {
            throw .notFound(
                "The link has no destination: it has a path, but its app has no scheme",
                field: "link"
            )
        }
        url = target.adding(link.settings.passed(query))
    }

    /// Reads the body's own destination; nil where it names a link instead.
    static func stated(_ body: ClickBody, app: App, key: APIKey?) throws(APIError) -> DeepLinkURL? {
        guard let text = body.deepLinkURL else {
            guard body.link == nil else { return nil }
            throw .noDestination
        }
        let destination: DeepLinkURL
        do throws(DeepLinkURLError) {
            destination = try DeepLinkURL(parsing: text)
        } catch {
            throw .invalidURL("deeplink_url", error.message)
        }
        guard key?.kind != .server else { return destination }
        guard app.settings.allows(destination) else {
            throw .invalidURL(
                "deeplink_url",
                "The link leads outside the app's allowed destinations. Add its scheme or host with "
                    + "\"afterlink apps set --destination\", or post the click with a server key"
            )
        }
        return destination
    }
}

extension APIError {
    fileprivate static let noDestination = APIError.missingField(
        "deeplink_url",
        "Send the link that the app is to open as \"deeplink_url\", or the slug of a link as \"link\""
    )
}
