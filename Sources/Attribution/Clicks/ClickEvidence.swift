/// By what a click is weighed against others with the same fingerprint.
public struct ClickEvidence: Equatable, Sendable {
    /// Nil where the address tells nothing.
    public var address: AddressHashes?
    /// See ``ServerKey/visitor(_:userAgent:)``.
    public var visitor: UInt64
    /// Values that a launch may tell beside a fingerprint that does not hold them.
    public var signals: SignalHashes
    /// The canonical values in words, for people and for trying them again; nil for a click that brought none.
    public var canonicalText: String?
    /// The advertising ids that an ad network put on the click, keyed.
    public var advertisingIDs: [AdvertisingIDEntry]

    public init(
        address: AddressHashes? = nil,
        visitor: UInt64 = 0,
        signals: SignalHashes = .none,
        canonicalText: String? = nil,
        advertisingIDs: [AdvertisingIDEntry] = []
    ) {
        self.address = address
        self.visitor = visitor
        self.signals = signals
        self.canonicalText = canonicalText
        self.advertisingIDs = advertisingIDs
    }
}

/// An advertising id under which a click can be found.
public struct AdvertisingIDEntry: Hashable, Sendable {
    public let kind: AdvertisingID.Kind
    public let key: KeyedHash

    public init(_ kind: AdvertisingID.Kind, key: KeyedHash) {
        self.kind = kind
        self.key = key
    }
}
