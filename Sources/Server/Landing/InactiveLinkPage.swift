internal import Attribution
internal import HTTPServer

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
        let pages = context.service.settings.pages
        let language = pages.texts.language(acceptLanguage: exchange.request.field("accept-language"))
        let nonce = PageSecurity.nonce(context.service.random)
        var values = PageTheme(app).values
        values["nonce"] = nonce
        values["language"] = language.code
        values["direction"] = language.direction
        values["heading"] = pages.texts.text("\(reason.rawValue)_heading", in: language)
        values["text"] = pages.texts.text("\(reason.rawValue)_text", in: language)
        if let app, reason != .busy {
            let visitor = LinkVisitor(ClickProvenance.visitHeaders(of: exchange.request))
            let actions = LandingActions(visitor, of: Link.Settings(), to: nil, in: app.settings.links)
            values["storeURL"] = actions.storeURL
            values["storeText"] = actions.store.map { pages.texts.text($0.rawValue, in: language) }
        }
        let body = pages.ended.render(values, rawParts: ["style": pages.style])
        var fields = PageSecurity.fields(nonce: nonce, images: [values["icon"]], hasScript: false)
        // A store that cannot be read now may recover.
        if let seconds = error.retryAfter ?? (reason == .busy ? 1 : nil) {
            fields.append(FieldLine(name: "Retry-After", value: String(seconds)))
        }
        return Response(reason.status, fields: fields, contentType: .html, body: body)
    }

    /// Whether the client prefers a page to a JSON error: browsers name the type, programs do not.
    private static func wantsPage(_ request: Request) -> Bool {
        request.fields("accept").contains { field in
            let types = field.lowercased()
            return types.contains("text/html") || types.contains("application/xhtml+xml")
        }
    }
}
