public import Attribution

/// The reads of a check, in one snapshot of a database.
public protocol CheckRowReader: ClickReader, LearningReader {
    /// Returns the click with this identifier; nil if no click has both halves of the identifier.
    func click(_ id: ClickID) throws(Failure) -> ClickRecord?
    /// Returns the click at a position under a key; nil once it is closed.
    func openClick(_ position: RowPosition, of key: KeyedHash, in scope: Scope) throws(Failure)
        -> IndexRecord?
    /// Adds the key's last closed click to a selection, then its clicks that are not closed, newest first.
    func read(_ selection: inout KeySelection, in scope: Scope) throws(Failure)
    /// Adds the newest clicks from an address or its network to a selection, newest first.
    func read(_ selection: inout AddressSelection, in scope: Scope) throws(Failure)
    /// Adds the times of the clicks from an address or its network to a count, newest first.
    func read(_ count: inout AddressClickCount.Builder, in scope: Scope) throws(Failure)
    /// Returns a claim by this key whose answer is marked as undelivered, if its click's window has not ended.
    func undeliveredClaim(of key: KeyedHash, in scope: Scope, at now: Timestamp) throws(Failure)
        -> ClaimRecord?
    /// Returns the newest claim by this key that a caller made within a span of time.
    func claim(
        ofCaller caller: KeyedHash,
        by key: KeyedHash,
        in scope: Scope,
        during times: ClosedRange<Timestamp>
    )
        throws(Failure) -> ClaimRecord?
    /// Returns whether this click of the key, or a newer one, was claimed.
    func hasClaim(of key: KeyedHash, in scope: Scope, since click: RowPosition) throws(Failure) -> Bool
    func newestClicks(_ query: NewestClicks, atMost count: Int) throws(Failure) -> [ClickID]
    /// Returns the number of clicks of the scope that can be matched, under all hashes.
    func liveClickCount(of scope: Scope, at now: Timestamp) throws(Failure) -> Int64
    /// Returns the stored sum of a learnt counter; 0 if there is none.
    func learntSum(_ family: CounterFamily, _ key: UInt64, in scope: Scope) throws(Failure) -> Double
}

/// A query for the newest live clicks of a destination under a key; it finds the first half of their identifiers.
public struct NewestClicks: Hashable, Sendable {
    public let scope: Scope
    public let key: KeyedHash
    public let destination: CreditedDestination
    public let at: Timestamp

    /// The maximum number of the key's clicks that are searched.
    public static let maximumRead = 4096
}

/// The snapshot of a check, with the counts, summaries and models that this process has in memory.
struct CheckSnapshot<Rows: CheckRowReader>: EvidenceSource {
    typealias Failure = Rows.Failure

    let rows: Rows
    let scope: Scope
    let now: Timestamp
    let state: StoreState
    var fingerprintWindow: AttributionWindow?

    private func summaryKey(_ key: KeyedHash) -> KeySummary.Key {
        KeySummary.Key(scope: scope, fingerprint: key, window: fingerprintWindow)
    }

    func summary(of key: KeyedHash) -> KeySummary? { state.learnt.summary(of: summaryKey(key), at: now) }

    func renewSummary(of key: KeyedHash) throws(Failure) -> Bool {
        let key = summaryKey(key)
        guard state.learnt.isAtOnce else {
            state.requestSummary(of: key, at: now)
            return false
        }
        state.learnt.publish(try rows.summary(of: key, at: now), of: key)
        return true
    }

    func read(_ selection: inout KeySelection) throws(Failure) { try rows.read(&selection, in: scope) }
    func read(_ selection: inout AddressSelection) throws(Failure) { try rows.read(&selection, in: scope) }

    func lookUp(_ clicks: [AddressSelection.Wanted], for selection: inout AddressSelection) throws(Failure) {
        for wanted in clicks {
            let position = wanted.position
            let click = try rows.openClick(position, of: selection.key, in: scope)
            if let click, selection.add(click) { continue }
            guard wanted.isExact, let claimedAt = try rows.claimTime(ofClick: position.click) else {
                continue
            }
            selection.addClaimed(position, at: claimedAt)
        }
    }

    func clickCount(around address: AddressHashes) throws(Failure) -> AddressClickCount {
        let key = AddressClickCount.Key(scope: scope, address: address, window: fingerprintWindow)
        if let known = state.learnt.clickCount(key, at: now) { return known }
        var builder = AddressClickCount.Builder(around: address, at: now, within: fingerprintWindow)
        try rows.read(&builder, in: scope)
        let count = builder.finished()
        state.learnt.publish(count, of: key)
        return count
    }

    func liveClickCount() throws(Failure) -> Double {
        try state.learnt.liveClicks(of: scope, at: now) { () throws(Failure) in
            try rows.liveClickCount(of: scope, at: now)
        }
    }

    func learntSum(_ family: CounterFamily, _ key: UInt64) throws(Failure) -> Double {
        try rows.learntSum(family, key, in: scope)
    }
}

/// Reads the facts for a check: an earlier answer, the click of a certain match, or the live clicks of its fingerprint
/// with their evidence.
struct CheckReader<Rows: CheckRowReader> {
    private var snapshot: CheckSnapshot<Rows>
    private let check: Check
    /// Whether another server may be sending an answer that the check may get; the view is wrong in this case.
    private(set) var isUnderWayElsewhere = false

    init(_ snapshot: CheckSnapshot<Rows>, _ check: Check) {
        self.snapshot = snapshot
        self.check = check
    }

    private var rows: Rows { snapshot.rows }
    private var scope: Scope { snapshot.scope }

    mutating func view() throws(Rows.Failure) -> CheckView {
        if let record = try rows.claim(ofInstalls: check.installs, in: scope, at: check.at),
            let claim = try rows.answer(of: record, to: check.app)
        {
            return offer(record, claim)
        }
        var reason: NoMatchReason?
        for rung in check.ladder.rungs {
            switch try find(rung) {
            case .offered(let view): return view
            case .live(let click, let finding):
                return try certainView(ClickChoice(click, method: rung.method, finding: finding))
            case .nothing(let why): reason = reason ?? why
            }
        }
        return try fingerprintView(orElse: reason)
    }
}

/// Certain matches: by a token, a click's identifier, or an advertising id.
extension CheckReader {
    /// The result of one certain way to recognise the launch.
    private enum CertainResult {
        case live(ClickID, PlayFinding?)
        case offered(CheckView)
        case nothing(NoMatchReason?)
    }

    private mutating func find(_ rung: MatchingLadder.Rung) throws(Rows.Failure) -> CertainResult {
        switch rung {
        case .signedToken(let id): try find(id, rung.method, used: .tokenUsed, unknown: .expired)
        case .clickID(let id): try find(id, rung.method, used: .alreadyClaimed, unknown: .noClick)
        case .advertisingID(_, let key): try find(advertisingID: key)
        }
    }

    private mutating func find(
        _ id: ClickID,
        _ method: AttributionMethod,
        used: NoMatchReason,
        unknown: NoMatchReason
    ) throws(Rows.Failure) -> CertainResult {
        guard let named = try rows.click(id) else { return .nothing(unknown) }
        guard named.scope == scope else { return .nothing(.otherApp) }
        if let record = try rows.claim(ofClick: named.number) {
            guard record.isUndelivered || mayRepeat(record, of: id),
                let claim = try rows.answer(of: record, to: check.app)
            else { return .nothing(used) }
            return .offered(offer(record, claim))
        }
        guard !named.facts.isRobot else { return .nothing(.robotClick) }
        guard !named.isCounted else { return .nothing(.noClick) }
        guard check.policy.windows.end(of: named.facts, by: method) >= check.at else {
            return .nothing(.expired)
        }
        guard try isOpen(named) else { return .nothing(used) }
        let clickedAt = named.facts.clickedAt
        return .live(id, check.details.play?.finding(of: id, at: clickedAt, launchedAt: check.at))
    }

    /// Whether checks can find the click; false if it was closed as a duplicate of a claimed click.
    private func isOpen(_ click: ClickRecord) throws(Rows.Failure) -> Bool {
        // A click without hashes is found by its token alone.
        guard let hash = click.hashes.first else { return true }
        let position = RowPosition(clickedAt: click.facts.clickedAt.milliseconds, click: click.number)
        return try rows.openClick(position, of: hash, in: scope) != nil
    }

    /// Whether this caller may get the claim's answer again.
    private mutating func mayRepeat(_ record: ClaimRecord, of id: ClickID) -> Bool {
        guard check.installs.isEmpty, check.replayGrace > 0 else { return false }
        let age = check.at.milliseconds(since: record.claimedAt)
        return abs(age) <= check.replayGrace && check.callers.contains { $0 == record.caller }
            && wasAnswered(record, of: id)
    }

    /// Whether the answer of a claim was written before the check began, so that the check cannot be another launch.
    private mutating func wasAnswered(_ record: ClaimRecord, of id: ClickID) -> Bool {
        let ledger = snapshot.state.ledger
        let wasAnswered = ledger.wasAnswered(id, claimedAt: record.claimedAt, before: check)
        if wasAnswered == nil { isUnderWayElsewhere = true }
        return wasAnswered ?? false
    }

    /// Finds the newest click of an advertising id, which belongs to one device.
    private mutating func find(advertisingID key: KeyedHash) throws(Rows.Failure) -> CertainResult {
        var selection = KeySelection(key, at: check.at, within: check.policy.windows.deterministic)
        try snapshot.read(&selection)
        if let closed = selection.lastClosed,
            let view = try repeatableAnswer(closed, of: key, newerThan: selection.open.first?.position)
        {
            return .offered(view)
        }
        guard let newest = selection.open.first else { return .nothing(selection.isCutOff ? .expired : nil) }
        // A claim of this click or a newer one means that the device has launched since. This launch then belongs to
        // another click, or the device was set up again.
        return try rows.hasClaim(of: key, in: scope, since: newest.position)
            ? .nothing(.alreadyClaimed) : .live(newest.candidate(.missing).click, nil)
    }

    /// Returns the view of a certain match, with the evidence of its fingerprint, from which the model learns how often
    /// fingerprints are right.
    private mutating func certainView(_ choice: ClickChoice) throws(Rows.Failure) -> CheckView {
        var view = CheckView(certainChoice: choice, reason: .alreadyClaimed)
        let selections = try snapshot.selections(of: check.ladder.fingerprints)
        guard selections.contains(where: { !$0.open.isEmpty }) else { return view }
        (view.evidence, view.model) = try weighed(selections)
        view.storedFingerprint = storedFingerprint(selections)
        return view
    }
}

/// Matches by the launch's fingerprint.
extension CheckReader {
    private mutating func fingerprintView(orElse reason: NoMatchReason?) throws(Rows.Failure) -> CheckView {
        let selections = try snapshot.selections(of: check.ladder.fingerprints)
        var view = try fingerprintView(selections, orElse: reason)
        view.storedFingerprint = storedFingerprint(selections)
        return view
    }

    private mutating func fingerprintView(_ selections: [KeySelection], orElse reason: NoMatchReason?)
        throws(Rows.Failure) -> CheckView
    {
        let newest = selections.compactMap { $0.open.first?.position }.max()
        let closed = selections.compactMap { selection in selection.lastClosed.map { (selection.key, $0) } }
            .max { $0.1.closedAt < $1.1.closedAt }
        // Every claim has a closed row, so without one there is no answer to repeat.
        if let (key, closed) = closed,
            let repeated = try repeatableAnswer(
                closed,
                of: key,
                newerThan: selections.newestClick(from: check.details.address)
            )
        {
            return repeated
        }
        for selection in selections where selection.mayHideClosed {
            let newest = selections.newestClick(from: check.details.address)
            if let repeated = try answerOfCaller(by: selection.key, newerThan: newest) { return repeated }
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

    /// The launch's first fingerprint under the first server key with stored clicks.
    ///
    /// Nil if that is the current key, or if no key has stored clicks.
    private func storedFingerprint(_ selections: [KeySelection]) -> KeyedHash? {
        guard check.ladder.isUnderSeveralKeys else { return nil }
        let keys = check.ladder.firstUnderEachKey
        let found = keys.first { key in
            selections.contains { $0.key == key && ($0.newestUnclosed != nil || $0.lastClosed != nil) }
        }
        return found == keys[0] ? nil : found
    }

    /// Reads the evidence and the model that weigh the live clicks.
    private mutating func weighed(_ selections: [KeySelection]) throws(Rows.Failure)
        -> (CandidateEvidence, MatchingModel)
    {
        let model = try snapshot.state.learnt.model(of: scope, at: check.at, rows)
        let evidence = try snapshot.evidence(
            of: selections,
            launch: check.details.address,
            firstKeys: check.ladder.firstUnderEachKey,
            epoch: model.epoch
        )
        return (evidence, model)
    }
}

/// Earlier answers.
extension CheckReader {
    /// Returns a view that repeats an answer at once, or by a claim if the answer's delivery failed.
    ///
    /// The claim ensures that only one check gets an answer whose delivery failed.
    private func offer(_ record: ClaimRecord, _ claim: Claim) -> CheckView {
        record.isUndelivered
            ? CheckView(certainChoice: ClickChoice(repeating: claim), reason: .alreadyClaimed)
            : CheckView(replay: claim)
    }

    /// Returns the view of an earlier answer that this check may get, unless there was a click after it.
    ///
    /// This reads only if an answer is possible. So a check after a match takes hardly longer than a check of an
    /// unknown fingerprint, and its response time does not reveal whether there was a match.
    private mutating func repeatableAnswer(
        _ closed: KeySelection.Closed,
        of key: KeyedHash,
        newerThan newest: RowPosition?
    ) throws(Rows.Failure) -> CheckView? {
        if closed.mayBeUndelivered, let record = try rows.undeliveredClaim(of: key, in: scope, at: check.at),
            isLast(record, newest), let claim = try rows.answer(of: record, to: check.app)
        {
            return offer(record, claim)
        }
        guard closed.closedAt >= check.at.milliseconds - check.replayGrace else { return nil }
        return try answerOfCaller(by: key, newerThan: newest)
    }

    /// Returns the view of the answer that the check's caller got within the replay grace, unless there was a click
    /// after it.
    private mutating func answerOfCaller(by key: KeyedHash, newerThan newest: RowPosition?)
        throws(Rows.Failure) -> CheckView?
    {
        guard
            check.installs.isEmpty, check.replayGrace > 0,
            let record = try claimOfCaller(by: key), isLast(record, newest),
            let claim = try rows.answer(of: record, to: check.app),
            wasAnswered(record, of: claim.click.id)
        else { return nil }
        return offer(record, claim)
    }

    /// Returns the newest claim of the check's caller within the replay grace before or after the check.
    ///
    /// A claim can be later than the check if the clock was set back. Without a limit, a leap of the clock would repeat
    /// answers for years.
    private func claimOfCaller(by key: KeyedHash) throws(Rows.Failure) -> ClaimRecord? {
        let (start, end) = (-check.replayGrace, check.replayGrace)
        let times = check.at.advanced(byMilliseconds: start)...check.at.advanced(byMilliseconds: end)
        for caller in check.callers {
            let record = try rows.claim(ofCaller: caller, by: key, in: scope, during: times)
            if let record { return record }
        }
        return nil
    }

    /// Whether a claim came after the newest click.
    ///
    /// If both came in the same millisecond, the click counts as the later one if its number is larger than that of the
    /// claimed click.
    private func isLast(_ record: ClaimRecord, _ newest: RowPosition?) -> Bool {
        guard let newest else { return true }
        return newest <= RowPosition(clickedAt: record.claimedAt.milliseconds, click: record.click)
    }
}

extension ClickChoice {
    /// Creates the choice that repeats an answer.
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
