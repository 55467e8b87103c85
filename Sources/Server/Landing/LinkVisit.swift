internal import Attribution

/// One request by a visitor or a robot for the page of a link that has not ended.
struct LinkVisit {
    let link: TappedLink
    let app: App
    let visitor: LinkVisitor
    let address: LinkAddress
    /// The link's variant that the visitor gets; nil for a link without variants.
    let variant: Link.Variant?
    /// The query of the visit, without the page's own parameters.
    let query: [QueryItem]
    let actions: LandingActions
    /// Whether a robot visits: it gets the preview, but no script or redirect that records a click.
    let isRobot: Bool

    init(_ link: TappedLink, of app: App, _ exchange: Exchange) {
        let headers = ClickProvenance.visitHeaders(of: exchange.request)
        let items = exchange.queryItems
        self.link = link
        self.app = app
        visitor = LinkVisitor(headers)
        address = LinkAddress(exchange, link, of: app)
        query = LinkParameter.kept(link.additionalItems(of: items))
        let shown = exchange.queryItem(LinkParameter.variant).flatMap { link.settings.variant(named: $0) }
        let (key, client) = (exchange.keys.server.current, exchange.address)
        variant =
            shown
            ?? link.variant { key.variantChoice(of: $0, address: client, userAgent: headers.userAgent) }
        let target = link.settings.deepLink(variant, on: visitor.platform, of: app.settings.links)
        let destination = target?.adding(link.settings.passed(query))
        actions = LandingActions(visitor, of: link.settings, to: destination, in: app.settings.links)
        isRobot = exchange.service.settings.robots.isRobot(headers.userAgent)
    }

    /// The parameters that the page adds when it requests the store's redirect or the QR code.
    var pageItems: [QueryItem] {
        let variant = variant.map { [QueryItem(name: LinkParameter.variant, value: $0.name)] } ?? []
        return variant + query.filter { $0.name != LinkParameter.token }
    }

    /// The UTM parameters for the store's own reports.
    var utm: [QueryItem] {
        let passed = link.settings.passed(query).filter { $0.name.hasPrefix("utm_") }
        let own = link.settings.utm
        return own + passed.filter { item in !own.contains { $0.name == item.name } }
    }

    /// The store button's address; nil if the app has no store or page for the visitor's device.
    ///
    /// Only an operator's own page gets the parameters that the link passes on.
    var storeURL: String? {
        guard actions.store == .page, let url = actions.storeURL else { return actions.storeURL }
        return DeepLinkURL(stored: url).adding(link.settings.passed(query)).text
    }

    /// Makes the text of the QR code on the page for a computer.
    ///
    /// - Parameter token: the token of the click that this page has recorded; nil before the click is recorded.
    /// - Returns: the link's address with `source=qr`, the token and the visit's other parameters.
    func codeText(token: String?) -> String {
        let items = token.map { [QueryItem(name: LinkParameter.token, value: $0)] } ?? []
        let rest = query.filter { $0.name != LinkParameter.token && $0.name != "source" }
        return address.url([QueryItem(name: "source", value: SourceToken.qr.rawValue)] + items + rest)
    }
}

/// The address at which a link was opened: its host as the visitor sees it, and its path.
struct LinkAddress: Equatable {
    /// The origin, such as `https://go.shop.example`, without a final slash; empty if the request names no host.
    let origin: String
    /// The path, which starts with a slash.
    let path: String
    /// The query parameters that make up a long link; empty for a stored link.
    let spelling: [QueryItem]

    /// Creates the address with `https` on the requested link host, or else on the app's first link host.
    ///
    /// If the app has no link hosts, the address is on the requested host with the request's scheme.
    init(_ exchange: Exchange, _ link: TappedLink, of app: App) {
        path = "/\(link.path)"
        spelling = link.spelling
        let (hosts, requested) = (app.settings.links.hosts, exchange.host)
        let host = requested.flatMap { hosts.contains($0) ? $0 : nil } ?? hosts.first
        origin = host.map { "https://\($0.text)" } ?? exchange.origin ?? ""
    }

    /// Returns the path with a query.
    func path(_ items: [QueryItem]) -> String { append(items, to: path) }

    /// Returns the whole address with a query.
    func url(_ items: [QueryItem] = []) -> String { append(items, to: origin + path) }

    private func append(_ items: [QueryItem], to text: String) -> String {
        let items = spelling + items
        return items.isEmpty ? text : "\(text)?\(QueryItem.query(of: items))"
    }
}

/// Query parameters that a link's page sends to the server; they are never passed on to the destination.
enum LinkParameter {
    /// Requests the store's redirect or the QR code; see ``Action``.
    static let action = "al_go"
    /// The variant that the page has shown.
    static let variant = "al_variant"
    /// The token of a click, which a link carries to the first launch.
    static let token = ClickReference.linkName

    enum Action: String {
        /// A redirect to the store, which records a click for a page that ran no script.
        case store
        /// The picture of the QR code that a phone scans to continue.
        case code
    }

    /// The longest query that is written into a page, in bytes; a longer query is cut between two parameters.
    private static let maximumQueryLength = 2048

    /// Returns the visitor's parameters up to the length limit, without the page's parameters.
    static func kept(_ items: [QueryItem]) -> [QueryItem] {
        var length = 0
        let kept = items.filter { $0.name != action && $0.name != variant }.prefix { item in
            length += QueryItem.query(of: [item]).utf8.count + 1
            return length <= maximumQueryLength
        }
        return Array(kept)
    }
}
