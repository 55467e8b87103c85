internal import Attribution
internal import HTTPServer

extension Exchange {
    /// Finds the link that a click's body names by its slug, or by the address of a long link; nil if it names none.
    ///
    /// Searches the links of the app that the key or the body names. If they name no app, searches the links of the
    /// requested host, and then all links, because a page may post to another host than its link's.
    ///
    /// - Throws: 404 if there is no such link; 400 if several of the searched apps have the slug, or if the long link
    ///   is malformed or leads outside the allowed destinations; a store's failure.
    func link(of body: ClickBody) async throws(APIError) -> TappedLink? {
        guard let text = body.link else { return nil }
        let app = key?.app ?? body.app.flatMap { AppID($0) }
        // No slug has a question mark.
        guard !text.utf8.contains(UInt8(ascii: "?")) else { return try longLink(text, of: app) }
        return TappedLink(try await storedLink(LinkSlug(stored: text), of: app))
    }

    /// Finds a stored link; `app` is nil if neither the key nor the body names an app.
    private func storedLink(_ slug: LinkSlug, of app: AppID?) async throws(APIError) -> Link {
        let nearest = app == nil ? directory.apps(onHost: host) : []
        if let link = try await link(slug, of: nearest.map(\.id)) { return link }
        let all = app.map { [$0] } ?? directory.apps.map(\.id)
        guard let link = try await link(slug, of: all) else {
            let name = "\"\(slug.text.prefix(64))\""
            throw .notFound(
                app == nil ? "There is no link \(name) on this server" : "The app has no link \(name)",
                field: "link"
            )
        }
        guard try await self.link(slug, of: all.filter { $0 != link.app }) == nil else {
            let advice =
                "Several apps have this link: send a key of one, or its id as \"app\", or post to its link host"
            throw .missingField("app", advice)
        }
        return link
    }

    private func link(_ slug: LinkSlug, of apps: [AppID]) async throws(APIError) -> Link? {
        guard !apps.isEmpty else { return nil }
        return try await store(await stores.links.link(slug, of: apps)?.link)
    }

    /// Reads a long link of `app`, or of the ``nearestApps`` if `app` is nil.
    private func longLink(_ text: String, of app: AppID?) throws(APIError) -> TappedLink {
        let apps = app.map { directory.app($0).map { [$0] } ?? [] }
        guard let found = FoundLink.long(text, of: apps ?? nearestApps) else {
            let advice =
                "The long link has no \"link\", or no \"apn\" or \"ibi\" that names an app of this server: add it, "
                + "or send a slug"
            throw .notFound(advice, field: "link")
        }
        do {
            return try found.link.get()
        } catch {
            throw .invalidURL("link", error.all.first?.message ?? "The link leads nowhere")
        }
    }
}

extension APIError {
    /// Creates the error for a click on a link that no longer leads anywhere.
    static func linkEnded(_ ending: Link.Ending) -> APIError {
        let message = "The link \(ending.reason), and no longer leads anywhere"
        return APIError(status: .gone, code: .linkEnded, message: message, field: "link")
    }
}

extension Link.Ending {
    /// The words that follow "The link" in a sentence.
    var reason: String {
        switch self {
        case .archived: "was archived"
        case .expired: "has expired"
        case .usedUp: "has reached its maximum number of clicks"
        }
    }
}

extension Exchange {
    /// Finds the app of a click, and requires that the app accepts the click.
    ///
    /// A click with a key or from the link's own page is always accepted. Any other click needs an app that accepts
    /// clicks without a key. If that app lists allowed origins, the click must come from one of these.
    func owner(of body: ClickBody, _ link: TappedLink?) throws(APIError) -> App {
        let origin = request.field("origin").flatMap(Origin.init)
        let app = try namedApp(body, link, origin)
        // A link's own page has a link host or the request's host as its origin.
        let (requested, hosts) = (host, app.settings.links.hosts)
        let isOwnPage = link != nil && origin?.host.map { $0 == requested || hosts.contains($0) } == true
        guard key == nil, !isOwnPage else { return app }
        guard app.settings.openClicks else { throw .invalidAPIKey }
        guard !app.settings.allowedOrigins.isEmpty else { return app }
        guard let origin, app.settings.allows(origin) else {
            throw .forbidden("Clicks without a key are accepted from the app's allowed origins only")
        }
        return app
    }

    /// Finds the app of a click: the app of its key, body or link, in this order.
    ///
    /// If none names an app, it is the one app with the requested link host, or the one that allows the page's origin,
    /// or else the only app.
    ///
    /// - Throws: 400 if these rules find no app or the body's id is malformed, 403 for another app than the key's, 404
    ///   for an unknown app.
    private func namedApp(_ body: ClickBody, _ link: TappedLink?, _ origin: Origin?) throws(APIError) -> App {
        if let id = key?.app, let app = directory.app(id) {
            try Self.require(id, isNamed: body.app)
            return app
        }
        if let text = body.app {
            guard let id = AppID(text) else {
                throw .invalidField("app", "is not the id of an app; leave it out or send one such as app_…")
            }
            guard let app = directory.app(id) else {
                throw .notFound("There is no such app on this server", field: "app")
            }
            return app
        }
        if let link, let app = directory.app(link.app) { return app }
        let listing = host.map { directory.apps(listing: $0) } ?? []
        if listing.count == 1, let app = listing.first { return app }
        if let origin {
            let owners = directory.apps.filter {
                !$0.settings.allowedOrigins.isEmpty && $0.settings.allows(origin)
            }
            if owners.count == 1, let owner = owners.first { return owner }
        }
        guard directory.apps.count == 1, let only = directory.apps.first else {
            let advice =
                "The click names no app: send a key of one, or its id as \"app\", post to its link host, or "
                + "list the page's origin among its allowed origins"
            throw .missingField("app", advice)
        }
        return only
    }
}

/// The destination of a click: a deep link that released clients can open.
///
/// If the body states the destination, the app must allow it, unless the click comes with a server key.
struct ClickDestination {
    let url: DeepLinkURL
    /// The parameters of ``url``; they are decoded once, because several values of a click come from them.
    let urlItems: [QueryItem]
    /// The link that was tapped; nil if the body names no link.
    let link: TappedLink?
    let variant: Link.Variant?
    /// The query of the tapped link, without the parameters that make up a long link.
    let query: [QueryItem]

    /// The text that identifies a visit's destination: the link's id, for all variants and queries, or else the URL.
    var visited: String { link?.id?.text ?? url.text }

    /// The parameters that may name the source, with the parameters of the tapped address first.
    var sourceItems: [QueryItem] {
        let own = link?.settings.source.map { [QueryItem(name: "source", value: $0)] } ?? []
        return query + own + urlItems
    }

    /// Chooses the destination: `stated`, the body's destination, takes precedence over the link's.
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
        query = link?.additionalItems(of: items) ?? items
        let named = body.variant.flatMap { name in link?.settings.variant(named: name) }
        let whole: DeepLinkURL
        if let stated {
            (whole, variant) = (stated, named)
        } else {
            guard let link else { throw .noDestination }
            variant = named ?? link.variant(choice: choice)
            guard let target = link.settings.deepLink(variant, on: platform, of: app.settings.links) else {
                let problem = "The link has no destination: it has a path, but its app has no scheme"
                throw .notFound(problem, field: "link")
            }
            whole = target.adding(link.settings.passed(query))
        }
        // Without consent, the click is only counted and never matches, so its URL is stored without click ids of ad
        // networks.
        url = body.hasConsent == false ? whole.withoutClickIDs : whole
        urlItems = url.queryItems
    }

    /// Reads the destination that the body states; nil if it names a link instead.
    ///
    /// - Throws: 400 if the body has neither, or if the destination is malformed or not allowed.
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
            let advice =
                "The link leads outside the app's allowed destinations. Add its scheme or host with "
                + "\"afterlink apps set --destination\", or post the click with a server key"
            throw .invalidURL("deeplink_url", advice)
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
