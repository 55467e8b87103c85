internal import Attribution
internal import HTTPServer

/// Which host a visitor has asked.
enum RequestHost {
    /// The request's own, or what a trusted proxy says that it was asked for.
    ///
    /// Of several the last one: the nearest proxy has written it.
    static func of(_ request: Request, trusting proxies: TrustedProxies) -> LinkHost? {
        authority(of: request, trusting: proxies).flatMap { LinkHost($0) }
    }

    /// What stands before the path of the address that was asked, as in `http://127.0.0.1:8080`.
    ///
    /// Nil for a request that names no host.
    static func origin(of request: Request, trusting proxies: TrustedProxies) -> String? {
        guard let authority = authority(of: request, trusting: proxies), LinkHost(authority) != nil else {
            return nil
        }
        let scheme = forwarded("x-forwarded-proto", by: request, trusting: proxies)
        let isSecure = scheme.map { $0 == "https" } ?? request.isSecure
        return "\(isSecure ? "https" : "http")://\(authority)"
    }

    /// With the port, if one was named.
    private static func authority(of request: Request, trusting proxies: TrustedProxies) -> String? {
        if let text = forwarded("x-forwarded-host", by: request, trusting: proxies), LinkHost(text) != nil {
            return text
        }
        return request.host
    }

    /// What the nearest proxy says in a field; nil where none is trusted or it says nothing.
    private static func forwarded(
        _ field: String,
        by request: Request,
        trusting proxies: TrustedProxies
    ) -> String? {
        let peer = NetworkAddress(high: request.peer.high, low: request.peer.low)
        guard proxies.trusts(peer) else { return nil }
        return request.fields(field).last?.split(separator: ",").last.map { value in
            String(value.drop { $0 == " " || $0 == "\t" })
        }
    }
}
