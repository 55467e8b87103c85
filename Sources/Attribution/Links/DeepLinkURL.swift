/// A link that every released client can open.
///
/// Sources: the Paylisher SDKs' wire contract (an external document), sections 2 and 7, and RFC 3986.
public struct DeepLinkURL: Hashable, Sendable {
    /// The link in ASCII.
    ///
    /// Other characters are percent-encoded. Without its escapes, the link has at most ``maximumLength`` characters.
    public let text: String

    public static let maximumLength = 2048

    /// Creates a link from a stored text, which was valid when it was stored.
    public init(stored text: String) { self.text = text }

    /// Reads and validates a link that a client or an operator wrote.
    ///
    /// Removes spaces at both ends, and percent-encodes characters that a URI cannot contain: blanks,
    /// characters beyond ASCII, `"<>^{|}` and the backquote, a `%` that escapes nothing, square brackets
    /// outside the host, a second `#`. Existing escapes remain.
    ///
    /// - Throws: ``DeepLinkURLError`` naming the first rule that the link breaks.
    public init(parsing text: String) throws(DeepLinkURLError) {
        let isNoSpace = { (byte: UInt8) in byte != UInt8(ascii: " ") }
        guard let first = text.utf8.firstIndex(where: isNoSpace),
            let last = text.utf8.lastIndex(where: isNoSpace)
        else { throw .empty }
        let bytes = Array(text.utf8[first...last])
        guard bytes.count <= Self.maximumLength || Self.characterCount(bytes) <= Self.maximumLength
        else { throw .tooLong }
        for byte in bytes {
            guard byte >= 0x20, byte != 0x7f else { throw .controlCharacter }
            guard byte != UInt8(ascii: "\\") else { throw .backslash }
        }
        let parts = try URLParts(bytes)
        try parts.requireAllowedScheme()
        _ = try parts.host()
        try parts.requirePath()
        self.text = String(decoding: parts.encoded, as: UTF8.self)
    }

    /// Returns the number of characters (Unicode scalars), an escaped one counted as one.
    ///
    /// The number is the same before and after the encoding, so that a stored link can be read again.
    private static func characterCount(_ bytes: [UInt8]) -> Int {
        String(decoding: PercentEncoding.decoded(bytes), as: UTF8.self).unicodeScalars.count
    }
}

/// The reason why a text is no link for a client.
///
/// The message says what to do.
public enum DeepLinkURLError: Error, Equatable, CaseIterable, Sendable {
    case empty
    case tooLong
    case controlCharacter
    case backslash
    case noScheme
    case malformedScheme
    case forbiddenScheme
    case noHost
    case noPath
    case twoSlashes
    case dotSegment
    case credentials
    case nonASCIIHost
    case malformedHost
    case malformedPort

    /// The error in plain words, for the response to the caller.
    ///
    /// It contains no part of the link.
    public var message: String {
        switch self {
        case .empty: "The link is empty; send one such as myapp://promo/item or https://shop.example/item."
        case .tooLong: "The link is longer than \(DeepLinkURL.maximumLength) characters; shorten it."
        case .controlCharacter:
            "The link contains a control character such as a line break; remove or percent-encode it."
        case .backslash: "The link contains a backslash; write / or percent-encode it as %5C."
        case .noScheme: "The link has no scheme; start it with one, such as myapp:// or https://."
        case .malformedScheme:
            "The link's scheme is malformed; write a letter followed by letters, digits, +, - or . only."
        case .forbiddenScheme:
            "Links with this scheme can run code or read files; use the app's own scheme or https."
        case .noHost:
            "The link has no host, and apps lose such links; write myapp://host/path, not myapp:///path."
        case .noPath:
            """
            The web link has no path, or / alone, and apps lose such links; name a page, as in \
            https://shop.example/start.
            """
        case .twoSlashes:
            """
            The path starts with two slashes, and browsers read a host after them; write a single slash before a \
            path, or a whole link such as https://shop.example/item.
            """
        case .dotSegment:
            """
            The path has a part that is . or .., escaped or not, and apps and browsers disagree on where it leads; write the \
            path without such parts.
            """
        case .credentials: "The link contains a user name or password before @; remove it."
        case .nonASCIIHost:
            """
            The link's host has characters other than ASCII; write a web host in its punycode form (xn--…), \
            and the host of an app link in plain letters.
            """
        case .malformedHost:
            "The link's host is malformed; write a host name such as shop.example or an address."
        case .malformedPort:
            "The link's port is malformed; write a number from 1 to 65535, or leave it out with its colon."
        }
    }
}

extension DeepLinkURL {
    /// The names of the parameters of a link that contain a campaign key.
    private static let campaignKeyNames = ["keyName", "key", "k"]

    /// Returns the link with `source`, `keyName` (the campaign key) and `jid` added to its query, before the fragment.
    ///
    /// Released clients read all three from the link. Existing parameters, even empty ones, remain and are
    /// not added again; `key` and `k` count as `keyName`. `direct` and `unknown` are not added, because they
    /// mean nothing to a client.
    public func attributed(source: SourceToken, campaignKey: CampaignKey?, journeyID: JourneyID) -> String {
        let names = Set(queryItems.map(\.name))
        var added: [(name: String, value: String)] = []
        if source.isWritten, !names.contains("source") { added.append(("source", source.rawValue)) }
        if let campaignKey, names.isDisjoint(with: Self.campaignKeyNames) {
            added.append(("keyName", campaignKey.text))
        }
        if !names.contains("jid") { added.append(("jid", journeyID.text)) }
        return appending(added)
    }

    /// Returns the link with only `keyName` added, for an answer that credits only the campaign.
    public func attributed(campaignKey: CampaignKey?) -> String {
        let names = Set(queryItems.map(\.name))
        guard let campaignKey, names.isDisjoint(with: Self.campaignKeyNames) else { return text }
        return appending([("keyName", campaignKey.text)])
    }

    /// Returns the link with more parameters; encodes their values, but not their names.
    func appending(_ items: [(name: String, value: String)]) -> String {
        let bytes = Array(text.utf8)
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        var answer = Array(bytes[..<end])
        var queryStart = answer.firstIndex(of: UInt8(ascii: "?"))
        for item in items {
            if queryStart == nil {
                queryStart = answer.endIndex
                answer.append(UInt8(ascii: "?"))
            } else if queryStart != answer.endIndex - 1, answer.last != UInt8(ascii: "&") {
                answer.append(UInt8(ascii: "&"))
            }
            answer.append(contentsOf: item.name.utf8)
            answer.append(UInt8(ascii: "="))
            answer.append(contentsOf: PercentEncoding.queryValue(item.value))
        }
        answer.append(contentsOf: bytes[end...])
        return String(decoding: answer, as: UTF8.self)
    }
}

/// A target that an operator allows for visitors' clicks: a scheme of the app's own, or a web host.
///
/// `myapp://` allows every link with that scheme, and `myapp://host` every link with that scheme and host.
/// `https://shop.example` allows links of exactly that host and port, and `https://shop.example/path` allows
/// links at or below that path.
public struct Destination: Hashable, Sendable {
    /// The text that is stored and shown: scheme and host in lower case.
    public let text: String

    private let scheme: String
    /// Nil allows every host.
    private let host: String?
    private let port: UInt16?
    /// The path without slashes at its end; empty allows every path.
    private let path: [UInt8]

    /// - Throws: ``DestinationError``, whose message says what to do.
    public init(parsing text: String) throws(DestinationError) {
        let bytes = Array(text.trimmed.utf8)
        guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") })
        else { throw .malformed(.malformedHost) }
        let (parts, host) = try Self.read(bytes)
        scheme = parts.scheme
        guard parts.query == nil, parts.fragment == nil else { throw .queryOrFragment }
        guard let host else {
            guard !parts.isWeb, parts.path.isEmpty else { throw .noHost }
            self.text = "\(scheme)://"
            self.host = nil
            port = nil
            path = []
            return
        }
        self.host = host.name
        port = host.effectivePort(scheme: scheme)
        guard !URLPath.hasDotSegment(parts.path) else { throw .dotSegment }
        // Remove all slashes at the end, so that reading the stored text again gives the same text.
        var path = Array(parts.path)
        while path.last == UInt8(ascii: "/") { path.removeLast() }
        self.path = path
        let portText = host.port.map { ":\($0)" } ?? ""
        self.text = "\(scheme)://\(host.name)\(portText)\(String(decoding: path, as: UTF8.self))"
    }

    /// Returns whether `url` leads to the destination.
    ///
    /// Scheme, host and port must be equal. A link with a segment `.` or `..`, escaped or not, is not below a
    /// destination's path.
    public func covers(_ url: DeepLinkURL) -> Bool {
        guard let parts = try? URLParts(Array(url.text.utf8)), parts.scheme == scheme else { return false }
        guard let host else { return true }
        guard let urlHost = try? parts.host(),
            urlHost.name == host, urlHost.effectivePort(scheme: scheme) == port
        else { return false }
        guard !path.isEmpty else { return true }
        guard parts.path.starts(with: path), !URLPath.hasDotSegment(parts.path) else { return false }
        return parts.path.count == path.count
            || parts.path[parts.path.startIndex + path.count] == UInt8(ascii: "/")
    }

    /// Reads a destination like a link, but accepts one without a path, or without a host and a path.
    private static func read(_ bytes: [UInt8]) throws(DestinationError) -> (URLParts, URLHost?) {
        do throws(DeepLinkURLError) {
            let parts = try URLParts(bytes)
            try parts.requireAllowedScheme()
            guard parts.authority?.isEmpty != true else { return (parts, nil) }
            return (parts, try parts.host())
        } catch { throw .malformed(error) }
    }
}

/// The reason why a text names no destination.
///
/// The message says what to do.
public enum DestinationError: Error, Equatable, Sendable {
    case malformed(DeepLinkURLError)
    case noHost
    case queryOrFragment
    case dotSegment

    public var message: String {
        switch self {
        case .noHost, .malformed(.noHost):
            """
            A destination names its host, as in https://shop.example or myapp://promo; a scheme of the app's own may \
            stand alone, as in myapp://.
            """
        case .malformed(let error): error.message
        case .queryOrFragment:
            "A destination has no ? and no #; write the scheme, the host and at most a path."
        case .dotSegment: "A destination's path has no . or .. segments; write it in full."
        }
    }
}

extension App.Settings {
    /// Returns whether a visitor's click may lead to `url`: one of ``destinations`` covers it, or the app has none.
    ///
    /// A stored destination that cannot be read allows nothing.
    public func allows(_ url: DeepLinkURL) -> Bool {
        destinations.isEmpty
            || destinations.contains { (try? Destination(parsing: $0))?.covers(url) ?? false }
    }

    /// Returns whether pages of `origin` may post clicks: ``allowedOrigins`` contains it, or is empty.
    public func allows(_ origin: Origin) -> Bool {
        allowedOrigins.isEmpty || allowedOrigins.contains { Origin($0) == origin }
    }
}
