/// The host of a link and its port.
package struct URLHost: Equatable {
    /// In lower case; an IPv6 address with its brackets, in canonical form.
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
            guard isWeb ? Self.isDomainName(host) : host.allSatisfy(Self.isAppHostByte) else {
                throw .malformedHost
            }
            name = String(decoding: host.map(\.asciiLowercased), as: UTF8.self)
            rest = authority[host.endIndex...]
        }
        guard let colon = rest.first else {
            port = nil
            return
        }
        guard colon == UInt8(ascii: ":") else { throw .malformedHost }
        guard let number = NetworkAddress.decimal(rest.dropFirst(), upTo: 65_535), number > 0 else {
            throw .malformedPort
        }
        port = UInt16(number)
    }

    /// The port that is meant: the scheme's own where none is written.
    func effectivePort(scheme: String) -> UInt16? {
        port ?? Self.defaultPort(ofScheme: scheme)
    }

    static func defaultPort(ofScheme scheme: String) -> UInt16? {
        switch scheme {
        case "https": 443
        case "http": 80
        default: nil
        }
    }

    /// Labels of letters, digits, hyphens and, as found in the wild, underscores (RFC 1123 §2.1).
    private static func isDomainName(_ host: ArraySlice<UInt8>) -> Bool {
        let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return host.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.count) && label.first != UInt8(ascii: "-")
                    && label.last != UInt8(ascii: "-")
                    && label.allSatisfy {
                        $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
                    }
            }
    }

    /// An app gives the host of its own scheme a meaning of its own.
    private static func isAppHostByte(_ byte: UInt8) -> Bool {
        PercentEncoding.isUnreserved(byte) || PercentEncoding.isSubDelimiter(byte)
    }
}
