/// Where a click came from, as released clients know it: one of exactly seven words.
public enum SourceToken: String, CaseIterable, Sendable {
    case instagram, facebook, twitter, tiktok, qr, direct, unknown

    /// Whether the token goes into the answered link: `direct` and `unknown` tell a client nothing.
    public var isWritten: Bool { self != .direct && self != .unknown }
}

extension SourceToken {
    /// What one signal means, or nil when it maps to nothing.
    ///
    /// Source: the wire contract, section 5. The rules are tried in this order.
    init?(signal: String) {
        let text = signal.trimmed.asciiLowercased
        guard let token = Self.rules.first(where: { $0.matches(text) })?.token else { return nil }
        self = token
    }

    private struct Rule {
        let token: SourceToken
        var wholes: Set<String> = []
        var parts: [String] = []
        var hosts: [String] = []

        func matches(_ text: String) -> Bool {
            if wholes.contains(text) { return true }
            if parts.contains(where: { text.contains(ascii: $0) }) { return true }
            guard !hosts.isEmpty else { return false }
            let host = SourceToken.host(in: text)
            return hosts.contains { host == $0 || host.hasSuffix(".\($0)") }
        }
    }

    private static let rules = [
        Rule(token: .instagram, wholes: ["ig"], parts: ["instagram"]),
        Rule(token: .facebook, wholes: ["fb", "meta"], parts: ["facebook", "messenger", "katana", "orca"]),
        Rule(token: .tiktok, wholes: ["tt"], parts: ["tiktok", "musically", "zhiliaoapp", "ugc.trill"]),
        Rule(token: .twitter, parts: ["twitter", "tweetie"]),
        Rule(token: .qr, wholes: ["qr", "qrcode", "qr_code"], parts: ["qr-code"]),
        Rule(token: .twitter, wholes: ["x"], hosts: ["x.com", "t.co"]),
        Rule(token: .facebook, hosts: ["fb.com", "fb.me"]),
        Rule(
            token: .direct,
            wholes: ["mail", "sms", "browser", "website", "web", "direct"],
            parts: [
                "safari", "chrome", "firefox", "mobilemail", "mobilesms", "messaging", "whatsapp", "telegram",
                "gmail",
            ]
        ),
    ]

    /// The host of a URL, or of a text that is a host with what may follow one; in the case as it came.
    static func host(in text: String) -> String {
        var rest = text.utf8[...]
        if let mark = text.range(ofASCII: "://") { rest = text.utf8[mark.upperBound...] }
        rest = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) { rest = rest[rest.index(after: at)...] }
        return String(decoding: rest.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
    }
}
