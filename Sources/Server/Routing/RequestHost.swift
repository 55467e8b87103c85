internal import Attribution
internal import HTTPServer

/// Which host a visitor has asked.
enum RequestHost {
    /// The request's own, or what a trusted proxy says that it was asked for.
    ///
    /// Of several the last one: the nearest proxy has written it.
    static func of(_ request: Request, trusting proxies: TrustedProxies) -> LinkHost? {
        let peer = NetworkAddress(high: request.peer.high, low: request.peer.low)
        if proxies.trusts(peer), let forwarded = request.fields("x-forwarded-host").last,
            let last = forwarded.split(separator: ",").last, let host = LinkHost(String(last))
        {
            return host
        }
        return request.host.flatMap { LinkHost($0) }
    }
}
