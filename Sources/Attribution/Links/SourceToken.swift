/// Where a click came from, as released clients know it: one of exactly seven words.
public enum SourceToken: String, CaseIterable, Sendable {
    case instagram, facebook, twitter, tiktok, qr, direct, unknown

    /// Whether the token goes into the answered link: `direct` and `unknown` tell a client nothing.
    public var isWritten: Bool { self != .direct && self != .unknown }
}

extension SourceToken {
    /// What one signal means, or nil when it maps to nothing.
    ///
    /// Source: the wire contract, section 5. Of the rules that fit, the first one counts.
    init?(signal: String) {
        let text = signal.trimmed.asciiLowercased
        let part = Self.parts.firstMatch(in: Array(text.utf8)).map { Self.rulesOfParts[$0] }
        let host = Self.rule(ofHost: Self.host(in: text))
        guard let rule = [Self.rulesOfWholes[text], part, host].compactMap({ $0 }).min() else { return nil }
        self = Self.rules[rule].token
    }

    private struct Rule {
        let token: SourceToken
        /// Whole values.
        var wholes: [String] = []
        /// What a value contains.
        var parts: [String] = []
        /// Hosts, and those below them.
        var hosts: [String] = []
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

    private static let rulesOfWholes = Dictionary(
        rules.indices.flatMap { rule in rules[rule].wholes.map { ($0, rule) } },
        uniquingKeysWith: min
    )
    private static let rulesOfHosts = Dictionary(
        rules.indices.flatMap { rule in rules[rule].hosts.map { ($0, rule) } },
        uniquingKeysWith: min
    )
    private static let parts = TokenSet(rules.flatMap(\.parts))
    private static let rulesOfParts = rules.indices.flatMap { rule in rules[rule].parts.map { _ in rule } }

    /// The rule of the host itself or of the nearest host above it.
    private static func rule(ofHost host: String) -> Int? {
        var rest = host[...]
        while true {
            if let rule = rulesOfHosts[String(rest)] { return rule }
            guard let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) else { return nil }
            rest = rest[rest.utf8.index(after: dot)...]
        }
    }

    /// The host of a URL, or of a text that is a host with what may follow one; in the case as it came.
    public static func host(in text: String) -> String {
        var rest = text.utf8[...]
        if let mark = text.range(ofASCII: "://") { rest = text.utf8[mark.upperBound...] }
        rest = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) { rest = rest[rest.index(after: at)...] }
        return String(decoding: rest.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
    }
}
