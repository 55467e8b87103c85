internal import Attribution
internal import SQLite
internal import Storage

/// What there is of one key in the index: a fingerprint or an advertising id.
struct IndexKeyReader {
    /// The click that was closed last.
    struct Closed {
        let position: RowPosition
        let closedAt: Int64
        let reason: NoMatchReason
        /// Whether any answer of the key is marked as lost on its way.
        let mayBeUndelivered: Bool
    }

    let key: KeyedHash
    /// Clicks inside their window that are not closed, newest first.
    private(set) var open: [OpenClickRow] = []
    /// The older ones as counts, where there are too many to tell one by one.
    private(set) var background: [BackgroundCount] = []
    /// Where the counted ones came from.
    private(set) var places: ClickPositionsByNetwork?
    /// The newest click that is not closed, whether inside its window or not.
    private(set) var newestUnclosed: RowPosition?
    private(set) var lastClosed: Closed?
    /// Whether a summary of the older ones is missing or old.
    private(set) var needsSummary = false

    /// Clicks that are told one by one, at most, while there is no summary of older ones.
    static let most = 2 * CandidateEvidence.maximumListed

    init(key: KeyedHash) {
        self.key = key
    }

    /// One statement for all of it: most checks find nothing, and what they cost is beginning a statement.
    ///
    /// The summary is of the key's older clicks, where there is one.
    static func look(
        _ key: KeyedHash,
        _ scope: Scope,
        at moment: Timestamp,
        summary: KeySummary?,
        on connection: SQLiteConnection
    ) throws(SQLiteError) -> IndexKeyReader {
        var look = IndexKeyReader(key: key)
        let statement = try connection.statement(ofKey)
        try statement.bind(scope.number, key.index, key.rest)
        defer { statement.reset() }
        while try statement.step() {
            guard statement.isNull(3) else {
                try look.noteClosed(statement)
                continue
            }
            let position = RowPosition(clickedAt: statement.integer(1), click: statement.integer(0))
            if look.newestUnclosed == nil { look.newestUnclosed = position }
            if let summary, position <= summary.end {
                look.background = summary.counts
                look.places = summary.places
                look.needsSummary = look.needsSummary || summary.isOld(at: moment)
                if look.open.count >= CandidateEvidence.maximumListed / 2 { break }
                // Most of the newer ones have been claimed: what is counted is told as well, until it is counted anew.
                look.needsSummary = true
            }
            guard statement.integer(2) >= moment.milliseconds else { continue }
            guard look.open.count < (look.needsSummary ? CandidateEvidence.maximumListed : most) else {
                look.background = summary?.counts ?? []
                look.places = summary?.places
                look.needsSummary = true
                break
            }
            look.open.append(OpenClickRow(statement))
        }
        return look
    }

    private mutating func noteClosed(_ statement: Statement) throws(SQLiteError) {
        guard let reason = NoMatchReason(rawValue: statement.text(3)) else {
            throw .damaged("reading why a click was closed")
        }
        lastClosed = Closed(
            position: RowPosition(clickedAt: statement.integer(2), click: statement.integer(0)),
            closedAt: statement.integer(1),
            reason: reason,
            mayBeUndelivered: statement.integer(4) != 0
        )
    }

    /// The click that was closed last, then those that are not closed, newest first.
    ///
    /// A limit of -1 is none; it keeps the order, which SQLite may drop from a subquery without a limit.
    static let ofKey: StaticString = """
        SELECT * FROM (
            SELECT click, since, clicked_at, closed_as, EXISTS (
                SELECT 1 FROM claims WHERE is_undelivered = 1 AND scope = ?1 AND hash = ?2
            ), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
            FROM click_index
            WHERE scope = ?1 AND hash = ?2 AND state = 1 AND hash_rest = ?3
            ORDER BY since DESC, click DESC LIMIT 1
        )
        UNION ALL
        SELECT * FROM (
            SELECT click, since, expires_at, closed_as, platform_form, weight, exact_address, near_address, visitor,
                destination, campaign, os_release, signal_marks
            FROM click_index
            WHERE scope = ?1 AND hash = ?2 AND state = 0 AND hash_rest = ?3
            ORDER BY since DESC, click DESC LIMIT -1
        )
        """
}
