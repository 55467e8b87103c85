internal import Attribution
internal import HTTPServer
internal import QRCodes

/// `GET /{slug}/qr.svg` and `GET /{slug}/qr.png`: draws the QR code of a link, for print and for other sites.
///
/// A phone that scans the code opens the link with `source=qr`.
enum ShowQRCode {
    static func svg(_ exchange: inout Exchange) async throws(APIError) -> Response {
        try await respond(.svg, as: .svg, &exchange)
    }

    static func png(_ exchange: inout Exchange) async throws(APIError) -> Response {
        try await respond(.png, as: .png, &exchange)
    }

    private static func respond(
        _ format: QRPicture.Format,
        as contentType: ContentType,
        _ exchange: inout Exchange
    ) async throws(APIError) -> Response {
        let path = QueryItem.text(ofPathPart: exchange.parameter ?? "")
        let apps = exchange.directory.apps(onHost: exchange.host)
        let found = try await exchange.store(await FoundLink.stored(path, of: apps, exchange))
        guard let found, let link = try? found.link.get() else {
            throw .notFound("There is no such link on this host")
        }
        if let ending = found.ending { throw .linkEnded(ending) }
        exchange.app = found.app.id
        let address = LinkAddress(exchange, link, of: found.app)
        guard !address.origin.isEmpty else {
            throw .missingField("Host", "Send a Host field that names the service's host")
        }
        let file = try file(format, of: address.url(), link.settings, exchange)
        // If the app has no link host, the code contains the requested host, and must not be cached for other clients.
        let caching = found.app.settings.links.hosts.isEmpty ? "no-store" : "public, max-age=3600"
        var response = Response(file, as: contentType, cacheControl: caching, for: exchange.request)
        response.fields += security + [fileName(link.path, format)]
        return response
    }

    /// Draws the code of a link's address in the link's style; the request's query may replace parts of the style.
    ///
    /// - Throws: 400 with all wrong items of the query.
    static func file(
        _ format: QRPicture.Format,
        of url: String,
        _ settings: Link.Settings,
        _ exchange: Exchange
    ) throws(APIError) -> [UInt8] {
        do throws(FieldProblems) {
            let style = try QRStyle(try QRStyleFields(query: exchange.request.query ?? ""), of: settings)
            return try QRPicture(ofLink: url, in: style).file(format, title: "QR code: \(url)")
        } catch { throw .invalidItems(error.all) }
    }

    /// Returns the field that names the file after the link's slug.
    ///
    /// A file name may contain every character of a slug except the slash.
    static func fileName(_ slug: String, _ format: QRPicture.Format) -> FieldLine {
        let name = "\(slug.replacing("/", with: "-")).\(format.rawValue)"
        return FieldLine(name: "Content-Disposition", value: "inline; filename=\"\(name)\"")
    }

    /// Lets other sites show the file as a picture, and forbids the file to load anything, because an SVG that is
    /// opened by itself is a document.
    private static let security = [
        FieldLine(name: "Content-Security-Policy", value: "default-src 'none'; frame-ancestors 'none'"),
        FieldLine(name: "Cross-Origin-Resource-Policy", value: "cross-origin"),
    ]
}
