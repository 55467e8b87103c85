/// The id under which a device's system lets advertisers know it: Apple's IDFA or Google's GAID.
///
/// It is a UUID, in letters of either case. A device whose owner has limited ad tracking gives one of zeros alone, which
/// is nobody's. It never shows in text, and is stored as a keyed hash alone: ``ServerKey/advertisingID(app:isTest:id:)``.
public struct AdvertisingID: Hashable, Sendable {
    /// Whose id it is.
    ///
    /// The raw value is the name in a query and in a body, and the word of the method.
    public enum Kind: String, CaseIterable, Sendable {
        case idfa
        case gaid

        /// The header that carries it, in lower case.
        public var headerName: String { "x-\(rawValue)" }

        /// The names under which links carry it, as the ad networks know them from Branch, AppsFlyer and Adjust.
        fileprivate var linkNames: [String] {
            switch self {
            case .idfa: ["idfa", "$idfa"]
            case .gaid: ["gaid", "aaid", "$aaid", "advertising_id", "gps_adid"]
            }
        }

        public var method: AttributionMethod {
            switch self {
            case .idfa: .idfa
            case .gaid: .gaid
            }
        }
    }

    /// What a text that should hold an id holds.
    public enum Reading: Equatable, Sendable {
        case id(AdvertisingID)
        /// Nothing but zeros: the owner of the device does not want to be known.
        case withheld
        case malformed
    }

    public let kind: Kind
    let high: UInt64
    let low: UInt64

    /// Digits of each of a UUID's groups (RFC 9562 §4).
    private static let groups = [8, 4, 4, 4, 12]

    /// Reads a UUID such as `6D92078A-8246-4BA4-AE5B-76104861E7DC`, with white space around it or not.
    public static func reading(_ text: String, as kind: Kind) -> Reading {
        let parts = text.trimmed.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == groups else { return .malformed }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for digit in parts.joined() {
            guard let value = Hexadecimal.value(of: digit) else { return .malformed }
            high = high << 4 | low >> 60
            low = low << 4 | value
        }
        return high | low == 0 ? .withheld : .id(AdvertisingID(kind: kind, high: high, low: low))
    }

    /// Nil for what is withheld and for what is no id.
    public init?(_ text: String, as kind: Kind) {
        guard case .id(let id) = Self.reading(text, as: kind) else { return nil }
        self = id
    }

    /// The ids that an ad network put on a link, one of each kind at most.
    ///
    /// Where it did not fill in its own place holder (`{idfa}`) there is none.
    public static func ids(in items: [QueryItem]) -> [AdvertisingID] {
        Kind.allCases.compactMap { kind in
            items.lazy.filter { kind.linkNames.contains($0.name) }
                .compactMap { AdvertisingID($0.value, as: kind) }.first
        }
    }

    private init(kind: Kind, high: UInt64, low: UInt64) {
        self.kind = kind
        self.high = high
        self.low = low
    }
}

extension AdvertisingID: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "AdvertisingID(hidden)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
}
