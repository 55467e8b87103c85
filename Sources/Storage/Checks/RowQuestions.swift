public import Attribution

/// A read of an event loop that a database answers only after a while.
///
/// Loops ask such a database through a ``RowCache``. The values of a question are words and texts, so that questions of
/// several checks can be compared and gathered. The comment of each case ends with the case of its answer.
public enum RowQuestion: Hashable, Sendable {
    /// The click that an installation, or a caller without an installation id, has claimed last:
    /// ``RowAnswer/click(_:)``. The question is asked for a caller only if the answer for the launch's key was not
    /// complete.
    case install(KeyedHash, Scope)
    /// The click with a number, with its claim and its link: ``RowAnswer/home(_:)``.
    case home(Int64)
    /// The rows of a key, closed and open ones: ``RowAnswer/key(_:)``.
    case key(KeyedHash, Scope)
    /// The newest ``KeyRows/maximumRead`` open clicks of a key that have not expired at a time:
    /// ``RowAnswer/open(_:)``. It is asked if the answer for the key was not complete.
    case moreOfKey(KeyedHash, Scope, Timestamp)
    /// The click at a position under a key if it is open: ``RowAnswer/open(_:)``.
    case openClick(RowPosition, KeyedHash, Scope)
    /// All open clicks of a key, newest first: ``RowAnswer/open(_:)``. Only stores whose checks do the work of the
    /// learning jobs ask this.
    case openClicks(KeyedHash, Scope)
    /// The newest clicks that ``NewestClicks`` finds, up to a number: ``RowAnswer/clicks(_:)``.
    case newestClicks(NewestClicks, atMost: Int)
    /// The newest ``AddressSelection/maximumRead`` clicks of a network that have not expired at a time,
    /// newest first: ``RowAnswer/around(_:)``.
    ///
    /// The word is ``AddressHashes/near``.
    case around(UInt64, Scope, at: Timestamp)
    /// The number of clicks around an address that have not expired at a time, counted among the newest
    /// ``AddressClickCount/Builder/maximumRead``: ``RowAnswer/addressCount(near:exact:oldest:)``.
    ///
    /// Clicks before `from` are not counted.
    case countAround(AddressHashes, Scope, at: Timestamp, from: Timestamp = Timestamp(milliseconds: .min))
    /// The number of a scope's live clicks whose window ends in this second (``LiveClicks/second(of:)``) or
    /// later: ``RowAnswer/count(_:)``.
    case liveClicks(Scope, second: Int64)
    /// The stored sum of a learnt counter: ``RowAnswer/sum(_:)``.
    case learnt(CounterFamily, UInt64, Scope)
    /// The epoch of a scope's sums, and the sums of the families that belong to the model: ``RowAnswer/model(_:_:)``.
    case model(Scope)
    /// The links of all apps with a slug: ``RowAnswer/links(_:contents:)``.
    case link(LinkSlug)
    /// The link with an identifier: ``RowAnswer/links(_:contents:)``.
    case linkByID(LinkID)
    /// The links that ``LinkRows/liveLinks(ofCampaign:at:)`` returns: ``RowAnswer/links(_:contents:)``.
    case linksOfCampaign(CampaignKey, at: Timestamp)
    /// The fields and counts of the link with a number: ``RowAnswer/contents(_:)``. It is asked if the link
    /// came without them.
    case linkContents(Int64)
}

/// The rows that answer a ``RowQuestion``; the question's case determines the case of its answer.
public enum RowAnswer: Sendable {
    /// Nothing is stored. Every question can have this answer; as a number, it is 0.
    case nothing
    /// The click's number.
    case click(Int64)
    case clicks([Int64])
    indirect case home(ClickHome)
    case key(KeyRows)
    /// Open rows, newest first.
    case open([IndexRecord])
    case around([AddressRow])
    /// The numbers of clicks in the network and at the exact address, and the time of the oldest counted click.
    case addressCount(near: Int, exact: Int, oldest: Timestamp)
    case count(Int64)
    case sum(Double)
    case model(LearningEpoch, [CounterKey: Double])
    /// Links, and the contents that were read with some of them, by the links' numbers.
    case links([StoredLink], contents: [Int64: LinkContents])
    case contents(LinkContents)
}

/// A click, its claim, and the identifier of the link that was tapped, from one snapshot.
public struct ClickHome: Sendable {
    public let click: ClickRecord
    /// Nil if no launch has consumed the click.
    public let claim: ClaimRecord?
    /// Nil for a click without a link, and for a link that was deleted.
    public let link: LinkID?

    public init(_ click: ClickRecord, claim: ClaimRecord?, link: LinkID?) {
        (self.click, self.claim, self.link) = (click, claim, link)
    }
}

/// The rows of one hash: clicks that are closed, and clicks that can be matched or whose window has ended.
public struct KeyRows: Sendable {
    /// A closed row.
    public struct Closed: Sendable {
        /// The position that the click had while it was open.
        public let position: RowPosition
        /// Milliseconds since 1970.
        public let closedAt: Int64
        public let reason: NoMatchReason
        /// The first word of the hash of the caller that claimed the click; nil if no caller did.
        public let caller: UInt64?
        /// Whether the answer to the click's claim by this hash is marked as undelivered.
        public let isUndelivered: Bool

        public init(
            _ position: RowPosition,
            closedAt: Int64,
            reason: NoMatchReason,
            caller: UInt64?,
            isUndelivered: Bool
        ) {
            (self.position, self.closedAt, self.reason) = (position, closedAt, reason)
            (self.caller, self.isUndelivered) = (caller, isUndelivered)
        }
    }

    /// The row that was closed last comes first.
    let closed: [Closed]
    /// The newest click comes first.
    let open: [IndexRecord]
    /// Whether these are all rows of the hash.
    let isComplete: Bool

    /// The maximum number of a key's rows that a database reads; it leaves out the rows of older clicks.
    ///
    /// A check lists at most 128 live clicks; one more shows that there are more, and 64 rows are for closed clicks.
    public static let maximumRead = KeySelection.maximumListed + CandidateEvidence.maximumListed + 1

    /// Creates the answer for a key, from rows in any order.
    ///
    /// - Parameters:
    ///   - closed: closed rows.
    ///   - open: rows that are not closed.
    ///   - isComplete: false if older rows may have been left out.
    public init(closed: [Closed], open: [IndexRecord], isComplete: Bool) {
        self.closed = closed.sorted { ($0.closedAt, $0.position.click) > ($1.closedAt, $1.position.click) }
        self.open = open.sorted { $0.position > $1.position }
        self.isComplete = isComplete
    }

    /// Returns the open rows together with further ones, newest first and each once.
    func open(and more: [IndexRecord]) -> [IndexRecord] {
        var known = Set(open.map(\.click))
        let all = open + more.filter { known.insert($0.click).inserted }
        return all.sorted { $0.position > $1.position }
    }
}

/// A click of a network.
public struct AddressRow: Sendable {
    let position: RowPosition
    /// ``AddressHashes/exact`` of the click's address.
    let exact: UInt64
    /// The prefixes of the click's hashes.
    let hashes: HashPrefixes

    public init(_ position: RowPosition, exact: UInt64, hashes: HashPrefixes) {
        (self.position, self.exact, self.hashes) = (position, exact, hashes)
    }
}

/// The fields of a link in the order of their positions, and its counts by variant.
public struct LinkContents: Sendable {
    public let fields: [(name: String, text: String)]
    public let counts: [String: LinkCounts]

    public init(fields: [(name: String, text: String)], counts: [String: LinkCounts]) {
        (self.fields, self.counts) = (fields, counts)
    }
}
