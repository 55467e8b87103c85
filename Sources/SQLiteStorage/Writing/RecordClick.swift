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
        if let first = try repeated(by: click, scope) {
            try adopt(click.idempotency, by: first)
            try count(.duplicates, of: CountedTraits(first.facts), scope, at: facts.recordedAt)
            return .click(.duplicate(first, sharesFingerprint: try isFound(first, by: click)))
        }
        let link = try facts.link.map { link throws(SQLiteError) in
            try tapped(link, at: facts.recordedAt)
        }
        if let ending = link?.ending { return .click(.linkEnded(ending)) }
        let click = try ofKnownVisitor(click, scope)
        let id = makeClickID(at: facts.recordedAt)
        let entries = click.indexEntries
        try insert(click, entries, id, scope, link?.number)
        try open(Int64(bitPattern: id.high), click, entries, scope)
        let need = addressDays.need(of: click)
        if let need { try addressDays.write(need, to: connection) }
        let traits = CountedTraits(facts)
        try count(facts.isRobot ? .robots : .clicks, of: traits, scope, at: facts.recordedAt)
        if let link = link?.number { try countLink(link, facts) }
        if !facts.isRobot {
            drift.add(DriftCount(trials: 1), of: facts.driftGroup, in: scope, at: facts.recordedAt)
        }

        if let need { addressDays.note(need) }
        posts.add(Int64(bitPattern: id.high), of: scope, click.post, recordedAt: facts.recordedAt)
        if !facts.isRobot {
            counts.addLive(1, of: scope, expiringAt: facts.expiresAt)
            noteExpiry(facts.expiresAt)
        }
        return .click(.recorded(Click(id: id, facts: facts)))
    }

    private func repeated(by click: NewClick, _ scope: Scope) throws(SQLiteError) -> Click? {
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
        let first = try ClickRow.find(id, app: facts.app, isTest: facts.isTest, on: connection)
        guard let first, first.facts.isRobot, !facts.isRobot else { return first }
        // A visit repeats no prefetch and no robot's look at the link.
        try release(click.idempotency, of: first)
        return nil
    }

    /// A visitor's click in the first minutes of a day is recorded under the hashes that his last one has from the day
    /// before, so that he is one visitor on both sides of midnight.
    private func ofKnownVisitor(_ click: NewClick, _ scope: Scope) throws(SQLiteError) -> NewClick {
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
    private func isFound(_ first: Click, by click: NewClick) throws(SQLiteError) -> Bool {
        let rows = try ClickFingerprints.find(Int64(bitPattern: first.id.high), on: connection)
        guard let rows, rows.visit != click.visit, rows.visit != click.earlier.visit else { return true }
        let own = [click.fingerprints.map(\.key)] + click.earlier.fingerprints
        return own.contains { $0.allSatisfy(rows.fingerprints.contains) }
    }

    /// A visit that has led to its first launch is over: the next post is a new click, however soon it comes.
    private func unclaimed(_ click: Int64?) throws(SQLiteError) -> Int64? {
        guard let click else { return nil }
        let isClaimed = try connection.statement(RecordSQL.findClaim).first(click) { $0.integer(0) } != nil
        return isClaimed ? nil : click
    }

    /// A post that repeated a visit may itself be repeated, by its idempotency key alone: the click answers to it.
    private func adopt(_ idempotency: KeyedHash?, by first: Click) throws(SQLiteError) {
        try change(RecordSQL.adoptIdempotency, idempotency, of: first)
    }

    /// The idempotency key of a prefetch is the visit's that follows.
    private func release(_ idempotency: KeyedHash?, of prefetch: Click) throws(SQLiteError) {
        try change(RecordSQL.releaseIdempotency, idempotency, of: prefetch)
    }

    private func change(
        _ statement: StaticString,
        _ idempotency: KeyedHash?,
        of click: Click
    ) throws(SQLiteError) {
        guard let idempotency else { return }
        try connection.statement(statement).run(click.id.high, idempotency.index, idempotency.rest)
    }

    private func insert(
        _ click: NewClick,
        _ entries: [IndexEntry],
        _ id: ClickID,
        _ scope: Scope,
        _ link: Int64?
    ) throws(SQLiteError) {
        let facts = click.facts
        try connection.statement(RecordSQL.insertClick).run(
            id.high,
            id.low,
            scope.number,
            facts.clickedAt.milliseconds,
            facts.recordedAt.milliseconds,
            facts.window.seconds,
            facts.expiresAt.milliseconds,
            facts.destination.text,
            facts.campaignKey?.text,
            facts.journeyID.text,
            facts.source.rawValue,
            facts.rawSource,
            facts.platform.rawValue,
            facts.osVersion,
            facts.metadata,
            facts.isRobot,
            facts.isContradictory,
            click.visit.index,
            click.visit.rest,
            click.post.index,
            click.post.rest,
            click.idempotency?.index,
            click.idempotency?.rest,
            ClickFingerprints.packed(entries.map(\.key)),
            click.evidence.canonicalText,
            click.evidence.address?.exact,
            click.evidence.address?.near,
            facts.browser.rawValue,
            click.evidence.visitor,
            link,
            facts.variant
        )
    }
}

enum RecordSQL {
    static let insertClick: StaticString = """
        INSERT INTO clicks (
            id, id_low, scope, clicked_at, recorded_at, window_seconds, expires_at, destination, campaign_key,
            journey_id, source, raw_source, platform, os_version, metadata, is_robot, is_contradictory,
            visit, visit_rest, post, post_rest, idempotency, idempotency_rest, fingerprints, signals, exact_address,
            near_address, browser, visitor, link, variant
        ) VALUES (
            ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
            ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31
        )
        """
    /// Looks at the newest 256 clicks of the fingerprint at most: a flood of clicks with one fingerprint must not hold the
    /// writer.
    static let visitsOfVisitor: StaticString = """
        SELECT visit
        FROM (
            SELECT visit, visitor FROM click_index
            WHERE scope = ?1 AND hash = ?2 AND state = 0 AND since BETWEEN ?3 AND ?4
            ORDER BY since DESC LIMIT 256
        )
        WHERE visitor = ?5
        """
    static let findIdempotent: StaticString = """
        SELECT id FROM clicks WHERE scope = ?1 AND idempotency = ?2 AND idempotency_rest = ?3 LIMIT 1
        """
    static let findClaim: StaticString = "SELECT 1 FROM claims WHERE click = ?1"
    static let releaseIdempotency: StaticString = """
        UPDATE clicks SET idempotency = NULL, idempotency_rest = NULL
        WHERE id = ?1 AND idempotency = ?2 AND idempotency_rest = ?3
        """
    static let adoptIdempotency: StaticString = """
        UPDATE clicks SET idempotency = ?2, idempotency_rest = ?3 WHERE id = ?1 AND idempotency IS NULL
        """
}
