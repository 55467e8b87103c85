/// Everything in a click that reveals its source: the network or medium, such as Instagram or a QR code.
public struct SourceSignals: Equatable, Sendable {
    /// The link's parameters, decoded.
    public var linkItems: [QueryItem]
    /// `source` of the click's body.
    public var source: String?
    /// `utm.utm_source` or `metadata.utm_source` of the click's body.
    public var utmSource: String?
    /// The URL of the page on which the link was tapped.
    public var referer: String?
    public var userAgent: String?

    public init(linkItems: [QueryItem]) { self.linkItems = linkItems }

    /// The result of reading the signals together.
    public struct Reading: Equatable, Sendable {
        public let token: SourceToken
        /// The text of the signal that decided, or of the strongest one for `unknown`; nil without a signal.
        ///
        /// For a network's click id this is the parameter's name, for a user agent the keyword in it, and for
        /// a referring page its host. It is cut to ``maximumRawLength`` characters, and U+001A replaces U+0000, which
        /// PostgreSQL cannot store.
        public let raw: String?

        public init(token: SourceToken, raw: String?) {
            self.token = token
            self.raw = raw
        }
    }

    public static let maximumRawLength = 255

    /// The click's source, and the signal that it comes from.
    ///
    /// The strongest signal that maps to a token decides. If none maps to one, the token is `unknown`;
    /// without any signal it is `direct`.
    ///
    /// Source: the Paylisher SDKs' wire contract (an external document), section 5.
    public var reading: Reading {
        let signals = ordered
        for signal in signals {
            if let token = signal.token { return Reading(token: token, raw: Self.kept(signal.raw)) }
        }
        guard let first = signals.first else { return Reading(token: .direct, raw: nil) }
        return Reading(token: .unknown, raw: Self.kept(first.raw))
    }

    private typealias Signal = (raw: String, token: SourceToken?)

    private static func signal(_ raw: String) -> Signal { (raw, SourceToken(signal: raw)) }

    /// The click's signals that count, strongest first.
    private var ordered: [Signal] {
        var signals: [Signal] = []
        let bodySource = Self.nonEmpty(source).map(Self.signal)
        // A body's `source` may be the kind of page that posted it, such as `web`. If it
        // names a network, it ranks like the link's `source` parameter; else it is the weakest signal.
        let namesNetwork = bodySource?.token?.isWritten ?? false
        if let linkSource = item("source") {
            signals.append(Self.signal(linkSource))
        } else if namesNetwork, let bodySource {
            signals.append(bodySource)
        } else if let campaign = item("utm_source") ?? Self.nonEmpty(utmSource) {
            signals.append(Self.signal(campaign))
        }
        if let referrer = item("referrer") ?? item("ref") ?? refererHost {
            signals.append(Self.signal(referrer))
        }
        for parameter in NetworkClickIDs.parameters
        where parameter.source != nil && item(parameter.name) != nil {
            signals.append((parameter.name, parameter.source))
        }
        if let app = userAgent.flatMap(Self.inAppBrowser) { signals.append(app) }
        if let bodySource, !namesNetwork { signals.append(bodySource) }
        return signals
    }

    /// The keywords that in-app browsers add to their user agents.
    ///
    /// Instagram's agent may contain Facebook's keywords as well, so Instagram's keyword comes first.
    private static let inAppKeywords: [(keyword: String, token: SourceToken)] = [
        ("instagram", .instagram), ("fban/", .facebook), ("fbav/", .facebook), ("fb_iab", .facebook),
        ("fbios", .facebook), ("messenger", .facebook), ("tiktok", .tiktok), ("musical_ly", .tiktok),
        ("musically", .tiktok), ("bytedancewebview", .tiktok), ("zhiliaoapp", .tiktok),
        ("ugc.trill", .tiktok), ("trill_", .tiktok), ("twitter", .twitter),
    ]

    private static let inAppTokens = TokenSet(inAppKeywords.map(\.keyword))

    private static func inAppBrowser(_ userAgent: String) -> Signal? {
        inAppTokens.firstMatch(in: userAgent.utf8.map(\.asciiLowercased)).map {
            (inAppKeywords[$0].keyword, inAppKeywords[$0].token)
        }
    }

    private func item(_ name: String) -> String? {
        linkItems.lazy.filter { $0.name == name }.compactMap { Self.nonEmpty($0.value) }.first
    }

    private var refererHost: String? {
        Self.nonEmpty(referer).map(SourceToken.host(in:)).flatMap(Self.nonEmpty)
    }

    private static func nonEmpty(_ text: String?) -> String? { text?.trimmed.isEmpty == false ? text : nil }

    private static func kept(_ raw: String) -> String {
        String(String.UnicodeScalarView(raw.trimmed.unicodeScalars.prefix(maximumRawLength)))
            .replacingASCII("\0", with: "\u{1A}")
    }
}

/// The source of a click, in the seven words that released clients know.
public enum SourceToken: String, CaseIterable, Sendable {
    case instagram, facebook, twitter, tiktok, qr, direct, unknown

    /// Whether the token is added to the link; false for `direct` and `unknown`, which mean nothing to a client.
    public var isWritten: Bool { self != .direct && self != .unknown }

    /// Maps one signal to a token by the first of ``rules`` that fits; nil if none does.
    ///
    /// Source: the Paylisher SDKs' wire contract (an external document), section 5.
    init?(signal: String) {
        let text = signal.trimmed.asciiLowercased
        let part = Self.parts.firstMatch(in: Array(text.utf8)).map { Self.rulesOfParts[$0] }
        let host = Self.rule(ofHost: Self.host(in: text))
        guard let rule = [Self.rulesOfWholes[text], part, host].compactMap({ $0 }).min() else { return nil }
        self = Self.rules[rule].token
    }

    private struct Rule {
        let token: SourceToken
        /// Complete values.
        var wholes: [String] = []
        /// Parts of a value.
        var parts: [String] = []
        /// Hosts, which include their subdomains.
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
    private static let maximumHostLength = rulesOfHosts.keys.map(\.utf8.count).max() ?? 0
    private static let parts = TokenSet(rules.flatMap(\.parts))
    private static let rulesOfParts = rules.indices.flatMap { rule in rules[rule].parts.map { _ in rule } }

    /// Returns the rule of the host itself, or of its nearest parent domain.
    private static func rule(ofHost host: String) -> Int? {
        var rest = host[...]
        while true {
            // Strangers send hosts of thousands of labels, so only parents that may have a rule are copied and hashed.
            if rest.utf8.count <= maximumHostLength, let rule = rulesOfHosts[String(rest)] { return rule }
            guard let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) else { return nil }
            rest = rest[rest.utf8.index(after: dot)...]
        }
    }

    /// Returns the host of a URL, or of a text that starts with a host; in its original case.
    public static func host(in text: String) -> String {
        var rest = text.utf8[...]
        if let separator = text.range(ofASCII: "://") { rest = text.utf8[separator.upperBound...] }
        rest = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) { rest = rest[rest.index(after: at)...] }
        return String(decoding: rest.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
    }
}
