#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Creates, changes and deletes links.
extension PostgreSQLWriter {
    /// Creates links; if one is refused, the caller must undo the links that were created before it.
    func create(_ links: [NewLink]) throws(PostgreSQLError) -> LinkStoreError? {
        // Lock this table before the slugs, because a batch that gives a link its first limit locks it before them. In
        // the other order, two servers would wait for each other.
        try batch.look(Self.lockForCreation)
        // Two servers must not give one slug to links of two apps with a common host.
        try batch.look(Self.lockSlugs)
        let taken = try batch.look(Self.appsOfSlugs, links.map(\.link.slug.text))
        var apps: [String: [AppID]] = [:]
        for index in 0..<taken.count {
            var row = ResultRow(taken, index)
            apps[row.get("slug"), default: []].append(AppID(high: row.get("id_high"), low: row.get("id_low")))
        }
        var numbers: [AppID: Int64] = [:]
        var records = ColumnArrays(LinkRecord.columns)
        for new in links {
            let link = new.link
            if numbers[link.app] == nil { numbers[link.app] = try reader.number(of: link.app) }
            guard let app = numbers[link.app] else { return .notFound }
            let others = apps[link.slug.text] ?? []
            guard !others.contains(where: { $0 == link.app || new.neighbours.contains($0) }) else {
                return .slugTaken(link.slug)
            }
            apps[link.slug.text] = others + [link.app]
            records.append(LinkRecord(link, app: app))
        }
        let created = try batch.run(Self.insertLinks, records)
        var fields: [LinkID: LinkFields] = [:]
        for new in links { fields[new.link.id] = new.link.settings.fields }
        var found: [(number: Int64, fields: LinkFields)] = []
        for index in 0..<created.count {
            var row = ResultRow(created, index)
            let number: Int64 = row.get("number")
            guard let fields = fields[LinkID(high: row.get("id_high"), low: row.get("id_low"))] else {
                continue
            }
            found.append((number, fields))
        }
        try write(found)
        return nil
    }

    func update(_ link: Link, ifUpdatedAt earlier: Timestamp?) throws(PostgreSQLError) -> LinkStoreError? {
        try batch.lock(link.id)
        guard let found = try batch.connection.reader().link(link.id) else { return .notFound }
        if let earlier, earlier != found.record.updatedAt { return .changed }
        _ = try run(Self.updateLink, found.record.changed(to: link))
        try batch.run(Self.deleteFields, found.number)
        var waiting = CountPayload()
        if link.settings.maximumClicks != nil {
            // A click that read the link before it had a limit raises no row of `link_limits`, but leaves counts. Usually
            // this transaction has waited for such clicks already; if another server has just removed a limit, it has not.
            if found.record.maximumClicks == nil { try batch.look(RowReads.waitForClicks) }
            // The waiting counts are read before the counts of links. If a job adds the waiting counts to the counts of
            // links in between, they count twice: the link ends too early, but never too late.
            waiting = try batch.look(Self.waitingCounts).sumOfCounts()
            waiting.merge(batch.payload)
        }
        try write([(found.number, link.settings.fields)], waiting)
        // A later click of this transaction reads the new limits.
        batch.rows.links.removeValue(forKey: link.id)
        return nil
    }

    /// Deletes a link, unless clicks are in its counts, in counts that no job has added yet, or in this transaction.
    func delete(_ link: LinkID) throws(PostgreSQLError) -> LinkStoreError? {
        try batch.lock(link)
        let found = try batch.look(Self.lockForDeletion, link.high, link.low)
        guard found.count > 0 else { return .notFound }
        let number: Int64 = try found.value(0, 0)
        var waiting = try batch.look(Self.waitingCounts).sumOfCounts()
        waiting.merge(batch.payload)
        guard !waiting.links.keys.contains(where: { $0.link == number }),
            try batch.run(Self.deleteLink, number).affectedCount > 0
        else { return .clicked }
        // The batch may have read the link's limits for a later click, which must not find the link any more.
        batch.rows.links.updateValue(nil, forKey: link)
        return nil
    }

    /// Writes the fields of links, and starts the exact counts of links with a limit.
    ///
    /// `waiting` has the counts of earlier clicks that no job has added yet.
    private func write(
        _ links: [(number: Int64, fields: LinkFields)],
        _ waiting: CountPayload = CountPayload()
    ) throws(PostgreSQLError) {
        let rows = links.flatMap { link in
            link.fields.all.flatMap { field, texts in
                texts.enumerated().map { (link.number, field.rawValue, Int64($0.offset), $0.element) }
            }
        }
        try batch.run(Self.insertFields, rows.map(\.0), rows.map(\.1), rows.map(\.2), rows.map(\.3))
        let clicks = links.map { link in
            Int64(waiting.links[CountPayload.LinkSlot(link: link.number, variant: "")]?.clicks ?? 0)
        }
        try batch.run(Self.insertLimits, links.map(\.number), clicks)
    }

    /// The lock that ``insertLimits`` takes as well; clicks and other creations of links do not wait for it.
    private static let lockForCreation = PreparedStatement("LOCK TABLE link_limits IN ROW EXCLUSIVE MODE")
    private static let lockSlugs: PreparedStatement =
        "SELECT pg_advisory_xact_lock(\(AdvisoryLock.slugs.rawValue))"
    private static let appsOfSlugs: PreparedStatement = """
        SELECT l.slug, a.id_high, a.id_low FROM links l JOIN apps a ON a.number = l.app WHERE l.slug = ANY ($1)
        """
    private static let insertLinks: PreparedStatement = """
        INSERT INTO links (\(LinkRecord.columns)) SELECT * FROM \(rowsWith: LinkRecord.columns)
        RETURNING number, id_high, id_low
        """
    /// Waits for clicks that have locked a link without counts; see ``RowReads/lockUncounted``.
    private static let lockForDeletion: PreparedStatement =
        "SELECT number FROM links WHERE id_high = $1 AND id_low = $2 FOR UPDATE"
    private static let updateLink: PreparedStatement = """
        UPDATE links l SET \(assignmentsOf: LinkRecord.columns, from: "r") FROM \(rowsWith: LinkRecord.columns)
        WHERE l.id_high = r.id_high AND l.id_low = r.id_low
        """
    private static let deleteFields = PreparedStatement("DELETE FROM link_fields WHERE link = $1")
    private static let waitingCounts = PreparedStatement("SELECT payload FROM count_deltas")
    private static let deleteLink: PreparedStatement = """
        DELETE FROM links WHERE number = $1 AND NOT EXISTS (SELECT 1 FROM link_counts WHERE link = $1)
        AND NOT EXISTS (SELECT 1 FROM link_limits WHERE link = $1 AND clicks > 0)
        """
    private static let insertFields: PreparedStatement =
        "INSERT INTO link_fields (link, field, position, value) SELECT * FROM unnest($1, $2, $3, $4)"
    /// Starts the exact counts of links with a limit at the counts so far; each click then raises its link's
    /// count in the click's transaction.
    private static let insertLimits: PreparedStatement = """
        INSERT INTO link_limits (link, clicks) SELECT l.number, coalesce(c.clicks, 0) + k.waiting
        FROM unnest($1, $2) AS k (number, waiting) JOIN links l ON l.number = k.number
        LEFT JOIN link_counts c ON c.link = l.number AND c.variant = ''
        WHERE l.maximum_clicks IS NOT NULL ORDER BY l.number
        ON CONFLICT (link) DO UPDATE SET clicks = greatest(link_limits.clicks, excluded.clicks)
        """
}

extension WriteBatch {
    /// Locks a link against changes by other servers.
    ///
    /// It locks the row of the limit first, as clicks do. In the other order, two transactions could wait for each
    /// other: one with a click and then a change, and a change by another server.
    func lock(_ link: LinkID) throws(PostgreSQLError) {
        try look(RowReads.lockLimits, [link.high], [link.low])
        try look(RowReads.lockLink, link.high, link.low)
    }
}
#endif
