internal import Attribution
internal import HTTPServer

/// A visit to a link that leads somewhere.
struct LinkVisit {
    let link: TappedLink
    let app: App
    let visitor: LinkVisitor
    let address: LinkAddress
    /// The link's variant that the visitor gets.
    let variant: Link.Variant?
    /// The query of the visit, without the page's own parameters.
    let query: [QueryItem]
    let actions: LandingActions
    /// Whether a preview or a crawler visits: it gets what previews show, and no script or redirect that records a
    /// click.
    let isRobot: Bool

    init(_ link: TappedLink, of app: App, _ exchange: Exchange, _ context: LoopContext) {
        let request = exchange.request
        let headers = ClickProvenance.visitHeaders(of: request)
        let items = exchange.queryItems
        self.link = link
        self.app = app
        visitor = LinkVisitor(headers)
        address = LinkAddress(exchange, context, link, of: app)
        query = LinkParameter.kept(link.besides(items))
        let shown = items.first { $0.name == LinkParameter.variant }.flatMap {
            link.settings.variant(named: $0.value)
        }
        variant =
            shown
            ?? link.variant { id in
                context.keys.server.current.variantChoice(
                    of: id,
                    address: exchange.address,
                    userAgent: headers.userAgent
                )
            }
        let target = link.settings.deepLink(variant, on: visitor.platform, of: app.settings.links)
        actions = LandingActions(
            visitor,
            of: link.settings,
            to: target?.adding(link.settings.passed(query)),
            in: app.settings.links
        )
        isRobot = context.service.settings.robots.isRobot(headers.userAgent)
    }

    /// The parameters that the page adds when it requests the store or the code.
    var pageItems: [QueryItem] {
        let variant = variant.map { [QueryItem(name: LinkParameter.variant, value: $0.name)] } ?? []
        return variant + query.filter { $0.name != LinkParameter.token }
    }

    /// The UTM parameters for the store's own reports.
    var utm: [QueryItem] {
        let passed = link.settings.passed(query).filter { $0.name.hasPrefix("utm_") }
        return link.settings.utm
            + passed.filter { item in
                !link.settings.utm.contains { $0.name == item.name }
            }
    }

    /// The address of the store button; a page gets the parameters that the link passes on, a store gets none.
    var storeURL: String? {
        guard actions.store == .page, let url = actions.storeURL else { return actions.storeURL }
        return DeepLinkURL(stored: url).adding(link.settings.passed(query)).text
    }

    /// The text of the code on the page for a computer.
    ///
    /// - Parameter token: of the click that this page has recorded; nil before.
    /// - Returns: the link's address, with the source of a scan.
    func codeText(token: String?) -> String {
        let items = token.map { [QueryItem(name: LinkParameter.token, value: $0)] } ?? []
        let rest = query.filter { $0.name != LinkParameter.token && $0.name != "source" }
        return address.url([QueryItem(name: "source", value: SourceToken.qr.rawValue)] + items + rest)
    }
}

/// The address at which a link was opened: its host as the visitor sees it, and its path.
struct LinkAddress: Equatable {
    /// The origin, as `https://go.shop.example`, without a final slash.
    let origin: String
    /// The path, with a slash before it.
    let path: String
    /// The parameters that spell a long link out.
    let spelling: [QueryItem]

    /// On a link host links are always `https`; for an app without one, the requested host and scheme are used.
    init(_ exchange: Exchange, _ context: LoopContext, _ link: TappedLink, of app: App) {
        path = "/\(link.path)"
        spelling = link.spelling
        let (request, proxies) = (exchange.request, context.service.settings.trustedProxies)
        let (hosts, asked) = (app.settings.links.hosts, RequestHost.of(request, trusting: proxies))
        if let host = asked.flatMap({ hosts.contains($0) ? $0 : nil }) ?? hosts.first {
            origin = "https://\(host.text)"
        } else {
            origin = RequestHost.origin(of: request, trusting: proxies) ?? ""
        }
    }

    /// The path with a query.
    func path(_ items: [QueryItem]) -> String { append(items, to: path) }

    /// The whole address with a query.
    func url(_ items: [QueryItem] = []) -> String { append(items, to: origin + path) }

    private func append(_ items: [QueryItem], to text: String) -> String {
        let items = spelling + items
        return items.isEmpty ? text : "\(text)?\(QueryItem.query(of: items))"
    }
}

/// Parameters between a link's page and the server; never passed on.
enum LinkParameter {
    /// The page's request for the store or the code.
    static let action = "al_go"
    /// The variant that the page has shown.
    static let variant = "al_variant"
    /// The token that a link carries for the first launch.
    static let token = ClickReference.linkName

    enum Action: String {
        /// A redirect to the store, which records a click for a page that ran no script.
        case store
        /// The picture of the code that a phone scans to continue.
        case code
    }

    /// The longest query that is written into a page; a longer one is cut between two parameters.
    private static let maximumQueryLength = 2048

    /// The visitor's own parameters, without the page's.
    static func kept(_ items: [QueryItem]) -> [QueryItem] {
        var length = 0
        let others = items.filter { $0.name != action && $0.name != variant }
        return Array(
            others.prefix { item in
                length += QueryItem.query(of: [item]).utf8.count + 1
                return length <= maximumQueryLength
            }
        )
    }
}
