public import Attribution

/// What a check is answered from, read in one snapshot.
public protocol StorageReader: EvidenceSource {
    /// The newest claim of one of the check's installations whose click's window has not ended.
    mutating func claim(ofInstallOf check: Check) throws(Failure) -> ClaimRecord?
    /// Nil where there is no click with the whole of the identifier.
    mutating func click(_ id: ClickID) throws(Failure) -> ClickRecord?
    /// The claim of the click with this number.
    mutating func claim(of click: Int64) throws(Failure) -> ClaimRecord?
    /// What a claim's launch was answered; nil where the click is gone.
    mutating func answer(of record: ClaimRecord, to check: Check) throws(Failure) -> Claim?
    /// Whether checks can find the click: false for one that was retired with another.
    mutating func isOpen(_ click: ClickRecord) throws(Failure) -> Bool
    /// A response to this key that was seen to fail on its way, of a click whose window has not ended.
    mutating func undeliveredClaim(of key: KeyedHash) throws(Failure) -> ClaimRecord?
    /// The newest claim of the check's caller by this key, made within the grace before or after it.
    mutating func claim(ofCallerOf check: Check, by key: KeyedHash) throws(Failure) -> ClaimRecord?
    /// Whether a click of the key that is not older than the given one was claimed.
    mutating func hasClaim(of key: KeyedHash, since click: RowPosition) throws(Failure) -> Bool
    mutating func model() throws(Failure) -> MatchingModel
    /// Whether a claim's response was written before a moment of the process's monotonic clock.
    func wasAnswered(_ click: ClickID, before moment: UInt64) -> Bool
}

/// Reads what there is for a check: an earlier answer, the click that a certain way leads to, or the clicks that its
/// fingerprint finds and what they are weighed by.
public struct CheckReader<Reader: StorageReader> {
    private var reader: Reader
    private let check: Check
    private let scope: Scope

    public init(_ reader: Reader, _ check: Check, _ scope: Scope) {
        self.reader = reader
        self.check = check
        self.scope = scope
    }

    public mutating func view() throws(Reader.Failure) -> CheckView {
        if let record = try reader.claim(ofInstallOf: check),
            let claim = try reader.answer(of: record, to: check)
        {
            return offer(record, claim)
        }
        var reason: NoMatchReason?
        for rung in check.ladder.rungs {
            switch try find(rung) {
            case .offered(let view): return view
            case .live(let click): return try certainView(click, rung.method)
            case .nothing(let why): reason = reason ?? why
            }
        }
        return try fingerprintView(orElse: reason)
    }
}

/// Certain ways: a token, a click's identifier, an advertising id.
extension CheckReader {
    /// What a certain way leads to.
    private enum CertainResult {
        case live(ClickID)
        case offered(CheckView)
        case nothing(NoMatchReason?)
    }

    private mutating func find(_ rung: MatchingLadder.Rung) throws(Reader.Failure) -> CertainResult {
        switch rung {
        case .signedToken(let id): try find(id, used: .tokenUsed, unknown: .expired)
        case .clickID(let id): try find(id, used: .alreadyClaimed, unknown: .noClick)
        case .advertisingID(_, let key): try find(advertisingID: key)
        }
    }

    private mutating func find(_ id: ClickID, used: NoMatchReason, unknown: NoMatchReason) throws(Reader
        .Failure)
        -> CertainResult
    {
        guard let named = try reader.click(id) else { return .nothing(unknown) }
        guard named.scope == scope else { return .nothing(.otherApp) }
        if let record = try reader.claim(of: named.number) {
            guard record.isUndelivered || mayRepeat(record, of: id),
                let claim = try reader.answer(of: record, to: check)
            else { return .nothing(used) }
            return .offered(offer(record, claim))
        }
        guard !named.facts.isRobot else { return .nothing(.robotClick) }
        guard !named.isCounted else { return .nothing(.noClick) }
        guard named.expiresAt >= check.at else { return .nothing(.expired) }
        return try reader.isOpen(named) ? .live(id) : .nothing(used)
    }

    /// Whether a click's claim may be answered again to this caller.
    private func mayRepeat(_ record: ClaimRecord, of id: ClickID) -> Bool {
        guard check.installs.isEmpty, check.replayGrace > 0 else { return false }
        let age = check.at.milliseconds(since: record.claimedAt)
        return abs(age) <= check.replayGrace && check.callers.contains { $0 == record.caller }
            && reader.wasAnswered(id, before: check.firstByteAt)
    }

    /// An advertising id belongs to a device: its newest click, and no other's, led to the launch.
    private mutating func find(advertisingID key: KeyedHash) throws(Reader.Failure) -> CertainResult {
        var selection = KeySelection(key, at: check.at)
        try reader.read(&selection)
        if let closed = selection.lastClosed,
            let view = try repeatableAnswer(closed, of: key, newerThan: selection.open.first?.position)
        {
            return .offered(view)
        }
        guard let newest = selection.open.first else { return .nothing(nil) }
        // The device has launched since: that was another click's, or is a launch of a device set up again.
        return try reader.hasClaim(of: key, since: newest.position)
            ? .nothing(.alreadyClaimed) : .live(newest.candidate(.missing).click)
    }

    /// A certain way has led to a click: what the fingerprint would have said is read as well, because such launches show
    /// how right it is.
    private mutating func certainView(_ click: ClickID, _ method: AttributionMethod) throws(Reader.Failure)
        -> CheckView
    {
        var view = CheckView(certainChoice: ClickChoice(click, method: method), reason: .alreadyClaimed)
        let selections = try reader.selections(of: check.ladder.fingerprints)
        guard selections.contains(where: { !$0.open.isEmpty }) else { return view }
        (view.evidence, view.model) = try weighed(selections)
        view.storedFingerprint = storedFingerprint(selections)
        return view
    }
}

/// What the launch's fingerprint finds.
extension CheckReader {
    private mutating func fingerprintView(orElse reason: NoMatchReason?) throws(Reader.Failure) -> CheckView {
        let selections = try reader.selections(of: check.ladder.fingerprints)
        var view = try fingerprintView(selections, orElse: reason)
        view.storedFingerprint = storedFingerprint(selections)
        return view
    }

    private mutating func fingerprintView(_ selections: [KeySelection], orElse reason: NoMatchReason?)
        throws(Reader.Failure) -> CheckView
    {
        let newest = selections.compactMap { $0.open.first?.position }.max()
        let closed = selections.compactMap { selection in selection.lastClosed.map { (selection.key, $0) } }
            .max { $0.1.closedAt < $1.1.closedAt }
        // Every claim has closed rows: without any, there is nothing to repeat.
        if let (key, closed) = closed,
            let repeated = try repeatableAnswer(
                closed,
                of: key,
                newerThan: newestClickFromCallerAddress(selections)
            )
        {
            return repeated
        }
        guard newest == nil else {
            let (evidence, model) = try weighed(selections)
            return CheckView(evidence: evidence, model: model, reason: closed?.1.reason ?? .noClick)
        }
        let expired = selections.compactMap(\.newestUnclosed).max()
        if let reason { return CheckView(reason: reason) }
        guard let (_, closed) = closed else { return CheckView(reason: expired == nil ? .noClick : .expired) }
        if let expired, expired > closed.position { return CheckView(reason: .expired) }
        return CheckView(reason: closed.reason)
    }

    /// The launch's first fingerprint under the server key under which clicks have it; nil where that is the current one.
    private func storedFingerprint(_ selections: [KeySelection]) -> KeyedHash? {
        guard check.ladder.isUnderSeveralKeys else { return nil }
        let keys = check.ladder.firstUnderEachKey
        let found = keys.first { key in
            selections.contains { $0.key == key && ($0.newestUnclosed != nil || $0.lastClosed != nil) }
        }
        return found == keys[0] ? nil : found
    }

    /// Returns the newest live click that may be the caller's: one that comes from another address, where the caller's is
    /// known, is another visitor's, and does not stand between the caller and the answer that was lost.
    private func newestClickFromCallerAddress(_ selections: [KeySelection]) -> RowPosition? {
        guard selections.contains(where: { !$0.open.isEmpty }) else { return nil }
        guard var address = check.details.address else {
            return selections.compactMap { $0.open.first?.position }.max()
        }
        return selections.compactMap { selection in
            selection.open.first { address.agreement(with: $0.address) == .exact }?.position
        }
        .max()
    }

    /// What the live clicks are weighed by.
    private mutating func weighed(_ selections: [KeySelection]) throws(Reader.Failure)
        -> (CandidateEvidence, MatchingModel)
    {
        let model = try reader.model()
        let evidence = try reader.evidence(
            of: selections,
            launch: check.details.address,
            firstKeys: check.ladder.firstUnderEachKey,
            epoch: model.epoch
        )
        return (evidence, model)
    }
}

/// Answers that were given before.
extension CheckReader {
    /// Gives an earlier answer again: at once, or, where it failed on its way, by a claim, so that only one check gets
    /// it.
    private func offer(_ record: ClaimRecord, _ claim: Claim) -> CheckView {
        record.isUndelivered
            ? CheckView(certainChoice: ClickChoice(repeating: claim), reason: .alreadyClaimed)
            : CheckView(replay: claim)
    }

    /// Returns an earlier answer that this check may have, unless there was a click after it.
    ///
    /// It is looked for only where there can be one: a check after a match takes hardly longer than one of a fingerprint
    /// that no click has, so that the time reveals neither.
    private mutating func repeatableAnswer(
        _ closed: KeySelection.Closed,
        of key: KeyedHash,
        newerThan newest: RowPosition?
    ) throws(Reader.Failure) -> CheckView? {
        if closed.mayBeUndelivered, let record = try reader.undeliveredClaim(of: key),
            isLast(record, newest), let claim = try reader.answer(of: record, to: check)
        {
            return offer(record, claim)
        }
        guard
            check.installs.isEmpty, check.replayGrace > 0,
            closed.closedAt >= check.at.milliseconds - check.replayGrace,
            let record = try reader.claim(ofCallerOf: check, by: key), isLast(record, newest),
            let claim = try reader.answer(of: record, to: check),
            reader.wasAnswered(claim.click.id, before: check.firstByteAt)
        else { return nil }
        return offer(record, claim)
    }

    private func isLast(_ record: ClaimRecord, _ newest: RowPosition?) -> Bool {
        guard let newest else { return true }
        return newest.clickedAt <= record.claimedAt.milliseconds
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
