/// How a check ended, in one word.
///
/// The raw value is the word on the wire and in the database.
public enum CheckOutcome: String, CaseIterable, Sendable {
    case match
    case replay
    case noMatch = "no_match"
}

/// What is recorded of a check: how it ended, and what it was decided from.
///
/// Holds addresses and fingerprints as keyed hashes alone.
public struct CheckFacts: Equatable, Sendable {
    /// How likely the launch came for the destination of one click, of whose identifier the first half may be all.
    public struct Share: Equatable, Sendable {
        public var click: ClickID
        /// 0…1.
        public var probability: Double

        public init(click: ClickID, probability: Double) {
            self.click = click
            self.probability = probability
        }
    }

    public var at: Timestamp
    public var outcome: CheckOutcome
    /// There for a check that found nothing.
    public var reason: NoMatchReason?
    /// There for one that was answered with a click.
    public var method: AttributionMethod?
    /// Of the answer, or of the likeliest click where none was likely enough; nil where nothing was weighed.
    public var confidence: Double?
    public var isCampaignOnly = false
    /// What the fingerprint alone makes of the likeliest click, without ``Verdict/highestConfidence``; nil where nothing
    /// was weighed, and where it was not recorded.
    public var probability: Double?
    /// What the app demanded of a probability.
    public var minimumConfidence: Double
    /// The probability that no click led to the launch; nil where nothing was weighed.
    public var organicShare: Double?
    /// Live clicks with the fingerprint.
    public var candidates = 0
    /// The click that was answered, or the likeliest one.
    public var click: ClickID?
    /// The platform of that click, and the form through which the launch's fingerprint finds it.
    public var platformForm: PlatformForm?
    /// How that click's address compares with the launch's; nil where that was not looked at.
    public var agreement: AddressAgreement?
    /// The likeliest clicks, at most ``Verdict/maximumShares``, the likeliest first.
    public var shares: [Share] = []
    /// The launch's own fingerprint; the one of its values as they came, where it brought values.
    public var fingerprint: KeyedHash?
    /// The first words of its others, where it had several; at most ``otherFingerprintLimit``.
    public var otherFingerprints: [UInt64] = []
    public var address: AddressHashes?
    /// Whether it brought a token, or the identifier of a click.
    public var namesClick: Bool
    public var hasInstallID: Bool
    /// The first word of the keyed hash of the install id, else of who asked; nil where it was not recorded.
    public var caller: UInt64?
    /// When the device says that the app was installed first.
    public var firstInstalledAt: Timestamp?
    /// For how many checks the record stands: in a flood, for some that were not recorded too.
    public var weight = 1
    public var platform: Platform
    public var release: OSRelease?
    /// What the launch told beside its fingerprint.
    public var signals = SignalHashes.none
    public var sdkVersion: String?
    /// The first ``requestIDLength`` characters.
    public var requestID: String?

    /// How many characters of a request id are kept.
    public static let requestIDLength = 64
    /// More than any launch has, unless the server key is changed several times in a window.
    public static let otherFingerprintLimit = 128

    public init(
        at moment: Timestamp,
        outcome: CheckOutcome,
        reason: NoMatchReason? = nil,
        minimumConfidence: Double = MatchPolicy.standardMinimum,
        fingerprint: KeyedHash? = nil,
        namesClick: Bool = false,
        hasInstallID: Bool = false,
        platform: Platform = .unknown
    ) {
        at = moment
        self.outcome = outcome
        self.reason = reason
        self.minimumConfidence = minimumConfidence
        self.fingerprint = fingerprint
        self.namesClick = namesClick
        self.hasInstallID = hasInstallID
        self.platform = platform
    }
}

extension CheckFacts {
    public init(_ report: CheckReport, of check: Check) {
        self.init(
            at: check.at,
            outcome: CheckOutcome(report.ending),
            minimumConfidence: check.policy.minimumConfidence,
            fingerprint: report.storedFingerprint ?? check.ladder.fingerprints.first,
            namesClick: check.ladder.namesClick,
            hasInstallID: check.install != nil,
            platform: check.platform
        )
        let details = check.details.value
        address = details.address?.present
        release = details.release
        signals = details.signals
        sdkVersion = details.sdkVersion
        requestID = details.requestID.map(Self.cut)
        firstInstalledAt = details.firstInstalledAt
        caller = check.install?.index ?? check.caller.hash.index
        otherFingerprints = check.ladder.fingerprints.dropFirst().prefix(Self.otherFingerprintLimit)
            .map(\.index)
        if let verdict = report.verdict { note(verdict) }
        switch report.ending {
        case .match(let claim), .replay(let claim):
            click = claim.click.id
            method = claim.method
            confidence = claim.confidence
            isCampaignOnly = claim.isCampaignOnly
        case .noMatch(let reason): self.reason = reason
        }
        if let evidence = report.evidence { note(evidence) }
    }

    private mutating func note(_ verdict: Verdict) {
        confidence = verdict.confidence
        probability = verdict.probability
        organicShare = verdict.organicShare
        candidates = verdict.competingClicks + 1
        click = verdict.shares.first?.click
        shares = verdict.shares.compactMap { share in
            share.click.map { Share(click: $0, probability: share.probability) }
        }
    }

    private mutating func note(_ evidence: CandidateEvidence) {
        // Candidates may be known by the first half of their identifiers alone.
        let candidate = evidence.candidates.first { $0.click.high == click?.high }
        guard let candidate else { return }
        platformForm = candidate.platformForm
        agreement = candidate.address
    }

    /// The first characters of a text, of which ASCII is expected.
    static func cut(_ text: String) -> String {
        text.utf8.count <= requestIDLength ? text : String(text.prefix(requestIDLength))
    }
}

extension CheckOutcome {
    public init(_ ending: CheckEnding) {
        self =
            switch ending {
            case .match: .match
            case .replay: .replay
            case .noMatch: .noMatch
            }
    }
}
