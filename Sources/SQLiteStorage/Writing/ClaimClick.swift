internal import Attribution
internal import SQLite
internal import Storage

/// Consuming a click for a check.
extension WriteContext {
    func claim(_ request: ClaimRequest) throws(SQLiteError) -> WrittenClaim {
        guard let scope = try scope(of: request.app, isTest: request.isTest) else {
            return WrittenClaim(.lost)
        }
        if let earlier = try reader.claim(ofInstall: request.installs, in: scope, at: request.at),
            let claim = try reader.claim(earlier, of: request.app)
        {
            // Overlapping checks of one installation share the answer, and with it the right to have it again.
            let wasUndelivered = try markDelivered(earlier.click)
            return WrittenClaim(.replayed(claim), mustBeDelivered: wasUndelivered)
        }
        let number = Int64(bitPattern: request.click.high)
        guard let record = try reader.click(numbered: number), record.scope == scope
        else { return WrittenClaim(.lost) }
        guard record.expiresAt >= request.at, try consume(record, request) else {
            return try redeliver(record, to: request)
        }
        let click = try reader.click(record, of: request.app)
        let claim = request.claim(of: click)
        try connection.statement(ClaimSQL.insert)
            .run(request.row(of: claim, in: scope, foundBy: record.hashes))
        try insert(request.record, scope)
        let retired = try retireDuplicates(of: record, request)
        try countLinkMatch(click.facts)
        try count(claim, request, scope)

        storedChecks += 1
        for expiry in retired + [click.facts.expiresAt] {
            counts.addLive(-1, of: scope, expiringAt: expiry)
        }
        ledger.expect(click.id)
        return WrittenClaim(.claimed(claim), mustBeDelivered: true)
    }

    /// Takes a click out of what checks find; false when it could be matched no more.
    private func consume(_ click: ClickRecord, _ request: ClaimRequest) throws(SQLiteError) -> Bool {
        guard click.hashes.isEmpty else {
            return try close(click, as: .alreadyClaimed, at: request.at, by: request.caller)
        }
        // Found by its token alone: only the claim says that it is consumed.
        return try connection.statement(RecordSQL.findClaim).first(click.number) { $0.integer(0) } == nil
    }

    /// Makes an answer that failed on its way available to the next check.
    func markUndelivered(_ click: ClickID) throws(SQLiteError) {
        try connection.statement(ClaimSQL.markUndelivered).run(click.high)
    }

    private func markDelivered(_ click: Int64) throws(SQLiteError) -> Bool {
        try connection.statement(ClaimSQL.markDelivered).run(click)
        return connection.changeCount > 0
    }

    /// Gives an answer that failed on its way to this check, if it is still there to give.
    private func redeliver(_ click: ClickRecord, to request: ClaimRequest) throws(SQLiteError) -> WrittenClaim
    {
        guard let record = try reader.claim(ofClick: click.number), record.isUndelivered,
            click.expiresAt >= request.at, try markDelivered(click.number)
        else { return WrittenClaim(.lost) }
        let claim = record.claim(of: try reader.click(click, of: request.app))
        return WrittenClaim(.replayed(claim), mustBeDelivered: true)
    }

    /// Closes the same visitor's clicks of the minutes before, so that a reinstall does not match them.
    ///
    /// Not those that came later: of two equal phones behind one address, the other's click is not to be taken from it.
    ///
    /// - Returns: when they would have expired.
    private func retireDuplicates(of claimed: ClickRecord, _ request: ClaimRequest) throws(SQLiteError)
        -> [Timestamp]
    {
        // A visit is made of the first fingerprint: its duplicates have it too.
        guard let fingerprint = claimed.hashes.first else { return [] }
        var retired = try retireDuplicates(of: claimed, under: fingerprint)
        // Or under another server key, where one was put in the place of another between two taps.
        for other in request.firstUnderEachKey where other != fingerprint {
            retired += try retireDuplicates(of: claimed, under: other)
        }
        return retired
    }

    private func retireDuplicates(of claimed: ClickRecord, under fingerprint: KeyedHash)
        throws(SQLiteError) -> [Timestamp]
    {
        let begin = claimed.facts.clickedAt.advanced(byMilliseconds: -AddressKeys.visitMilliseconds)
        let (first, last) = (begin.milliseconds, claimed.facts.clickedAt.milliseconds)
        let spansMidnight = AddressKeys.day(of: begin) != AddressKeys.day(of: claimed.facts.clickedAt)
        let (scope, visit) = (claimed.scope.number, claimed.visit.index)
        var suspects: [Int64] = []
        if let near = claimed.address?.near {
            // A visit has one address, and far fewer clicks come from there than have a common fingerprint.
            suspects = try connection.statement(ClaimSQL.sameVisitNear)
                .all(scope, fingerprint.index, first, last, visit, near) { $0.integer(0) }
        }
        // On the other side of midnight the address has another hash.
        if claimed.address == nil || spansMidnight {
            suspects +=
                try connection.statement(ClaimSQL.sameVisitBefore)
                .all(scope, fingerprint.index, first, last, visit) { $0.integer(0) }
        }
        var retired: [Timestamp] = []
        for suspect in suspects {
            guard
                let click = try reader.click(numbered: suspect),
                click.visit == claimed.visit,
                try close(click, as: .alreadyClaimed, at: click.facts.clickedAt)
            else { continue }
            retired.append(click.expiresAt)
        }
        return retired
    }

    private func count(_ claim: Claim, _ request: ClaimRequest, _ scope: Scope) throws(SQLiteError) {
        let (facts, now) = (claim.click.facts, request.at)
        let campaign = try count(.matches, of: CountedTraits(facts), scope, at: now)
        countCheck(.checks, from: request.platform, scope, at: now)
        counts.addMatch(
            by: claim.method,
            after: now.milliseconds(since: facts.clickedAt),
            of: scope,
            campaign: campaign,
            at: now
        )
        drift.add(DriftCount(trials: 1, matches: 1), of: request.launch, in: scope, at: now)
        drift.add(DriftCount(matches: 1), of: facts.driftGroup, in: scope, at: now)
    }
}

enum ClaimSQL {
    static let insert = SQL.insert("claims", ClaimRecord.columns)
    /// Looks at 4,096 clicks of the fingerprint at most, and returns a given number of them, newest first.
    static let newestOfDestination: SQL = """
        SELECT click
        FROM (
            SELECT click, destination, expires_at FROM click_index
            WHERE scope = ?1 AND hash = ?2 AND state = 0 AND hash_rest = ?3
            ORDER BY since DESC, click DESC LIMIT 4096
        )
        WHERE destination = ?4 AND expires_at >= ?5
        LIMIT ?6
        """
    static let markUndelivered: SQL = "UPDATE claims SET is_undelivered = 1 WHERE click = ?1"
    static let markDelivered: SQL = """
        UPDATE claims SET is_undelivered = 0 WHERE click = ?1 AND is_undelivered = 1
        """
    /// Looks at 4,096 clicks of the network at most.
    static let sameVisitNear: SQL = """
        SELECT around.click
        FROM (
            SELECT click, clicked_at FROM click_addresses
            WHERE scope = ?1 AND near_address = ?6 AND clicked_at BETWEEN ?3 AND ?4
            ORDER BY clicked_at DESC LIMIT 4096
        ) AS around
        CROSS JOIN click_index AS f ON f.scope = ?1 AND f.hash = ?2 AND f.state = 0
            AND f.since = around.clicked_at AND f.click = around.click
        WHERE f.visit = ?5
        """
    /// Looks at 512 clicks of the fingerprint at most, those closest to the claimed one: a flood of clicks with one
    /// fingerprint must not hold the writer.
    static let sameVisitBefore: SQL = """
        SELECT click
        FROM (
            SELECT click, visit FROM click_index
            WHERE scope = ?1 AND hash = ?2 AND state = 0 AND since BETWEEN ?3 AND ?4
            ORDER BY since DESC LIMIT 512
        )
        WHERE visit = ?5
        """
}
