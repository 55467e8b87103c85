internal import Attribution
internal import DomainFiles
internal import HTTPServer
internal import JSON

/// `GET /.well-known/apple-app-site-association`: returns Apple's domain file.
///
/// `GET /apple-app-site-association` returns it too: Apple requests this path if the first request fails.
enum ShowAppleAssociation {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let (_, apps) = try exchange.appsOfHost()
        let body = AppleAssociation(apps: apps).json().bytes
        guard body.count <= AppleAssociation.maximumByteCount else {
            let message =
                "The domain file of this host has \(body.count) bytes, and Apple reads"
                + " \(AppleAssociation.maximumByteCount): give its apps fewer rules, or link hosts of their own"
            throw APIError(status: .internalServerError, code: .internalError, message: message)
        }
        return exchange.domainFile(body)
    }
}

/// `GET /.well-known/assetlinks.json`: returns Google's domain file.
enum ShowAssetLinks {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let (host, apps) = try exchange.appsOfHost()
        return exchange.domainFile(AssetLinks(host: host, apps: apps).json().bytes)
    }
}

extension Exchange {
    /// Creates the response that contains a domain file.
    ///
    /// Caches may store it for an hour, so that a change takes effect soon. A longer time would save little,
    /// because phones request the files rarely, and from Apple's and Google's copies.
    fileprivate func domainFile(_ body: [UInt8]) -> Response { Response(body, as: .json, for: request) }

    /// Returns the requested link host and the apps that list it.
    ///
    /// - Throws: 404 if the request names no host, or if no app lists the host, with the command that adds it.
    fileprivate func appsOfHost() throws(APIError) -> (LinkHost, [App]) {
        guard let host else {
            throw .notFound("The request names no host name, but a domain file needs one", field: "Host")
        }
        let apps = directory.apps(listing: host)
        guard !apps.isEmpty else {
            throw .notFound(
                "No app lists \(host.text) among its link hosts, so there is no domain file for it:"
                    + " afterlink apps set --link-host \(host.text) adds it"
            )
        }
        return (host, apps)
    }
}
