internal import Attribution
internal import SQLite
internal import Storage

/// Links as they stand in their tables.
struct LinkRow {
    let number: Int64
    let app: AppID
    let record: LinkRecord

    static let columns: SQL = """
        links.number, \(LinkRecord.columns, of: "links"), apps.id_high AS app_high, apps.id_low AS app_low
        """

    init(_ row: inout StatementRow) throws(SQLiteError) {
        number = row.get("number")
        record = try row.record()
        app = AppID(high: row.get("app_high"), low: row.get("app_low"))
    }

    init(_ statement: Statement) throws(SQLiteError) {
        var row = StatementRow(statement)
        try self.init(&row)
    }
}

extension SQLiteReader {
    /// The link with what its other tables say of it.
    func listing(of row: LinkRow) throws(SQLiteError) -> LinkListing {
        var counts: [String: LinkCounts] = [:]
        try connection.statement(LinkSQL.counts).forEach(row.number) { row in
            counts[row.text(0)] = LinkCounts(
                clicks: Int(row.integer(1)),
                robots: Int(row.integer(2)),
                matches: Int(row.integer(3))
            )
        }
        return row.record.listing(of: row.app, try fields(ofLink: row.number), counts)
    }

    private func fields(ofLink link: Int64) throws(SQLiteError) -> LinkFields {
        var texts: [LinkField: [String]] = [:]
        try connection.statement(LinkSQL.fields).forEach(link) { row in
            // A field of a newer program is kept, and not understood.
            guard let field = LinkField(rawValue: row.text(0)) else { return }
            texts[field, default: []].append(row.text(1))
        }
        var fields = LinkFields()
        for (field, values) in texts { fields[field] = values }
        return fields
    }

    func link(_ id: LinkID) throws(SQLiteError) -> LinkRow? {
        try connection.statement(LinkSQL.byID).first(id.high, id.low) { row throws(SQLiteError) in
            try LinkRow(row)
        }
    }

    /// The oldest one among those of `apps`.
    func link(_ slug: LinkSlug, of apps: [AppID]) throws(SQLiteError) -> LinkRow? {
        try connection.statement(LinkSQL.bySlug).all(slug.text) { row throws(SQLiteError) in try LinkRow(row)
        }
        .filter { apps.contains($0.app) }
        .min { $0.number < $1.number }
    }
}

/// What sessions ask of links.
extension SQLiteReader {
    func listing(_ slug: LinkSlug, of apps: [AppID]) throws(SQLiteError) -> LinkListing? {
        try link(slug, of: apps).map(listing)
    }

    func listing(_ id: LinkID) throws(SQLiteError) -> LinkListing? { try link(id).map(listing) }

    func liveListing(ofCampaign key: CampaignKey, of apps: [AppID], at now: Timestamp) throws(SQLiteError)
        -> LinkListing?
    {
        try connection.statement(LinkSQL.liveOfCampaign).all(key.text, now.milliseconds) {
            row throws(SQLiteError) in try LinkRow(row)
        }
        .filter { apps.contains($0.app) }
        .max { $0.number < $1.number }
        .map(listing)
    }

    func sharedSlug(of app: AppID, and other: AppID) throws(SQLiteError) -> LinkSlug? {
        try connection.statement(LinkSQL.sharedSlug).first(app.high, app.low, other.high, other.low) {
            LinkSlug(stored: $0.text(0))
        }
    }
}

enum LinkSQL {
    static let bySlug: SQL = """
        SELECT \(LinkRow.columns)
        FROM links CROSS JOIN apps ON apps.number = app
        WHERE slug = ?1
        """
    static let sharedSlug: SQL = """
        SELECT own.slug FROM links AS own CROSS JOIN links AS other ON other.slug = own.slug
            AND other.app = (SELECT number FROM apps WHERE id_high = ?3 AND id_low = ?4)
        WHERE own.app = (SELECT number FROM apps WHERE id_high = ?1 AND id_low = ?2) LIMIT 1
        """
    static let byID: SQL = """
        SELECT \(LinkRow.columns)
        FROM links CROSS JOIN apps ON apps.number = app
        WHERE links.id_high = ?1 AND links.id_low = ?2
        """
    /// Looks at so many links of the campaign at most: an operator who has archived more has a newer one.
    static let liveOfCampaign: SQL = """
        SELECT \(LinkRow.columns)
        FROM (
            SELECT * FROM links WHERE campaign_key = ?1 ORDER BY number DESC LIMIT 1000
        ) AS links CROSS JOIN apps ON apps.number = app
        WHERE archived_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)
            AND (maximum_clicks IS NULL OR maximum_clicks > ifnull(
                (SELECT clicks FROM link_counts WHERE link = links.number AND variant = ''), 0
            ))
        """
    static let fields: SQL = """
        SELECT field, value FROM link_fields WHERE link = ?1 ORDER BY field, position
        """
    static let counts: SQL = """
        SELECT variant, clicks, robots, matches FROM link_counts WHERE link = ?1
        """
    static let number: SQL = "SELECT number FROM links WHERE id_high = ?1 AND id_low = ?2"
    static let idOfNumber: SQL = "SELECT id_high, id_low FROM links WHERE number = ?1"
    static let limits: SQL = """
        SELECT number, archived_at, expires_at, maximum_clicks,
            ifnull((SELECT clicks FROM link_counts WHERE link = number AND variant = ''), 0)
        FROM links WHERE id_high = ?1 AND id_low = ?2
        """
    static let insert = SQL.insert("links", LinkRecord.columns)
    static let update = SQL.update("links", LinkRecord.columns, where: "id_high = ?1 AND id_low = ?2")
    static let deleteFields: SQL = "DELETE FROM link_fields WHERE link = ?1"
    static let insertField: SQL = "INSERT INTO link_fields VALUES (?1, ?2, ?3, ?4)"
    static let delete: SQL = "DELETE FROM links WHERE number = ?1"
    /// A row is there from the first click of any kind on.
    static let wasClicked: SQL = "SELECT 1 FROM link_counts WHERE link = ?1"
    static let count: SQL = """
        INSERT INTO link_counts VALUES (?1, ?2, ?3, ?4, ?5, 0)
        ON CONFLICT DO UPDATE SET clicks = clicks + excluded.clicks, robots = robots + excluded.robots,
            tests = tests + excluded.tests
        """
    static let countMatch: SQL = """
        UPDATE link_counts SET matches = matches + 1 WHERE link = ?1 AND variant = ?2
        """
}

/// Walks back through the links.
extension SQLiteReader {
    /// Links that one call looks at.
    private static let scannedLinks = 50_000

    func page(_ query: LinkQuery) throws(SQLiteError) -> LinkPage {
        let app = try query.app.map { app throws(SQLiteError) in try number(of: app) ?? 0 }
        let end = try query.before.map { id throws(SQLiteError) in
            try connection.statement(LinkSQL.number).first(id.high, id.low) { $0.integer(0) } ?? 0
        }
        var (rows, last, count) = ([] as [LinkRow], nil as LinkID?, 0)
        let statement = try connection.statement(Self.linkPage(query))
        try statement.bind(
            end ?? .max,
            app,
            query.campaignKey?.text,
            query.isArchived,
            query.searchedText,
            query.tag
        )
        defer { statement.reset() }
        while rows.count < query.limit, count < Self.scannedLinks, try statement.step() {
            count += 1
            var row = StatementRow(statement)
            let link = try LinkRow(&row)
            last = link.record.id
            if row.get("is_match") { rows.append(link) }
        }
        var page = LinkPage()
        // There may be more before the last one that was looked at.
        if count == Self.scannedLinks || rows.count == query.limit { page.next = last }
        for row in rows { page.links.append(try listing(of: row)) }
        return page
    }

    /// By what leaves the fewest to look at.
    private static func linkPage(_ query: LinkQuery) -> SQL {
        if query.tag != nil { return linksOfTag }
        if query.campaignKey != nil { return linksOfCampaign }
        return query.app != nil ? linksOfApp : allLinks
    }

    /// Whether a link is what the query asks for, apart from its tag.
    private static let linkMatches: SQL = """
        (?2 IS NULL OR app = ?2) AND (?3 IS NULL OR campaign_key IS ?3)
            AND (?4 IS NULL OR (archived_at IS NOT NULL) = ?4)
            AND (?5 IS NULL OR instr(search_text, ?5) > 0)
        """
    private static let linkMatchesWithTag: SQL = """
        \(linkMatches)
            AND (?6 IS NULL OR EXISTS (
                SELECT 1 FROM link_fields WHERE link = links.number AND field = 'tags' AND value = ?6
            ))
        """
    static let allLinks: SQL = """
        SELECT \(LinkRow.columns), \(linkMatchesWithTag) AS is_match
        FROM links CROSS JOIN apps ON apps.number = app
        WHERE links.number < ?1 ORDER BY links.number DESC
        """
    static let linksOfApp: SQL = """
        SELECT \(LinkRow.columns), \(linkMatchesWithTag) AS is_match
        FROM links CROSS JOIN apps ON apps.number = app
        WHERE app = ?2 AND links.number < ?1 ORDER BY links.number DESC
        """
    static let linksOfCampaign: SQL = """
        SELECT \(LinkRow.columns), \(linkMatchesWithTag) AS is_match
        FROM links CROSS JOIN apps ON apps.number = app
        WHERE campaign_key = ?3 AND links.number < ?1 ORDER BY links.number DESC
        """
    static let linksOfTag: SQL = """
        SELECT \(LinkRow.columns), \(linkMatches) AS is_match
        FROM link_fields AS tag CROSS JOIN links ON links.number = tag.link
        CROSS JOIN apps ON apps.number = app
        WHERE field = 'tags' AND value = ?6 AND link < ?1 ORDER BY link DESC
        """
}
