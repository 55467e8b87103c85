public import Attribution

/// What statistics, explanations and pages of checks ask a database, in one snapshot.
///
/// The answers are the rows alone: order, bounds, sums and words are decided by the readers of this folder.
public protocol ReportReader {
    associatedtype Failure: Error

    // Statistics

    /// Adds up the counts of a query.
    func add(_ query: CountQuery, to sum: inout CountSum) throws(Failure)
    /// The starts of the spans in which anything of a scope was counted.
    func countedPeriods(of spans: CountedSpans, in scope: Scope) throws(Failure) -> [Timestamp]
    /// The most clicked campaigns of one span, with their clicks.
    func topCampaigns(of scope: Scope, _ granularity: Granularity, from period: Timestamp, atMost limit: Int)
        throws(Failure) -> [(name: String, clicks: Int64)]
    /// Feeds the totals of each span to `body`; `campaign` is empty for all campaigns together.
    func totals(
        of scope: Scope,
        campaign: String,
        over spans: CountedSpans,
        _ body: (_ period: Timestamp, _ metric: String, _ count: Int64) -> Void
    ) throws(Failure)
    func liveClickCount(of scope: Scope, at now: Timestamp) throws(Failure) -> Int64
    /// The checks that left no record because there were too many.
    func unrecordedCheckCount() throws(Failure) -> Int64
    func databaseByteCount() throws(Failure) -> Int64

    /// How far a job is; nil before its first end.
    func progress(of job: JobName) throws(Failure) -> Timestamp?
    /// The counts of a scope up to the end of a span.
    func driftHistory(of scope: Scope, end: Timestamp) throws(Failure) -> DriftHistory
    /// The groups of a scope whose alarms are on.
    func driftAlarms(of scope: Scope) throws(Failure) -> [DriftReading]
    /// What the last evaluation found, at most so many groups; those with an alarm are all among them.
    func driftReadings(of scope: Scope, atMost limit: Int) throws(Failure) -> [DriftReading]
    /// The last report of a scope's collisions; nil where nothing has been counted yet.
    func collisionReport(of scope: Scope) throws(Failure) -> CollisionReport?

    // Checks and their clicks

    /// Feeds records to `body`, newest first and at most so many, until it returns false.
    ///
    /// - Parameters:
    ///   - id: records before this one; nil for the newest.
    ///   - times: when they were written, as their identifiers say; open ends are nil.
    ///   - limit: records that are fed, at most.
    ///   - body: returns whether it needs another one.
    /// - Throws: if the database cannot be read.
    func checks(
        before id: CheckID?,
        within times: (from: Timestamp?, to: Timestamp?),
        atMost limit: Int,
        _ body: (JoinedCheck) -> Bool
    ) throws(Failure)
    /// The record with this first half of its identifier.
    func check(_ number: UInt64) throws(Failure) -> JoinedCheck?
    /// The newest record that a search finds among the newest so many, by the first half of its identifier.
    func newestCheck(_ search: CheckSearch, among limit: Int) throws(Failure) -> UInt64?
    /// The match of a click among the first so many records written from a moment on.
    func match(of click: ClickID, from moment: Timestamp, among limit: Int) throws(Failure) -> UInt64?
    /// When a click was claimed.
    func claimTime(of click: ClickID) throws(Failure) -> Timestamp?

    /// A click with this first half of its identifier.
    func claimedClick(_ number: UInt64) throws(Failure) -> ClaimedClick?
    /// The newest clicks of a key, of those that are open or closed, with the reason why they were closed.
    func indexedClicks(of key: KeyedHash, _ scope: Scope, areOpen: Bool, atMost limit: Int) throws(Failure)
        -> [(click: UInt64, closedAs: String?)]
    /// Where a click stands under its first key: open since its own moment, or closed at a later one.
    func indexState(of click: ClaimedClick) throws(Failure) -> (isIndexed: Bool, closedAs: String?)
    /// The scope's newest clicks of people with signals, among so many before a moment.
    func recentClicks(of scope: Scope, before moment: Timestamp, among limit: Int, atMost count: Int)
        throws(Failure) -> [ClaimedClick]
    /// Feeds what tells whether a check is near a click, of all scopes and oldest first.
    func checkTraces(from: Timestamp, before: Timestamp, atMost limit: Int, _ body: (CheckTrace) -> Void)
        throws(Failure)
}

/// A check's record with what its most likely click adds.
public struct JoinedCheck: Sendable {
    public let record: CheckRecord
    public let campaign: CampaignKey?

    /// - Parameters:
    ///   - record: the row, which has the first half of the click's identifier alone.
    ///   - clickLow: the second half.
    ///   - campaign: the click's.
    public init(_ record: CheckRecord, clickLow: UInt64, campaign: String?) {
        var record = record
        if let click = record.facts.click { record.facts.click = ClickID(high: click.high, low: clickLow) }
        self.record = record
        self.campaign = campaign.flatMap { CampaignKey($0) }
    }
}

/// A click with the claim that consumed it.
public struct ClaimedClick: Sendable {
    public let record: ClickRecord
    public let claimedAt: Timestamp?
    public let method: AttributionMethod?

    public init(_ record: ClickRecord, claimedAt: Timestamp?, method: AttributionMethod?) {
        (self.record, self.claimedAt, self.method) = (record, claimedAt, method)
    }
}

/// What the newest record of a check is searched by.
public enum CheckSearch: Sendable {
    case request(String)
    case fingerprint(KeyedHash)
    case click(ClickID)
}

/// As much of a check's record as tells whether it is near a click.
public struct CheckTrace: Sendable {
    /// The first half of the record's identifier.
    public let id: UInt64
    public let scope: Scope
    /// The first half of the most likely click's identifier.
    public let click: UInt64?
    /// The first halves of the identifiers of the clicks that were weighed.
    public let weighed: [UInt64]
    public let fingerprint: UInt64?
    public let exactAddress: UInt64?
    public let nearAddress: UInt64?

    public init(
        id: UInt64,
        scope: Scope,
        click: UInt64?,
        weighed: [UInt64],
        fingerprint: UInt64?,
        exactAddress: UInt64?,
        nearAddress: UInt64?
    ) {
        self.id = id
        self.scope = scope
        self.click = click
        self.weighed = weighed
        self.fingerprint = fingerprint
        self.exactAddress = exactAddress
        self.nearAddress = nearAddress
    }
}
