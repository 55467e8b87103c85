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
        let open = try openClicks()
        // Every claim has closed fingerprints: without any, there is nothing to repeat.
        guard let closed = try newestClosed() else {
            return CheckView(
                candidates: try clicks(open.ids),
                reason: open.newestExpired == nil ? .noClick : .expired
            )
        }
        let candidates = try clicks(open.ids)
        if let repeated = try repetition(newerThan: candidates.first) { return repeated }
        guard candidates.isEmpty else { return CheckView(candidates: candidates, reason: closed.reason) }
        if let expired = open.newestExpired, expired > closed.position { return CheckView(reason: .expired) }
        return CheckView(reason: closed.reason)
    }

    /// An answer that was given before: again at once, or, where it failed on its way, by a claim, so that only
    /// one check gets it.
    private func offer(_ row: ClaimRow, _ claim: Claim) -> CheckView {
        row.isUndelivered
            ? CheckView(candidates: [claim.click], reason: .alreadyClaimed) : CheckView(replay: claim)
    }

    /// An earlier answer that this check may have, unless there was a click after it.
    private func repetition(newerThan candidate: Click?) throws(SQLiteError) -> CheckView? {
        if let row = try ClaimRow.undelivered(scope, check, on: connection), isLast(row, candidate),
            let claim = try row.claim(for: check, on: connection)
        {
            return offer(row, claim)
        }
        guard
            check.install == nil, check.replayGrace > 0,
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

    /// Open clicks inside their window, newest first, and the newest that has just left it.
    private func openClicks() throws(SQLiteError) -> (ids: [Int64], newestExpired: Position?) {
        var ids: [Int64] = []
        var newestExpired: Position?
        let statement = try connection.statement(Self.open)
        try statement.bind(scope.number, check.fingerprint.index, check.fingerprint.rest)
        defer { statement.reset() }
        while ids.count < Self.candidateLimit {
            guard try statement.step() else { break }
            let click = statement.integer(0)
            if statement.integer(2) >= check.at.milliseconds {
                // A click may have one fingerprint under two forms.
                if ids.last != click { ids.append(click) }
            } else if newestExpired == nil {
                newestExpired = Position(clickedAt: statement.integer(1), click: click)
            }
        }
        return (ids, newestExpired)
    }

    private func newestClosed() throws(SQLiteError) -> (position: Position, reason: NoMatchReason)? {
        try connection.statement(Self.closed).first(
            scope.number,
            check.fingerprint.index,
            check.fingerprint.rest
        ) { row throws(SQLiteError) in
            guard let reason = NoMatchReason(rawValue: row.text(2)) else {
                throw .damaged("reading why a click was closed")
            }
            return (Position(clickedAt: row.integer(1), click: row.integer(0)), reason)
        }
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

    static let open: StaticString = """
        SELECT click, clicked_at, expires_at FROM click_fingerprints
        WHERE scope = ?1 AND fingerprint = ?2 AND fingerprint_rest = ?3 AND closed_as IS NULL
        ORDER BY clicked_at DESC, click DESC
        """
    static let closed: StaticString = """
        SELECT click, clicked_at, closed_as FROM click_fingerprints
        WHERE scope = ?1 AND fingerprint = ?2 AND fingerprint_rest = ?3 AND closed_as IS NOT NULL
        ORDER BY clicked_at DESC, click DESC LIMIT 1
        """
}
