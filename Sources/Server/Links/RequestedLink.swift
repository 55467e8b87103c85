internal import Attribution
internal import HTTPServer

/// The link that a path on a link host names.
struct RequestedLink {
    let listing: LinkListing
    let app: App

    var link: Link { listing.link }

    /// Finds the link among those of the requested host.
    ///
    /// - Throws: 404 where there is none, 410 for one that no longer leads anywhere.
    static func find(_ exchange: Exchange, _ context: LoopContext) async throws(APIError) -> RequestedLink {
        let text = QueryItem.text(ofPathPart: exchange.parameter ?? "")
        guard let slug = try? LinkSlug(parsing: text) else { throw .noLinkHere }
        let proxies = context.service.settings.trustedProxies
        let host = RequestHost.of(exchange.request, trusting: proxies)
        let apps = exchange.directory.apps(onHost: host).map(\.id)
        let found = try await exchange.store(await context.stores.links.link(slug, of: apps))
        guard let listing = found, let app = exchange.directory.app(listing.link.app) else {
            throw .noLinkHere
        }
        if let ending = listing.link.ending(at: exchange.now, clicks: listing.clicks) {
            throw .linkEnded(ending)
        }
        return RequestedLink(listing: listing, app: app)
    }

    /// The link's address on the requested host.
    ///
    /// Where its app has no link host, the address is on the host of the request, so that links can be tried before
    /// there is a link host.
    ///
    /// - Throws: 400 for a request that names no host.
    func url(_ exchange: Exchange, _ context: LoopContext) throws(APIError) -> String {
        let proxies = context.service.settings.trustedProxies
        if let host = RequestHost.of(exchange.request, trusting: proxies),
            app.settings.links.hosts.contains(host)
        {
            return link.url(on: host)
        }
        if let url = link.url(of: app) { return url }
        guard let origin = RequestHost.origin(of: exchange.request, trusting: proxies) else {
            throw .missingField("Host", "Send a Host field that names the service's host")
        }
        return "\(origin)/\(link.slug.text)"
    }
}

extension APIError {
    fileprivate static let noLinkHere = APIError.notFound("There is no such link on this host")
}
