public import Attribution

/// What a check takes from the clicks that one hash finds: a fingerprint's or an advertising id's.
///
/// It is fed the click that was closed last, then those that are not closed, newest first, and is bounded however many
/// there are.
public struct KeySelection: Sendable {
    /// The click that was closed last.
    public struct Closed: Sendable {
        public let position: RowPosition
        /// Milliseconds since 1970.
        public let closedAt: Int64
        public let reason: NoMatchReason
        /// Whether any response for the key is marked as lost on its way.
        public let mayBeUndelivered: Bool

        public init(_ position: RowPosition, closedAt: Int64, reason: NoMatchReason, mayBeUndelivered: Bool) {
            self.position = position
            self.closedAt = closedAt
            self.reason = reason
            self.mayBeUndelivered = mayBeUndelivered
        }
    }

    public let key: KeyedHash
    /// Clicks inside their window that are not closed, newest first.
    public private(set) var open: [IndexRecord] = []
    /// The older ones as counts, where there are too many to list.
    public private(set) var background: [BackgroundCount] = []
    /// Where the counted ones came from.
    public private(set) var places: ClickPositionsByNetwork?
    /// The newest click that is not closed, whether inside its window or not.
    public private(set) var newestUnclosed: RowPosition?
    public private(set) var lastClosed: Closed?
    /// Whether a summary of the older ones is missing or old.
    public private(set) var needsSummary = false

    private let now: Timestamp
    private let summary: KeySummary?

    /// Clicks that are listed while there is no summary of older ones.
    static let maximumListed = 2 * CandidateEvidence.maximumListed

    /// A selection as of now; the summary is of the key's older clicks, where there is one.
    public init(_ key: KeyedHash, at now: Timestamp, _ summary: KeySummary? = nil) {
        self.key = key
        self.now = now
        self.summary = summary
    }

    public mutating func add(_ closed: Closed) {
        lastClosed = closed
    }

    /// Adds the next older click that is not closed.
    ///
    /// - Returns: whether another one is needed.
    public mutating func add(_ click: IndexRecord) -> Bool {
        let position = click.position
        if newestUnclosed == nil { newestUnclosed = position }
        if let summary, position <= summary.end {
            (background, places) = (summary.counts, summary.places)
            needsSummary = needsSummary || summary.isOld(at: now)
            if open.count >= CandidateEvidence.maximumListed / 2 { return false }
            // Most of the newer ones have been claimed: counted ones are listed too, until they are counted again.
            needsSummary = true
        }
        guard click.expiresAt >= now else { return true }
        guard open.count < (needsSummary ? CandidateEvidence.maximumListed : Self.maximumListed) else {
            (background, places) = (summary?.counts ?? [], summary?.places)
            needsSummary = true
            return false
        }
        open.append(click)
        return true
    }
}
