internal import Attribution
internal import HTTPServer

/// `GET` of a link: the page that opens the app or leads to its store.
///
/// The last of the routes: a slug has up to four parts, and may be whatever is not the service's own.
enum OpenLink {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let proxies = context.service.settings.trustedProxies
        let host = RequestHost.of(exchange.request, trusting: proxies)
        let apps: [App]
        let found: LinkListing?
        do throws(StoreError) {
            // Read here and not before the route is called: who has a browser gets a page when they cannot be read.
            apps = try context.stores.apps.directory().apps(onHost: host)
            found = try await find(exchange.parameter ?? "", apps, context)
        } catch {
            exchange.outcome = "unavailable"
            let refusal = APIError(error, requestID: exchange.requestID)
            return try EndedPage(.busy, of: nil, exchange, context).response(orThrow: refusal)
        }
        guard let found, let app = apps.first(where: { $0.id == found.link.app }) else {
            exchange.outcome = "unknown"
            return try EndedPage(.unknown, of: apps.count == 1 ? apps[0] : nil, exchange, context)
                .response(orThrow: .notFound("There is nothing at this path"))
        }
        exchange.app = app.id
        if let ending = found.link.ending(at: exchange.now, clicks: found.clicks) {
            return try ended(ending, app, &exchange, context)
        }
        return try await answer(
            LinkVisit(found.link, of: app, exchange, context),
            &exchange,
            context
        )
    }

    private static func answer(
        _ visit: LinkVisit,
        _ exchange: inout Exchange,
        _ context: LoopContext
    ) async throws(APIError) -> Response {
        switch exchange.queryItem(LinkParameter.action).flatMap({ LinkParameter.Action(rawValue: $0) }) {
        case .store?: return try await LeaveForStore.respond(visit, &exchange, context)
        case .code?: return try HandOverCode.respond(visit, &exchange, context)
        case nil:
            exchange.outcome = visit.isRobot ? "preview" : "page"
            return LandingPage(visit, exchange, context).response
        }
    }

    /// The link of a path: one that is stored.
    ///
    /// A link that spells what it says in its own parameters would be read here, where none has the slug.
    private static func find(_ path: String, _ apps: [App], _ context: LoopContext) async throws(StoreError)
        -> LinkListing?
    {
        let text = QueryItem.text(ofPathPart: path.hasSuffix("/") ? String(path.dropLast()) : path)
        guard let slug = try? LinkSlug(parsing: text), !apps.isEmpty else { return nil }
        return try await context.stores.links.link(slug, of: apps.map(\.id))
    }

    /// What a visitor sees of a link that leads nowhere any more.
    static func ended(
        _ ending: Link.Ending,
        _ app: App,
        _ exchange: inout Exchange,
        _ context: LoopContext
    ) throws(APIError) -> Response {
        exchange.outcome = ending.rawValue
        return try EndedPage(.expired, of: app, exchange, context).response(orThrow: .linkEnded(ending))
    }
}
