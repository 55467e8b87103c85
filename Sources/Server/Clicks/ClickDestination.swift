internal import Attribution
internal import HTTPServer

/// The destination of a click: a link that released clients can open, and for strangers one that the app allows.
struct ClickDestination {
    let url: DeepLinkURL
    /// The link that was tapped.
    let link: TappedLink?
    let variant: Link.Variant?
    /// The query of the tapped link, without the parameters that spell a long link out.
    let query: [QueryItem]

    /// What a visit is recognised by: the link, whatever its variant and query, or else the URL.
    var visited: String { link?.id?.text ?? url.text }

    /// Parameters that may name the source, the tap's own first.
    var sourceItems: [QueryItem] {
        let own = link?.settings.source.map { [QueryItem(name: "source", value: $0)] } ?? []
        return query + own + url.queryItems
    }

    /// Chooses the destination: the body's own, `stated`, wins over the link's.
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
        if let stated {
            url = stated
            variant = named
            return
        }
        guard let link else { throw .noDestination }
        variant = named ?? link.variant(choice: choice)
        guard let target = link.settings.deepLink(variant, on: platform, of: app.settings.links) else {
            throw .notFound(
                "The link has no destination: it has a path, but its app has no scheme",
                field: "link"
            )
        }
        url = target.adding(link.settings.passed(query))
    }

    /// Reads the body's own destination; nil where it names a link instead.
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
            throw .invalidURL(
                "deeplink_url",
                "The link leads outside the app's allowed destinations. Add its scheme or host with "
                    + "\"afterlink apps set --destination\", or post the click with a server key"
            )
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
