internal import Attribution
internal import HTTPServer

/// Somebody's visit to a link that leads somewhere.
struct LinkVisit {
    let link: TappedLink
    let app: App
    let visitor: LinkVisitor
    let address: LinkAddress
    /// Which of the link's variants the visitor gets.
    let variant: Link.Variant?
    /// What the link was opened with, without what the page itself asks.
    let query: [QueryItem]
    let handOver: LandingActions
    /// A preview, a crawler and the like: it gets what previews show, and nothing that clicks.
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
        handOver = LandingActions(
            visitor,
            of: link.settings,
            to: target?.adding(link.settings.passed(query)),
            in: app.settings.links
        )
        isRobot = context.service.settings.robots.isRobot(headers.userAgent)
    }

    /// What the page sends along when it asks the server for the store or the code.
    var ownItems: [QueryItem] {
        let variant = variant.map { [QueryItem(name: LinkParameter.variant, value: $0.name)] } ?? []
        return variant + query.filter { $0.name != LinkParameter.token }
    }

    /// What the store's own reports get to know.
    var utm: [QueryItem] {
        let passed = link.settings.passed(query).filter { $0.name.hasPrefix("utm_") }
        return link.settings.utm
            + passed.filter { item in
                !link.settings.utm.contains { $0.name == item.name }
            }
    }

    /// Where the store button leads: a page gets the parameters that the link passes on, a store nothing.
    var storeURL: String? {
        guard handOver.store == .page, let url = handOver.storeURL else { return handOver.storeURL }
        return DeepLinkURL(stored: url).adding(link.settings.passed(query)).text
    }

    /// What a phone's camera reads on the page for a computer.
    ///
    /// - Parameter token: of the click that this page has told; nil before.
    /// - Returns: the link's address, with what makes the phone's visit a scan.
    func codeText(token: String?) -> String {
        let items = token.map { [QueryItem(name: LinkParameter.token, value: $0)] } ?? []
        let rest = query.filter { $0.name != LinkParameter.token && $0.name != "source" }
        return address.url([QueryItem(name: "source", value: SourceToken.qr.rawValue)] + items + rest)
    }
}
