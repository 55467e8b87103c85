/// One fingerprint (a hash of device values) under which a click can be found.
public struct FingerprintEntry: Hashable, Sendable {
    /// Which values were hashed; nil if the caller sent the fingerprint ready-made.
    public let form: FingerprintForm?
    public let key: KeyedHash
    /// The probability that the click's device computes this fingerprint, 0…1.
    public let weight: Double
    /// The system of a device that sends this fingerprint; nil if neither fingerprint nor click contains it.
    public let release: OSRelease?

    public init(form: FingerprintForm?, key: KeyedHash, weight: Double = 1, release: OSRelease? = nil) {
        (self.form, self.key, self.weight, self.release) = (form, key, weight, release)
    }
}

/// A visitor's tap on a campaign link, to which a first launch may later be credited.
public struct Click: Equatable, Sendable {
    /// The properties of a click, apart from the keyed hashes that find it.
    ///
    /// `ClickReading` of `Server/Clicks` sets each of them, and `ClickRecord` of `Storage/Records` stores it.
    public struct Facts: Equatable, Sendable {
        public var app: AppID
        public var destination: DeepLinkURL
        public var campaignKey: CampaignKey?
        public var journeyID: JourneyID
        public var clickedAt: Timestamp
        public var recordedAt: Timestamp
        public var window: AttributionWindow
        /// Whether the click was recorded with a test key, so that live keys do not find it and live statistics do not
        /// count it.
        public var isTest = false
        public var source = SourceToken.direct
        /// The text of the signal that `source` comes from (`google`), at most 255 characters; nil for no signal.
        public var rawSource: String?
        public var platform = Platform.unknown
        /// Major and minor OS version in the system's own spelling (`17.2`); nil if it is unknown.
        public var osVersion: String?
        /// The program that opened the link.
        public var browser = Browser.unknown
        /// A JSON object, at most 8 KiB: the caller's metadata, merged with the metadata of a short link.
        public var metadata: String?
        /// The ``NetworkClickIDs`` as a JSON object; nil for a click without any, or if they are not kept.
        public var clickIDs: String?
        /// Whether the click comes from a preview, a prefetch or a robot: it is recorded and counted, but
        /// never a candidate.
        public var isRobot = false
        /// Whether the fingerprint that the client sent differs from all fingerprints of its signals.
        public var isContradictory = false
        /// The short link that was tapped; nil for a click that names its deep link itself.
        public var link: LinkID?
        /// The name of the link's variant that the visitor got.
        public var variant: String?

        public init(
            app: AppID,
            destination: DeepLinkURL,
            campaignKey: CampaignKey? = nil,
            journeyID: JourneyID,
            clickedAt: Timestamp,
            recordedAt: Timestamp,
            window: AttributionWindow
        ) {
            (self.app, self.destination, self.campaignKey) = (app, destination, campaignKey)
            (self.journeyID, self.clickedAt) = (journeyID, clickedAt)
            (self.recordedAt, self.window) = (recordedAt, window)
        }

        /// The group of clicks (platform, OS version and browser) whose match rate is watched.
        public var driftGroup: DriftGroup {
            DriftGroup(clickOn: platform, osVersion: osVersion, browser: browser.family)
        }

        /// The last millisecond in which a first launch may be credited to the click.
        public var expiresAt: Timestamp { window.end(ofClickAt: clickedAt) }
    }

    public let id: ClickID
    public let facts: Facts

    public init(id: ClickID, facts: Facts) {
        self.id = id
        self.facts = facts
    }
}

/// A click to be stored; the store creates its identifier.
public struct NewClick: Equatable, Sendable {
    public var facts: Click.Facts
    /// Empty for a click with a ``ClickBasis``, and for one whose values are too few for a fingerprint.
    public var fingerprints: [FingerprintEntry]
    /// A hash of app, fingerprint, link or URL, exact address and user agent.
    ///
    /// A match also closes the clicks with the same hash from the ten minutes before the matched one.
    public var visit: KeyedHash
    /// A hash of visit, campaign key and, if the post contains one, journey id.
    ///
    /// Posts with the same hash within 10 s are one click, unless a launch claims the click between them.
    public var post: KeyedHash
    /// The evidence that distinguishes the click from others with the same fingerprint.
    public var evidence = ClickEvidence()
    /// The hash of the caller's idempotency key, if it sent one.
    public var idempotency: KeyedHash?
    /// The hashes under other keys than the current ones.
    public var earlier = ClickHashesUnderFormerKeys()
    /// The app's window for matches by fingerprint; nil if it sets none.
    public var fingerprintWindow: AttributionWindow?

    public init(facts: Click.Facts, fingerprints: [FingerprintEntry], visit: KeyedHash, post: KeyedHash) {
        (self.facts, self.fingerprints, self.visit, self.post) = (facts, fingerprints, visit, post)
    }
}

/// The hashes of a click under other keys than the current ones, to recognise a repeated post.
public struct ClickHashesUnderFormerKeys: Equatable, Sendable {
    /// The hash of the visit under the previous day's key; nil except in the first ten minutes of a day.
    public var visit: KeyedHash?
    /// The hash of the post under the previous day's key; nil if ``visit`` is nil.
    public var post: KeyedHash?
    /// The hash of the visitor under the previous day's key, as in ``ClickEvidence/visitor``; nil if ``visit`` is nil.
    public var visitor: UInt64?
    public var idempotencies: [KeyedHash] = []
    /// The hashes of all fingerprints, one list for each server key except the current one; empty for a post
    /// without an idempotency key.
    public var fingerprints: [[KeyedHash]] = []

    public init() {}
}

/// Why a click contains less about its visitor than a page's script would send.
public enum ClickBasis: String, CaseIterable, Sendable {
    /// The page ran no script: the click was recorded from the visitor's request for the store, and only its
    /// token finds it.
    case request
    /// The visitor's browser or the page asks not to be tracked: the click is counted but never matches.
    case counted

    /// The end of the click's ``ClickEvidence/canonicalText``: `; basis=request` or `; basis=counted`.
    public var suffix: String { "; basis=\(rawValue)" }

    /// Reads the ``suffix`` of a line; nil if it has none.
    public init?(suffixOf line: String) {
        guard let basis = Self.allCases.first(where: { line.hasSuffix($0.suffix) }) else { return nil }
        self = basis
    }
}

/// The values of a click in addition to its fingerprints: evidence to weigh it by, and ids that find it.
public struct ClickEvidence: Equatable, Sendable {
    /// Nil if the address is unknown or distinguishes no visitors.
    public var address: AddressHashes?
    /// A hash of exact address and user agent, or of the agent alone without a usable address.
    public var visitor: UInt64 = 0
    /// Hashes of values that some forms of fingerprint do not contain; a launch may report these values in addition.
    public var signals = SignalHashes.none
    /// The canonical values as text, for explanations and for the reconstruction of fingerprints; nil for a
    /// click without values.
    public var canonicalText: String?
    /// The keyed hashes of the advertising ids that an ad network added to the click.
    public var advertisingIDs: [AdvertisingIDEntry] = []

    public init() {}
}

/// An advertising id that finds a click.
public struct AdvertisingIDEntry: Hashable, Sendable {
    public let kind: AdvertisingID.Kind
    public let key: KeyedHash

    public init(_ kind: AdvertisingID.Kind, key: KeyedHash) {
        self.kind = kind
        self.key = key
    }
}

/// The time after a click within which a first launch may be credited to it.
public struct AttributionWindow: Hashable, Sendable {
    /// Length in whole seconds, within ``allowedSeconds``.
    public let seconds: Int64

    /// One minute to thirty days.
    public static let allowedSeconds: ClosedRange<Int64> = 60...2_592_000

    /// The window of clicks and apps that set no window: a day, unless the operator configures another one.
    public static let standard = AttributionWindow(unchecked: 86_400)

    private init(unchecked seconds: Int64) { self.seconds = seconds }

    /// Returns nil outside ``allowedSeconds``.
    public init?(seconds: Int64) {
        guard Self.allowedSeconds.contains(seconds) else { return nil }
        self.init(unchecked: seconds)
    }

    /// Returns the last millisecond that the window of a click covers: `clickedAt` plus the length itself.
    public func end(ofClickAt clickedAt: Timestamp) -> Timestamp {
        clickedAt.advanced(byMilliseconds: seconds * 1000)
    }

    /// Returns whether a launch at `now` may be credited to a click at `clickedAt`.
    ///
    /// A click from the future, after a clock was set back, still counts.
    public func covers(clickedAt: Timestamp, now: Timestamp) -> Bool { now <= end(ofClickAt: clickedAt) }
}
