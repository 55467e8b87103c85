public import Attribution

/// The statements of the open transaction that record, claim, close and delete clicks.
public protocol ClickWriter {
    associatedtype Reader: WriterReader
    typealias Failure = Reader.Failure

    /// Reads in the open transaction.
    var reader: Reader { get }

    func insert(_ click: ClickRecord) throws(Failure)
    /// Lets checks find a click under a hash.
    func insert(_ entry: IndexEntry) throws(Failure)
    /// Adds a closed row under a hash, for a click that is closed when it is recorded.
    func insertClosed(_ click: ClickRecord, under hash: KeyedHash, as reason: NoMatchReason) throws(Failure)
    /// Adds a click to the clicks that checks find by the address.
    func insertAddress(_ address: AddressHashes, of click: ClickRecord) throws(Failure)
    /// Closes a click under a hash, so that no check can match it; returns false if it is closed already.
    func close(_ click: ClickRecord, under hash: KeyedHash, _ closing: ClickClosing) throws(Failure) -> Bool
    /// Deletes the open row of a click under a hash.
    func removeOpen(_ click: ClickRecord, under hash: KeyedHash) throws(Failure)
    /// Deletes the closed row of a click under a hash; the row was closed at one of these times.
    func removeClosed(_ click: ClickRecord, under hash: KeyedHash, at times: ClosingTimes) throws(Failure)
    func removeAddress(_ near: UInt64, of click: ClickRecord) throws(Failure)
    /// Deletes a click and its claim.
    func delete(_ click: Int64) throws(Failure)

    /// Gives a click an idempotency key if it has none.
    func adopt(_ idempotency: KeyedHash, by click: Int64) throws(Failure)
    /// Takes an idempotency key away from the click that has it.
    func release(_ idempotency: KeyedHash, of click: Int64) throws(Failure)
    /// Stores the time until which a day's address key is needed, unless a later time is stored.
    func setNeed(ofAddressDay day: Int64, until: Int64) throws(Failure)
    /// Counts a click for its link: `variant` is empty for the link as a whole.
    func count(_ kind: LinkClickKind, of link: Int64, variant: String) throws(Failure)
    /// Counts a match for the link of its click.
    func countMatch(of link: Int64, variant: String) throws(Failure)

    func insert(_ claim: ClaimRecord) throws(Failure)
    /// Marks a click's answer as undelivered, so that the next check can get it.
    func markUndelivered(_ click: ClickID) throws(Failure)
    /// Removes the mark that a click's answer is undelivered, because this request gets the answer; returns whether
    /// there was a mark.
    func markDelivered(_ click: Int64, to request: ClaimRequest) throws(Failure) -> Bool
}

/// Why and when a click is closed to checks.
public struct ClickClosing: Sendable {
    public let reason: NoMatchReason
    public let at: Timestamp
    /// The first word of the hash of the caller that claimed the click; nil if no caller did.
    public var caller: UInt64?
}

/// The times at which a click may have been closed.
public struct ClosingTimes: Sendable {
    public let claimedAt: Timestamp?
    public let expiresAt: Timestamp
    public let clickedAt: Timestamp

    public init(claimedAt: Timestamp?, expiresAt: Timestamp, clickedAt: Timestamp) {
        (self.claimedAt, self.expiresAt, self.clickedAt) = (claimedAt, expiresAt, clickedAt)
    }
}

/// The kind of a link's click, for the counts of the link.
public enum LinkClickKind: Sendable {
    case click
    case robot
    case test

    init(_ facts: Click.Facts) { self = facts.isTest ? .test : facts.isRobot ? .robot : .click }
}

/// A link's number and limits.
public struct LinkLimits: Sendable {
    public let number: Int64
    private let isArchived: Bool
    private let expiresAt: Timestamp?
    public let maximumClicks: Int?
    public var clicks: Int

    public init(number: Int64, isArchived: Bool, expiresAt: Timestamp?, maximumClicks: Int?, clicks: Int) {
        (self.number, self.isArchived, self.expiresAt) = (number, isArchived, expiresAt)
        (self.maximumClicks, self.clicks) = (maximumClicks, clicks)
    }

    /// Returns why the link has ended at a time; nil if it has not.
    func ending(at now: Timestamp) -> Link.Ending? {
        Link.ending(
            isArchived: isArchived,
            expiresAt: expiresAt,
            maximumClicks: maximumClicks,
            clicks: clicks,
            at: now
        )
    }
}
