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
        query = LinkParameter.kept(link.additionalItems(of: items))
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
