/// A click that may have led to a launch, known by itself.
public struct Candidate: Equatable, Sendable {
    public var click: ClickID
    public var clickedAt: Timestamp
    public var destination: CreditedDestination
    public var platform: Platform
    /// The form under which the launch's fingerprint finds it; nil for a fingerprint that came ready-made.
    public var form: FingerprintForm?
    /// How likely its device computes that fingerprint in that form, 0…1.
    public var weight: Double
    public var address: AddressAgreement
    /// The first word of a keyed hash of its exact address and of its user agent, by which one visitor's clicks are
    /// known again; of the user agent alone where it has no address that says something.
    public var visitor: UInt64
    public var hasAddress: Bool
    public var release: OSRelease?
    /// What it tells beside the fingerprint that finds it; see ``SignalHashes/beside(_:)``.
    public var signals: SignalHashes
    /// When another launch consumed it.
    ///
    /// Such a click is no candidate any more but tells of its visitor that he has launched.
    public var claimedAt: Timestamp?

    public init(
        click: ClickID,
        clickedAt: Timestamp,
        destination: CreditedDestination,
        platform: Platform,
        form: FingerprintForm?,
        weight: Double = 1,
        address: AddressAgreement = .missing,
        visitor: UInt64,
        hasAddress: Bool = false,
        release: OSRelease? = nil,
        signals: SignalHashes = .none,
        claimedAt: Timestamp? = nil
    ) {
        self.click = click
        self.clickedAt = clickedAt
        self.destination = destination
        self.platform = platform
        self.form = form
        self.weight = weight
        self.address = address
        self.visitor = visitor
        self.hasAddress = hasAddress
        self.release = release
        self.signals = signals
        self.claimedAt = claimedAt
    }

    /// The lane by which the share of its kind that converts is learnt.
    var lane: PlatformForm { PlatformForm(platform: platform, form: form) }
}

/// What a click is credited with: where it leads, and for which campaign.
public struct CreditedDestination: Hashable, Sendable {
    /// The first word of a hash of URL and campaign.
    public var url: UInt64
    /// The first word of a hash of the campaign; 0 for none.
    public var campaign: UInt64

    public init(url: UInt64, campaign: UInt64) {
        self.url = url
        self.campaign = campaign
    }
}
