/// A query for recorded checks.
public struct CheckQuery: Equatable, Sendable {
    /// Nil for the checks of all apps.
    public var app: AppID?
    /// Whether to return test checks instead of live ones.
    public var isTest: Bool
    /// The start of the time span; nil for no start.
    public var from: Timestamp?
    /// The end of the time span, exclusive; nil for no end.
    public var to: Timestamp?
    public var outcome: CheckOutcome?
    public var reason: NoMatchReason?
    public var campaign: CampaignKey?
    public var method: AttributionMethod?
    /// The platform of the launch.
    public var platform: Platform?
    /// The version of the launch's system, or its first numbers: `17` also finds `17.4`.
    public var osVersion: String?
    /// The version of the SDK.
    public var sdk: String?
    /// Return only checks whose first fingerprint is one of these; if this is empty, return all.
    public var fingerprints: [KeyedHash] = []
    /// Return only checks that are older than this one: ``CheckPage/next`` of the previous page, or nil for
    /// the first page.
    public var before: CheckID?
    public var limit: Int

    /// The possible sizes of a page.
    public static let limits = 1...500
    public static let standardLimit = 50

    public init(app: AppID? = nil, isTest: Bool = false, limit: Int = CheckQuery.standardLimit) {
        self.app = app
        self.isTest = isTest
        self.limit = min(max(limit, Self.limits.lowerBound), Self.limits.upperBound)
    }

    /// Returns whether a record matches the query, regardless of ``before``.
    public func matches(_ record: RecordedCheck) -> Bool {
        let facts = record.facts
        return record.isTest == isTest && (app == nil || app == record.app)
            && (from.map { facts.at >= $0 } ?? true) && (to.map { facts.at < $0 } ?? true)
            && (outcome == nil || outcome == facts.outcome) && (reason == nil || reason == facts.reason)
            && (campaign == nil || campaign == record.campaign) && (method == nil || method == facts.method)
            && (platform == nil || platform == facts.platform) && (sdk == nil || sdk == facts.sdkVersion)
            && (osVersion.map { facts.release?.text.isVersion(startingWith: $0) == true } ?? true)
            && (fingerprints.isEmpty || facts.fingerprint.map(fingerprints.contains) ?? false)
    }
}

extension String {
    /// Returns whether the version is `start`, or begins with all parts of `start`: `17.4` begins with `17`, and `170`
    /// does not.
    fileprivate func isVersion(startingWith start: String) -> Bool { self == start || hasPrefix(start + ".") }
}

/// One page of the checks that match a query.
public struct CheckPage: Equatable, Sendable {
    /// The checks, newest first.
    public var records: [RecordedCheck] = []
    /// The ``CheckQuery/before`` of the next page; nil for the last page.
    ///
    /// A page may contain fewer checks than its limit, or none, without being the last: one call reads a
    /// bounded number of records.
    public var next: CheckID?

    public init(records: [RecordedCheck] = [], next: CheckID? = nil) {
        (self.records, self.next) = (records, next)
    }
}

/// The store of recorded checks: all matches, and of the other checks a limited number in each second.
public protocol CheckStore {
    /// Returns a page of the checks that match a query, including everything recorded before the call.
    ///
    /// The call reads a bounded number of records, and not on the calling event loop.
    func checks(_ query: CheckQuery) async throws(StoreError) -> CheckPage

    /// Explains why a check ended as it did.
    ///
    /// - Parameters:
    ///   - reference: the check to explain.
    ///   - explainer: explains the stored facts; the store does not call it on an event loop.
    /// - Returns: nil if the searched records do not contain the check.
    /// - Throws: if the database could not be read.
    func explanation(of reference: CheckReference, by explainer: Explainer) async throws(StoreError)
        -> Explanation?

    /// Reads the facts for the explanation of a click that no recorded check got.
    ///
    /// The call searches a bounded number of checks, and not on the calling event loop.
    ///
    /// - Returns: nil for a click that is not stored.
    /// - Throws: if the database could not be read.
    func material(ofClick id: ClickID) async throws(StoreError) -> ClickExplanationInput?
}
