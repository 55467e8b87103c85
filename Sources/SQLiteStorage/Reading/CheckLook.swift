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
        let newestExpired = open.isEmpty ? try newestUnclosed() : nil
        // Every claim has closed fingerprints: without any, there is nothing to repeat.
        guard let closed = try lastClosed() else {
            return CheckView(
                candidates: try clicks(open),
                reason: newestExpired == nil ? .noClick : .expired
            )
        }
        let candidates = try clicks(open)
        if let repeated = try repetition(newerThan: candidates.first) { return repeated }
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

    /// Open clicks inside their window, newest first.
    private func openClicks() throws(SQLiteError) -> [Int64] {
        var ids: [Int64] = []
        let statement = try connection.statement(Self.open)
        try statement.bind(
            scope.number,
            check.fingerprint.index,
            check.fingerprint.rest,
            check.at.milliseconds
        )
        defer { statement.reset() }
        while ids.count < Self.candidateLimit {
            guard try statement.step() else { break }
            ids.append(statement.integer(0))
        }
        return ids
    }

    /// The newest click that has left its window and is not closed yet; asked when no open one is inside its own.
    private func newestUnclosed() throws(SQLiteError) -> Position? {
        try connection.statement(Self.unclosed).first(
            scope.number,
            check.fingerprint.index,
            check.fingerprint.rest
        ) { Position(clickedAt: $0.integer(1), click: $0.integer(0)) }
    }

    /// The click with the fingerprint that was closed last.
    private func lastClosed() throws(SQLiteError) -> (position: Position, reason: NoMatchReason)? {
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
        SELECT click FROM open_fingerprints
        WHERE scope = ?1 AND fingerprint = ?2 AND expires_at >= ?4 AND fingerprint_rest = ?3
        ORDER BY clicked_at DESC, click DESC
        """
    static let unclosed: StaticString = """
        SELECT click, clicked_at FROM open_fingerprints
        WHERE scope = ?1 AND fingerprint = ?2 AND fingerprint_rest = ?3
        ORDER BY clicked_at DESC, click DESC LIMIT 1
        """
    static let closed: StaticString = """
        SELECT click, clicked_at, closed_as FROM closed_fingerprints
        WHERE scope = ?1 AND fingerprint = ?2 AND fingerprint_rest = ?3
        ORDER BY closed_at DESC, click DESC LIMIT 1
        """
}
