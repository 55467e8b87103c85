internal import Attribution

/// Records a click, or finds the one that it repeats.
extension WriteTransaction {
    func record(_ click: NewClick) throws(Failure) -> Written {
        let facts = click.facts
        guard let scope = try scope(of: facts.app, isTest: facts.isTest) else {
            return .refused(StoreError(.notFound, "the click's app does not exist"))
        }
        if let record = try repeated(by: click, scope) {
            let first = try reader.click(record, of: facts.app)
            // The recorded click gets this post's idempotency key, because this post may be repeated too.
            if let idempotency = click.idempotency { try writer.adopt(idempotency, by: record.number) }
            memory.totals.addDuplicate(of: first.facts, at: facts.recordedAt, scope)
            return .click(.duplicate(first, sharesFingerprint: sharesFingerprint(record, by: click)))
        }
        var link: Int64?
        if let tapped = facts.link {
            // A link that was deleted meanwhile counts as archived.
            guard let limits = try reader.limits(of: tapped) else { return .click(.linkEnded(.archived)) }
            if let ending = limits.ending(at: facts.recordedAt) { return .click(.linkEnded(ending)) }
            link = limits.number
        }
        let click = try adoptingPreviousDayHashes(click, scope)
        let number = numbers.click(
            after: last(memory.numbers.click, at: facts.recordedAt),
            at: facts.recordedAt,
            visit: click.visit,
            window: facts.window
        )
        memory.numbers.click.value = number
        let id = ClickID(high: UInt64(bitPattern: number), low: state.configuration.random())
        let entries = IndexEntry.all(of: click, number, in: scope)
        let record = ClickRecord(click, id: id, scope: scope, hashes: entries.map(\.hash), link: link)
        try writer.insert(record)
        try open(record, entries)
        let need = memory.values.addressDays.need(of: click)
        if let need { try writer.setNeed(ofAddressDay: need.day, until: need.until) }
        if let link {
            for variant in Self.countedVariants(facts) {
                try writer.count(LinkClickKind(facts), of: link, variant: variant)
            }
        }
        let end = MethodWindows(fingerprint: click.fingerprintWindow).fingerprintEnd(of: facts)
        let recorded = Click(id: id, facts: facts)
        if !facts.isRobot {
            try publish(scope, at: facts.recordedAt, about: number) { .click(recorded, withClickIDs: $0) }
        }
        let isOnlyCounted = entries.isEmpty && record.isCounted
        memory.totals.addClick(facts, until: isOnlyCounted ? nil : end, of: scope)

        if let need { memory.values.addressDays.note(need) }
        if Rules.readsNewestClicks {
            memory.posts.add(number, of: scope, click.post, recordedAt: facts.recordedAt)
        }
        if !facts.isRobot { memory.values.closedBefore = min(memory.values.closedBefore, facts.expiresAt) }
        return .click(.recorded(recorded))
    }

    /// Adds the index rows of a new click; the rows of a robot's click are closed.
    private func open(_ click: ClickRecord, _ entries: [IndexEntry]) throws(Failure) {
        for entry in entries {
            memory.filter.add(entry.hash.index)
            guard !click.facts.isRobot else {
                try writer.insertClosed(click, under: entry.hash, as: .robotClick)
                continue
            }
            try writer.insert(entry)
        }
        guard let address = click.address, !click.facts.isRobot else { return }
        try writer.insertAddress(address, of: click)
    }

    /// Returns the names under which a link's click is counted: the empty name of the whole link, and the variant.
    static func countedVariants(_ facts: Click.Facts) -> [String] {
        [""] + (facts.variant.map { [$0] } ?? [])
    }

    private func repeated(by click: NewClick, _ scope: Scope) throws(Failure) -> ClickRecord? {
        let facts = click.facts
        var id = try self.click(ofPost: click.post, visit: click.visit, scope, at: facts.recordedAt)
        if id == nil, let post = click.earlier.post {
            let visit = click.earlier.visit ?? click.visit
            id = try self.click(ofPost: post, visit: visit, scope, at: facts.recordedAt)
        }
        if let idempotency = click.idempotency {
            for key in [idempotency] + click.earlier.idempotencies {
                guard let found = try reader.click(ofIdempotency: key, in: scope) else { continue }
                id = found
                break
            }
        }
        guard let id else { return nil }
        // If that click was deleted meanwhile, this one is new.
        let first = try reader.click(numbered: id)
        guard let first, first.facts.isRobot, !facts.isRobot else { return first }
        // A person's visit does not repeat a prefetch or a robot's visit, so the idempotency key goes to the new click.
        if let idempotency = click.idempotency { try writer.release(idempotency, of: first.number) }
        return nil
    }

    /// Returns the click that a post of a visit repeats, unless it was claimed before the post came.
    private func click(ofPost post: KeyedHash, visit: KeyedHash, _ scope: Scope, at now: Timestamp)
        throws(Failure) -> Int64?
    {
        guard Rules.readsNewestClicks else {
            return try unclaimed(
                reader.click(ofPost: post, visit: visit, in: scope, recordedAt: now),
                at: now
            )
        }
        return try unclaimed(memory.posts.click(of: scope, post, recordedAt: now), at: now)
    }

    /// Returns the click with its visitor's hashes of the day before, if the visitor clicked shortly before midnight.
    ///
    /// Address keys change at midnight, so otherwise a visitor who clicks before and after midnight would count as two.
    private func adoptingPreviousDayHashes(_ click: NewClick, _ scope: Scope) throws(Failure) -> NewClick {
        guard let visitor = click.earlier.visitor, let key = click.fingerprints.first?.key else {
            return click
        }
        let time = click.facts.clickedAt
        let first = time.advanced(byMilliseconds: -AddressKeys.visitMilliseconds)
        let search = VisitSearch(scope: scope, key: key, first: first, last: time)
        let visits = try reader.visits(ofVisitor: visitor, search)
        guard !visits.isEmpty else { return click }
        var known = click
        known.evidence.visitor = visitor
        if let visit = click.earlier.visit, visits.contains(visit.index) {
            known.visit = visit
            known.post = click.earlier.post ?? click.post
        }
        return known
    }

    /// Returns whether a post's fingerprints find the click that the post repeats; posts of one visit have the same
    /// fingerprint.
    private func sharesFingerprint(_ first: ClickRecord, by click: NewClick) -> Bool {
        guard first.visit != click.visit, first.visit != click.earlier.visit else { return true }
        let own = [click.fingerprints.map(\.key)] + click.earlier.fingerprints
        return own.contains { $0.allSatisfy(first.hashes.contains) }
    }

    /// Returns the click unless it was claimed before the post came.
    ///
    /// A visit ends with its first launch, so the next post is a new click. A post that came before the claim, and is
    /// written after it, still belongs to the visit.
    private func unclaimed(_ click: Int64?, at now: Timestamp) throws(Failure) -> Int64? {
        guard let click else { return nil }
        if let claimedAt = try reader.claimTime(ofClick: click), claimedAt <= now { return nil }
        return click
    }
}
