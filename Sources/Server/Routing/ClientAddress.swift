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
