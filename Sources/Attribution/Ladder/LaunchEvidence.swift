/// Everything in a first launch by which it may be recognised, parsed but not yet verified.
public struct LaunchEvidence: Equatable, Sendable {
    /// The references to clicks, each once, in the order of the parameters of
    /// ``add(token:clickID:referrer:pasteboard:)``.
    public private(set) var references: [ClickReference] = []
    /// Whether Google Play states that no campaign link led to the store.
    public private(set) var isOrganic = false
    public var idfa: AdvertisingID?
    public var gaid: AdvertisingID?
    /// The fingerprint that the client computed itself.
    public var fingerprint: Fingerprint?
    public var signals: NativeSignals?
    /// Google Play's report on the installation; nil if the client does not send it.
    public var play: PlayEvidence?

    public init(fingerprint: Fingerprint? = nil) { self.fingerprint = fingerprint }

    /// Adds the references to clicks that a launch may send in four places.
    ///
    /// - Parameters:
    ///   - token: the field that the client calls a token.
    ///   - clickID: the field that the client calls the click's identifier.
    ///   - referrer: the text from the store.
    ///   - pasteboard: the text that the app found on the pasteboard.
    public mutating func add(
        token: String? = nil,
        clickID: String? = nil,
        referrer: String? = nil,
        pasteboard: String? = nil
    ) {
        let referrer = referrer.map { InstallReferrer($0) }
        if referrer?.isOrganic == true { isOrganic = true }
        let found = [
            token.flatMap { ClickReference($0) },
            clickID.flatMap { ClickReference($0) },
            referrer?.reference,
            pasteboard.flatMap { PasteboardText($0).reference },
        ]
        for case let reference? in found where !references.contains(reference) {
            references.append(reference)
        }
    }

    /// Adds an advertising id, unless there is one of this kind already.
    public mutating func add(_ id: AdvertisingID) {
        switch id.kind {
        case .idfa: idfa = idfa ?? id
        case .gaid: gaid = gaid ?? id
        }
    }

    /// Whether the launch sent no evidence at all; a statement of the store that the launch is organic is evidence.
    public var isEmpty: Bool { self == LaunchEvidence() }
}

/// The id by which a device's system identifies the device to advertisers: Apple's IDFA or Google's GAID.
///
/// It is a UUID, in letters of either case. A device whose owner has limited ad tracking returns only zeros,
/// which identify no device. The id is never printed, and is stored only as a keyed hash:
/// ``ServerKey/advertisingID(app:isTest:id:)``.
public struct AdvertisingID: Hashable, Sendable {
    /// Which system the id belongs to.
    ///
    /// The raw value is the name of the id in a query and in a body, and the raw value of its ``method``.
    public enum Kind: String, CaseIterable, Sendable {
        case idfa
        case gaid

        /// The header field with the id, in lower case.
        public var headerName: String { "x-\(rawValue)" }

        /// The names of the id in links; ad networks use the names that Branch, AppsFlyer and Adjust define.
        fileprivate var linkNames: [String] {
            switch self {
            case .idfa: ["idfa", "$idfa"]
            case .gaid: ["gaid", "aaid", "$aaid", "advertising_id", "gps_adid"]
            }
        }

        public var method: AttributionMethod { self == .idfa ? .idfa : .gaid }
    }

    /// The content of a text that should be an id.
    public enum Reading: Equatable, Sendable {
        case id(AdvertisingID)
        /// The id is all zeros: the owner of the device has limited ad tracking.
        case withheld
        case malformed
    }

    public let kind: Kind
    let high: UInt64
    let low: UInt64

    /// The number of digits of each of a UUID's groups (RFC 9562 §4).
    private static let groups = [8, 4, 4, 4, 12]

    /// Reads a UUID such as `6D92078A-8246-4BA4-AE5B-76104861E7DC`, with or without white space around it.
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

    /// Returns nil for a withheld id and for a text that is no id.
    public init?(_ text: String, as kind: Kind) {
        guard case .id(let id) = Self.reading(text, as: kind) else { return nil }
        self = id
    }

    /// Returns the ids that an ad network put on a link, at most one of each kind.
    ///
    /// Ignores withheld ids, and a placeholder (`{idfa}`) that the network did not fill in.
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

extension AdvertisingID: HiddenValue {}
