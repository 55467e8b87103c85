internal import Attribution
internal import SQLite
internal import Storage

/// Walks back through the links.
struct LinkPageReader {
    let reader: SQLiteReader

    /// Links that one call looks at.
    static let scanned = 50_000

    func page(_ query: LinkQuery) throws(SQLiteError) -> LinkPage {
        let connection = reader.connection
        let app = try query.app.map { app throws(SQLiteError) in try reader.number(of: app) ?? 0 }
        let end = try query.before.map { id throws(SQLiteError) in
            try connection.statement(LinkSQL.number).first(id.high, id.low) { $0.integer(0) } ?? 0
        }
        var (rows, last, count) = ([] as [LinkRow], nil as LinkID?, 0)
        let statement = try connection.statement(Self.sql(query))
        try statement.bind(
            end ?? .max,
            app,
            query.campaignKey?.text,
            query.isArchived,
            query.searchedText,
            query.tag
        )
        defer { statement.reset() }
        while rows.count < query.limit, count < Self.scanned, try statement.step() {
            count += 1
            var row = StatementRow(statement)
            let link = try LinkRow(&row)
            last = link.record.id
            if row.get("is_match") { rows.append(link) }
        }
        var page = LinkPage()
        // There may be more before the last one that was looked at.
        if count == Self.scanned || rows.count == query.limit { page.next = last }
        for row in rows { page.links.append(try reader.listing(of: row)) }
        return page
    }

    /// By what leaves the fewest to look at.
    private static func sql(_ query: LinkQuery) -> SQL {
        if query.tag != nil { return ofTag }
        if query.campaignKey != nil { return ofCampaign }
        return query.app != nil ? ofApp : ofAll
    }

    /// Whether a link is what the query asks for, apart from its tag.
    private static let matches: SQL = """
        (?2 IS NULL OR app = ?2) AND (?3 IS NULL OR campaign_key IS ?3)
            AND (?4 IS NULL OR (archived_at IS NOT NULL) = ?4)
            AND (?5 IS NULL OR instr(search_text, ?5) > 0)
        """
    private static let matchesWithTag: SQL = """
        \(matches)
            AND (?6 IS NULL OR EXISTS (
                SELECT 1 FROM link_fields WHERE link = links.number AND field = 'tags' AND value = ?6
            ))
        """
    static let ofAll: SQL = """
        SELECT \(LinkRow.columns), \(matchesWithTag) AS is_match
        FROM links CROSS JOIN apps ON apps.number = app
        WHERE links.number < ?1 ORDER BY links.number DESC
        """
    static let ofApp: SQL = """
        SELECT \(LinkRow.columns), \(matchesWithTag) AS is_match
        FROM links CROSS JOIN apps ON apps.number = app
        WHERE app = ?2 AND links.number < ?1 ORDER BY links.number DESC
        """
    static let ofCampaign: SQL = """
        SELECT \(LinkRow.columns), \(matchesWithTag) AS is_match
        FROM links CROSS JOIN apps ON apps.number = app
        WHERE campaign_key = ?3 AND links.number < ?1 ORDER BY links.number DESC
        """
    static let ofTag: SQL = """
        SELECT \(LinkRow.columns), \(matches) AS is_match
        FROM link_fields AS tag CROSS JOIN links ON links.number = tag.link
        CROSS JOIN apps ON apps.number = app
        WHERE field = 'tags' AND value = ?6 AND link < ?1 ORDER BY link DESC
        """
}
