/// The program that opened a link, with its major version if its user agent has one.
///
/// The raw value is the text in the database and in the JSON: `chrome 131`.
public struct Browser: RawRepresentable, Hashable, Sendable {
    public let family: BrowserFamily
    /// From 0 to 9999.
    public let version: Int?

    public static let unknown = Browser(.unknown)

    public init(_ family: BrowserFamily, version: Int? = nil) {
        (self.family, self.version) = (family, version)
    }

    /// - Parameter userAgent: the click's user agent.
    public init(userAgent: String) {
        guard !userAgent.utf8.isEmpty else {
            self = .unknown
            return
        }
        let bytes = userAgent.utf8.prefix(AgentText.maximumLength).map(\.asciiLowercased)
        guard let (keyword, family) = BrowserFamily.keyword(in: bytes) else {
            self.init(.other)
            return
        }
        self.init(family, version: Self.version(after: Self.marker(of: family) ?? keyword, in: bytes))
    }

    public init?(rawValue: String) {
        // Split the bytes, because clicks are read often, and splitting a text by characters is slow.
        let name = rawValue.utf8.prefix { $0 != UInt8(ascii: " ") }
        guard let family = BrowserFamily(rawValue: String(Substring(name))) else { return nil }
        self.init(family, version: Int(Substring(rawValue.utf8.dropFirst(name.count + 1))))
    }

    public var rawValue: String { version.map { "\(family.rawValue) \($0)" } ?? family.rawValue }

    /// The text that precedes the version; nil if that is the keyword that names the family.
    private static func marker(of family: BrowserFamily) -> String? {
        switch family {
        case .facebook, .messenger: "fbav/"
        case .safari: " version/"
        case .webView: "chrome/"
        default: nil
        }
    }

    /// Reads the major version that follows a marker, as in `instagram 415.0` or `chrome/131.0`; nil without the marker.
    private static func version(after marker: String, in bytes: [UInt8]) -> Int? {
        let marker = Array(marker.utf8)
        var rest = bytes[...]
        while let start = rest.firstIndex(of: marker[0]) {
            rest = bytes[start...]
            if rest.starts(with: marker) { break }
            rest = rest.dropFirst()
        }
        guard rest.starts(with: marker) else { return nil }
        let value = rest.dropFirst(marker.count).drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "/") }
        let digits = value.prefix(while: \.isASCIIDigit)
        return digits.count <= 4 ? AgentText.number(digits) : nil
    }
}
