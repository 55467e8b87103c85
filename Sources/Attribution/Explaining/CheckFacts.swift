/// How a check ended, in one word.
///
/// The raw value is the word on the wire and in the database.
public enum CheckOutcome: String, CaseIterable, Sendable {
    case match
    case replay
    case noMatch = "no_match"
}

/// The content of a check's record: how the check ended, and the facts that decided it.
///
/// The record contains addresses and fingerprints only as keyed hashes.
public struct CheckFacts: Equatable, Sendable {
    /// The probability that the launch came for the destination of one click; of some clicks, only the first half of
    /// the identifier is known.
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
    /// Why there was no match; nil for a match and for a replay.
    public var reason: NoMatchReason?
    /// How the launch was recognised; nil for no match.
    public var method: AttributionMethod?
    /// The confidence of the answer, or for no match the probability of the most likely click; nil if neither is known.
    public var confidence: Double?
    public var isCampaignOnly = false
    /// The ``Verdict/probability`` of the weighed clicks, not limited by ``Verdict/highestConfidence``; nil
    /// if none was weighed, or if the record was stored without it.
    public var probability: Double?
    /// The probability that the app's policy required of a match by fingerprint.
    public var minimumConfidence = MatchPolicy.standardMinimum
    /// The probability that no click led to the launch; nil if no click was weighed.
    public var organicShare: Double?
    /// The number of live clicks with the fingerprint; 0 if none was weighed.
    public var candidates = 0
    /// The click of the answer, or for no match the most likely one; nil if there is none.
    public var click: ClickID?
    /// The platform of ``click``, and the form of the fingerprint by which the launch finds it; nil if the
    /// click was not weighed.
    public var platformForm: PlatformForm?
    /// How the address of ``click`` compares with the launch's; nil if they were not compared.
    public var agreement: AddressAgreement?
    /// The most likely clicks, at most ``Verdict/maximumShares``, the most likely first.
    public var shares: [Share] = []
    /// The launch's first fingerprint.
    ///
    /// If the server computed fingerprints from the launch's signals, this is the one in the form with the fewest
    /// components. Otherwise it is the one that the client sent.
    ///
    /// It is hashed under the current server key, or under another key if only clicks under that key have
    /// this fingerprint.
    public var fingerprint: KeyedHash?
    /// The first words (64 bits) of the launch's other fingerprints, at most ``otherFingerprintLimit``.
    public var otherFingerprints: [UInt64] = []
    public var address: AddressHashes?
    /// Whether the launch sent a token, or the identifier of a click.
    public var namesClick = false
    public var hasInstallID = false
    /// The first word of the keyed hash of the install id, or else of the caller; nil if it was not recorded.
    public var caller: UInt64?
    /// When the app was first installed, according to the device.
    public var firstInstalledAt: Timestamp?
    /// Google Play's report on the installation; nil if the launch sent none.
    public var play: PlayInstall?
    /// Why ``play`` casts doubt on the match; nil if it does not.
    public var playFinding: PlayFinding?
    /// The number of checks that this record represents: in a flood, some checks get no record.
    public var weight = 1
    public var platform = Platform.unknown
    public var release: OSRelease?
    /// The launch's signals in addition to its fingerprint.
    public var signals = SignalHashes.none
    public var sdkVersion: String?
    /// The first ``requestIDLength`` characters of the request id.
    public var requestID: String?

    /// The largest number of characters of a request id that are stored.
    public static let requestIDLength = 64
    /// The largest number of other fingerprints in a record; only a launch after several changes of the
    /// server key in one window has more.
    public static let otherFingerprintLimit = 128

    public init(
        at time: Timestamp,
        outcome: CheckOutcome,
        reason: NoMatchReason? = nil,
        fingerprint: KeyedHash? = nil
    ) {
        at = time
        self.outcome = outcome
        self.reason = reason
        self.fingerprint = fingerprint
    }

    /// Creates the record of a check that has ended.
    public init(_ report: CheckReport, of check: Check) {
        self.init(CheckOutcome(report.ending), report.basis, of: check)
        switch report.ending {
        case .match(let claim), .replay(let claim):
            click = claim.click.id
            method = claim.method
            confidence = claim.confidence
            isCampaignOnly = claim.isCampaignOnly
            guard claim.hasFinding else { break }
            let click = claim.click
            playFinding = check.details.play?.finding(
                of: click.id,
                at: click.facts.clickedAt,
                launchedAt: check.at
            )
        case .noMatch(let reason): self.reason = reason
        }
        if let evidence = report.basis.evidence { add(evidence) }
    }

    /// Creates the record of a match, which is stored with the claim of the click.
    public init(matching click: ClickID, _ choice: ClickChoice, _ basis: CheckBasis, of check: Check) {
        self.init(.match, basis, of: check)
        self.click = click
        method = choice.method
        confidence = choice.confidence
        isCampaignOnly = choice.isCampaignOnly
        playFinding = choice.finding
        if let evidence = basis.evidence { add(evidence) }
    }

    private init(_ outcome: CheckOutcome, _ basis: CheckBasis, of check: Check) {
        let fingerprint = basis.storedFingerprint ?? check.ladder.fingerprints.first
        self.init(at: check.at, outcome: outcome, fingerprint: fingerprint)
        minimumConfidence = check.policy.minimumConfidence
        namesClick = check.ladder.namesClick
        hasInstallID = !check.installs.isEmpty
        platform = check.platform
        let details = check.details
        address = details.address?.current
        release = details.release
        signals = details.signals
        sdkVersion = details.sdkVersion
        requestID = details.requestID.map(Self.cut)
        firstInstalledAt = details.firstInstalledAt
        play = details.play?.install
        caller = check.installs.first?.index ?? check.caller.index
        otherFingerprints = check.ladder.fingerprints.dropFirst().prefix(Self.otherFingerprintLimit)
            .map(\.index)
        if let verdict = basis.verdict { add(verdict) }
    }

    private mutating func add(_ verdict: Verdict) {
        confidence = verdict.confidence
        probability = verdict.probability
        organicShare = verdict.organicShare
        candidates = verdict.competingClicks + 1
        click = verdict.shares.first?.click
        shares = verdict.shares.compactMap { share in
            share.click.map { Share(click: $0, probability: share.probability) }
        }
    }

    private mutating func add(_ evidence: CandidateEvidence) {
        // Some candidates have only the first half of their click's identifier.
        let candidate = evidence.candidates.first { $0.click.high == click?.high }
        guard let candidate else { return }
        platformForm = candidate.platformForm
        agreement = candidate.address
    }

    /// Returns the milliseconds from a click to the installation that it led to; 0 if the installation is older.
    ///
    /// Many people launch an app long after they installed it. So the installation's time from Google Play counts; the
    /// time of the launch counts only if that time is unknown.
    public func timeToInstall(since clickedAt: Timestamp) -> Int64 {
        max(0, (play?.begin(before: at) ?? at).milliseconds(since: clickedAt))
    }

    /// Returns the first ``requestIDLength`` characters of a text, which is expected to be ASCII.
    static func cut(_ text: String) -> String {
        text.utf8.count <= requestIDLength ? text : String(text.prefix(requestIDLength))
    }
}

extension CheckOutcome {
    public init(_ ending: MatchOutcome) {
        self =
            switch ending {
            case .match: .match
            case .replay: .replay
            case .noMatch: .noMatch
            }
    }
}

/// One recorded check.
///
/// It is deleted when it is older than the retention time, or earlier if there are too many records.
public struct RecordedCheck: Equatable, Sendable {
    public let id: CheckID
    public let app: AppID
    public let isTest: Bool
    public var facts: CheckFacts
    /// The campaign of ``CheckFacts/click``; nil if there is no click or it has no campaign.
    public var campaign: CampaignKey?

    public init(id: CheckID, app: AppID, isTest: Bool, facts: CheckFacts, campaign: CampaignKey? = nil) {
        (self.id, self.app, self.isTest) = (id, app, isTest)
        (self.facts, self.campaign) = (facts, campaign)
    }
}

/// The ways to refer to a check.
public enum CheckReference: Equatable, Sendable {
    case check(CheckID)
    /// The check that consumed the click, or else the last check that had the click as its answer or most likely click.
    case click(ClickID)
    /// The last check of a request.
    case request(String)
    /// The last check whose first fingerprint has one of these hashes: one fingerprint under each server key.
    case fingerprint([KeyedHash])

    /// Reads `chk_…`, `clk_…`, a fingerprint's 64 hexadecimal digits, or a request id: 1 to 128 visible ASCII
    /// characters; nil for any other text.
    ///
    /// - Parameters:
    ///   - text: the text as it was typed.
    ///   - keys: the server keys, one of which hashed the fingerprint.
    public init?(_ text: String, keys: [ServerKey]) {
        if let id = CheckID(text) {
            self = .check(id)
        } else if let id = ClickID(text) {
            self = .click(id)
        } else if let fingerprint = Fingerprint(hex: text) {
            self = .fingerprint(keys.map { $0.keyed(fingerprint) })
        } else {
            guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
            else { return nil }
            self = .request(CheckFacts.cut(text))
        }
    }
}
