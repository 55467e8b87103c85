internal import Attribution
internal import SQLite
internal import Storage

/// What there is for a check, read in one snapshot.
struct CheckReader {
    let connection: SQLiteConnection
    let scope: Scope
    let check: Check
    let ledger: AnswerLedger
    let learnt: LearningState
    /// Asks for a summary of a key.
    let requestSummary: (KeySummary.Key) -> Void

    func view() throws(SQLiteError) -> CheckView {
        if let row = try ClaimRow.ofInstall(check, scope, on: connection),
            let claim = try row.claim(for: check, on: connection)
        {
            return offer(row, claim)
        }
        var reason: NoMatchReason?
        for rung in check.ladder.rungs {
            switch try find(rung) {
            case .offered(let view): return view
            case .live(let click): return try sureView(click, rung.method)
            case .nothing(let why): reason = reason ?? why
            }
        }
        return try fingerprintView(orElse: reason)
    }

    /// What a sure way leads to.
    private enum CertainResult {
        case live(ClickID)
        case offered(CheckView)
        case nothing(NoMatchReason?)
    }

    private func find(_ rung: MatchingLadder.Rung) throws(SQLiteError) -> CertainResult {
        switch rung {
        case .signedToken(let id): try find(named: id, used: .tokenUsed, unknown: .expired)
        case .clickID(let id): try find(named: id, used: .alreadyClaimed, unknown: .noClick)
        case .advertisingID(_, let key): try find(advertisingID: key)
        }
    }

    private func find(named id: ClickID, used: NoMatchReason, unknown: NoMatchReason) throws(SQLiteError)
        -> CertainResult
    {
        guard let named = try NamedClick.find(id, on: connection) else { return .nothing(unknown) }
        guard named.scope == scope else { return .nothing(.otherApp) }
        if let row = try ClaimRow.ofClick(id, on: connection) {
            let isOwed = row.isUndelivered || mayRepeat(row, of: id)
            if isOwed,
                let claim = try row.claim(for: check, on: connection)
            {
                return .offered(offer(row, claim))
            }
            return .nothing(used)
        }
        guard !named.isRobot else { return .nothing(.robotClick) }
        guard !named.isCounted else { return .nothing(.noClick) }
        guard named.expiresAt >= check.at else { return .nothing(.expired) }
        return try named.isOpen(on: connection) ? .live(id) : .nothing(used)
    }

    /// Whether a click's claim may be answered again to this caller.
    private func mayRepeat(_ row: ClaimRow, of id: ClickID) -> Bool {
        guard check.install == nil, check.replayGrace > 0 else { return false }
        let age = check.at.milliseconds(since: row.claimedAt)
        return abs(age) <= check.replayGrace && check.callers.contains { $0 == row.caller }
            && ledger.wasAnswered(id, before: check.firstByteAt)
    }

    /// An advertising id belongs to a device: its newest click, and no other's, led to the launch.
    private func find(advertisingID key: KeyedHash) throws(SQLiteError) -> CertainResult {
        let look = try IndexKeyReader.look(key, scope, at: check.at, summary: nil, on: connection)
        if let closed = look.lastClosed,
            let view = try repetition(closed, of: key, newerThan: look.open.first?.position)
        {
            return .offered(view)
        }
        guard let newest = look.open.first else { return .nothing(nil) }
        // The device has launched since: that was another click's, or is a launch of a device set up anew.
        let isSpent =
            try connection.statement(Self.claimedSince).first(
                scope.number,
                key.index,
                key.rest,
                newest.position.clickedAt
            ) { $0.integer(0) } != nil
        return isSpent ? .nothing(.alreadyClaimed) : .live(newest.candidate(.missing).click)
    }

    /// A claimed click of a key that is not older than a moment, among the 512 that were closed last.
    static let claimedSince: StaticString = """
        SELECT 1
        FROM (
            SELECT clicked_at, closed_as FROM click_index
            WHERE scope = ?1 AND hash = ?2 AND state = 1 AND hash_rest = ?3
            ORDER BY since DESC LIMIT 512
        )
        WHERE closed_as = 'already_claimed' AND clicked_at >= ?4
        LIMIT 1
        """

    /// A surer way has led to a click: what the fingerprint would have said is asked for as well, because such launches
    /// tell how right it is.
    private func sureView(_ click: ClickID, _ method: AttributionMethod) throws(SQLiteError) -> CheckView {
        var view = CheckView(sure: ClickChoice(click, method: method), reason: .alreadyClaimed)
        let looks = try keyLooks()
        guard looks.contains(where: { !$0.open.isEmpty }) else { return view }
        (view.evidence, view.model) = try weighed(looks)
        view.storedFingerprint = storedFingerprint(looks)
        return view
    }

    private func fingerprintView(orElse reason: NoMatchReason?) throws(SQLiteError) -> CheckView {
        let looks = try keyLooks()
        var view = try fingerprintView(looks, orElse: reason)
        view.storedFingerprint = storedFingerprint(looks)
        return view
    }

    /// The launch's first fingerprint under the server key under which clicks have it; nil where that is the present one.
    private func storedFingerprint(_ looks: [IndexKeyReader]) -> KeyedHash? {
        guard check.ladder.isUnderSeveralKeys else { return nil }
        let keys = check.ladder.firstUnderEachKey
        let found = keys.first { key in
            looks.contains { $0.key == key && ($0.newestUnclosed != nil || $0.lastClosed != nil) }
        }
        return found == keys[0] ? nil : found
    }

    private func fingerprintView(_ looks: [IndexKeyReader], orElse reason: NoMatchReason?) throws(SQLiteError)
        -> CheckView
    {
        let newest = looks.compactMap { $0.open.first?.position }.max()
        let closed = looks.compactMap { look in look.lastClosed.map { (look.key, $0) } }
            .max { $0.1.closedAt < $1.1.closedAt }
        // Every claim has closed rows: without any, there is nothing to repeat.
        if let (key, closed) = closed,
            let repeated = try repetition(closed, of: key, newerThan: newestOfHis(looks))
        {
            return repeated
        }
        guard newest == nil else {
            let (evidence, model) = try weighed(looks)
            return CheckView(evidence: evidence, model: model, reason: closed?.1.reason ?? .noClick)
        }
        let expired = looks.compactMap(\.newestUnclosed).max()
        if let reason { return CheckView(reason: reason) }
        guard let (_, closed) = closed else { return CheckView(reason: expired == nil ? .noClick : .expired) }
        if let expired, expired > closed.position { return CheckView(reason: .expired) }
        return CheckView(reason: closed.reason)
    }

    /// The newest click that may be the caller's own: one that does not come from his address, where he has one that
    /// tells anything, is a stranger's, and does not stand between him and the answer that he has lost.
    private func newestOfHis(_ looks: [IndexKeyReader]) -> RowPosition? {
        guard looks.contains(where: { !$0.open.isEmpty }) else { return nil }
        guard var address = check.details.value.address else {
            return looks.compactMap { $0.open.first?.position }.max()
        }
        return looks.compactMap { look in
            look.open.first { address.agreement(with: $0.address) == .exact }?.position
        }
        .max()
    }

    private func keyLooks() throws(SQLiteError) -> [IndexKeyReader] {
        var looks: [IndexKeyReader] = []
        looks.reserveCapacity(check.ladder.fingerprints.count)
        for key in check.ladder.fingerprints {
            let hot = KeySummary.Key(scope: scope, fingerprint: key)
            let look = try IndexKeyReader.look(
                key,
                scope,
                at: check.at,
                summary: learnt.summary(of: hot, at: check.at),
                on: connection
            )
            guard look.needsSummary else {
                looks.append(look)
                continue
            }
            if !learnt.isAtOnce { requestSummary(hot) }
            looks.append(learnt.isAtOnce ? try summarised(hot) : look)
        }
        return looks
    }

    private func summarised(_ hot: KeySummary.Key) throws(SQLiteError) -> IndexKeyReader {
        let summary = try KeySummary.make(hot, at: check.at, on: connection)
        learnt.publish(summary, of: hot)
        return try IndexKeyReader.look(hot.fingerprint, scope, at: check.at, summary: summary, on: connection)
    }

    /// What the live clicks are weighed by.
    private func weighed(_ looks: [IndexKeyReader]) throws(SQLiteError) -> (CandidateEvidence, MatchingModel)
    {
        let model = try learnt.model(of: scope, at: check.at, on: connection)
        return (
            try EvidenceReader(connection: connection, scope: scope, check: check, learnt: learnt)
                .evidence(looks, model.epoch),
            model
        )
    }

    /// An answer that was given before: again at once, or, where it failed on its way, by a claim, so that only
    /// one check gets it.
    private func offer(_ row: ClaimRow, _ claim: Claim) -> CheckView {
        row.isUndelivered
            ? CheckView(sure: ClickChoice(repeating: claim), reason: .alreadyClaimed)
            : CheckView(replay: claim)
    }

    /// An earlier answer that this check may have, unless there was a click after it.
    ///
    /// Looked for only where there can be one: a check after a match takes hardly longer than one of a fingerprint
    /// that nobody has, so that none can be told from the other.
    private func repetition(
        _ closed: IndexKeyReader.Closed,
        of key: KeyedHash,
        newerThan newest: RowPosition?
    )
        throws(SQLiteError) -> CheckView?
    {
        if closed.mayBeUndelivered,
            let row = try ClaimRow.undelivered(scope, key, at: check.at, on: connection),
            isLast(row, newest), let claim = try row.claim(for: check, on: connection)
        {
            return offer(row, claim)
        }
        guard
            check.install == nil, check.replayGrace > 0,
            closed.closedAt >= check.at.milliseconds - check.replayGrace,
            let row = try ClaimRow.ofCaller(scope, key, check, on: connection), isLast(row, newest),
            let claim = try row.claim(for: check, on: connection),
            ledger.wasAnswered(claim.click.id, before: check.firstByteAt)
        else { return nil }
        return offer(row, claim)
    }

    private func isLast(_ row: ClaimRow, _ newest: RowPosition?) -> Bool {
        guard let newest else { return true }
        return newest.clickedAt <= row.claimedAt.milliseconds
    }
}

extension ClickChoice {
    /// The same answer once more.
    init(repeating claim: Claim) {
        self.init(
            .click(claim.click.id),
            method: claim.method,
            confidence: claim.confidence,
            competingClicks: claim.competingClicks,
            isCampaignOnly: claim.isCampaignOnly
        )
    }
}
