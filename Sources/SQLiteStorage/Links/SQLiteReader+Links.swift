internal import Attribution
internal import SQLite
internal import Storage

/// Reads links, their fields and their counts.
extension SQLiteReader {
    func link(_ id: LinkID) throws(SQLiteError) -> StoredLink? {
        try connection.statement(Self.linkByID).first(id.high, id.low, read: Self.storedLink)
    }

    func slugs(of links: [LinkID]) throws(SQLiteError) -> [LinkID: LinkSlug] {
        var slugs: [LinkID: LinkSlug] = [:]
        for id in links { slugs[id] = try link(id)?.record.slug }
        return slugs
    }

    func links(withSlug slug: LinkSlug) throws(SQLiteError) -> [StoredLink] {
        try connection.statement(Self.linksBySlug).all(slug.text, read: Self.storedLink)
    }

    func liveLinks(ofCampaign key: CampaignKey, at now: Timestamp) throws(SQLiteError) -> [StoredLink] {
        try connection.statement(Self.liveLinks).all(key.text, now.milliseconds, read: Self.storedLink)
    }

    static func storedLink(_ statement: Statement) throws(SQLiteError) -> StoredLink {
        var row = StatementRow(statement)
        return try storedLink(in: &row)
    }

    private static func storedLink(in row: inout StatementRow) throws(SQLiteError) -> StoredLink {
        let number: Int64 = row.get("number")
        let record = try row.record(LinkRecord.self)
        let app = AppID(high: row.get("app_high"), low: row.get("app_low"))
        return StoredLink(record, number: number, app: app)
    }

    private static let linkColumns: SQL = """
        links.number, \(LinkRecord.columns, of: "links"), apps.id_high AS app_high, apps.id_low AS app_low
        """
    static let selectLinks: SQL = "SELECT \(linkColumns) FROM links CROSS JOIN apps ON apps.number = app"
    static let linkByID: SQL = "\(selectLinks) WHERE links.id_high = ?1 AND links.id_low = ?2"
    static let linksBySlug: SQL = "\(selectLinks) WHERE slug = ?1"
    /// Selects the live links (not archived, not expired, with clicks left) among the campaign's newest 1,000 links.
    ///
    /// Even if an operator has archived more than 1,000 links of a campaign, one of the newest 1,000 is usually live.
    static let liveLinks: SQL = """
        SELECT \(linkColumns)
        FROM (
            SELECT * FROM links WHERE campaign_key = ?1 ORDER BY number DESC LIMIT 1000
        ) AS links CROSS JOIN apps ON apps.number = app
        WHERE archived_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)
            AND (maximum_clicks IS NULL OR maximum_clicks > ifnull(
                (SELECT clicks FROM link_counts WHERE link = links.number AND variant = ''), 0
            ))
        """

    func fields(ofLink number: Int64, _ body: (_ name: String, _ text: String) -> Void) throws(SQLiteError) {
        try connection.statement(Self.fieldsOfLink).forEach(number) { body($0.text(0), $0.text(1)) }
    }

    /// The number by which the tables refer to a link.
    static let numberOfLink: SQL = "SELECT number FROM links WHERE id_high = ?1 AND id_low = ?2"
    /// The number of the first link that is newer than a millisecond.
    static let numberOfNextLink: SQL =
        "SELECT number FROM links WHERE id_high > ?1 ORDER BY id_high, id_low LIMIT 1"
    static let fieldsOfLink: SQL = """
        SELECT field, value FROM link_fields WHERE link = ?1 ORDER BY field, position
        """

    func counts(ofLink number: Int64) throws(SQLiteError) -> [String: LinkCounts] {
        var counts: [String: LinkCounts] = [:]
        try connection.statement(Self.countsOfLink).forEach(number) { row in
            let (clicks, robots, matches) = (row.integer(1), row.integer(2), row.integer(3))
            let count = LinkCounts(clicks: Int(clicks), robots: Int(robots), matches: Int(matches))
            counts[row.text(0)] = count
        }
        return counts
    }

    static let countsOfLink: SQL = "SELECT variant, clicks, robots, matches FROM link_counts WHERE link = ?1"

    func sharedSlug(of app: AppID, and other: AppID) throws(SQLiteError) -> LinkSlug? {
        try connection.statement(Self.sharedSlug).first(app.high, app.low, other.high, other.low) {
            LinkSlug(stored: $0.text(0))
        }
    }

    static let sharedSlug: SQL = """
        SELECT own.slug FROM links AS own CROSS JOIN links AS other ON other.slug = own.slug
            AND other.app = (SELECT number FROM apps WHERE id_high = ?3 AND id_low = ?4)
        WHERE own.app = (SELECT number FROM apps WHERE id_high = ?1 AND id_low = ?2) LIMIT 1
        """
}

/// Reads pages of links.
extension SQLiteReader {
    func links(_ query: LinkQuery, _ body: (_ link: StoredLink, _ isMatch: Bool) -> Bool) throws(SQLiteError)
    {
        let app = try query.app.map { app throws(SQLiteError) in try number(of: app) ?? 0 }
        var end = Int64.max
        if let before = query.before { end = try self.end(ofPageAfter: before) }
        let statement = try connection.statement(Self.linkPage(query))
        let campaign = query.campaignKey?.text
        try statement.bind(end, app, campaign, query.isArchived, query.searchedText, query.tag)
        defer { statement.reset() }
        while try statement.step() {
            var row = StatementRow(statement)
            guard body(try Self.storedLink(in: &row), row.get("is_match")) else { break }
        }
    }

    /// Returns a number that is greater than the numbers of all links that follow a link in a list.
    ///
    /// If the link was deleted since the previous page, links of the same millisecond may come again.
    private func end(ofPageAfter link: LinkID) throws(SQLiteError) -> Int64 {
        let known = try connection.statement(Self.numberOfLink).first(link.high, link.low) { $0.integer(0) }
        if let known { return known }
        let next = try connection.statement(Self.numberOfNextLink)
        return try next.first(link.high | 0xffff) { $0.integer(0) } ?? .max
    }

    /// Returns the statement whose index usually leaves the fewest links to read.
    private static func linkPage(_ query: LinkQuery) -> SQL {
        if query.tag != nil { return linksOfTag }
        if query.campaignKey != nil { return linksOfCampaign }
        return query.app != nil ? linksOfApp : allLinks
    }

    /// The condition that a link matches the query, apart from the query's tag.
    private static let linkMatches: SQL = """
        (?2 IS NULL OR app = ?2) AND (?3 IS NULL OR campaign_key IS ?3)
            AND (?4 IS NULL OR (archived_at IS NOT NULL) = ?4)
            AND (?5 IS NULL OR instr(search_text, ?5) > 0)
        """
    private static let linksWithMatch: SQL = """
        SELECT \(linkColumns), \(linkMatches)
            AND (?6 IS NULL OR EXISTS (
                SELECT 1 FROM link_fields WHERE link = links.number AND field = 'tags' AND value = ?6
            )) AS is_match
        FROM links CROSS JOIN apps ON apps.number = app
        """
    static let allLinks: SQL = "\(linksWithMatch) WHERE links.number < ?1 ORDER BY links.number DESC"
    static let linksOfApp: SQL = """
        \(linksWithMatch) WHERE app = ?2 AND links.number < ?1 ORDER BY links.number DESC
        """
    static let linksOfCampaign: SQL = """
        \(linksWithMatch) WHERE campaign_key = ?3 AND links.number < ?1 ORDER BY links.number DESC
        """
    static let linksOfTag: SQL = """
        SELECT \(linkColumns), \(linkMatches) AS is_match
        FROM link_fields AS tag CROSS JOIN links ON links.number = tag.link
        CROSS JOIN apps ON apps.number = app
        WHERE field = 'tags' AND value = ?6 AND link < ?1 ORDER BY link DESC
        """
}
