/// The ids that ad networks put on a link to recognise a click again, such as `gclid`.
///
/// A value is stored as it came, because networks compare it byte for byte.
public struct NetworkClickIDs: Equatable, Sendable {
    /// A parameter of a link that carries a click id.
    public struct Parameter: Sendable {
        public let name: String
        /// The network or system that adds it.
        public let network: String
        /// The source of clicks with it; nil if the parameter reveals no ``SourceToken``.
        public let source: SourceToken?

        fileprivate init(_ name: String, _ network: String, _ source: SourceToken? = nil) {
            (self.name, self.network, self.source) = (name, network, source)
        }
    }

    /// All known parameters; if several parameters of a link have a source, the first of them in this list decides.
    public static let parameters = [
        Parameter("gclid", "Google Ads"), Parameter("gbraid", "Google Ads"),
        Parameter("wbraid", "Google Ads"), Parameter("gad_source", "Google Ads"),
        Parameter("gad_campaignid", "Google Ads"), Parameter("dclid", "Campaign Manager 360"),
        Parameter("fbclid", "Meta", .facebook), Parameter("ttclid", "TikTok", .tiktok),
        Parameter("igshid", "Instagram", .instagram), Parameter("twclid", "X", .twitter),
        Parameter("msclkid", "Microsoft Advertising"),
        Parameter("ScCid", "Snapchat"), Parameter("li_fat_id", "LinkedIn"), Parameter("rdt_cid", "Reddit"),
        Parameter("epik", "Pinterest"), Parameter("yclid", "Yandex"), Parameter("qclid", "Quora"),
        Parameter("irclickid", "Impact"), Parameter("tblci", "Taboola"), Parameter("dicbo", "Outbrain"),
        Parameter("mc_cid", "Mailchimp"), Parameter("mc_eid", "Mailchimp"),
    ]

    /// The largest number of ids of a click.
    public static let maximumCount = 16
    /// The largest length of an id in bytes of UTF-8.
    public static let maximumByteCount = 512

    /// The ids under their parameters' names, in the order in which they were found.
    public private(set) var items: [QueryItem] = []

    public init() {}

    /// Returns the parameter with a name, in letters of either case: some mail programs change addresses to lower case.
    public static func parameter(named name: String) -> Parameter? {
        guard nameLengths.contains(name.utf8.count) else { return nil }
        return parametersByName[name.asciiLowercased]
    }

    private static let parametersByName = Dictionary(
        parameters.map { ($0.name.asciiLowercased, $0) },
        uniquingKeysWith: { first, _ in first }
    )
    private static let nameLengths: ClosedRange<Int> = {
        let lengths = parameters.map(\.name.utf8.count)
        return (lengths.min() ?? 0)...(lengths.max() ?? 0)
    }()

    /// Why an id cannot be added.
    public enum Problem: Error {
        case tooMany
        case tooLong
    }

    /// Adds an id, unless it is empty or the parameter has an id already.
    ///
    /// - Parameters:
    ///   - value: the id.
    ///   - parameter: the parameter that carries it.
    /// - Throws: a problem for an id beyond one of the limits.
    public mutating func add(_ value: String, of parameter: Parameter) throws(Problem) {
        guard !value.isEmpty, !items.contains(where: { $0.name == parameter.name }) else { return }
        guard value.utf8.count <= Self.maximumByteCount else { throw .tooLong }
        guard items.count < Self.maximumCount else { throw .tooMany }
        items.append(QueryItem(name: parameter.name, value: value))
    }

    /// Adds the ids of a link's query; ids beyond the limits are left out.
    public mutating func add(from query: [QueryItem]) {
        for item in query {
            guard let parameter = Self.parameter(named: item.name) else { continue }
            // No network's id contains a blank. A blank here was a plus sign in the query: form decoding replaces a
            // plus sign by a blank.
            try? add(item.value.replacing(" ", with: "+"), of: parameter)
        }
    }
}

extension DeepLinkURL {
    /// The link without the click ids in its query.
    public var withoutClickIDs: DeepLinkURL {
        let end = text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        guard let start = text.utf8[..<end].firstIndex(of: UInt8(ascii: "?")) else { return self }
        let pairs = text.utf8[text.utf8.index(after: start)..<end].split(separator: UInt8(ascii: "&"))
        let kept = pairs.filter { pair in
            QueryItem.items(ofQuery: pair) { NetworkClickIDs.parameter(named: $0) != nil }.isEmpty
        }
        guard kept.count < pairs.count else { return self }
        let query = kept.isEmpty ? "" : "?" + kept.map { String(Substring($0)) }.joined(separator: "&")
        return DeepLinkURL(stored: "\(text[..<start])\(query)\(text[end...])")
    }
}

/// What is done with the click ids of ad networks.
public enum ClickIDPolicy: String, CaseIterable, Sendable {
    /// They are not stored.
    case off
    /// They are stored with the click.
    case keep
    /// They are stored, and the app gets them with its first launch.
    case answer
}
