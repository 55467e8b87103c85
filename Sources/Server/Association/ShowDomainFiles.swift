internal import Attribution
internal import DomainFiles
internal import HTTPServer
internal import JSON

/// `GET /.well-known/apple-app-site-association`, and the same file at the root, where Apple looks second.
enum ShowAppleAssociation {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let (_, apps) = try DomainFileResponse.apps(of: exchange, context)
        let file = AppleAssociation(apps: apps)
        let body = file.json().bytes
        guard body.count <= AppleAssociation.maximumByteCount else {
            throw APIError(
                status: .internalServerError,
                code: .internalError,
                message:
                    "The domain file of this host has \(body.count) bytes, and Apple reads"
                    + " \(AppleAssociation.maximumByteCount): give its apps fewer rules, or link hosts of their own"
            )
        }
        return DomainFileResponse.response(body, to: exchange)
    }
}

/// `GET /.well-known/assetlinks.json`.
enum ShowAssetLinks {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let (host, apps) = try DomainFileResponse.apps(of: exchange, context)
        return DomainFileResponse.response(AssetLinks(host: host, apps: apps).json().bytes, to: exchange)
    }
}

/// What both endpoints share.
enum DomainFileResponse {
    /// An hour: systems request the files rarely, through copies of Apple and Google, and a change must show soon.
    private static let cacheControl = "public, max-age=3600"

    static func response(_ body: [UInt8], to exchange: Exchange) -> Response {
        Response(body, as: .json, cacheControl: cacheControl, for: exchange.request)
    }

    /// Returns the requested link host and the apps that list it.
    ///
    /// - Throws: 404 if none does, with the command that adds the host.
    static func apps(of exchange: Exchange, _ context: LoopContext) throws(APIError) -> (LinkHost, [App]) {
        guard let host = context.host(of: exchange) else {
            throw .notFound("The request names no host name, and domain files belong to one", field: "Host")
        }
        let apps = exchange.directory.apps(listing: host)
        guard !apps.isEmpty else {
            throw .notFound(
                "No app lists \(host.text) among its link hosts, so that there is no domain file for it:"
                    + " afterlink apps set --link-host \(host.text) adds it"
            )
        }
        return (host, apps)
    }
}
