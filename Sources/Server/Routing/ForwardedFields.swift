internal import Attribution
internal import HTTPServer

extension Exchange {
    /// Returns the client's address: the peer's, or the rightmost untrusted hop in a trusted proxy's headers.
    static func clientAddress(of request: Request, trusting proxies: TrustedProxies) -> NetworkAddress {
        let peer = NetworkAddress(high: request.peer.high, low: request.peer.low)
        guard proxies.trusts(peer) else { return peer }
        // Nearly always there is one proxy, which names one address.
        if !request.hasField("forwarded"),
            let only = request.withOnlyFieldBytes("x-forwarded-for", { NetworkAddress(utf8: $0) }) ?? nil
        {
            return only
        }
        let (list, forwarded) = (request.fields("x-forwarded-for"), request.fields("forwarded"))
        return proxies.client(peer: peer, forwardedFor: list, forwarded: forwarded)
    }

    /// The host that the visitor requested, or that a trusted proxy reports; nil if it cannot be a link host.
    ///
    /// Of several reported hosts the last one counts, because the nearest proxy wrote it.
    var host: LinkHost? { authority.flatMap { LinkHost($0) } }

    /// The apps whose links the requested host serves, or all apps if it serves no app's links.
    var nearestApps: [App] {
        let nearest = directory.apps(onHost: host)
        return nearest.isEmpty ? directory.apps : nearest
    }

    /// The origin of the requested address in lower case, as browsers write it, such as `http://127.0.0.1:8080`; nil if
    /// the request names no valid host.
    var origin: String? {
        guard let authority, LinkHost(authority) != nil else { return nil }
        let stated = request.statedProtocols(trusting: service.settings.trustedProxies)
        // A proxy writes `X-Forwarded-Proto` or `Forwarded`, and may pass on the other field as the client wrote it.
        let isSecure = stated.isEmpty ? request.isSecure : stated.allSatisfy { $0 == "https" }
        return "\(isSecure ? "https" : "http")://\(authority.asciiLowercased)"
    }

    private var authority: String? { request.authority(trusting: service.settings.trustedProxies) }
}

extension Request {
    /// Returns the requested host, with the port if one was named; nil if the request names no host.
    func authority(trusting proxies: TrustedProxies) -> String? {
        if let text = forwarded("x-forwarded-host", trusting: proxies), LinkHost(text) != nil { return text }
        return host
    }

    /// Returns the protocols of the visitor's request that a trusted proxy states, in lower case: at most one for each
    /// field.
    fileprivate func statedProtocols(trusting proxies: TrustedProxies) -> [String] {
        let byField = forwarded("x-forwarded-proto", trusting: proxies)?.asciiLowercased
        guard hasField("forwarded"), proxies.trusts(NetworkAddress(high: peer.high, low: peer.low)) else {
            return [byField].compactMap(\.self)
        }
        return [byField, TrustedProxies.nearestProtocol(forwarded: fields("forwarded"))].compactMap(\.self)
    }

    /// Returns the nearest proxy's value of a field; nil if the peer is not a trusted proxy, or did not send the field.
    fileprivate func forwarded(_ field: String, trusting proxies: TrustedProxies) -> String? {
        guard proxies.trusts(NetworkAddress(high: peer.high, low: peer.low)) else { return nil }
        return fields(field).last?.split(separator: ",").last.map { value in
            String(value.drop { $0 == " " || $0 == "\t" })
        }
    }
}
