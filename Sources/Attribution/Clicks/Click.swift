/// One fingerprint under which a click can be found.
public struct FingerprintEntry: Hashable, Sendable {
    /// How the fingerprint was made; nil when the caller brought it ready-made.
    public let form: FingerprintForm?
    public let key: KeyedHash
    /// How likely a client that sends this fingerprint computes it so, 0…1.
    public let weight: Double
    /// The system that the device has if it sends this; nil where the fingerprint does not say, and the click neither.
    public let release: OSRelease?

    public init(form: FingerprintForm?, key: KeyedHash, weight: Double = 1, release: OSRelease? = nil) {
        self.form = form
        self.key = key
        self.weight = weight
        self.release = release
    }
}

/// A visit to a campaign link: what a first launch may later be credited to.
public struct Click: Equatable, Sendable {
    /// Who clicked and on what, apart from the keyed hashes it is found by.
    public struct Facts: Equatable, Sendable {
        public var app: AppID
        /// Made with a test key: no live key sees it and no live statistic counts it.
        public var isTest: Bool
        public var destination: DeepLinkURL
        public var campaignKey: CampaignKey?
        public var journeyID: JourneyID
        public var clickedAt: Timestamp
        public var recordedAt: Timestamp
        public var window: AttributionWindow
        public var source: SourceToken
        /// The signal that `source` was read from, as it came (`google`), at most 255 characters.
        public var rawSource: String?
        public var platform: Platform
        /// Major and minor OS version in native form (`17.2`), where known.
        public var osVersion: String?
        /// In which program the link was opened.
        public var browser: BrowserFamily
        /// A JSON object as the caller wrote it, at most 8 KiB.
        public var metadata: String?
        /// A preview, prefetch or robot: recorded and counted, never a candidate.
        public var isRobot: Bool
        /// The caller's fingerprint is none of those made from its signals.
        public var isContradictory: Bool
        /// The short link that was tapped; nil for a click that came with a deep link of its own.
        public var link: LinkID?
        /// Which of the link's variants the visitor got, by its name.
        public var variant: String?

        public init(
            app: AppID,
            isTest: Bool = false,
            destination: DeepLinkURL,
            campaignKey: CampaignKey? = nil,
            journeyID: JourneyID,
            clickedAt: Timestamp,
            recordedAt: Timestamp,
            window: AttributionWindow,
            source: SourceToken = .direct,
            rawSource: String? = nil,
            platform: Platform = .unknown,
            osVersion: String? = nil,
            browser: BrowserFamily = .unknown,
            metadata: String? = nil,
            isRobot: Bool = false,
            isContradictory: Bool = false,
            link: LinkID? = nil,
            variant: String? = nil
        ) {
            self.app = app
            self.isTest = isTest
            self.destination = destination
            self.campaignKey = campaignKey
            self.journeyID = journeyID
            self.clickedAt = clickedAt
            self.recordedAt = recordedAt
            self.window = window
            self.source = source
            self.rawSource = rawSource
            self.platform = platform
            self.osVersion = osVersion
            self.browser = browser
            self.metadata = metadata
            self.isRobot = isRobot
            self.isContradictory = isContradictory
            self.link = link
            self.variant = variant
        }

        /// Whose match rate it is watched with.
        public var driftGroup: DriftGroup {
            DriftGroup(clickOn: platform, osVersion: osVersion, browser: browser)
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

/// A click on its way into a store, which gives it its identifier.
public struct NewClick: Equatable, Sendable {
    public var facts: Click.Facts
    /// At least one, unless the click can only be found by a token.
    public var fingerprints: [FingerprintEntry]
    /// Same app, fingerprint, link or URL, exact address and user agent: a match retires the older clicks that share it.
    public var visit: KeyedHash
    /// Same visit, campaign key and, where the post brought one, journey: posts that share it within 10 s are one click.
    public var post: KeyedHash
    /// By what a launch that has the fingerprint is told from others that have it.
    public var evidence: ClickEvidence
    /// From the caller's idempotency key, where it sent one.
    public var idempotency: KeyedHash?
    /// The same under keys that were used before.
    public var earlier = ClickHashesUnderFormerKeys()

    public init(
        facts: Click.Facts,
        fingerprints: [FingerprintEntry],
        visit: KeyedHash,
        post: KeyedHash,
        evidence: ClickEvidence = ClickEvidence(),
        idempotency: KeyedHash? = nil
    ) {
        self.facts = facts
        self.fingerprints = fingerprints
        self.visit = visit
        self.post = post
        self.evidence = evidence
        self.idempotency = idempotency
    }
}

/// What a click would have been recorded under before the present keys: by it a repeated post is known again.
public struct ClickHashesUnderFormerKeys: Equatable, Sendable {
    /// In the first minutes of a day, under the key of the day before.
    public var visit: KeyedHash?
    /// As above.
    public var post: KeyedHash?
    /// As above; see ``ClickEvidence/visitor``.
    public var visitor: UInt64?
    public var idempotencies: [KeyedHash] = []
    /// Of all its fingerprints, under each other key.
    public var fingerprints: [[KeyedHash]] = []

    public init() {}
}

/// Why a click tells less of its visitor than a page's script would.
public enum ClickBasis: String, CaseIterable, Sendable {
    /// Its page ran no script: it is known from the request for the store alone, and found by its token alone.
    case request
    /// The visitor's browser, or the page for him, asks not to be tracked: counted, and never matched.
    case counted

    /// How it stands at the end of a click's line of canonical values, among whose readers those that do not know it pass
    /// over it.
    public var mark: String { "; basis=\(rawValue)" }

    /// From a line that ends with a mark; nil for all others.
    public init?(markedIn line: String) {
        guard let basis = Self.allCases.first(where: { line.hasSuffix($0.mark) }) else { return nil }
        self = basis
    }
}

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
