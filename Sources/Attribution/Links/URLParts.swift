/// A link split into its parts, and the rules for each.
package struct URLParts {
    /// The scheme in lower case.
    package let scheme: String
    /// The scheme as it was written, up to the colon.
    private let writtenScheme: ArraySlice<UInt8>
    /// The part between `//` and the path: the host, and perhaps credentials and a port; nil without `//`.
    let authority: ArraySlice<UInt8>?
    package let path: ArraySlice<UInt8>
    /// The part after `?`; nil without one.
    package let query: ArraySlice<UInt8>?
    /// The part after `#`; nil without one.
    package let fragment: ArraySlice<UInt8>?

    /// Schemes whose links run code, contain a whole page or reach into the device instead of opening an app.
    private static let forbiddenSchemes: Set<String> = [
        "javascript", "vbscript", "livescript", "data", "blob", "file", "filesystem", "about", "view-source",
        "content", "intent", "android-app", "jar", "resource", "chrome", "chrome-extension", "moz-extension",
        "safari-extension", "ms-browser-extension", "mhtml", "mk", "res", "wyciwyg",
    ]

    package init(_ bytes: [UInt8]) throws(DeepLinkURLError) {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            !bytes[..<colon].contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }),
            colon > 0
        else { throw .noScheme }
        writtenScheme = bytes[..<colon]
        guard writtenScheme.first?.isASCIILetter == true, writtenScheme.allSatisfy(Self.isSchemeByte)
        else { throw .malformedScheme }
        scheme = String(decoding: writtenScheme.map(\.asciiLowercased), as: UTF8.self)

        var rest = bytes[(colon + 1)...]
        fragment = Self.cut(&rest, at: UInt8(ascii: "#"))
        query = Self.cut(&rest, at: UInt8(ascii: "?"))
        guard rest.starts(with: "//".utf8) else {
            authority = nil
            path = rest
            return
        }
        rest = rest.dropFirst(2)
        let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        authority = rest[..<end]
        path = rest[end...]
    }

    package var isWeb: Bool { scheme == "https" || scheme == "http" }

    func requireAllowedScheme() throws(DeepLinkURLError) {
        guard !Self.forbiddenSchemes.contains(scheme) else { throw .forbiddenScheme }
    }

    /// Returns the validated host and port.
    package func host() throws(DeepLinkURLError) -> URLHost {
        guard let authority, !authority.isEmpty else { throw .noHost }
        guard !authority.contains(UInt8(ascii: "@")) else { throw .credentials }
        guard authority.allSatisfy({ $0 < 0x80 }) else { throw .nonASCIIHost }
        return try URLHost(authority, isWeb: isWeb)
    }

    /// Rejects a web link without a path or with only `/`, because released clients lose such links.
    func requirePath() throws(DeepLinkURLError) { guard !isWeb || path.count > 1 else { throw .noPath } }

    /// The whole link in ASCII; all characters that a URL must not contain are percent-encoded.
    package var encoded: [UInt8] {
        var text = Array(writtenScheme) + Array("://".utf8) + Array(authority ?? [])
        text.reserveCapacity(text.count + path.count + (query?.count ?? 0) + (fragment?.count ?? 0) + 2)
        Self.append(path, to: &text)
        if let query {
            text.append(UInt8(ascii: "?"))
            Self.append(query, to: &text)
        }
        if let fragment {
            text.append(UInt8(ascii: "#"))
            Self.append(fragment, to: &text)
        }
        return text
    }

    private static func append(_ part: ArraySlice<UInt8>, to text: inout [UInt8]) {
        let bytes = Array(part)
        for (index, byte) in bytes.enumerated() {
            if isAllowed(byte) || PercentEncoding.escapedByte(in: bytes.span, at: index) != nil {
                text.append(byte)
            } else {
                PercentEncoding.append(byte, to: &text)
            }
        }
    }

    /// Returns whether a byte needs no escape in a path, a query and a fragment (RFC 3986 §3.3–3.5).
    private static func isAllowed(_ byte: UInt8) -> Bool {
        PercentEncoding.isUnreserved(byte) || PercentEncoding.isSubDelimiter(byte)
            || byte == UInt8(ascii: ":")
            || byte == UInt8(ascii: "@") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?")
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }

    /// Returns the part after the first `separator`, and removes it and the separator from `text`.
    private static func cut(_ text: inout ArraySlice<UInt8>, at separator: UInt8) -> ArraySlice<UInt8>? {
        guard let index = text.firstIndex(of: separator) else { return nil }
        let rest = text[(index + 1)...]
        text = text[..<index]
        return rest
    }
}

/// The host of a link and its port.
package struct URLHost: Equatable {
    /// The name in lower case; an IPv6 address with its brackets, in canonical form.
    package let name: String
    package let port: UInt16?

    init(_ authority: ArraySlice<UInt8>, isWeb: Bool) throws(DeepLinkURLError) {
        var rest = authority
        if authority.first == UInt8(ascii: "[") {
            guard let end = authority.firstIndex(of: UInt8(ascii: "]")),
                let address = NetworkAddress(String(decoding: authority[..<end].dropFirst(), as: UTF8.self)),
                authority[..<end].contains(UInt8(ascii: ":"))
            else { throw .malformedHost }
            name = "[\(address.text)]"
            rest = authority[(end + 1)...]
        } else {
            let host = authority.prefix { $0 != UInt8(ascii: ":") }
            guard !host.isEmpty else { throw .noHost }
            guard isWeb ? Self.isDomainName(host) : host.allSatisfy(Self.isAppHostByte)
            else { throw .malformedHost }
            name = String(decoding: host.map(\.asciiLowercased), as: UTF8.self)
            rest = authority[host.endIndex...]
        }
        guard let colon = rest.first else {
            port = nil
            return
        }
        guard colon == UInt8(ascii: ":") else { throw .malformedHost }
        guard let number = NetworkAddress.decimal(rest.dropFirst(), upTo: 65_535), number > 0
        else { throw .malformedPort }
        port = UInt16(number)
    }

    /// Returns the port, or the scheme's standard port if the link contains none.
    func effectivePort(scheme: String) -> UInt16? { port ?? Self.defaultPort(ofScheme: scheme) }

    static func defaultPort(ofScheme scheme: String) -> UInt16? {
        switch scheme {
        case "https": 443
        case "http": 80
        default: nil
        }
    }

    /// Returns whether a host has labels of letters, digits, hyphens (RFC 1123 §2.1) and, because they occur
    /// in practice, underscores.
    private static func isDomainName(_ host: ArraySlice<UInt8>) -> Bool {
        let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return host.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.count) && label.first != UInt8(ascii: "-")
                    && label.last != UInt8(ascii: "-") && label.allSatisfy(\.isASCIIWordByte)
            }
    }

    /// Returns whether a byte may be part of the host after an app's own scheme; such a host need not be a domain name.
    private static func isAppHostByte(_ byte: UInt8) -> Bool {
        PercentEncoding.isUnreserved(byte) || PercentEncoding.isSubDelimiter(byte)
    }
}

/// A web origin as browsers send it: `https://shop.example` or `http://localhost:3000` (RFC 6454).
public struct Origin: Hashable, Sendable {
    /// The origin in lower case, without the scheme's standard port.
    public let text: String

    /// Returns nil for `null`, for a text with a path, and for any other text that is no origin.
    ///
    /// Every sandboxed frame and local file sends `null`, so it identifies no site.
    public init?(_ text: String) {
        guard let parts = try? URLParts(Array(text.utf8)), parts.path.isEmpty, parts.query == nil,
            parts.fragment == nil, let host = try? parts.host()
        else { return nil }
        let isDefaultPort = host.port == URLHost.defaultPort(ofScheme: parts.scheme)
        let port = isDefaultPort ? "" : host.port.map { ":\($0)" } ?? ""
        self.text = "\(parts.scheme)://\(host.name)\(port)"
    }

    /// The host without the port.
    public var host: LinkHost? {
        text.range(ofASCII: "://").flatMap { LinkHost(String(text[$0.upperBound...])) }
    }
}

/// Interprets the path of a link as web servers do.
enum URLPath {
    /// Returns whether a segment of the path is `.` or `..`, unescaped, or escaped once or twice.
    ///
    /// As on some servers, backslashes and escaped slashes count as slashes, and a semicolon ends a segment.
    static func hasDotSegment(_ path: ArraySlice<UInt8>) -> Bool {
        let decoded = PercentEncoding.decoded(PercentEncoding.decoded(path))
        return decoded.split(whereSeparator: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") })
            .map { $0.prefix { $0 != UInt8(ascii: ";") } }
            .contains { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }
    }
}

/// Percent-encoding (RFC 3986 §2.1).
package enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Appends `byte` as `%` and two capital hexadecimal digits.
    static func append(_ byte: UInt8, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "%"))
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
    }

    /// Returns a value for a query, in which all but unreserved characters are escaped.
    static func queryValue(_ value: String) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(value.utf8.count)
        for byte in value.utf8 {
            if isUnreserved(byte) { text.append(byte) } else { append(byte, to: &text) }
        }
        return text
    }

    /// Returns the bytes with escapes decoded; a `%` without two hexadecimal digits after it stays.
    package static func decoded(_ bytes: some Collection<UInt8>, plusIsBlank: Bool = false) -> [UInt8] {
        let bytes = Array(bytes)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if let byte = escapedByte(in: bytes.span, at: index) {
                text.append(byte)
                index += 3
            } else {
                text.append(
                    plusIsBlank && bytes[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[index]
                )
                index += 1
            }
        }
        return text
    }

    /// Returns the decoded byte of the escape at `index`; nil if there is no escape.
    package static func escapedByte(in bytes: Span<UInt8>, at index: Int) -> UInt8? {
        guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
            let high = Hexadecimal.value(of: bytes[index + 1]),
            let low = Hexadecimal.value(of: bytes[index + 2])
        else { return nil }
        return UInt8(high << 4 | low)
    }

    static func isUnreserved(_ byte: UInt8) -> Bool {
        byte.isASCIIWordByte || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "~")
    }

    static func isSubDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("),
            UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"),
            UInt8(ascii: "="):
            true
        default: false
        }
    }
}
