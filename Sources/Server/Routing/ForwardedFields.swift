internal import Attribution
internal import HTTPServer

/// Finds the client's address of a request.
enum ClientAddress {
    /// The peer's address, or the rightmost untrusted hop in a trusted proxy's headers.
    static func of(_ request: Request, trusting proxies: TrustedProxies) -> NetworkAddress {
        let peer = NetworkAddress(high: request.peer.high, low: request.peer.low)
        guard proxies.trusts(peer) else { return peer }
        // Nearly always there is one proxy, which names one address.
        if !request.hasField("forwarded"),
            let only = request.withOnlyFieldBytes("x-forwarded-for", { NetworkAddress(utf8: $0) }) ?? nil
        {
            return only
        }
        return proxies.client(
            peer: peer,
            forwardedFor: request.fields("x-forwarded-for"),
            forwarded: request.fields("forwarded")
        )
    }
}

extension LoopContext {
    /// The host that a visitor requested, as far as it may be a link host.
    func host(of exchange: Exchange) -> LinkHost? {
        RequestHost.of(exchange.request, trusting: service.settings.trustedProxies)
    }

    /// The apps whose links the requested host serves; all apps for a host that is no link host.
    func nearestApps(_ exchange: Exchange) -> [App] {
        let nearest = exchange.directory.apps(onHost: host(of: exchange))
        return nearest.isEmpty ? exchange.directory.apps : nearest
    }
}

/// Finds the host that a visitor requested.
enum RequestHost {
    /// The request's host, or the one that a trusted proxy reports.
    ///
    /// Of several hosts the last one counts, because the nearest proxy wrote it.
    static func of(_ request: Request, trusting proxies: TrustedProxies) -> LinkHost? {
        authority(of: request, trusting: proxies).flatMap { LinkHost($0) }
    }

    /// The origin of the requested address, such as `http://127.0.0.1:8080`.
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

    /// The nearest proxy's value of a field; nil where the peer is not a trusted proxy or sends none.
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
