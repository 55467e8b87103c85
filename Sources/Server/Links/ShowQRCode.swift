internal import Attribution
internal import HTTPServer
internal import QRCodes

/// `GET /{slug}/qr.svg` and `GET /{slug}/qr.png`: draws the QR code of a link, for print and for other sites.
///
/// A scan opens the link with the source `qr`.
enum ShowQRCode {
    static func svg(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response {
        try await respond(.svg, as: .svg, &exchange, context)
    }

    static func png(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response {
        try await respond(.png, as: .png, &exchange, context)
    }

    private static func respond(
        _ format: QRPicture.Format,
        as contentType: ContentType,
        _ exchange: inout Exchange,
        _ context: LoopContext
    ) async throws(APIError) -> Response {
        let requested = try await RequestedLink.find(exchange, context)
        exchange.app = requested.app.id
        let url = try requested.url(exchange, context)
        let file: [UInt8]
        do throws(FieldProblems) {
            let fields = try QRStyleFields(query: exchange.request.query ?? "")
            let style = try QRStyle(fields, of: requested.link.settings)
            file = try QRPicture(ofLink: url, in: style).file(format, title: "QR code: \(url)")
        } catch {
            throw .invalidItems(error.all)
        }
        // Without a link host the code contains the requested host, and must not be cached for other clients.
        let isLasting = !requested.app.settings.links.hosts.isEmpty
        var response = Response(
            file,
            as: contentType,
            cacheControl: isLasting ? "public, max-age=3600" : "no-store",
            for: exchange.request
        )
        response.fields += security
        response.fields.append(
            FieldLine(
                name: "Content-Disposition",
                value: "inline; filename=\"\(fileName(of: requested.link.slug, format))\""
            )
        )
        return response
    }

    /// An SVG that is opened by itself is a document, so it may load nothing.
    ///
    /// Other sites may show it as a picture.
    private static let security = [
        FieldLine(name: "Content-Security-Policy", value: "default-src 'none'; frame-ancestors 'none'"),
        FieldLine(name: "Cross-Origin-Resource-Policy", value: "cross-origin"),
    ]

    /// The slug as a file name: all its characters but the slash are safe there.
    private static func fileName(of slug: LinkSlug, _ format: QRPicture.Format) -> String {
        "\(slug.text.replacing("/", with: "-")).\(format.rawValue)"
    }
}

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
        let apps = exchange.directory.apps(onHost: context.host(of: exchange)).map(\.id)
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
        let host = context.host(of: exchange).flatMap { app.settings.links.hosts.contains($0) ? $0 : nil }
        if let url = host.map(link.url(on:)) ?? link.url(of: app) { return url }
        let proxies = context.service.settings.trustedProxies
        guard let origin = RequestHost.origin(of: exchange.request, trusting: proxies) else {
            throw .missingField("Host", "Send a Host field that names the service's host")
        }
        return "\(origin)/\(link.slug.text)"
    }
}

extension APIError {
    fileprivate static let noLinkHere = APIError.notFound("There is no such link on this host")
}
