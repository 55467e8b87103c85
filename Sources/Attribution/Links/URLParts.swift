/// A link cut into its parts, and the rules for each.
package struct URLParts {
    /// In lower case.
    package let scheme: String
    /// As it came, up to the colon.
    private let writtenScheme: ArraySlice<UInt8>
    /// Between `//` and the path; nil without `//`.
    let authority: ArraySlice<UInt8>?
    package let path: ArraySlice<UInt8>
    /// Behind `?`; nil without one.
    package let query: ArraySlice<UInt8>?
    /// Behind `#`; nil without one.
    package let fragment: ArraySlice<UInt8>?

    /// Schemes by which a link runs code, carries a whole page or reaches into the device instead of opening
    /// an app.
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
        guard writtenScheme.first?.isASCIILetter == true, writtenScheme.allSatisfy(Self.isSchemeByte) else {
            throw .malformedScheme
        }
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

    func checkScheme() throws(DeepLinkURLError) {
        guard !Self.forbiddenSchemes.contains(scheme) else { throw .forbiddenScheme }
    }

    /// The host and port, checked.
    package func host() throws(DeepLinkURLError) -> URLHost {
        guard let authority, !authority.isEmpty else { throw .noHost }
        guard !authority.contains(UInt8(ascii: "@")) else { throw .credentials }
        guard authority.allSatisfy({ $0 < 0x80 }) else { throw .nonASCIIHost }
        return try URLHost(authority, isWeb: isWeb)
    }

    /// A web link with the root as its path is lost by released clients, with and without a query.
    func checkPath() throws(DeepLinkURLError) {
        guard !isWeb || path.count > 1 else { throw .noPath }
    }

    /// The whole link in ASCII.
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

    /// What stands for itself in a path, a query and a fragment (RFC 3986 §3.3–3.5).
    private static func isAllowed(_ byte: UInt8) -> Bool {
        PercentEncoding.isUnreserved(byte) || PercentEncoding.isSubDelimiter(byte)
            || byte == UInt8(ascii: ":")
            || byte == UInt8(ascii: "@") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?")
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }

    /// What stands behind the first `separator`, cut off from `text` together with it.
    private static func cut(_ text: inout ArraySlice<UInt8>, at separator: UInt8) -> ArraySlice<UInt8>? {
        guard let index = text.firstIndex(of: separator) else { return nil }
        let rest = text[(index + 1)...]
        text = text[..<index]
        return rest
    }
}
