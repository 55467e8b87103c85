public import Attribution

/// The clicks of one hash that a check weighs; the hash is a fingerprint's or an advertising id's.
///
/// The click that was closed last is added first, and then the clicks that are not closed, newest first. The number of
/// listed clicks is bounded.
public struct KeySelection: Sendable {
    /// The click that was closed last.
    public struct Closed: Sendable {
        public let position: RowPosition
        /// Milliseconds since 1970.
        public let closedAt: Int64
        public let reason: NoMatchReason
        /// Whether any response for the key is marked as undelivered.
        public let mayBeUndelivered: Bool

        public init(_ position: RowPosition, closedAt: Int64, reason: NoMatchReason, mayBeUndelivered: Bool) {
            (self.position, self.closedAt) = (position, closedAt)
            (self.reason, self.mayBeUndelivered) = (reason, mayBeUndelivered)
        }
    }

    public let key: KeyedHash
    /// Clicks inside their window that are not closed, newest first.
    public private(set) var open: [IndexRecord] = []
    /// The counts of older clicks, if there are too many to list.
    public private(set) var background: [BackgroundCount] = []
    /// The positions of the counted clicks by network; nil if no clicks are counted.
    public private(set) var places: ClickPositionsByNetwork?
    /// The newest click that is not closed, even if its window has ended.
    public private(set) var newestUnclosed: RowPosition?
    public private(set) var lastClosed: Closed?
    /// Whether the key has too many clicks to read, so that ``lastClosed`` may not be the click that was closed last.
    public internal(set) var mayHideClosed = false
    /// Whether clicks were left out that are inside their own windows, but not inside ``window``.
    public private(set) var isCutOff = false
    /// Whether a summary of older clicks is missing or old.
    public private(set) var needsSummary = false

    let now: Timestamp
    private let summary: KeySummary?
    /// The app's window for matches by the hash; nil for the clicks' own windows.
    let window: AttributionWindow?

    /// The maximum number of listed clicks while no summary is needed; half as many are listed if one is.
    static let maximumListed = 2 * CandidateEvidence.maximumListed

    /// Creates an empty selection; `summary` counts the key's older clicks inside the same window, if there are many.
    public init(
        _ key: KeyedHash,
        at now: Timestamp,
        _ summary: KeySummary? = nil,
        within window: AttributionWindow? = nil
    ) {
        (self.key, self.now, self.summary, self.window) = (key, now, summary, window)
    }

    public mutating func add(_ closed: Closed) { lastClosed = closed }

    /// Adds the next older click that is not closed.
    ///
    /// - Returns: whether the next click is needed too.
    public mutating func add(_ click: IndexRecord) -> Bool {
        let position = click.position
        if newestUnclosed == nil { newestUnclosed = position }
        guard window?.covers(clickedAt: click.clickedAt, now: now) ?? true else {
            // All older clicks are outside the window too.
            if click.expiresAt >= now { isCutOff = true }
            return false
        }
        if let summary, position <= summary.end {
            (background, places) = (summary.counts, summary.places)
            needsSummary = needsSummary || summary.isOld(at: now)
            if open.count >= CandidateEvidence.maximumListed / 2 { return false }
            // Most newer clicks have been claimed, so counted clicks are listed too until there is a new summary.
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

extension [KeySelection] {
    /// Returns the newest live click that may belong to a launch from this address; nil if there is none.
    ///
    /// If the address is known, a click from any other address is another visitor's: equal phones may click within seconds
    /// of each other, and an address rarely changes so soon.
    func newestClick(from address: LaunchAddress?) -> RowPosition? {
        guard var address, contains(where: { !$0.open.isEmpty }) else {
            return compactMap { $0.open.first?.position }.max()
        }
        return compactMap { selection in
            selection.open.first { address.agreement(with: $0.address) == .exact }?.position
        }
        .max()
    }
}
