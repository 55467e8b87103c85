internal import Attribution
internal import SQLite
internal import Storage

/// Walks back through the records of checks.
struct CheckPageReader {
    let reader: SQLiteReader
    let apps: CheckedApps

    private var connection: SQLiteConnection { reader.connection }

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
            last = row.record.id
            guard let record = apps.check(row), query.matches(record) else { continue }
            page.records.append(record)
            if page.records.count == query.limit { break }
        }
        // There may be more before the last one that was looked at.
        if count == Self.scanned || page.records.count == query.limit { page.next = last }
        return page
    }
}

/// A row of `checks` with what its click adds.
struct CheckRow {
    let record: CheckRecord
    let campaign: CampaignKey?

    static let columns: SQL = "\(CheckRecord.columns, of: "checks"), clicks.id_low, clicks.campaign_key"

    init(_ statement: Statement) throws(SQLiteError) {
        var row = StatementRow(statement)
        var record = try row.record(CheckRecord.self)
        let low: UInt64 = row.get("id_low")
        if let click = record.facts.click { record.facts.click = ClickID(high: click.high, low: low) }
        self.record = record
        campaign = (row.get("campaign_key") as String?).flatMap { CampaignKey($0) }
    }
}

enum CheckReading {
    static let page: SQL = """
        SELECT \(CheckRow.columns)
        FROM checks LEFT JOIN clicks ON clicks.id = click
        WHERE checks.id < ?1 AND checks.id >= ?2 ORDER BY checks.id DESC LIMIT ?3
        """
    static let one: SQL = """
        SELECT \(CheckRow.columns)
        FROM checks LEFT JOIN clicks ON clicks.id = click
        WHERE checks.id = ?1
        """
    /// Streams from the end, and ends at the first that is found.
    static let ofRequest: SQL = """
        SELECT id FROM (SELECT id, request_id FROM checks ORDER BY id DESC LIMIT ?2) WHERE request_id = ?1 LIMIT 1
        """
    static let ofFingerprint: SQL = """
        SELECT id FROM (SELECT id, fingerprint, fingerprint_rest FROM checks ORDER BY id DESC LIMIT ?3)
        WHERE fingerprint = ?1 AND fingerprint_rest = ?2 LIMIT 1
        """
    static let ofClick: SQL = """
        SELECT id FROM (SELECT id, click FROM checks ORDER BY id DESC LIMIT ?2) WHERE click = ?1 LIMIT 1
        """
    /// The claim's own record, soon after its moment.
    static let ofClaim: SQL = """
        SELECT id
        FROM (
            SELECT id, click, outcome FROM checks
            WHERE id >= ?2 ORDER BY id LIMIT ?3
        )
        WHERE click = ?1 AND outcome = 'match'
        LIMIT 1
        """
    static let claimedAt: SQL = "SELECT claimed_at FROM claims WHERE click = ?1"
}
