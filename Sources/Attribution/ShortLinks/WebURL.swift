/// The URL of a page for browsers, or of an image.
///
/// The scheme is `https`. The URL has no credentials, control characters or backslashes; the path may be missing.
///
/// Source of these rules: OWASP ASVS 5.0, 3.7.2 and 1.2.2.
public struct WebURL: Hashable, Sendable {
    /// The URL in ASCII; other characters are percent-encoded.
    public let text: String
    /// The host in lower case.
    public let host: String

    /// The maximum length of the URL in bytes, where each percent-escape counts as the one byte that it encodes.
    ///
    /// So percent-encoding the URL does not change its length.
    public static let maximumLength = 2048

    /// - Throws: ``WebURLError``, whose message says what to do.
    public init(parsing text: String) throws(WebURLError) {
        let bytes = Array(text.trimmed.utf8)
        guard !bytes.isEmpty else { throw .malformed(.empty) }
        guard bytes.count <= Self.maximumLength || PercentEncoding.decoded(bytes).count <= Self.maximumLength
        else { throw .malformed(.tooLong) }
        let parts: URLParts
        do throws(DeepLinkURLError) {
            for byte in bytes {
                guard byte >= 0x20, byte != 0x7f else { throw .controlCharacter }
                guard byte != UInt8(ascii: "\\") else { throw .backslash }
            }
            parts = try URLParts(bytes)
            try parts.requireAllowedScheme()
            host = try parts.host().name
        } catch { throw .malformed(error) }
        guard parts.scheme == "https" else { throw .notSecure }
        self.text = String(decoding: parts.encoded, as: UTF8.self)
    }

    /// Creates a page from a stored text, which was valid when it was stored; nil if it no longer is.
    public init?(stored text: String) {
        guard let url = try? WebURL(parsing: text) else { return nil }
        self = url
    }

    /// The port; nil if the URL contains none.
    public var port: UInt16? { (try? parts?.host())?.port }

    /// The path and the query, as in a request; at least `/`.
    public var target: String {
        guard let parts else { return "/" }
        let path = parts.path.isEmpty ? "/" : String(decoding: parts.path, as: UTF8.self)
        return path + (parts.query.map { "?" + String(decoding: $0, as: UTF8.self) } ?? "")
    }

    private var parts: URLParts? { try? URLParts(Array(text.utf8)) }
}

/// The reason why a text is no page for a browser.
public enum WebURLError: Error, Equatable, Sendable {
    case malformed(DeepLinkURLError)
    case notSecure

    /// What is wrong and what to do, in plain words.
    public var message: String {
        switch self {
        case .malformed(.tooLong):
            "The link is longer than \(WebURL.maximumLength) bytes (letters beyond ASCII have several); shorten it."
        case .malformed(let error): error.message
        case .notSecure: "Links send browsers only to https pages; start the URL with https://."
        }
    }
}
