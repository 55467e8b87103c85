internal import Attribution
internal import SQLite
internal import Storage

/// Making, changing and deleting links.
extension WriteContext {
    /// Makes links, all of them or none: what is refused is undone as a whole.
    func create(_ links: [NewLink]) throws(SQLiteError) -> LinkStoreError? {
        for new in links {
            if let refusal = try create(new) { return refusal }
        }
        return nil
    }

    private func create(_ new: NewLink) throws(SQLiteError) -> LinkStoreError? {
        let link = new.link
        guard let app = try scope(of: link.app, isTest: false) else { return .notFound }
        guard try reader.link(link.slug, of: new.neighbours + [link.app]) == nil else {
            return .slugTaken(link.slug)
        }
        try connection.statement(LinkSQL.insert).run(LinkRecord(link, app: app.number / 2))
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

    func number(of link: LinkID) throws(SQLiteError) -> Int64? {
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
extension WriteContext {
    /// Where a click's link stands, and whether it still leads somewhere.
    struct LinkState {
        /// Nil where it was deleted meanwhile.
        let number: Int64?
        let ending: Link.Ending?
    }

    func tapped(_ link: LinkID, at moment: Timestamp) throws(SQLiteError) -> LinkState {
        let row = try connection.statement(LinkSQL.limits).first(link.high, link.low) { row in
            let ending = Link.ending(
                isArchived: !row.isNull(1),
                expiresAt: row.optionalInteger(2).map { Timestamp(milliseconds: $0) },
                maximumClicks: row.optionalInteger(3).map { Int($0) },
                clicks: Int(row.integer(4)),
                at: moment
            )
            return LinkState(number: row.integer(0), ending: ending)
        }
        return row ?? LinkState(number: nil, ending: .archived)
    }

    /// Counts a click for its link, and for the variant that the visitor got.
    func countLink(_ number: Int64, _ facts: Click.Facts) throws(SQLiteError) {
        let statement = try connection.statement(LinkSQL.count)
        let (isTest, isRobot) = (facts.isTest, facts.isRobot)
        for variant in Self.countedNames(facts) {
            try statement.run(number, variant, !isTest && !isRobot, !isTest && isRobot, isTest)
        }
    }

    /// Counts a match for the link of its click.
    func countLinkMatch(_ facts: Click.Facts) throws(SQLiteError) {
        guard !facts.isTest, let link = facts.link, let number = try number(of: link) else { return }
        for variant in Self.countedNames(facts) {
            try connection.statement(LinkSQL.countMatch).run(number, variant)
        }
    }

    /// Of the link as a whole, and of the variant.
    private static func countedNames(_ facts: Click.Facts) -> [String] {
        [""] + (facts.variant.map { [$0] } ?? [])
    }
}
