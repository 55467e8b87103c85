internal import Attribution
internal import HTTPServer

/// Whose address a request counts as.
enum ClientAddress {
    /// The peer's, or what the rightmost untrusted hop of a trusted proxy's headers says.
    static func of(_ request: Request, trusting proxies: TrustedProxies) -> NetworkAddress {
        let peer = NetworkAddress(high: request.peer.high, low: request.peer.low)
        guard !proxies.ranges.isEmpty else { return peer }
        return proxies.client(
            peer: peer,
            forwardedFor: request.fields("x-forwarded-for"),
            forwarded: request.fields("forwarded")
        )
    }
}
