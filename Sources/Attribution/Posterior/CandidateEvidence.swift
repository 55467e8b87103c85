internal import Crypto

/// The stored facts about one launch, read from one consistent state: the input of the ``Posterior``.
///
/// A store needs these reads, each bounded for any traffic:
/// - the newest ``maximumListed`` live clicks with the fingerprint, by its index;
/// - the newest ``maximumListed`` clicks with the fingerprint near the launch's address: live ones, and
///   claimed ones from exactly that address; none for a launch without address;
/// - the other live clicks with the fingerprint as counts, from a summary that may be some seconds old;
/// - counts of live clicks at the exact and the near address, up to ``AddressTraffic/countLimit``;
/// - three counters: ``CounterFamily/organic`` of the fingerprint, ``CounterFamily/launchesAtAddress`` and
///   ``CounterFamily/launchesNearAddress``.
///
/// For a launch without a live click, the store stops after the first read.
public struct CandidateEvidence: Equatable, Sendable {
    public var candidates: [Candidate] = []
    public var background: [BackgroundCount] = []
    public var addressTraffic = AddressTraffic()
    /// The launches with the fingerprint that no click explains, by the counter ``CounterFamily/organic``.
    public var organic = 0.0

    /// The largest number of clicks in each of two lists: the newest clicks, and the newest clicks near the address.
    public static let maximumListed = 64

    public init() {}
}

/// A click that may have led to a launch, listed with its properties.
public struct Candidate: Equatable, Sendable {
    public var click: ClickID
    public var clickedAt: Timestamp
    public var destination: CreditedDestination
    public var platform: Platform
    /// The form (the hashed components) of the fingerprint that finds the click; nil for a ready-made
    /// fingerprint, which a client sent as a hash.
    public var form: FingerprintForm?
    /// The probability that the click's device computes this fingerprint in this form, 0…1.
    public var weight = 1.0
    public var address = AddressAgreement.missing
    /// The first word of a keyed hash of the exact address and the user agent; it groups a visitor's clicks.
    ///
    /// For a click without a usable address, the hash is of the user agent alone.
    public var visitor: UInt64
    public var hasAddress = false
    public var release: OSRelease?
    /// The click's signals that its fingerprint does not contain; see ``SignalHashes/excludingComponents(of:)``.
    public var signals = SignalHashes.none
    /// When another launch claimed the click; nil for a live click.
    ///
    /// A claimed click cannot match, but it shows that its visitor has launched.
    public var claimedAt: Timestamp?

    public init(
        click: ClickID,
        clickedAt: Timestamp,
        destination: CreditedDestination,
        platform: Platform,
        form: FingerprintForm?,
        visitor: UInt64
    ) {
        (self.click, self.clickedAt, self.destination) = (click, clickedAt, destination)
        (self.platform, self.form, self.visitor) = (platform, form, visitor)
    }

    /// The platform and form by which the share of converting clicks is learnt.
    var platformForm: PlatformForm { PlatformForm(platform: platform, form: form) }
}

/// Live clicks with the launch's fingerprint that are only counted, not listed as candidates.
///
/// None of them agrees with the launch's address, unless more clicks agree than are listed; then only the
/// newest are listed.
public struct BackgroundCount: Equatable, Sendable {
    /// Nil for the sum of all destinations that have too few clicks to be counted separately.
    public var destination: CreditedDestination?
    public var platformForm: PlatformForm
    /// The ``DelayBins`` bin of the clicks' age.
    public var ageBin: Int
    /// The sum of the clicks' weights, as in ``Candidate/weight``.
    public var weight: Double
    /// The share of the clicks whose address is known, 0…1.
    public var shareWithAddress: Double
    /// The clicks' system; nil if the store does not count by systems.
    public var release: OSRelease?

    public init(
        destination: CreditedDestination?,
        platformForm: PlatformForm,
        ageBin: Int,
        weight: Double,
        shareWithAddress: Double = 1,
        release: OSRelease? = nil
    ) {
        (self.destination, self.platformForm, self.ageBin) = (destination, platformForm, ageBin)
        (self.weight, self.shareWithAddress, self.release) = (weight, shareWithAddress, release)
    }
}

/// The properties of a launch in addition to its fingerprint.
public struct LaunchTraits: Equatable, Sendable {
    public var at: Timestamp
    /// Whether the launch's address is known and usable: not loopback, private, shared, unspecified, or a
    /// relay's.
    public var hasAddress: Bool
    public var release: OSRelease?
    /// The launch's signals that its fingerprint does not contain.
    public var signals: SignalHashes

    public init(
        at: Timestamp,
        hasAddress: Bool = false,
        release: OSRelease? = nil,
        signals: SignalHashes = .none
    ) {
        (self.at, self.hasAddress, self.release, self.signals) = (at, hasAddress, release, signals)
    }
}

/// The destination and the campaign that a match with a click credits.
public struct CreditedDestination: Hashable, Sendable {
    /// The first word of a hash of URL and campaign.
    public var url: UInt64
    /// The first word of a hash of the campaign; 0 for none.
    public var campaign: UInt64

    public init(url: UInt64, campaign: UInt64) {
        self.url = url
        self.campaign = campaign
    }

    public init(_ facts: Click.Facts) {
        self.init(destination: facts.destination.text, campaign: facts.campaignKey?.text)
    }

    /// Creates a destination from a link and a campaign's key as they are stored.
    public init(destination: String, campaign: String?) {
        let text = destination + "\u{0}" + (campaign ?? "")
        self.init(
            url: SHA256.digest(of: Array(text.utf8)).words.0,
            campaign: campaign.map { SHA256.digest(of: Array($0.utf8)).words.0 | 1 } ?? 0
        )
    }
}
