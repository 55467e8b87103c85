internal import Attribution
internal import HTTPServer

/// `GET` of a link: returns the page that opens the app or leads to its store.
///
/// It is the last of the routes, because a slug has up to four parts and may be any path that no other route has.
enum OpenLink {
    /// The methods that the path of a link allows; any other path gets 404 with every method.
    private static let methods = "GET, HEAD, OPTIONS"

    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let apps: [App]
        let found: FoundLink?
        do throws(StoreError) {
            // This endpoint reads the apps itself, so that browsers get a page instead of a JSON error if the read
            // fails.
            apps = try exchange.stores.apps.directory().apps(onHost: exchange.host)
            found = try await find(apps, exchange)
        } catch {
            exchange.outcome = "unavailable"
            let refusal = APIError(error, requestID: exchange.requestID)
            return try InactiveLinkPage.response(.busy, of: nil, orThrow: refusal, exchange)
        }
        guard let found else {
            exchange.outcome = "unknown"
            let app = apps.count == 1 ? apps[0] : nil
            let refusal = APIError.notFound("There is nothing at this path")
            return try InactiveLinkPage.response(.unknown, of: app, orThrow: refusal, exchange)
        }
        exchange.app = found.app.id
        switch exchange.request.method {
        case .get, .head: break
        case .options: return CrossOrigin.preflight(allowed: methods, false)
        default: throw .methodNotAllowed(allow: methods)
        }
        if FirebaseLongLink.asksForPreview(exchange.queryItems) {
            exchange.outcome = "flow"
            return LinkDebugPage(found, exchange).response
        }
        if let ending = found.ending {
            exchange.outcome = ending.rawValue
            let refusal = APIError.linkEnded(ending)
            return try InactiveLinkPage.response(.expired, of: found.app, orThrow: refusal, exchange)
        }
        guard case .success(let link) = found.link else {
            exchange.outcome = "refused"
            let refusal = APIError.notFound("This long link leads nowhere; d=1 in its query shows why")
            return try InactiveLinkPage.response(.unknown, of: found.app, orThrow: refusal, exchange)
        }
        let visit = LinkVisit(link, of: found.app, exchange)
        switch exchange.queryItem(LinkParameter.action).flatMap({ LinkParameter.Action(rawValue: $0) }) {
        case .store?: return try await RedirectToStore.respond(visit, &exchange)
        case .code?: return try HandoffQRCode.respond(visit, &exchange)
        case nil:
            exchange.outcome = visit.isRobot ? "preview" : "page"
            return LandingPage(visit, exchange).response
        }
    }

    /// Finds the link of the requested address: a stored link, or else the long link in the query; nil without either.
    private static func find(_ apps: [App], _ exchange: Exchange) async throws(StoreError) -> FoundLink? {
        let path = exchange.parameter ?? ""
        let text = QueryItem.text(ofPathPart: path.hasSuffix("/") ? String(path.dropLast()) : path)
        if let found = try await FoundLink.stored(text, of: apps, exchange) { return found }
        return FoundLink.long(text, exchange.queryItems, of: apps)
    }
}

/// The page of a link that leads nowhere: it states the reason, and where to get the app.
enum InactiveLinkPage {
    enum Reason: String {
        /// The link has expired, has had all its clicks, or was archived.
        case expired
        case unknown
        /// The database cannot be read right now.
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

    /// Creates the page for browsers; throws `error` for programs.
    static func response(
        _ reason: Reason,
        of app: App?,
        orThrow error: APIError,
        _ exchange: Exchange
    ) throws(APIError) -> Response {
        guard exchange.request.wantsPage else { throw error }
        var page = Page(of: app, exchange)
        page.values["heading"] = page.text("\(reason.rawValue)_heading")
        page.values["text"] = page.text("\(reason.rawValue)_text")
        if let app, reason != .busy {
            let visitor = LinkVisitor(ClickProvenance.visitHeaders(of: exchange.request))
            let actions = LandingActions(visitor, of: Link.Settings(), to: nil, in: app.settings.links)
            page.values["storeURL"] = actions.storeURL
            page.values["storeText"] = actions.store.map { page.text($0.rawValue) }
        }
        var response = page.response(page.pages.ended, reason.status)
        // The client should retry, because the database may recover.
        if let seconds = error.retryAfter ?? (reason == .busy ? 1 : nil) {
            response.fields.append(FieldLine(name: "Retry-After", value: String(seconds)))
        }
        return response
    }
}

extension Request {
    /// Whether the client gets a page instead of a JSON error: browsers name HTML in `Accept`, programs do not.
    var wantsPage: Bool {
        fields("accept").contains { field in
            field.lowercased().split(separator: ",").contains { type in
                (type.contains("text/html") || type.contains("application/xhtml+xml")) && !Self.excludes(type)
            }
        }
    }

    /// Returns whether a part of `Accept`, in lower case, has the weight 0: the client does not accept this type.
    private static func excludes(_ type: Substring) -> Bool {
        type.split(separator: ";").dropFirst().contains { parameter in
            let text = String(parameter).trimmed
            return text.hasPrefix("q=0") && text.dropFirst(2).allSatisfy { $0 == "0" || $0 == "." }
        }
    }
}
