public import Attribution

/// Why a run over a ``RowCache`` ended early.
public enum RowCacheFailure: Error {
    /// A row that the run needs is missing. Its question is in ``RowCache/missing``, so the run is void.
    case missing
    case store(StoreError)
}

/// The rows that one check, or one other read of an event loop, has fetched from a database that answers after a while.
///
/// A run reads rows by questions. If the rows of a question are not in memory, the cache returns nothing and adds the
/// question to ``missing``. Then the run is *void*: its results are dropped, the rows of all missing questions are
/// fetched together, and the run starts again. So a run takes one trip for its first rows, and another one whenever
/// fetched rows name further rows. Only the code of the run knows which rows it needs.
///
/// **Storage remembers nothing from a void run.** The results of a void run may be wrong, so they must not
/// reach memory that outlives the run, and no answer may be sent. Therefore the reads whose results are kept
/// throw ``RowCacheFailure/missing`` instead of returning nothing. They read the learning epoch, the sums of
/// a model, the count around an address, and the clicks of a summary. ``liveClickCount(of:at:)`` may return
/// 0: only large counts are kept, and if the 0 replaces a kept count, the count is read again. A void run may
/// request rows or a summary that turn out not to be needed.
///
/// Only the loop's thread uses it.
public final class RowCache: LoopRows, LinkRows {
    public typealias Failure = RowCacheFailure

    private enum Entry {
        case missing
        case answered(RowAnswer)
        /// The database did not answer the question; the read fails, so that the question is not asked forever.
        case unanswered
    }

    private var entries: [RowQuestion: Entry] = [:]
    /// The questions without an answer since the last ``fill(_:)``, each once.
    public private(set) var missing: [RowQuestion] = []
    /// The number of calls of ``fill(_:)``.
    public private(set) var tripCount = 0
    /// The closed rows of the fetched keys.
    private var closedRows: [[KeyRows.Closed]] = []
    /// The identifiers of the links of fetched clicks, by the links' numbers.
    private var linkIDs: [Int64: LinkID] = [:]
    /// The contents that came with links, by the links' numbers.
    private var contents: [Int64: LinkContents] = [:]

    public init() {}

    public var isVoid: Bool { !missing.isEmpty }

    public static func translated(_ failure: RowCacheFailure) -> EngineFailure {
        let error =
            switch failure {
            case .store(let error): error
            case .missing: StoreError(.defect, "a read ended although no row was missing")
            }
        return EngineFailure(error, endsBatch: true, endsConnection: false)
    }

    /// Adds the answers to the questions in ``missing``, so that the read can run again.
    ///
    /// - Parameter answers: an answer to each of these questions; answers to others are left out.
    public func fill(_ answers: [RowQuestion: RowAnswer]) {
        tripCount += 1
        for question in missing {
            if let answer = answers[question] {
                add(answer, to: question)
            } else {
                entries[question] = .unanswered
            }
        }
        missing = []
    }

    /// Adds the answer to a question that may be asked later.
    public func add(_ answer: RowAnswer, to question: RowQuestion) {
        entries[question] = .answered(answer)
        switch answer {
        case .key(let rows) where !rows.closed.isEmpty: closedRows.append(rows.closed)
        case .home(let home): if let number = home.click.link { linkIDs[number] = home.link }
        case .links(_, let more): contents.merge(more) { $1 }
        default: break
        }
    }

    /// Returns the answer to a question; if it has not been fetched, returns nil and adds the question to ``missing``.
    private func answer(to question: RowQuestion) throws(RowCacheFailure) -> RowAnswer? {
        switch entries[question] {
        case .answered(let answer): return answer
        case .missing: return nil
        case .unanswered: throw .store(StoreError(.defect, "the database did not answer a read"))
        case nil:
            entries[question] = .missing
            missing.append(question)
            return nil
        }
    }

    /// Returns the answer to a question without which the run cannot continue.
    private func requiredAnswer(to question: RowQuestion) throws(RowCacheFailure) -> RowAnswer {
        guard let answer = try answer(to: question) else { throw .missing }
        return answer
    }

    private static let mismatch = RowCacheFailure.store(
        StoreError(.defect, "a read was answered with rows of another kind")
    )
}

/// Clicks and claims.
extension RowCache {
    private func home(_ number: Int64) throws(RowCacheFailure) -> ClickHome? {
        switch try answer(to: .home(number)) {
        case .home(let home): return home
        case .nothing, nil: return nil
        default: throw Self.mismatch
        }
    }

    public func click(numbered number: Int64) throws(RowCacheFailure) -> ClickRecord? {
        try home(number)?.click
    }

    public func click(_ id: ClickID) throws(RowCacheFailure) -> ClickRecord? {
        let click = try home(Int64(bitPattern: id.high))?.click
        return click?.id == id ? click : nil
    }

    /// Returns the identifier of a link; the identifier came with a click that names the link.
    public func linkID(numbered number: Int64) throws(RowCacheFailure) -> LinkID? { linkIDs[number] }

    public func claim(ofClick number: Int64) throws(RowCacheFailure) -> ClaimRecord? {
        try home(number)?.claim
    }

    public func claimTime(ofClick number: Int64) throws(RowCacheFailure) -> Timestamp? {
        // A row that a caller closed was closed at the time of the claim, so its click need not be fetched.
        for rows in closedRows {
            let claimed = rows.first { $0.position.click == number && $0.caller != nil }
            if let claimed { return Timestamp(milliseconds: claimed.closedAt) }
        }
        return try home(number)?.claim?.claimedAt
    }

    public func claim(ofInstall hash: KeyedHash, in scope: Scope, at now: Timestamp)
        throws(RowCacheFailure) -> ClaimRecord?
    {
        let number: Int64
        switch try answer(to: .install(hash, scope)) {
        case .click(let click): number = click
        case .nothing, nil: return nil
        default: throw Self.mismatch
        }
        guard let home = try home(number), let claim = home.claim, claim.install == hash,
            claim.scope == scope, home.click.expiresAt >= now
        else { return nil }
        return claim
    }

    public func newestClicks(_ query: NewestClicks, atMost count: Int) throws(RowCacheFailure) -> [ClickID] {
        switch try answer(to: .newestClicks(query, atMost: count)) {
        case .clicks(let clicks): return clicks.map { ClickID(high: UInt64(bitPattern: $0), low: 0) }
        case .nothing, nil: return []
        default: throw Self.mismatch
        }
    }
}

/// The rows of a key.
extension RowCache {
    private func rows(of key: KeyedHash, in scope: Scope) throws(RowCacheFailure) -> KeyRows? {
        switch try answer(to: .key(key, scope)) {
        case .key(let rows): return rows
        case .nothing: return KeyRows(closed: [], open: [], isComplete: true)
        case nil: return nil
        default: throw Self.mismatch
        }
    }

    private func open(_ question: RowQuestion) throws(RowCacheFailure) -> [IndexRecord] {
        switch try answer(to: question) {
        case .open(let clicks): return clicks
        case .nothing, nil: return []
        default: throw Self.mismatch
        }
    }

    public func read(_ selection: inout KeySelection, in scope: Scope) throws(RowCacheFailure) {
        guard let rows = try rows(of: selection.key, in: scope) else { return }
        if let last = rows.closed.first {
            let closed = KeySelection.Closed(
                last.position,
                closedAt: last.closedAt,
                reason: last.reason,
                mayBeUndelivered: rows.closed.contains(where: \.isUndelivered)
            )
            selection.add(closed)
        }
        var open = rows.open
        if !rows.isComplete {
            selection.mayHideClosed = true
            // Rows whose window has ended may hide older live ones.
            open = rows.open(and: try self.open(.moreOfKey(selection.key, scope, selection.now)))
        }
        for click in open where !selection.add(click) { break }
    }

    public func openClick(_ position: RowPosition, of key: KeyedHash, in scope: Scope)
        throws(RowCacheFailure) -> IndexRecord?
    {
        if case .answered(.key(let rows)) = entries[.key(key, scope)] {
            if let known = rows.open.first(where: { $0.position == position }) { return known }
            guard !rows.isComplete, !rows.closed.contains(where: { $0.position == position }) else {
                return nil
            }
        }
        return try open(.openClick(position, key, scope)).first
    }

    public func undeliveredClaim(of key: KeyedHash, in scope: Scope, at now: Timestamp)
        throws(RowCacheFailure) -> ClaimRecord?
    {
        for row in try rows(of: key, in: scope)?.closed ?? [] where row.isUndelivered {
            guard let home = try home(row.position.click), let claim = home.claim, claim.isUndelivered,
                claim.hash == key, home.click.expiresAt >= now
            else { continue }
            return claim
        }
        return nil
    }

    public func claim(
        ofCaller caller: KeyedHash,
        by key: KeyedHash,
        in scope: Scope,
        during times: ClosedRange<Timestamp>
    ) throws(RowCacheFailure) -> ClaimRecord? {
        guard let rows = try rows(of: key, in: scope) else { return nil }
        for row in rows.closed
        where row.caller == caller.index && times.contains(Timestamp(milliseconds: row.closedAt)) {
            guard let claim = try home(row.position.click)?.claim, claim.caller == caller else { continue }
            return claim
        }
        // If newer clicks hide the row, the last click that the caller has claimed is still read by itself.
        guard !rows.isComplete, case .click(let number)? = try answer(to: .install(caller, scope)),
            let claim = try home(number)?.claim, claim.caller == caller, times.contains(claim.claimedAt)
        else { return nil }
        return claim
    }

    /// The maximum number of a key's closed rows that are searched for a claim; the row closed last comes first.
    private static let maximumClosed = 512

    public func hasClaim(of key: KeyedHash, in scope: Scope, since click: RowPosition)
        throws(RowCacheFailure) -> Bool
    {
        guard let closed = try rows(of: key, in: scope)?.closed else { return false }
        return closed.prefix(Self.maximumClosed).contains { row in
            row.reason == .alreadyClaimed && row.position.clickedAt >= click.clickedAt
        }
    }
}

/// Addresses, counts and learnt sums.
extension RowCache {
    public func read(_ selection: inout AddressSelection, in scope: Scope) throws(RowCacheFailure) {
        let (address, key) = (selection.address, selection.key)
        switch try answer(to: .around(address.near, scope, at: selection.now)) {
        case .around(let rows):
            for row in rows {
                let (isExact, isOfKey) = (row.exact == address.exact, row.hashes.mayContain(key))
                selection.add(row.position, isExact: isExact, isOfKey: isOfKey)
            }
        case .nothing, nil: break
        default: throw Self.mismatch
        }
    }

    public func read(_ count: inout AddressClickCount.Builder, in scope: Scope) throws(RowCacheFailure) {
        switch try requiredAnswer(to: .countAround(count.address, scope, at: count.now, from: count.first)) {
        case .addressCount(let near, let exact, let oldest):
            count.add(near: near, exact: exact, oldest: oldest)
        case .nothing: break
        default: throw Self.mismatch
        }
    }

    public func liveClickCount(of scope: Scope, at now: Timestamp) throws(RowCacheFailure) -> Int64 {
        switch try answer(to: .liveClicks(scope, second: LiveClicks.second(of: now))) {
        case .count(let count): return count
        case .nothing, nil: return 0
        default: throw Self.mismatch
        }
    }

    public func learntSum(_ family: CounterFamily, _ key: UInt64, in scope: Scope)
        throws(RowCacheFailure) -> Double
    {
        switch try answer(to: .learnt(family, key, scope)) {
        case .sum(let sum): return sum
        case .nothing, nil: return 0
        default: throw Self.mismatch
        }
    }

    public func learningEpoch(of scope: Scope) throws(RowCacheFailure) -> LearningEpoch? {
        switch try requiredAnswer(to: .model(scope)) {
        case .model(let epoch, _): return epoch
        case .nothing: return nil
        default: throw Self.mismatch
        }
    }

    public func modelSums(of scope: Scope) throws(RowCacheFailure) -> [CounterKey: Double] {
        switch try requiredAnswer(to: .model(scope)) {
        case .model(_, let sums): return sums
        case .nothing: return [:]
        default: throw Self.mismatch
        }
    }

    public func openClicks(
        of key: KeySummary.Key,
        before position: RowPosition,
        atMost limit: Int,
        _ body: (IndexRecord) -> Void
    ) throws(RowCacheFailure) {
        switch try requiredAnswer(to: .openClicks(key.fingerprint, key.scope)) {
        case .open(let clicks): clicks.filter { $0.position < position }.prefix(limit).forEach(body)
        case .nothing: break
        default: throw Self.mismatch
        }
    }
}

/// Links.
extension RowCache {
    private func storedLinks(_ question: RowQuestion) throws(RowCacheFailure) -> [StoredLink] {
        switch try answer(to: question) {
        case .links(let links, _): return links
        case .nothing, nil: return []
        default: throw Self.mismatch
        }
    }

    public func link(_ id: LinkID) throws(RowCacheFailure) -> StoredLink? {
        try storedLinks(.linkByID(id)).first
    }

    public func links(withSlug slug: LinkSlug) throws(RowCacheFailure) -> [StoredLink] {
        try storedLinks(.link(slug))
    }

    public func liveLinks(ofCampaign key: CampaignKey, at now: Timestamp)
        throws(RowCacheFailure) -> [StoredLink]
    { try storedLinks(.linksOfCampaign(key, at: now)) }

    private func contents(ofLink number: Int64) throws(RowCacheFailure) -> LinkContents? {
        if let known = contents[number] { return known }
        switch try answer(to: .linkContents(number)) {
        case .contents(let contents): return contents
        case .nothing, nil: return nil
        default: throw Self.mismatch
        }
    }

    public func fields(ofLink number: Int64, _ body: (_ name: String, _ text: String) -> Void)
        throws(RowCacheFailure)
    { for field in try contents(ofLink: number)?.fields ?? [] { body(field.name, field.text) } }

    public func counts(ofLink number: Int64) throws(RowCacheFailure) -> [String: LinkCounts] {
        try contents(ofLink: number)?.counts ?? [:]
    }
}
