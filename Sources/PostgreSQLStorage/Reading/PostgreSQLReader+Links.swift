#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Reads links, their fields and their counts.
extension PostgreSQLReader {
    private func links(_ question: RowQuestion) throws(PostgreSQLError) -> [StoredLink] {
        guard case .links(let links, _) = try answer(question) else { return [] }
        return links
    }

    func link(_ id: LinkID) throws(PostgreSQLError) -> StoredLink? { try links(.linkByID(id)).first }

    func slugs(of links: [LinkID]) throws(PostgreSQLError) -> [LinkID: LinkSlug] {
        let rows = try all(Self.slugs, links.map(\.high), links.map(\.low)) { row in
            let id = LinkID(high: row.get("id_high"), low: row.get("id_low"))
            return (id, LinkSlug(stored: row.get("slug")))
        }
        return Dictionary(rows) { first, _ in first }
    }

    private static let slugs: PreparedStatement = """
        SELECT id_high, id_low, slug FROM unnest($1, $2) AS k (high, low)
        JOIN links ON id_high = k.high AND id_low = k.low
        """

    func links(withSlug slug: LinkSlug) throws(PostgreSQLError) -> [StoredLink] { try links(.link(slug)) }

    func liveLinks(ofCampaign key: CampaignKey, at now: Timestamp) throws(PostgreSQLError) -> [StoredLink] {
        try links(.linksOfCampaign(key, at: now))
    }

    private func contents(ofLink number: Int64) throws(PostgreSQLError) -> LinkContents? {
        guard case .contents(let contents) = try answer(.linkContents(number)) else { return nil }
        return contents
    }

    func fields(ofLink number: Int64, _ body: (_ name: String, _ text: String) -> Void)
        throws(PostgreSQLError)
    { for field in try contents(ofLink: number)?.fields ?? [] { body(field.name, field.text) } }

    func counts(ofLink number: Int64) throws(PostgreSQLError) -> [String: LinkCounts] {
        try contents(ofLink: number)?.counts ?? [:]
    }

    func linkID(numbered number: Int64) throws(PostgreSQLError) -> LinkID? {
        try first(Self.linkID, number) { LinkID(high: $0.get("id_high"), low: $0.get("id_low")) }
    }

    private static let linkID = PreparedStatement("SELECT id_high, id_low FROM links WHERE number = $1")

    func sharedSlug(of app: AppID, and other: AppID) throws(PostgreSQLError) -> LinkSlug? {
        try first(Self.sharedSlug, app.high, app.low, other.high, other.low) {
            LinkSlug(stored: $0.get("slug"))
        }
    }

    private static let sharedSlug: PreparedStatement = """
        SELECT own.slug FROM links AS own JOIN links AS other ON other.slug = own.slug
        AND other.app = (SELECT number FROM apps WHERE id_high = $3 AND id_low = $4)
        WHERE own.app = (SELECT number FROM apps WHERE id_high = $1 AND id_low = $2) LIMIT 1
        """
}

/// Reads pages of links.
extension PostgreSQLReader {
    /// The number of links that are read at once.
    private static let linksAtOnce = 200

    func links(_ query: LinkQuery, _ body: (_ link: StoredLink, _ isMatch: Bool) -> Bool)
        throws(PostgreSQLError)
    {
        let app = try query.app.map { (app) throws(PostgreSQLError) in try number(of: app) ?? 0 }
        var end = Int64.max
        if let before = query.before { end = try self.end(ofPageAfter: before) }
        let statement = Self.page(query)
        while true {
            let rows = try all(
                statement,
                Parameters(
                    end,
                    app,
                    query.campaignKey?.text,
                    query.isArchived,
                    query.searchedText,
                    query.tag,
                    Int64(Self.linksAtOnce)
                )
            ) { row throws(PostgreSQLError) in
                let link = try Self.link(&row)
                return (link, row.get("is_match") as Bool)
            }
            for (link, isMatch) in rows where !body(link, isMatch) { return }
            guard rows.count == Self.linksAtOnce, let last = rows.last else { return }
            end = last.0.number
        }
    }

    /// Returns the exclusive upper bound of the numbers of the links that follow a link in a list.
    ///
    /// If the link was deleted since the previous page, links of the same millisecond may come again.
    private func end(ofPageAfter link: LinkID) throws(PostgreSQLError) -> Int64 {
        let known: Int64? = try first(Self.numberOfLink, link.high, link.low) { $0.get("number") }
        if let known { return known }
        return try first(Self.numberOfNextLink, link.high | 0xffff) { $0.get("number") } ?? .max
    }

    static func link(_ row: inout ResultRow) throws(PostgreSQLError) -> StoredLink {
        let number: Int64 = row.get("number")
        let record = try row.record(LinkRecord.self)
        let app = AppID(high: row.get("app_high"), low: row.get("app_low"))
        return StoredLink(record, number: number, app: app)
    }

    /// Returns the statement whose index leaves the fewest links to read.
    private static func page(_ query: LinkQuery) -> PreparedStatement {
        if query.tag != nil { return linksOfTag }
        if query.campaignKey != nil { return linksOfCampaign }
        return query.app != nil ? linksOfApp : allLinks
    }

    private static let numberOfLink: PreparedStatement =
        "SELECT number FROM links WHERE id_high = $1 AND id_low = $2"
    private static let numberOfNextLink: PreparedStatement =
        "SELECT number FROM links WHERE id_high > $1 ORDER BY id_high, id_low LIMIT 1"
    /// $1 is the number before which the page starts, and $7 the maximum number of links.
    private static let linksWithMatch: SQLText = """
        SELECT l.number, \(LinkRecord.columns, of: "l"), a.id_high AS app_high, a.id_low AS app_low,
        (($2 IS NULL OR app = $2) AND ($3 IS NULL OR campaign_key IS NOT DISTINCT FROM $3)
        AND ($4 IS NULL OR (archived_at IS NOT NULL) = $4) AND ($5 IS NULL OR strpos(search_text, $5) > 0)
        AND ($6 IS NULL OR EXISTS (SELECT FROM link_fields
        WHERE link = l.number AND field = 'tags' AND md5(value) = md5($6) AND value = $6)))::int4 AS is_match
        FROM links l JOIN apps a ON a.number = l.app WHERE l.number < $1
        """
    private static let newestFirst: SQLText = "ORDER BY l.number DESC LIMIT $7"
    private static let allLinks = PreparedStatement("\(linksWithMatch) \(newestFirst)")
    private static let linksOfApp = PreparedStatement("\(linksWithMatch) AND app = $2 \(newestFirst)")
    private static let linksOfCampaign: PreparedStatement =
        "\(linksWithMatch) AND campaign_key = $3 \(newestFirst)"
    private static let linksOfTag: PreparedStatement = """
        \(linksWithMatch) AND l.number IN (SELECT link FROM link_fields
        WHERE field = 'tags' AND md5(value) = md5($6) AND value = $6) \(newestFirst)
        """
}
#endif
