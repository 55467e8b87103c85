internal import Attribution
internal import HTTPServer

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
