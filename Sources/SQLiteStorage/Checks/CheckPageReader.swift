internal import Attribution
internal import SQLite
internal import Storage

/// Walks back through the records of checks.
struct CheckPageReader {
    let connection: SQLiteConnection
    let apps: CheckedApps

    /// Records that one call looks at.
    static let scanned = 20_000
    /// How far an identifier may be ahead of its check: where the clock was set back, and records order by arrival.
    private static let leeway: Int64 = 86_400_000

    func page(_ query: CheckQuery) throws(SQLiteError) -> CheckPage {
        let first = query.from.map(RowIdentifier.first(at:)) ?? 0
        let byTime = query.to.map { RowIdentifier.first(at: $0.advanced(byMilliseconds: Self.leeway)) }
        let before = query.before.map { Int64(bitPattern: $0.high) }
        let end = min(before ?? .max, byTime ?? .max)
        var page = CheckPage()
        var (count, last) = (0, nil as CheckID?)
        let statement = try connection.statement(CheckReading.page)
        try statement.bind(end, first, Self.scanned)
        defer { statement.reset() }
        while try statement.step() {
            count += 1
            let row = try CheckRow(statement)
            last = row.id
            guard let record = apps.record(row), query.matches(record) else { continue }
            page.records.append(record)
            if page.records.count == query.limit { break }
        }
        // There may be more before the last one that was looked at.
        if count == Self.scanned || page.records.count == query.limit { page.next = last }
        return page
    }
}

enum CheckReading {
    static let page: StaticString = """
        SELECT checks.id, checks.id_low, checks.scope, checked_at, outcome, reason, method, confidence,
            is_campaign_only, minimum_confidence, organic_share, candidates, click, platform_form, agreement, shares,
            fingerprint, fingerprint_rest, checks.exact_address, checks.near_address, names_click, has_install_id,
            checks.platform, os_release, sdk_version, request_id, caller, probability, weight, other_fingerprints,
            first_installed_at, checks.signal_marks, clicks.id_low, clicks.campaign_key
        FROM checks LEFT JOIN clicks ON clicks.id = click
        WHERE checks.id < ?1 AND checks.id >= ?2 ORDER BY checks.id DESC LIMIT ?3
        """
    static let one: StaticString = """
        SELECT checks.id, checks.id_low, checks.scope, checked_at, outcome, reason, method, confidence,
            is_campaign_only, minimum_confidence, organic_share, candidates, click, platform_form, agreement, shares,
            fingerprint, fingerprint_rest, checks.exact_address, checks.near_address, names_click, has_install_id,
            checks.platform, os_release, sdk_version, request_id, caller, probability, weight, other_fingerprints,
            first_installed_at, checks.signal_marks, clicks.id_low, clicks.campaign_key
        FROM checks LEFT JOIN clicks ON clicks.id = click
        WHERE checks.id = ?1
        """
    /// Streams from the end, and ends at the first that is found.
    static let ofRequest: StaticString = """
        SELECT id FROM (SELECT id, request_id FROM checks ORDER BY id DESC LIMIT ?2) WHERE request_id = ?1 LIMIT 1
        """
    static let ofFingerprint: StaticString = """
        SELECT id FROM (SELECT id, fingerprint, fingerprint_rest FROM checks ORDER BY id DESC LIMIT ?3)
        WHERE fingerprint = ?1 AND fingerprint_rest = ?2 LIMIT 1
        """
    static let ofClick: StaticString = """
        SELECT id FROM (SELECT id, click FROM checks ORDER BY id DESC LIMIT ?2) WHERE click = ?1 LIMIT 1
        """
    /// The claim's own record, soon after its moment.
    static let ofClaim: StaticString = """
        SELECT id
        FROM (
            SELECT id, click, outcome FROM checks
            WHERE id >= ?2 ORDER BY id LIMIT ?3
        )
        WHERE click = ?1 AND outcome = 'match'
        LIMIT 1
        """
    static let claimedAt: StaticString = "SELECT claimed_at FROM claims WHERE click = ?1"
}
