/// A click or a launch that has happened, with what the server was told of it, as hashes.
///
/// Where it comes from is not the replay's concern: a trace, whose texts are hashed when they are read, or a database,
/// which holds nothing but keyed hashes. Equal texts have equal hashes; that is all that matching needs.
public enum RecordedEvent: Equatable, Sendable {
    case click(RecordedClick)
    case launch(RecordedLaunch)

    public var at: Timestamp {
        switch self {
        case .click(let click): max(click.at, click.recordedAt ?? click.at)
        case .launch(let launch): launch.at
        }
    }
}

extension RecordedEvent {
    /// What names and destinations are compared by: the first word of the SHA-256 of a text.
    public static func hash(_ text: String) -> UInt64 { Fingerprint(of: text).words.0 }
}

/// A fingerprint under which a recorded click can be found.
public struct RecordedFingerprint: Hashable, Sendable {
    /// A hash of the fingerprint.
    public var key: UInt64
    /// Nil for one that came ready-made.
    public var form: FingerprintForm?
    /// How likely the click's device sends it, 0…1.
    public var weight: Double
    /// The system that the device has if it sends it.
    public var release: OSRelease?

    public init(key: UInt64, form: FingerprintForm?, weight: Double = 1, release: OSRelease? = nil) {
        self.key = key
        self.form = form
        self.weight = weight
        self.release = release
    }
}

/// A click as it was recorded.
public struct RecordedClick: Equatable, Sendable {
    /// By what launches name it: a hash of its identifier; nil where none does.
    public var name: UInt64?
    public var at: Timestamp
    /// When it was told of, where that was later than ``at``: from then on launches find it.
    public var recordedAt: Timestamp?
    public var platform: Platform
    /// None where only a token can lead to it.
    public var fingerprints: [RecordedFingerprint]
    /// Nil where it is not known or says nothing.
    public var address: AddressHashes?
    /// A hash of exact address and agent; of the agent alone where there is no address that says something.
    public var visitor: UInt64
    /// A hash of fingerprint, destination, address and agent, where that is known: what duplicates have in common.
    public var visit: UInt64?
    public var destination: CreditedDestination
    /// Its own; nil for what holds where a click has none.
    public var window: AttributionWindow?
    /// Values that a fingerprint may not hold.
    public var signals: SignalHashes
    /// Nobody tapped: it is never a candidate.
    public var isRobot: Bool
    /// When a launch consumed it that is not among those that are played.
    public var consumedAt: Timestamp?
    /// Who it was, where that is known.
    public var person: UInt64?

    public init(
        name: UInt64?,
        at: Timestamp,
        platform: Platform,
        fingerprints: [RecordedFingerprint],
        address: AddressHashes? = nil,
        visitor: UInt64,
        destination: CreditedDestination,
        window: AttributionWindow? = nil,
        signals: SignalHashes = .none,
        isRobot: Bool = false,
        person: UInt64? = nil
    ) {
        self.name = name
        self.at = at
        self.platform = platform
        self.fingerprints = fingerprints
        self.address = address
        self.visitor = visitor
        self.destination = destination
        self.window = window
        self.signals = signals
        self.isRobot = isRobot
        self.person = person
    }
}

/// A launch as it was recorded.
public struct RecordedLaunch: Equatable, Sendable {
    /// What really led to it.
    public enum Truth: Equatable, Sendable {
        /// The click of this name.
        case click(UInt64)
        /// No click.
        case organic
        /// None: the device had launched before, and the app was installed anew.
        case reinstall
        /// The same question again, because the answer was lost.
        case retry
    }

    public var at: Timestamp
    /// Hashes of what the client sent or may have sent; none where it brought a token alone.
    ///
    /// A click that several of them find counts by the first of these.
    public var fingerprints: [UInt64]
    public var address: AddressHashes?
    /// A hash of the install id; else of fingerprint, exact address and agent: who asks again.
    public var caller: UInt64
    /// Whether ``caller`` is an install id, which gets its answer again as long as the click's window lasts.
    public var hasInstallID: Bool
    public var release: OSRelease?
    public var signals: SignalHashes
    /// The name of the click that its token names, or by a database's word another sure way.
    public var token: UInt64?
    /// Nil where it is not known.
    public var truth: Truth?
    public var person: UInt64?
    /// For how many launches it stands: in a flood, for some that were not recorded.
    public var weight = 1
    /// What it was really answered; nil where that is not known.
    public var answer: RecordedAnswer?

    public init(
        at: Timestamp,
        fingerprints: [UInt64],
        address: AddressHashes? = nil,
        caller: UInt64,
        hasInstallID: Bool = false,
        release: OSRelease? = nil,
        signals: SignalHashes = .none,
        token: UInt64? = nil,
        truth: Truth? = nil,
        person: UInt64? = nil
    ) {
        self.at = at
        self.fingerprints = fingerprints
        self.address = address
        self.caller = caller
        self.hasInstallID = hasInstallID
        self.release = release
        self.signals = signals
        self.token = token
        self.truth = truth
        self.person = person
    }

    /// What the posterior is made of, apart from the clicks.
    var traits: LaunchTraits {
        LaunchTraits(at: at, hasAddress: address != nil, release: release, signals: signals)
    }
}

/// What a launch was really answered, as it was recorded.
public struct RecordedAnswer: Equatable, Sendable {
    public var outcome: CheckOutcome
    /// The name of the click that it was given.
    public var click: UInt64?
    public var method: AttributionMethod?
    public var isCampaignOnly: Bool
    /// Why it was given none.
    public var reason: NoMatchReason?
    /// How likely the answer was right without ``Verdict/highestConfidence``, as far as that was recorded.
    public var probability: Double?
    /// The probability that no click led to the launch; nil where nothing was weighed.
    public var organicShare: Double?

    public init(
        _ outcome: CheckOutcome,
        click: UInt64? = nil,
        method: AttributionMethod? = nil,
        isCampaignOnly: Bool = false,
        reason: NoMatchReason? = nil,
        probability: Double? = nil,
        organicShare: Double? = nil
    ) {
        self.outcome = outcome
        self.click = click
        self.method = method
        self.isCampaignOnly = isCampaignOnly
        self.reason = reason
        self.probability = probability
        self.organicShare = organicShare
    }

    /// Whether a surer way than the fingerprint decided.
    public var isSure: Bool { method?.confidence != nil }
}

extension ReplayScore {
    /// Counts what a launch was really answered.
    mutating func count(_ answer: RecordedAnswer) {
        guard answer.outcome != .replay else {
            replays += 1
            return
        }
        launches += 1
        if !answer.isSure, let organic = answer.organicShare {
            expected += 1 - organic
            variance += organic * (1 - organic)
        }
        guard answer.outcome == .match else {
            reasons[answer.reason?.verdictReason ?? .noCandidate, default: 0] += 1
            return
        }
        matches += 1
        if answer.isSure { tokenMatches += 1 }
        if answer.isCampaignOnly { campaignMatches += 1 }
        if !answer.isSure { expectedRight += answer.probability ?? 0 }
    }
}

extension NoMatchReason {
    /// What a verdict says of such a launch: most have no candidate.
    fileprivate var verdictReason: Verdict.Reason {
        switch self {
        case .belowThreshold: .belowThreshold
        case .ambiguous: .ambiguous
        case .fingerprintDisabled: .fingerprintDisabled
        case .noClick, .expired, .alreadyClaimed, .robotClick, .otherApp, .tokenInvalid, .tokenUsed:
            .noCandidate
        }
    }
}

/// The recorded clicks and checks of one app, in the order of time.
///
/// A store hands them out piece by piece, so that memory does not follow their number, and holds up nobody who writes.
public protocol TrafficHistory {
    /// The first and the last moment of what is there; nil where there is nothing.
    var span: (first: Timestamp, last: Timestamp)? { get }

    /// Whether nothing is missing from before: from the first click or check on which the app's traffic was learnt from,
    /// all are there.
    var isWhole: Bool { get }

    /// What could not be known of the events that were handed out so far.
    var gaps: HistoryGaps { get }

    /// The next event; nil at the end.
    mutating func next() throws(StoreError) -> RecordedEvent?
}

/// What records do not tell: how many events each thing is not known of.
public struct HistoryGaps: Equatable, Sendable {
    /// Clicks from before their visitors were recorded: each visit counts as a visitor.
    public var clicksWithoutVisitor = 0
    /// Clicks of whose fingerprints some could not be made again from their signals, under the present settings and
    /// tables: these count in full and in no form.
    public var clicksNotRemade = 0
    public var clicksWithoutAddress = 0
    /// Clicks that a launch consumed which is not recorded any more.
    public var clicksConsumedBefore = 0
    public var clicks = 0

    public var launches = 0
    /// Launches from before it was recorded who asked: fingerprint and address stand for it.
    public var launchesWithoutCaller = 0
    public var launchesWithoutAddress = 0
    /// Launches that brought nothing which a fingerprint could find, and were given no click.
    public var launchesWithoutFingerprint = 0
    /// Launches that named a click which they were not given: the record does not say which.
    public var launchesNamingOtherClick = 0
    /// Launches that are not recorded, in floods; records of the same time stand for them.
    public var launchesNotRecorded = 0
    /// Matches whose probability was recorded with its limit alone.
    public var probabilitiesNotKnown = 0
    /// Claims since the first check, and matches that are recorded.
    public var claims = 0
    public var matches = 0
    /// The probabilities that launches were held to, and how many were.
    public var minimums: [Double: Int] = [:]

    public init() {}

    /// Matches whose record was lost with a process.
    public var matchesNotRecorded: Int { max(0, claims - matches) }
}
