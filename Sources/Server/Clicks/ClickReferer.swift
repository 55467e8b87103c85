internal import Attribution
internal import HTTPServer

/// From which page a visitor came to a click.
enum ClickReferer {
    /// What the body says, else what the browser sent along.
    ///
    /// A link's own page posts its click, and its button asks for the store, both with the page's address as the
    /// referer: that says nothing of where the visitor came from.
    static func text(
        _ body: ClickBody,
        isOfLink: Bool,
        of app: App,
        _ exchange: Exchange,
        _ context: LoopContext
    ) -> String? {
        guard body.referer == nil, isOfLink, let sent = exchange.request.field("referer") else {
            return body.referer ?? exchange.request.field("referer")
        }
        let host = LinkHost(SourceToken.host(in: sent))
        let asked = RequestHost.of(exchange.request, trusting: context.service.settings.trustedProxies)
        let isOwnPage = host.map { $0 == asked || app.settings.links.hosts.contains($0) } ?? false
        return isOwnPage ? nil : sent
    }
}
