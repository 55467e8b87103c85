internal import Attribution
internal import SQLite

/// What a claim came to, and whether its answer is the only one there will be.
struct ClaimWrite: Sendable {
    let outcome: ClaimOutcome
    /// Without its answer, nobody would get the click any more.
    let mustBeDelivered: Bool

    init(_ outcome: ClaimOutcome, mustBeDelivered: Bool = false) {
        self.outcome = outcome
        self.mustBeDelivered = mustBeDelivered
    }
}

/// Consuming a click for a check.
extension WriteContext {
    func claim(
        _ click: Click,
        by method: AttributionMethod,
        for check: Check,
        orElse choose: (CheckView) -> Click?
    ) throws(SQLiteError) -> ClaimWrite {
        guard
            click.facts.app == check.app, click.facts.isTest == check.isTest,
            let scope = try scope(of: check.app, isTest: check.isTest)
        else { return ClaimWrite(.lost) }
        let first = try attempt(click, scope, method, check)
        guard case .lost = first.outcome else { return first }
        // Nobody else writes before this transaction ends: what is chosen now cannot be lost again.
        let view = try CheckLook(connection: connection, scope: scope, check: check, ledger: ledger).view()
        guard view.replay == nil, let next = choose(view), next.id != click.id else { return first }
        return try attempt(next, scope, method, check)
    }

    private func attempt(
        _ click: Click,
        _ scope: Scope,
        _ method: AttributionMethod,
        _ check: Check
    ) throws(SQLiteError) -> ClaimWrite {
        if let install = check.install,
            let earlier = try ClaimRow.ofInstall(install, scope, at: check.at, on: connection),
            let claim = try earlier.claim(for: check, on: connection)
        {
            // Overlapping checks of one installation share the answer, and with it the right to have it again.
            let wasUndelivered = try markDelivered(earlier.click)
            return ClaimWrite(.replayed(claim), mustBeDelivered: wasUndelivered)
        }
        let rows = try ClickFingerprints.find(Int64(bitPattern: click.id.high), on: connection)
        guard
            let rows, rows.scope == scope, rows.expiresAt >= check.at,
            try close(rows, as: .alreadyClaimed, at: check.at, by: check.caller.hash)
        else { return try redeliver(click, scope, to: check) }
        let claim = Claim(click: click, claimedAt: check.at, method: method)
        try insert(claim, check, scope)
        let retired = try retireDuplicates(of: rows, check)
        try count(claim, check, scope)

        for expiry in retired + [click.facts.expiresAt] {
            counters.addLive(-1, of: scope, expiringAt: expiry)
        }
        ledger.expect(click.id)
        return ClaimWrite(.claimed(claim), mustBeDelivered: true)
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
    private func redeliver(_ click: Click, _ scope: Scope, to check: Check) throws(SQLiteError) -> ClaimWrite
    {
        guard
            let row = try ClaimRow.undelivered(scope, check, on: connection),
            row.click == Int64(bitPattern: click.id.high),
            let claim = try row.claim(for: check, on: connection),
            try markDelivered(row.click)
        else { return ClaimWrite(.lost) }
        return ClaimWrite(.replayed(claim), mustBeDelivered: true)
    }

    private func insert(_ claim: Claim, _ check: Check, _ scope: Scope) throws(SQLiteError) {
        try connection.statement(ClaimSQL.insert).run(
            claim.click.id.high,
            scope.number,
            claim.claimedAt.milliseconds,
            claim.method.rawValue,
            claim.confidence,
            check.fingerprint.index,
            check.fingerprint.rest,
            check.install?.index,
            check.install?.rest
        )
    }

    /// Closes the same visitor's other clicks of the same minutes, so that a reinstall does not match them.
    ///
    /// - Returns: when they would have expired.
    private func retireDuplicates(of claimed: ClickFingerprints, _ check: Check) throws(SQLiteError)
        -> [Timestamp]
    {
        let suspects = try connection.statement(ClaimSQL.sameVisit).all(
            claimed.scope.number,
            check.fingerprint.index,
            claimed.clickedAt.advanced(byMilliseconds: -Self.retiredMilliseconds).milliseconds,
            claimed.clickedAt.advanced(byMilliseconds: Self.retiredMilliseconds).milliseconds,
            claimed.visit.index
        ) { $0.integer(0) }
        var retired: [Timestamp] = []
        for suspect in suspects {
            guard
                let rows = try ClickFingerprints.find(suspect, on: connection),
                rows.visit == claimed.visit,
                try close(rows, as: .alreadyClaimed, at: rows.clickedAt)
            else { continue }
            retired.append(rows.expiresAt)
        }
        return retired
    }

    private static let retiredMilliseconds: Int64 = 600_000

    private func count(_ claim: Claim, _ check: Check, _ scope: Scope) throws(SQLiteError) {
        let traits = CountedTraits(claim.click.facts)
        let campaign = try count(.matches, of: traits, scope, at: check.at)
        countCheck(.checks, from: check.platform, scope, in: Granularity.hour.start(of: check.at))
        counters.addDelay(
            check.at.milliseconds(since: claim.click.facts.clickedAt),
            of: scope,
            campaign: campaign,
            on: Granularity.day.start(of: check.at)
        )
    }
}

enum ClaimSQL {
    static let insert: StaticString = """
        INSERT INTO claims (
            click, scope, claimed_at, method, confidence, fingerprint, fingerprint_rest, install, install_rest
        ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        """
    static let markUndelivered: StaticString = "UPDATE claims SET is_undelivered = 1 WHERE click = ?1"
    static let markDelivered: StaticString = """
        UPDATE claims SET is_undelivered = 0 WHERE click = ?1 AND is_undelivered = 1
        """
    /// Looks at 4,096 clicks of the fingerprint at most, the later ones: a flood of clicks with one fingerprint
    /// must not hold the writer.
    static let sameVisit: StaticString = """
        SELECT click
        FROM (
            SELECT click, visit FROM open_fingerprints
            WHERE scope = ?1 AND fingerprint = ?2 AND clicked_at BETWEEN ?3 AND ?4
            ORDER BY clicked_at DESC LIMIT 4096
        )
        WHERE visit = ?5
        """
}
