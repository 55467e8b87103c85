/// Which recorded checks are asked for.
public struct CheckQuery: Equatable, Sendable {
    /// Nil: those of all apps.
    public var app: AppID?
    /// Test checks instead of live ones.
    public var isTest: Bool
    public var from: Timestamp?
    /// The first moment that is asked for no more.
    public var to: Timestamp?
    public var outcome: CheckOutcome?
    public var reason: NoMatchReason?
    public var campaign: CampaignKey?
    /// One of these; empty: any.
    public var fingerprints: [KeyedHash] = []
    /// Only checks before this one: ``CheckPage/next`` of the page before.
    public var before: CheckID?
    public var limit: Int

    /// How many checks a page may hold.
    public static let limits = 1...500
    public static let standardLimit = 50

    public init(app: AppID? = nil, isTest: Bool = false, limit: Int = CheckQuery.standardLimit) {
        self.app = app
        self.isTest = isTest
        self.limit = min(max(limit, Self.limits.lowerBound), Self.limits.upperBound)
    }

    /// Whether a record is asked for, apart from its place.
    public func holds(_ record: RecordedCheck) -> Bool {
        let facts = record.facts
        return record.isTest == isTest && (app == nil || app == record.app)
            && (from.map { facts.at >= $0 } ?? true) && (to.map { facts.at < $0 } ?? true)
            && (outcome == nil || outcome == facts.outcome) && (reason == nil || reason == facts.reason)
            && (campaign == nil || campaign == record.campaign)
            && (fingerprints.isEmpty || facts.fingerprint.map(fingerprints.contains) ?? false)
    }
}

/// Some of the checks that were asked for.
public struct CheckPage: Equatable, Sendable {
    /// The newest first.
    public var records: [RecordedCheck]
    /// Where the next page begins; nil when this is the last one.
    ///
    /// A page may hold fewer checks than asked for, or none, and not be the last: one call looks at so many only.
    public var next: CheckID?

    public init(records: [RecordedCheck] = [], next: CheckID? = nil) {
        self.records = records
        self.next = next
    }
}

/// Where the records of checks are kept: every match, and of other checks as many as can be kept without harm.
public protocol CheckStore {
    /// Everything that was noted before the call is in the answer.
    ///
    /// Takes as long as one bounded look, and never holds up the loop that asks.
    func checks(_ query: CheckQuery) async throws(StoreError) -> CheckPage

    /// Why a check ended as it did.
    ///
    /// - Parameters:
    ///   - reference: which check.
    ///   - explainer: what to make of what is stored; it is asked where it holds nobody up.
    /// - Returns: nil where there is no record, or none among those that are looked through.
    /// - Throws: when nothing could be read.
    func explanation(of reference: CheckReference, by explainer: Explainer) async throws(StoreError)
        -> Explanation?

    /// What there is of a click for telling why no check was answered with it.
    ///
    /// Looks through a bounded number of checks, and never holds up the loop that asks.
    ///
    /// - Returns: nil for a click that is not stored.
    /// - Throws: when nothing could be read.
    func material(ofClick id: ClickID) async throws(StoreError) -> ClickExplanationInput?
}
