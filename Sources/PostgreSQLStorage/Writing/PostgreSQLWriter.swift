#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// The statements of the open transaction; extensions in other files add the statements that are not about clicks.
///
/// Frequent changes are gathered, and rare ones are executed at once.
struct PostgreSQLWriter: StoreWriter {
    typealias Rules = PostgreSQLRules
    let batch: WriteBatch

    /// A reader of the state that the open transaction sees.
    var reader: PostgreSQLWriterReader { PostgreSQLWriterReader(batch: batch) }
}

/// Records clicks.
extension PostgreSQLWriter {
    func insert(_ click: ClickRecord) throws(PostgreSQLError) {
        let number = click.number
        batch.noteNewest(number)
        try batch.require(RowHome(of: number).slot)
        let post = ScopedHash(scope: click.scope, hash: click.post)
        let turn = RowNeeds.Post.turn(at: click.facts.recordedAt)
        // After a claim or a robot's click, an equal post is a new click, but the unique index of posts
        // refuses a second click with the same turn.
        let isTaken = (batch.rows.posts[post] ?? []).contains { number in
            guard let row = batch.rows.clicks[number] ?? nil else { return false }
            return RowNeeds.Post.collide(row.click.facts.recordedAt, click.facts.recordedAt)
        }
        batch.append(.click) { row in
            click.write(to: &row)
            row.put("turn", isTaken ? -number : turn)
        }
        batch.rows.add(ClickRow(click: click, wasOpen: !click.facts.isRobot, isLocked: true))
        batch.rows.add([number], to: post)
        if let key = click.idempotency { add(key, of: number, click.scope) }
    }

    func insert(_ entry: IndexEntry) { batch.append(.indexEntry) { entry.write(to: &$0) } }

    func insertClosed(_ click: ClickRecord, under hash: KeyedHash, as reason: NoMatchReason) {
        batch.append(.closedEntry) { row in
            row.put("scope", click.scope.number)
            row.put("hash", "hash_rest", hash)
            row.put("click", click.number)
            row.put("since", click.facts.clickedAt)
            row.put("expires_at", click.expiresAt)
            row.put("visit", click.visit.index)
        }
    }

    func insertAddress(_ address: AddressHashes, of click: ClickRecord) {
        batch.append(.address) { $0.put(address, of: click) }
    }

    /// Unlike in SQLite, a click may have several idempotency keys.
    func adopt(_ idempotency: KeyedHash, by click: Int64) throws(PostgreSQLError) {
        guard let scope = try batch.click(click)?.click.scope else { return }
        guard (batch.rows.idempotencies[ScopedHash(scope: scope, hash: idempotency)] ?? nil) == nil else {
            return
        }
        add(idempotency, of: click, scope)
    }

    func release(_ idempotency: KeyedHash, of click: Int64) throws(PostgreSQLError) {
        guard let scope = try batch.click(click)?.click.scope else { return }
        append(.releasedIdempotency, idempotency, of: click, scope)
        batch.rows.idempotencies.updateValue(nil, forKey: ScopedHash(scope: scope, hash: idempotency))
    }

    private func add(_ key: KeyedHash, of click: Int64, _ scope: Scope) {
        let hash = ScopedHash(scope: scope, hash: key)
        // A key may outlive its click, whose day was dropped.
        if let other = batch.rows.idempotencies[hash] ?? nil {
            append(.releasedIdempotency, key, of: other, scope)
        }
        append(.idempotency, key, of: click, scope)
        batch.rows.idempotencies[hash] = click
    }

    private func append(_ change: RowChange, _ key: KeyedHash, of click: Int64, _ scope: Scope) {
        batch.append(change) { row in
            row.put("scope", scope.number)
            row.put("idempotency", "idempotency_rest", key)
            row.put("click", click)
        }
    }

    func insert(_ check: CheckRecord) throws(PostgreSQLError) {
        try batch.require(RowHome.day(of: Int64(bitPattern: check.id.high)))
        batch.append(.check) { check.write(to: &$0) }
    }

    func setNeed(ofAddressDay day: Int64, until: Int64) {
        batch.append(.addressDay) { row in
            row.put("day", day)
            row.put("needed_until", until)
        }
    }
}

/// Claims clicks.
extension PostgreSQLWriter {
    func close(_ click: ClickRecord, under hash: KeyedHash, _ closing: ClickClosing) throws(PostgreSQLError)
        -> Bool
    {
        let (number, slot) = (click.number, RowHome(of: click.number).slot)
        guard let row = try batch.click(number), row.wasOpen, !row.closed.contains(hash) else { return false }
        batch.rows.change(number) { $0.closed.insert(hash) }
        batch.append(.closing(slot: slot)) { row in
            row.put("scope", click.scope.number)
            row.put("hash", hash.index)
            row.put("since", click.facts.clickedAt)
            row.put("click", number)
            row.put("closed_at", closing.at)
            row.put("caller", closing.caller)
        }
        // Without a caller, the click is retired: a later click of its visit was claimed.
        guard closing.caller == nil, row.closed.isEmpty else { return true }
        batch.append(.retirement(slot: slot)) { row in
            row.put("click", number)
            row.put("retired_at", batch.lastClaim ?? closing.at)
        }
        return true
    }

    func insert(_ claim: ClaimRecord) throws(PostgreSQLError) {
        guard let click = try batch.click(claim.click)?.click else { return }
        batch.append(.claim(slot: RowHome(of: claim.click).slot)) { claim.write(to: &$0) }
        batch.rows.change(claim.click) { $0.claim = claim }
        batch.lastClaim = claim.claimedAt
        point(claim.install, claim.caller, to: click, at: claim.claimedAt)
    }

    /// Stores the click of an installation, or of a caller without an installation id.
    private func point(_ install: KeyedHash?, _ caller: KeyedHash?, to click: ClickRecord, at time: Timestamp)
    {
        if let install {
            point(install, to: click)
        } else if let caller {
            point(caller: caller, to: click, at: time)
        }
    }

    /// Stores the click of an installation.
    private func point(_ install: KeyedHash, to click: ClickRecord) {
        let key = ScopedHash(scope: click.scope, hash: install)
        let isKnown = (batch.rows.installs[key] ?? nil) != nil
        batch.append(isKnown ? .movedInstall : .install) { row in
            row.put("scope", click.scope.number)
            row.put("install", "install_rest", install)
            row.put("click", click.number)
            row.put("until", click.expiresAt)
        }
        batch.rows.installs[key] = TransactionRows.Pointer(click: click.number, until: click.expiresAt)
    }

    /// Stores which click a caller has claimed, so that its repeated check finds the claim among any number of clicks.
    private func point(caller: KeyedHash, to click: ClickRecord, at time: Timestamp) {
        batch.append(.caller) { row in
            row.put("scope", click.scope.number)
            row.put("install", "install_rest", caller)
            row.put("click", click.number)
            row.put("until", time.advanced(byMilliseconds: Self.maximumReplayGrace))
        }
    }

    /// Deletes the row of an installation or caller, because its answer now belongs to another owner, or is erased.
    ///
    /// A row that this transaction inserts is deleted only with ``RowChange/erasedOwner``, which comes after the
    /// insertion.
    func removePointer(of owner: KeyedHash, to click: ClickRecord, isErased: Bool = false) {
        for change in isErased ? [RowChange.formerOwner, .erasedOwner] : [.formerOwner] {
            batch.append(change) { row in
                row.put("scope", click.scope.number)
                row.put("install", "install_rest", owner)
                row.put("click", click.number)
            }
        }
        batch.rows.installs.updateValue(nil, forKey: ScopedHash(scope: click.scope, hash: owner))
    }

    /// The longest time in which a caller gets its answer again, in milliseconds.
    static let maximumReplayGrace: Int64 = 3_600_000

    func markUndelivered(_ click: ClickID) throws(PostgreSQLError) {
        _ = try mark(Int64(bitPattern: click.high), isUndelivered: true)
    }

    /// The answer belongs to the new caller from now on.
    ///
    /// The former caller may ask again, perhaps at another server, but does not get it.
    func markDelivered(_ click: Int64, to request: ClaimRequest) throws(PostgreSQLError) -> Bool {
        guard let row = try batch.click(click), try mark(click, isUndelivered: false) else { return false }
        let install = request.installs.first
        batch.rows.change(click) { row in
            row.claim?.caller = request.caller
            row.claim?.install = install
        }
        if let former = row.claim?.install ?? row.claim?.caller, former != install ?? request.caller {
            removePointer(of: former, to: row.click)
        }
        point(install, request.caller, to: row.click, at: request.at)
        return true
    }

    /// Marks an answer; returns false if the click has no claim, or the answer has the mark already.
    private func mark(_ number: Int64, isUndelivered: Bool) throws(PostgreSQLError) -> Bool {
        guard let claim = try batch.click(number)?.claim, claim.isUndelivered != isUndelivered else {
            return false
        }
        batch.rows.change(number) { $0.claim?.isUndelivered = isUndelivered }
        batch.mark(number)
        return true
    }

    // Expired rows stay open and days are dropped as a whole, so no row is removed by itself.
    func removeOpen(_ click: ClickRecord, under hash: KeyedHash) {}
    func removeClosed(_ click: ClickRecord, under hash: KeyedHash, at times: ClosingTimes) {}
    func removeAddress(_ near: UInt64, of click: ClickRecord) {}
    func delete(_ click: Int64) {}
    func deleteChecks(before id: Int64, atMost limit: Int64) -> Int64 { 0 }
    func purgeLiveClicks(of scope: Scope, before second: Int64, atMost limit: Int) -> Bool { false }
}

/// Counts, which a job adds to their tables.
extension PostgreSQLWriter {
    func write(_ deltas: CountDeltas) { batch.payload.counts.merge(deltas) }
    func add(_ count: Int64, to name: StoredValue) { batch.payload.values[name, default: 0] += count }

    func count(_ kind: LinkClickKind, of link: Int64, variant: String) {
        let counts =
            switch kind {
            case .click: LinkCounts(clicks: 1)
            case .robot: LinkCounts(robots: 1)
            case .test: LinkCounts(tests: 1)
            }
        add(counts, to: link, variant)
        guard kind == .click, variant.isEmpty, let clicks = batch.rows.addLimitedClick(of: link) else {
            return
        }
        batch.append(.limit) { row in
            row.put("link", link)
            row.put("clicks", clicks)
        }
    }

    func countMatch(of link: Int64, variant: String) { add(LinkCounts(matches: 1), to: link, variant) }

    private func add(_ counts: LinkCounts, to link: Int64, _ variant: String) {
        var payload = CountPayload()
        payload.links[CountPayload.LinkSlot(link: link, variant: variant)] = counts
        batch.payload.merge(payload)
    }
}
#endif
