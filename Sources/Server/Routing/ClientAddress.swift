internal import Attribution
internal import HTTPServer

/// Whose address a request counts as.
enum ClientAddress {
    /// The peer's, or what the rightmost untrusted hop of a trusted proxy's headers says.
    static func of(_ request: Request, trusting proxies: TrustedProxies) -> NetworkAddress {
        let peer = NetworkAddress(high: request.peer.high, low: request.peer.low)
        guard proxies.trusts(peer) else { return peer }
        // Nearly always there is one proxy, and it names one address.
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
