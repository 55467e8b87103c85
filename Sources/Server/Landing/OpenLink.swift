internal import Attribution
internal import HTTPServer

/// `GET` of a link: returns the page that opens the app or leads to its store.
///
/// The last of the routes: a slug has up to four parts, and may be any path that is not the service's own.
enum OpenLink {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let host = context.host(of: exchange)
        let apps: [App]
        let opened: OpenedLink?
        do throws(StoreError) {
            // Read here and not before the route is called, so that browsers get a page when they cannot be read.
            apps = try context.stores.apps.directory().apps(onHost: host)
            opened = try await find(apps, exchange, context)
        } catch {
            exchange.outcome = "unavailable"
            let refusal = APIError(error, requestID: exchange.requestID)
            return try InactiveLinkPage(.busy, of: nil, exchange, context).response(orThrow: refusal)
        }
        guard let opened else {
            exchange.outcome = "unknown"
            return try InactiveLinkPage(.unknown, of: apps.count == 1 ? apps[0] : nil, exchange, context)
                .response(orThrow: .notFound("There is nothing at this path"))
        }
        exchange.app = opened.app.id
        if FirebaseLongLink.asksForPreview(exchange.queryItems) {
            exchange.outcome = "flow"
            return LinkDebugPage(opened, exchange, context).response
        }
        switch opened.state {
        case .ended(let ending, _): return try ended(ending, of: opened.app, &exchange, context)
        case .refused:
            exchange.outcome = "refused"
            return try InactiveLinkPage(.unknown, of: opened.app, exchange, context)
                .response(orThrow: .notFound("This long link leads nowhere; d=1 in its query shows why"))
        case .leads(let link):
            let visit = LinkVisit(link, of: opened.app, exchange, context)
            return try await answer(visit, &exchange, context)
        }
    }

    private static func answer(
        _ visit: LinkVisit,
        _ exchange: inout Exchange,
        _ context: LoopContext
    ) async throws(APIError) -> Response {
        switch exchange.queryItem(LinkParameter.action).flatMap({ LinkParameter.Action(rawValue: $0) }) {
        case .store?: return try await RedirectToStore.respond(visit, &exchange, context)
        case .code?: return try HandoffQRCode.respond(visit, &exchange, context)
        case nil:
            exchange.outcome = visit.isRobot ? "preview" : "page"
            return LandingPage(visit, exchange, context).response
        }
    }

    /// Finds the link of an address: a stored one, else one that the query spells out.
    private static func find(_ apps: [App], _ exchange: Exchange, _ context: LoopContext)
        async throws(StoreError) -> OpenedLink?
    {
        let path = exchange.parameter ?? ""
        let text = QueryItem.text(ofPathPart: path.hasSuffix("/") ? String(path.dropLast()) : path)
        guard !apps.isEmpty else { return nil }
        if let slug = try? LinkSlug(parsing: text),
            let kept = try await context.stores.links.link(slug, of: apps.map(\.id)),
            let app = apps.first(where: { $0.id == kept.link.app })
        {
            return OpenedLink(kept, of: app, at: exchange.now)
        }
        return LongLink.find(text, exchange.queryItems, of: apps).map(OpenedLink.init)
    }

    /// Creates the response for a link that no longer leads anywhere.
    static func ended(
        _ ending: Link.Ending,
        of app: App,
        _ exchange: inout Exchange,
        _ context: LoopContext
    ) throws(APIError) -> Response {
        exchange.outcome = ending.rawValue
        return try InactiveLinkPage(.expired, of: app, exchange, context).response(
            orThrow: .linkEnded(ending)
        )
    }
}

/// An opened link, and whether it leads somewhere.
struct OpenedLink {
    enum State {
        case leads(TappedLink)
        case ended(Link.Ending, TappedLink)
        /// A long link that must not lead anywhere.
        case refused(FieldProblems)
    }

    let app: App
    let state: State

    init(_ kept: LinkListing, of app: App, at now: Timestamp) {
        self.app = app
        let link = TappedLink(kept.link)
        let ending = kept.link.ending(at: now, clicks: kept.clicks)
        state = ending.map { .ended($0, link) } ?? .leads(link)
    }

    init(_ long: LongLink.Found) {
        app = long.app
        switch long.link {
        case .success(let link): state = .leads(link)
        case .failure(let problems): state = .refused(problems)
        }
    }
}

/// The page of a link that leads nowhere: why, and where to get the app.
struct InactiveLinkPage {
    enum Reason: String {
        /// The link has expired, has had all its clicks, or was archived.
        case expired
        case unknown
        /// The store cannot be read right now.
        case busy

        var status: Status {
            switch self {
            case .expired: .gone
            case .unknown: .notFound
            case .busy: .serviceUnavailable
            }
        }
    }

    static let valueNames: Set<String> = [
        "language", "direction", "heading", "text", "icon", "color", "onColor", "nonce", "storeURL",
        "storeText",
    ]

    private let reason: Reason
    private let app: App?
    private let exchange: Exchange
    private let context: LoopContext

    init(_ reason: Reason, of app: App?, _ exchange: Exchange, _ context: LoopContext) {
        self.reason = reason
        self.app = app
        self.exchange = exchange
        self.context = context
    }

    /// Creates the page for browsers; programs get the error.
    func response(orThrow error: APIError) throws(APIError) -> Response {
        guard Self.wantsPage(exchange.request) else { throw error }
        var page = Page(of: app, exchange, context)
        page.values["heading"] = page.text("\(reason.rawValue)_heading")
        page.values["text"] = page.text("\(reason.rawValue)_text")
        if let app, reason != .busy {
            let visitor = LinkVisitor(ClickProvenance.visitHeaders(of: exchange.request))
            let actions = LandingActions(visitor, of: Link.Settings(), to: nil, in: app.settings.links)
            page.values["storeURL"] = actions.storeURL
            page.values["storeText"] = actions.store.map { page.text($0.rawValue) }
        }
        var response = page.response(page.pages.ended, reason.status)
        // A store that cannot be read now may recover.
        if let seconds = error.retryAfter ?? (reason == .busy ? 1 : nil) {
            response.fields.append(FieldLine(name: "Retry-After", value: String(seconds)))
        }
        return response
    }

    /// Whether the client prefers a page to a JSON error: browsers name the type, programs do not.
    private static func wantsPage(_ request: Request) -> Bool {
        request.fields("accept").contains { field in
            let types = field.lowercased()
            return types.contains("text/html") || types.contains("application/xhtml+xml")
        }
    }
}
