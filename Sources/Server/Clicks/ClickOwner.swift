internal import Attribution
internal import HTTPServer

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
