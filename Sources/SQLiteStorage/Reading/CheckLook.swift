internal import Attribution
internal import SQLite

/// What there is for a check, read in one snapshot.
struct CheckLook {
    let connection: Connection
    let scope: Scope
    let check: Check
    let ledger: AnswerLedger

    /// Candidates read at most.
    ///
    /// The rule needs the newest alone; weighing them will want a few.
    static let candidateLimit = 8

    func view() throws(SQLiteError) -> CheckView {
        if let install = check.install,
            let row = try ClaimRow.ofInstall(install, scope, at: check.at, on: connection),
            let claim = try row.claim(for: check, on: connection)
        {
            return offer(row, claim)
        }
        let found = try clicksOfFingerprint()
        let newestExpired = found.open.isEmpty ? found.newestUnclosed : nil
        // Every claim has closed fingerprints: without any, there is nothing to repeat.
        guard let closed = found.lastClosed else {
            return CheckView(
                candidates: try clicks(found.open),
                reason: newestExpired == nil ? .noClick : .expired
            )
        }
        let candidates = try clicks(found.open)
        if let repeated = try repetition(closed, newerThan: candidates.first) { return repeated }
        guard candidates.isEmpty else { return CheckView(candidates: candidates, reason: closed.reason) }
        if let expired = newestExpired, expired > closed.position { return CheckView(reason: .expired) }
        return CheckView(reason: closed.reason)
    }

    /// An answer that was given before: again at once, or, where it failed on its way, by a claim, so that only
    /// one check gets it.
    private func offer(_ row: ClaimRow, _ claim: Claim) -> CheckView {
        row.isUndelivered
            ? CheckView(candidates: [claim.click], reason: .alreadyClaimed) : CheckView(replay: claim)
    }

    /// An earlier answer that this check may have, unless there was a click after it.
    ///
    /// Looked for only where there can be one: a check after a match takes hardly longer than one of a fingerprint
    /// that nobody has, so that none can be told from the other.
    private func repetition(_ closed: Closed, newerThan candidate: Click?) throws(SQLiteError) -> CheckView? {
        if closed.mayBeUndelivered, let row = try ClaimRow.undelivered(scope, check, on: connection),
            isLast(row, candidate), let claim = try row.claim(for: check, on: connection)
        {
            return offer(row, claim)
        }
        guard
            check.install == nil, check.replayGrace > 0,
            closed.closedAt >= check.at.milliseconds - check.replayGrace,
            let row = try ClaimRow.ofCaller(scope, check, on: connection), isLast(row, candidate),
            let claim = try row.claim(for: check, on: connection),
            ledger.wasAnswered(claim.click.id, before: check.firstByteAt)
        else { return nil }
        return offer(row, claim)
    }

    private func isLast(_ row: ClaimRow, _ candidate: Click?) -> Bool {
        guard let candidate else { return true }
        return candidate.facts.clickedAt <= row.claimedAt
    }

    /// Where a click stands among those of its fingerprint.
    private struct Position: Comparable {
        let clickedAt: Int64
        let click: Int64

        static func < (left: Position, right: Position) -> Bool {
            (left.clickedAt, left.click) < (right.clickedAt, right.click)
        }
    }

    /// The click of the check's fingerprint that was closed last.
    private struct Closed {
        let position: Position
        let closedAt: Int64
        let reason: NoMatchReason
        /// Whether any answer of the fingerprint is marked as lost on its way.
        let mayBeUndelivered: Bool
    }

    /// What there is of the check's fingerprint.
    private struct Found {
        /// Clicks inside their window that are not closed, newest first.
        var open: [Int64] = []
        /// The newest click that is not closed, whether inside its window or not.
        var newestUnclosed: Position?
        var lastClosed: Closed?
    }

    /// One statement for all of it: most checks find nothing, and what they cost is beginning a statement.
    private func clicksOfFingerprint() throws(SQLiteError) -> Found {
        var found = Found()
        let statement = try connection.statement(Self.ofFingerprint)
        try statement.bind(
            scope.number,
            check.fingerprint.index,
            check.fingerprint.rest,
            check.at.milliseconds
        )
        defer { statement.reset() }
        while found.open.count < Self.candidateLimit, try statement.step() {
            let position = Position(clickedAt: statement.integer(1), click: statement.integer(0))
            guard statement.isNull(3) else {
                guard let reason = NoMatchReason(rawValue: statement.text(3)) else {
                    throw .damaged("reading why a click was closed")
                }
                found.lastClosed = Closed(
                    position: position,
                    closedAt: statement.integer(2),
                    reason: reason,
                    mayBeUndelivered: statement.integer(4) != 0
                )
                continue
            }
            if found.newestUnclosed == nil { found.newestUnclosed = position }
            let isInWindow = statement.integer(2) != 0
            if isInWindow { found.open.append(position.click) }
        }
        return found
    }

    private func clicks(_ ids: [Int64]) throws(SQLiteError) -> [Click] {
        var clicks: [Click] = []
        for id in ids {
            guard let click = try ClickRow.find(id, app: check.app, isTest: check.isTest, on: connection)
            else {
                continue
            }
            clicks.append(click)
        }
        return clicks
    }

    /// The click that was closed last, then those that are not closed, newest first.
    ///
    /// A limit of -1 is none; it keeps the order, which SQLite may drop from a subquery without a limit.
    static let ofFingerprint: StaticString = """
        SELECT * FROM (
            SELECT click, clicked_at, closed_at, closed_as, EXISTS (
                SELECT 1 FROM claims WHERE is_undelivered = 1 AND scope = ?1 AND fingerprint = ?2
            )
            FROM closed_fingerprints
            WHERE scope = ?1 AND fingerprint = ?2 AND fingerprint_rest = ?3
            ORDER BY closed_at DESC, click DESC LIMIT 1
        )
        UNION ALL
        SELECT * FROM (
            SELECT click, clicked_at, expires_at >= ?4, NULL, NULL FROM open_fingerprints
            WHERE scope = ?1 AND fingerprint = ?2 AND fingerprint_rest = ?3
            ORDER BY clicked_at DESC, click DESC LIMIT -1
        )
        """
}
