internal import Attribution
internal import SQLite
internal import Storage

/// Creates, changes and deletes links.
extension SQLiteWriter {
    /// Creates links; after a refusal, the caller must undo the links created before it.
    func create(_ links: [NewLink]) throws(SQLiteError) -> LinkStoreError? {
        for new in links { if let refusal = try create(new) { return refusal } }
        return nil
    }

    private func create(_ new: NewLink) throws(SQLiteError) -> LinkStoreError? {
        let link = new.link
        guard let app = try reader.number(of: link.app) else { return .notFound }
        guard try reader.link(link.slug, of: new.neighbours + [link.app]) == nil else {
            return .slugTaken(link.slug)
        }
        try connection.statement(Self.insertLink).run(LinkRecord(link, app: app))
        guard let number = try number(of: link.id) else { return .notFound }
        try write(link.settings.fields, of: number)
        return nil
    }

    private static let insertLink = SQL.insert("links", LinkRecord.columns)

    func update(_ link: Link, ifUpdatedAt earlier: Timestamp?) throws(SQLiteError) -> LinkStoreError? {
        guard let found = try reader.link(link.id) else { return .notFound }
        if let earlier, earlier != found.record.updatedAt { return .changed }
        try connection.statement(Self.updateLink).run(found.record.changed(to: link))
        try connection.statement(Self.deleteLinkFields).run(found.number)
        try write(link.settings.fields, of: found.number)
        return nil
    }

    private static let updateLink =
        SQL.update("links", LinkRecord.columns, where: "id_high = ?1 AND id_low = ?2")
    static let deleteLinkFields: SQL = "DELETE FROM link_fields WHERE link = ?1"

    func delete(_ link: LinkID) throws(SQLiteError) -> LinkStoreError? {
        guard let number = try number(of: link) else { return .notFound }
        // A link gets a row of counts with its first click, also with a click of a robot or a test key.
        let counts = try connection.statement("SELECT 1 FROM link_counts WHERE link = ?1")
        guard try counts.first(number, read: { _ in true }) == nil else { return .clicked }
        // This deletes the link's fields as well (ON DELETE CASCADE).
        try connection.statement("DELETE FROM links WHERE number = ?1").run(number)
        return nil
    }

    private func number(of link: LinkID) throws(SQLiteError) -> Int64? {
        try connection.statement(SQLiteReader.numberOfLink).first(link.high, link.low) { $0.integer(0) }
    }

    private func write(_ fields: LinkFields, of link: Int64) throws(SQLiteError) {
        let statement = try connection.statement("INSERT INTO link_fields VALUES (?1, ?2, ?3, ?4)")
        for (field, texts) in fields.all {
            for (position, text) in texts.enumerated() {
                try statement.run(link, field.rawValue, position, text)
            }
        }
    }
}

/// Counts the clicks and matches of links.
extension SQLiteWriter {
    func count(_ kind: LinkClickKind, of link: Int64, variant: String) throws(SQLiteError) {
        try connection.statement(Self.countClick)
            .run(link, variant, kind == .click, kind == .robot, kind == .test)
    }

    private static let countClick: SQL = """
        INSERT INTO link_counts VALUES (?1, ?2, ?3, ?4, ?5, 0)
        ON CONFLICT DO UPDATE SET clicks = clicks + excluded.clicks, robots = robots + excluded.robots,
            tests = tests + excluded.tests
        """

    func countMatch(of link: Int64, variant: String) throws(SQLiteError) {
        try connection.statement(Self.countMatch).run(link, variant)
    }

    static let countMatch: SQL = """
        UPDATE link_counts SET matches = matches + 1 WHERE link = ?1 AND variant = ?2
        """
}

extension SQLiteReader {
    func limits(of link: LinkID) throws(SQLiteError) -> LinkLimits? {
        try connection.statement(Self.limitsOfLink).first(link.high, link.low) { row in
            LinkLimits(
                number: row.integer(0),
                isArchived: !row.isNull(1),
                expiresAt: row.optionalInteger(2).map { Timestamp(milliseconds: $0) },
                maximumClicks: row.optionalInteger(3).map { Int($0) },
                clicks: Int(row.integer(4))
            )
        }
    }

    static let limitsOfLink: SQL = """
        SELECT number, archived_at, expires_at, maximum_clicks,
            ifnull((SELECT clicks FROM link_counts WHERE link = number AND variant = ''), 0)
        FROM links WHERE id_high = ?1 AND id_low = ?2
        """
}
