internal import Attribution
internal import HTTPServer

/// Where a link was opened: its host as the visitor sees it, and its path.
struct LinkAddress: Equatable {
    /// `https://go.shop.example`, without a slash at its end.
    let origin: String
    /// With a slash before it.
    let path: String
    /// What of its query makes it the link's.
    let spelling: [QueryItem]

    /// On a link host links are always `https`; an app without any is answered on whatever host was asked, as it was.
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

    /// The path with a query behind it.
    func path(_ items: [QueryItem]) -> String { append(items, to: path) }

    /// The whole address with a query behind it.
    func url(_ items: [QueryItem] = []) -> String { append(items, to: origin + path) }

    private func append(_ items: [QueryItem], to text: String) -> String {
        let items = spelling + items
        return items.isEmpty ? text : "\(text)?\(QueryItem.query(of: items))"
    }
}

/// Parameters by which a link's page speaks with the server; never handed on.
enum LinkParameter {
    /// What the page asks for besides itself.
    static let action = "al_go"
    /// The variant that the page has shown.
    static let variant = "al_variant"
    /// The token that a link carries for the first launch.
    static let token = ClickReference.linkName

    enum Action: String {
        /// The store, by way of a click where the page ran no script.
        case store
        /// The picture of the code that hands over to a phone.
        case code
    }

    /// How much of a query is written into a page; what is longer is cut between two parameters.
    private static let longestQuery = 2048

    /// What a visitor's own query says, without the page's parameters.
    static func kept(_ items: [QueryItem]) -> [QueryItem] {
        var length = 0
        let others = items.filter { $0.name != action && $0.name != variant }
        return Array(
            others.prefix { item in
                length += QueryItem.query(of: [item]).utf8.count + 1
                return length <= longestQuery
            }
        )
    }
}
