internal import Attribution
internal import SQLite
internal import Storage

/// Making, changing and deleting links.
extension SQLiteWriter {
    /// Makes links, all of them or none: what is refused is undone as a whole.
    func create(_ links: [NewLink]) throws(SQLiteError) -> LinkStoreError? {
        for new in links {
            if let refusal = try create(new) { return refusal }
        }
        return nil
    }

    private func create(_ new: NewLink) throws(SQLiteError) -> LinkStoreError? {
        let link = new.link
        guard let app = try reader.number(of: link.app) else { return .notFound }
        guard try reader.link(link.slug, of: new.neighbours + [link.app]) == nil else {
            return .slugTaken(link.slug)
        }
        try connection.statement(LinkSQL.insert).run(LinkRecord(link, app: app))
        guard let number = try number(of: link.id) else { return .notFound }
        try write(link.settings.fields, of: number)
        return nil
    }

    func update(_ link: Link, ifUpdatedAt earlier: Timestamp?) throws(SQLiteError) -> LinkStoreError? {
        guard let found = try reader.link(link.id) else { return .notFound }
        if let earlier, earlier != found.record.updatedAt { return .changed }
        try connection.statement(LinkSQL.update).run(found.record.changed(to: link))
        try connection.statement(LinkSQL.deleteFields).run(found.number)
        try write(link.settings.fields, of: found.number)
        return nil
    }

    func delete(_ link: LinkID) throws(SQLiteError) -> LinkStoreError? {
        guard let number = try number(of: link) else { return .notFound }
        let wasClicked = try connection.statement(LinkSQL.wasClicked).first(number) { _ in true } ?? false
        guard !wasClicked else { return .clicked }
        // Takes its fields with it.
        try connection.statement(LinkSQL.delete).run(number)
        return nil
    }

    private func number(of link: LinkID) throws(SQLiteError) -> Int64? {
        try connection.statement(LinkSQL.number).first(link.high, link.low) { $0.integer(0) }
    }

    private func write(_ fields: LinkFields, of link: Int64) throws(SQLiteError) {
        let statement = try connection.statement(LinkSQL.insertField)
        for (field, texts) in fields.all {
            for (position, text) in texts.enumerated() {
                try statement.run(link, field.rawValue, position, text)
            }
        }
    }
}

/// What came of links.
extension SQLiteWriter {
    func count(_ kind: LinkClickKind, of link: Int64, variant: String) throws(SQLiteError) {
        try connection.statement(LinkSQL.count).run(
            link,
            variant,
            kind == .click,
            kind == .robot,
            kind == .test
        )
    }

    func countMatch(of link: Int64, variant: String) throws(SQLiteError) {
        try connection.statement(LinkSQL.countMatch).run(link, variant)
    }
}

extension SQLiteReader {
    func limits(of link: LinkID) throws(SQLiteError) -> LinkLimits? {
        try connection.statement(LinkSQL.limits).first(link.high, link.low) { row in
            LinkLimits(
                number: row.integer(0),
                isArchived: !row.isNull(1),
                expiresAt: row.optionalInteger(2).map { Timestamp(milliseconds: $0) },
                maximumClicks: row.optionalInteger(3).map { Int($0) },
                clicks: Int(row.integer(4))
            )
        }
    }
}
