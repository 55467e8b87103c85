/// The version of the SDK that asks, as its header tells it: `paylisher-ios/1.8.9`.
public struct SDKVersion: Hashable, Sendable {
    public let number: OSVersion

    /// Reads what follows the last slash, up to the first character that belongs to no number; nil without a number
    /// from 1 to 999 at its beginning.
    ///
    /// The product's name is not kept: it is free text, and the platform is told elsewhere.
    public init?(header: Span<UInt8>) {
        guard header.count <= Self.longest else { return nil }
        var start = 0
        for index in header.indices where header[index] == UInt8(ascii: "/") { start = index + 1 }
        var bytes: [UInt8] = []
        var dots = 0
        for index in start..<header.count {
            let byte = header[index]
            if byte == UInt8(ascii: ".") { dots += 1 }
            guard byte.isASCIIDigit || byte == UInt8(ascii: "."), dots < 3 else { break }
            bytes.append(byte)
        }
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        guard let number = OSVersion(bytes: bytes) else { return nil }
        self.number = number
    }

    public init?(header: String) {
        self.init(header: header.utf8.span)
    }

    /// Always three numbers: `1.9` and `1.9.0` are the same release.
    public var text: String { "\(number.major).\(number.minor).\(number.patch)" }

    /// No header of a real client is longer.
    private static let longest = 100
}
