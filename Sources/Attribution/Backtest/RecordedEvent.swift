/// A recorded click or launch, as a backtest replays it: with hashes of the values that the server received.
///
/// Equal values have equal hashes, and matching only compares them.
public enum RecordedEvent: Equatable, Sendable {
    case click(RecordedClick)
    case launch(RecordedLaunch)

    /// When the server learnt of the event: when a click was posted, or when a launch came.
    public var at: Timestamp {
        switch self {
        case .click(let click): max(click.at, click.recordedAt ?? click.at)
        case .launch(let launch): launch.at
        }
    }

    /// Returns a hash for comparing names and destinations: the first 64 bits of the SHA-256 of a text.
    public static func hash(_ text: String) -> UInt64 { Fingerprint(of: text).words.0 }
}

/// A fingerprint that finds a recorded click.
public struct RecordedFingerprint: Hashable, Sendable {
    /// A hash of the fingerprint.
    public var key: UInt64
    /// Nil for a fingerprint that a client sent ready-made, and for one that could not be reconstructed.
    public var form: FingerprintForm?
    /// The probability that the click's device sends it, 0…1.
    public var weight: Double
    /// The system of a device that sends this fingerprint; nil if neither fingerprint nor click contains it.
    public var release: OSRelease?

    public init(key: UInt64, form: FingerprintForm?, weight: Double = 1, release: OSRelease? = nil) {
        (self.key, self.form, self.weight, self.release) = (key, form, weight, release)
    }
}

/// A recorded click.
public struct RecordedClick: Equatable, Sendable {
    /// The name by which launches refer to the click: the first 64 bits of its identifier.
    public var name: UInt64
    public var at: Timestamp
    /// When the click was posted, so that launches could find it; nil if it was posted at the time ``at``.
    public var recordedAt: Timestamp?
    public var platform: Platform
    /// Empty if only a token finds the click.
    public var fingerprints: [RecordedFingerprint]
    /// Nil if it is unknown or distinguishes no visitors.
    public var address: AddressHashes?
    /// A hash of exact address and agent; of the agent alone without a usable address.
    public var visitor: UInt64
    /// A hash of fingerprint, destination, address and agent, which duplicates share; nil if it is unknown.
    public var visit: UInt64?
    public var destination: CreditedDestination
    /// The click's own window; nil if it has none.
    public var window: AttributionWindow?
    /// Hashes of reported values that some fingerprints do not contain.
    public var signals = SignalHashes.none
    /// Whether a robot made the click, so that no launch is credited to it.
    public var isRobot = false
    /// Whether the visitor asked not to be tracked, so that the click is counted but never matches.
    public var isOnlyCounted = false
    /// When a launch from before the history claimed the click; nil if none did.
    public var consumedAt: Timestamp?
    /// The person who clicked; nil if unknown, as always in a database's history.
    public var person: UInt64?

    public init(
        name: UInt64,
        at: Timestamp,
        platform: Platform,
        fingerprints: [RecordedFingerprint],
        visitor: UInt64,
        destination: CreditedDestination
    ) {
        (self.name, self.at, self.platform) = (name, at, platform)
        (self.fingerprints, self.visitor, self.destination) = (fingerprints, visitor, destination)
    }
}

/// A recorded first launch.
public struct RecordedLaunch: Equatable, Sendable {
    /// What really led to the launch.
    public enum Truth: Equatable, Sendable {
        /// The click of this name.
        case click(UInt64)
        /// No click.
        case organic
        /// No click: the device had launched before, and the app was reinstalled.
        case reinstall
        /// The same check again, because the answer was lost.
        case retry
    }

    public var at: Timestamp
    /// Hashes of the fingerprints that the client sent or that its signals have; empty if it sent neither.
    ///
    /// If several of them find one click, the click counts under the first fingerprint that finds it.
    public var fingerprints: [UInt64]
    public var address: AddressHashes?
    /// A hash of the install id, or else of fingerprint, exact address and agent: it identifies a caller that
    /// repeats its check.
    public var caller: UInt64
    /// Whether ``caller`` is an install id; such a caller gets its answer again until the click's window ends.
    public var hasInstallID = false
    public var release: OSRelease?
    public var signals = SignalHashes.none
    /// The name of the click that the launch's token names; nil without a token.
    ///
    /// In a database's history, it is the name of the click of any certain match (by a token, click id or advertising
    /// id).
    public var token: UInt64?
    /// Whether the match had a ``PlayFinding``, so that the model learns nothing from it.
    public var hasFinding = false
    /// What really led to the launch; nil if unknown, as always in a database's history.
    public var truth: Truth?
    public var person: UInt64?
    /// The number of launches that this record represents: in a flood, some launches get no record.
    public var weight = 1
    /// The recorded answer; nil if it is unknown.
    public var answer: RecordedAnswer?

    public init(at: Timestamp, fingerprints: [UInt64], caller: UInt64) {
        self.at = at
        self.fingerprints = fingerprints
        self.caller = caller
    }

    /// The launch's part of the input of the ``Posterior``; the other part is the clicks.
    public var traits: LaunchTraits {
        LaunchTraits(at: at, hasAddress: address != nil, release: release, signals: signals)
    }
}

/// The recorded answer to a launch.
public struct RecordedAnswer: Equatable, Sendable {
    public var outcome: CheckOutcome
    /// The name of the click in the answer; nil for no match.
    public var click: UInt64?
    public var method: AttributionMethod?
    public var isCampaignOnly = false
    /// Why the launch got no click; nil if it got one.
    public var reason: NoMatchReason?
    /// The probability that the answer was right; for no match, that the most likely click was right; nil if unknown.
    ///
    /// It is not limited by ``Verdict/highestConfidence``, unless the record contains only the limited value.
    public var probability: Double?
    /// The probability that no click led to the launch; nil if nothing was weighed.
    public var organicShare: Double?

    public init(_ outcome: CheckOutcome) { self.outcome = outcome }

    /// Whether the answer is a certain match: by a token or an id, and not by the fingerprint.
    public var isCertain: Bool { method?.confidence != nil }
}

/// The recorded clicks and checks of one app, in the order of time.
///
/// A store reads them in pieces, so that memory does not grow with their number and no writer has to wait.
public protocol TrafficHistory {
    /// The first and the last time in the history; nil if it is empty.
    var span: (first: Timestamp, last: Timestamp)? { get }

    /// Whether the history contains everything since the first click or check that the app's model learnt from.
    var isWhole: Bool { get }

    /// The values that could not be determined for the events returned so far.
    var gaps: HistoryGaps { get }

    /// Returns the next event; nil at the end.
    mutating func next() throws(StoreError) -> RecordedEvent?
}

/// The numbers of events that lack a value, because their records do not contain it.
public struct HistoryGaps: Equatable, Sendable {
    /// Clicks without a stored visitor; each visit counts as a visitor.
    public var clicksWithoutVisitor = 0
    /// Clicks with a fingerprint that could not be reconstructed from their signals under the current
    /// settings and tables; that fingerprint gets the weight 1 and no form.
    public var clicksNotReconstructed = 0
    public var clicksWithoutAddress = 0
    /// Clicks claimed before the first recorded check.
    public var clicksConsumedBefore = 0
    public var clicks = 0

    public var launches = 0
    /// Launches without a stored caller; fingerprint and address identify the caller.
    public var launchesWithoutCaller = 0
    public var launchesWithoutAddress = 0
    /// Launches whose records contain neither a fingerprint nor a certain match.
    public var launchesWithoutFingerprint = 0
    /// Launches that named a click but did not get it; their records do not contain which click they named.
    public var launchesNamingOtherClick = 0
    /// Launches without a record of their own, because they came in a flood; the ``RecordedLaunch/weight`` of
    /// other records includes them.
    public var launchesNotRecorded = 0
    /// Matches by a fingerprint whose records contain only the probability that ``Verdict/highestConfidence`` limited.
    public var probabilitiesNotKnown = 0
    /// Claims since the first recorded check.
    public var claims = 0
    /// Recorded matches.
    public var matches = 0
    /// The number of launches for each minimum confidence that the app required at their time.
    public var minimums: [Double: Int] = [:]

    public init() {}

    /// Claims without a recorded match; 0 if there are as many matches as claims, or more.
    public var matchesNotRecorded: Int { max(0, claims - matches) }
}
