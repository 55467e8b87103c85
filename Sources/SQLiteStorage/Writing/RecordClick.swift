internal import Attribution
internal import SQLite
internal import Storage

/// Recording a click, or finding the one that it repeats.
extension WriteContext {
    func record(_ click: NewClick) throws(SQLiteError) -> Written {
        let facts = click.facts
        guard let scope = try scope(of: facts.app, isTest: facts.isTest) else {
            return .refused(StoreError(.notFound, "the click's app does not exist"))
        }
        if let record = try repeated(by: click, scope) {
            let first = try reader.click(record, of: facts.app)
            try change(RecordSQL.adoptIdempotency, click.idempotency, of: record)
            try count(.duplicates, of: CountedTraits(first.facts), scope, at: facts.recordedAt)
            return .click(.duplicate(first, sharesFingerprint: sharesFingerprint(record, by: click)))
        }
        let link = try facts.link.map { link throws(SQLiteError) in
            try tapped(link, at: facts.recordedAt)
        }
        if let ending = link?.ending { return .click(.linkEnded(ending)) }
        let click = try adoptingPreviousDayHashes(click, scope)
        let id = makeClickID(at: facts.recordedAt)
        let number = Int64(bitPattern: id.high)
        let entries = IndexEntry.all(of: click, number, in: scope)
        let record = ClickRecord(click, id: id, scope: scope, hashes: entries.map(\.hash), link: link?.number)
        try connection.statement(RecordSQL.insertClick).run(record)
        try open(record, entries)
        let need = addressDays.need(of: click)
        if let need { try addressDays.write(need, to: connection) }
        let traits = CountedTraits(facts)
        if let link = link?.number { try countLink(link, facts) }
        try count(facts.isRobot ? .robots : .clicks, of: traits, scope, at: facts.recordedAt)
        if !facts.isRobot {
            drift.add(DriftCount(trials: 1), of: facts.driftGroup, in: scope, at: facts.recordedAt)
        }

        if let need { addressDays.note(need) }
        posts.add(number, of: scope, click.post, recordedAt: facts.recordedAt)
        if !facts.isRobot {
            counts.addLive(1, of: scope, expiringAt: facts.expiresAt)
            noteExpiry(facts.expiresAt)
        }
        return .click(.recorded(Click(id: id, facts: facts)))
    }

    private func repeated(by click: NewClick, _ scope: Scope) throws(SQLiteError) -> ClickRecord? {
        let facts = click.facts
        var id = try unclaimed(posts.click(of: scope, click.post, recordedAt: facts.recordedAt))
        if id == nil, let post = click.earlier.post {
            id = try unclaimed(posts.click(of: scope, post, recordedAt: facts.recordedAt))
        }
        if let idempotency = click.idempotency {
            let statement = try connection.statement(RecordSQL.findIdempotent)
            for key in [idempotency] + click.earlier.idempotencies {
                guard
                    let found = try statement.first(
                        scope.number,
                        key.index,
                        key.rest,
                        read: { $0.integer(0) }
                    )
                else { continue }
                id = found
                break
            }
        }
        guard let id else { return nil }
        // Nil when retention has deleted it meanwhile: then this is the first one.
        let first = try reader.click(numbered: id)
        guard let first, first.facts.isRobot, !facts.isRobot else { return first }
        // A visit repeats no prefetch and no robot's visit of the link: the idempotency key is the visit's that follows.
        try change(RecordSQL.releaseIdempotency, click.idempotency, of: first)
        return nil
    }

    /// A visitor's click in the first minutes of a day is recorded under the hashes that his last one has from the day
    /// before, so that he is one visitor on both sides of midnight.
    private func adoptingPreviousDayHashes(_ click: NewClick, _ scope: Scope) throws(SQLiteError) -> NewClick
    {
        guard let visitor = click.earlier.visitor, let key = click.fingerprints.first?.key else {
            return click
        }
        let moment = click.facts.clickedAt
        let visits = try connection.statement(RecordSQL.visitsOfVisitor).all(
            scope.number,
            key.index,
            moment.advanced(byMilliseconds: -AddressKeys.visitMilliseconds).milliseconds,
            moment.milliseconds,
            visitor
        ) { $0.optionalInteger(0).map { UInt64(bitPattern: $0) } }
        guard !visits.isEmpty else { return click }
        var known = click
        known.evidence.visitor = visitor
        if let visit = click.earlier.visit, visits.contains(visit.index) {
            known.visit = visit
            known.post = click.earlier.post ?? click.post
        }
        return known
    }

    /// Whether the click that a post repeats is found by the post's own fingerprints: a visit is made of the
    /// fingerprint too.
    private func sharesFingerprint(_ first: ClickRecord, by click: NewClick) -> Bool {
        guard first.visit != click.visit, first.visit != click.earlier.visit else { return true }
        let own = [click.fingerprints.map(\.key)] + click.earlier.fingerprints
        return own.contains { $0.allSatisfy(first.hashes.contains) }
    }

    /// A visit that has led to its first launch is over: the next post is a new click, however soon it comes.
    private func unclaimed(_ click: Int64?) throws(SQLiteError) -> Int64? {
        guard let click else { return nil }
        let isClaimed = try connection.statement(RecordSQL.findClaim).first(click) { $0.integer(0) } != nil
        return isClaimed ? nil : click
    }

    /// Gives the click an idempotency key or takes it away, where there is one.
    private func change(_ statement: SQL, _ idempotency: KeyedHash?, of click: ClickRecord)
        throws(SQLiteError)
    {
        guard let idempotency else { return }
        try connection.statement(statement).run(click.number, idempotency.index, idempotency.rest)
    }
}

enum RecordSQL {
    static let insertClick = SQL.insert("clicks", ClickRecord.columns)
    /// Looks at the newest 256 clicks of the fingerprint at most: a flood of clicks with one fingerprint must not hold the
    /// writer.
    static let visitsOfVisitor: SQL = """
        SELECT visit
        FROM (
            SELECT visit, visitor FROM click_index
            WHERE scope = ?1 AND hash = ?2 AND state = 0 AND since BETWEEN ?3 AND ?4
            ORDER BY since DESC LIMIT 256
        )
        WHERE visitor = ?5
        """
    static let findIdempotent: SQL = """
        SELECT id FROM clicks WHERE scope = ?1 AND idempotency = ?2 AND idempotency_rest = ?3 LIMIT 1
        """
    static let findClaim: SQL = "SELECT 1 FROM claims WHERE click = ?1"
    static let releaseIdempotency: SQL = """
        UPDATE clicks SET idempotency = NULL, idempotency_rest = NULL
        WHERE id = ?1 AND idempotency = ?2 AND idempotency_rest = ?3
        """
    /// A post that repeated a visit may itself be repeated, by its idempotency key alone: the click answers to it.
    static let adoptIdempotency: SQL = """
        UPDATE clicks SET idempotency = ?2, idempotency_rest = ?3 WHERE id = ?1 AND idempotency IS NULL
        """
}
