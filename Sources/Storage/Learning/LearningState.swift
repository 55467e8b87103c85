public import Attribution
internal import Synchronization
internal import Threads

/// The reads for models and summaries.
public protocol LearningReader {
    associatedtype Failure: Error

    /// Returns the epoch of a scope's stored sums; nil if nothing has been learnt.
    func learningEpoch(of scope: Scope) throws(Failure) -> LearningEpoch?
    /// Returns the stored sums of each ``CounterFamily`` that belongs to the model.
    func modelSums(of scope: Scope) throws(Failure) -> [CounterKey: Double]
    /// Calls `body` with the open clicks of a key that are older than `position`: the newest first, and at most
    /// `limit` clicks.
    func openClicks(
        of key: KeySummary.Key,
        before position: RowPosition,
        atMost limit: Int,
        _ body: (IndexRecord) -> Void
    ) throws(Failure)
}

extension LearningReader {
    /// Computes the model of a scope from its stored sums.
    public func model(of scope: Scope, at moment: Timestamp) throws(Failure) -> MatchingModel {
        guard let epoch = try learningEpoch(of: scope) else { return .fresh(at: moment) }
        return MatchingModel(sums: try modelSums(of: scope), epoch: epoch, at: moment)
    }

    /// Computes the summary of a key in one read.
    func summary(of key: KeySummary.Key, at moment: Timestamp) throws(Failure) -> KeySummary? {
        var builder = KeySummary.Builder(at: moment, within: key.window)
        try openClicks(of: key, before: .last, atMost: .max) { builder.add($0) }
        return builder.finished()
    }
}

extension RowPosition {
    /// The position after all clicks.
    static let last = RowPosition(clickedAt: .max, click: .max)
}

/// What a process has learnt from traffic: models, summaries, and increments that are not stored yet.
final class LearningState: Sendable {
    /// Whether checks do the work of the learning jobs, with the time of the check as the current time.
    ///
    /// This is for servers in tests that move the clock. A check then first computes its model or summary if
    /// that is missing or old, and the model learns from every launch.
    let isAtOnce: Bool
    private let otherServers = Atomic(false)
    let sightings = ConditionLock(RecentLaunches())
    private let scopes = ConditionLock<[Scope: ScopeState]>([:])
    private let keys = ConditionLock(Keys())
    private let traffic = ConditionLock<[AddressClickCount.Key: AddressClickCount]>([:])
    private let loops = ConditionLock<[PendingIncrements]>([])
    private let round = ConditionLock(Round())

    /// The values of a scope that are in memory.
    private struct ScopeState {
        /// Nil before the first check of the scope.
        var model: MatchingModel?
        var incrementBasis: IncrementBasis?
        /// The number of live clicks, if it is large.
        var liveClicks: (count: Double, at: Timestamp)?
        /// Whether learnt sums were seen in the database.
        var isStored = false
        /// Whether there was room for more counters in the last round of the learning job.
        var room = LearntSlice.Room()
        /// The number of sums that ``LearningState/takeSlices()`` has returned since the last round.
        var takenCount = 0
    }

    /// The values that a scope's increments depend on: the epoch, and the relative rate of clicks.
    struct IncrementBasis {
        let epoch: LearningEpoch
        var relativeClickRate = 1.0
    }

    /// The increments that the learning job has taken and not written yet; the next element is at the end of each list.
    ///
    /// They are here and not in the job, so that they are written too when the store stops.
    private struct Round {
        /// Increments that are not split yet.
        var increments: [(scope: Scope, increments: LearntIncrements)] = []
        var slices: [LearntSlice] = []
    }

    /// Summaries of large keys, and requests for summaries as of a time.
    private struct Keys {
        var summaries: [KeySummary.Key: KeySummary] = [:]
        var requests: [KeySummary.Key: Timestamp] = [:]
    }

    /// The maximum number of summaries in memory.
    private static let maximumSummaries = 1000
    /// If a scope has this many live clicks, a count that is a second old is exact enough.
    private static let manyLiveClicks = 1000.0
    /// The maximum number of address counts in memory.
    private static let maximumAddresses = 10_000
    /// If a model is this many milliseconds old, by the times of checks, it is computed again.
    private static let refreshMilliseconds: Int64 = 30_000

    init(isAtOnce: Bool) { self.isAtOnce = isAtOnce }

    /// Whether other servers write to the database now.
    var hasOtherServers: Bool {
        get { otherServers.load(ordering: .relaxed) }
        set { otherServers.store(newValue, ordering: .relaxed) }
    }
}

/// Models and their parts.
extension LearningState {
    /// Returns the model of a scope that is in memory.
    func model(of scope: Scope) -> MatchingModel? { scopes.withLock { $0[scope]?.model } }

    /// Whether a scope's model is missing or too old.
    func needsModel(of scope: Scope, at now: Timestamp) -> Bool {
        guard let model = model(of: scope) else { return true }
        let age = now.milliseconds(since: model.at)
        return age >= Self.refreshMilliseconds || age < -Self.refreshMilliseconds
    }

    func model<Reader: LearningReader>(of scope: Scope, at moment: Timestamp, _ reader: Reader)
        throws(Reader.Failure) -> MatchingModel
    {
        if let model = model(of: scope) { return model }
        return try reload(scope, at: moment, reader)
    }

    /// Computes the model from the stored sums, and replaces the one in memory.
    @discardableResult
    func reload<Reader: LearningReader>(_ scope: Scope, at moment: Timestamp, _ reader: Reader)
        throws(Reader.Failure) -> MatchingModel
    {
        if try reader.learningEpoch(of: scope) != nil { noteStored(scope) }
        let model = try reader.model(of: scope, at: moment)
        scopes.withLock { scopes in
            let basis = IncrementBasis(epoch: model.epoch, relativeClickRate: model.relativeClickRate)
            scopes[scope, default: ScopeState()].incrementBasis = basis
            scopes[scope]?.model = model
        }
        return model
    }

    /// Returns the number of a scope's live clicks; a large number may be a second old.
    ///
    /// The database counts live clicks by the second and the hour in which they expire. Adding up these counts takes
    /// longer than reading all other evidence of a launch.
    func liveClicks<Failure>(
        of scope: Scope,
        at moment: Timestamp,
        count: () throws(Failure) -> Int64
    ) throws(Failure) -> Double {
        let known = scopes.withLock { $0[scope]?.liveClicks }
        if let known, abs(moment.milliseconds(since: known.at)) < 1000 { return known.count }
        let count = Double(try count())
        scopes.withLock { scopes in
            let isMany = count >= Self.manyLiveClicks
            guard isMany || scopes[scope] != nil else { return }
            scopes[scope, default: ScopeState()].liveClicks = isMany ? (count, moment) : nil
        }
        return count
    }

    /// The scopes with a model in memory.
    var scopesWithModel: [Scope] { scopes.withLock { $0.filter { $0.value.model != nil }.map(\.key) } }

    /// Drops a scope's model, and its increments that are not stored yet.
    func forget(_ scope: Scope) {
        for pending in loops.withLock({ $0 }) { pending.forget(scope) }
        round.withLock { round in
            round.increments.removeAll { $0.scope == scope }
            round.slices.removeAll { $0.scope == scope }
        }
        scopes.withLock { $0[scope] = nil }
    }

    func noteStored(_ scope: Scope) { scopes.withLock { $0[scope, default: ScopeState()].isStored = true } }

    /// Whether learnt sums of a scope were seen in the database; if they are gone, another process has reset them.
    func wasStored(_ scope: Scope) -> Bool { scopes.withLock { $0[scope]?.isStored ?? false } }

    /// Returns the epoch and the click rate for a scope's increments; if the scope's model is in memory, they
    /// are the model's.
    func incrementBasis(of scope: Scope, at moment: Timestamp) -> IncrementBasis {
        scopes.withLock { scopes in
            if let basis = scopes[scope]?.incrementBasis { return basis }
            let basis = IncrementBasis(epoch: LearningEpoch(began: moment))
            scopes[scope, default: ScopeState()].incrementBasis = basis
            return basis
        }
    }
}

/// Summaries of large keys and counts of addresses with much traffic.
extension LearningState {
    func summary(of key: KeySummary.Key, at moment: Timestamp) -> KeySummary? {
        let summary = keys.withLock { $0.summaries[key] }
        return summary?.isExpired(at: moment) == false ? summary : nil
    }

    /// - Parameters:
    ///   - summary: nil if the key now has so few clicks that all of them are listed.
    ///   - key: the key whose clicks are added up.
    func publish(_ summary: KeySummary?, of key: KeySummary.Key) {
        keys.withLock { keys in
            if keys.summaries.count >= Self.maximumSummaries, keys.summaries[key] == nil {
                keys.summaries = [:]
            }
            keys.summaries[key] = summary
        }
    }

    /// Requests a summary of a key, as of a time.
    func requestSummary(of key: KeySummary.Key, at moment: Timestamp) {
        keys.withLock { keys in
            guard keys.requests.count < Self.maximumSummaries || keys.requests[key] != nil else { return }
            keys.requests[key] = moment
        }
    }

    func takeSummaryRequests() -> [KeySummary.Key: Timestamp] {
        keys.withLock { keys in
            defer { keys.requests = [:] }
            return keys.requests
        }
    }

    /// Returns the number of clicks around an address with much traffic; nil if it is unknown or too old.
    func clickCount(_ key: AddressClickCount.Key, at moment: Timestamp) -> AddressClickCount? {
        let known = traffic.withLock { $0[key] }
        return known?.isOld(at: moment) == false ? known : nil
    }

    func publish(_ count: AddressClickCount, of key: AddressClickCount.Key) {
        traffic.withLock { traffic in
            if traffic.count >= Self.maximumAddresses, traffic[key] == nil { traffic = [:] }
            traffic[key] = count
        }
    }
}

/// The increments of the loops.
extension LearningState {
    /// Creates the increments of a new loop.
    func makePendingIncrements() -> PendingIncrements {
        let pending = PendingIncrements()
        loops.withLock { $0.append(pending) }
        return pending
    }

    /// Removes and returns the increments of all loops.
    private func drain() -> [(scope: Scope, increments: LearntIncrements)] {
        var all: [(scope: Scope, increments: LearntIncrements)] = []
        for pending in loops.withLock({ $0 }) {
            for (scope, increments) in pending.drain() {
                let same = all.firstIndex { $0.scope == scope && $0.increments.epoch == increments.epoch }
                guard let same else {
                    all.append((scope, increments))
                    continue
                }
                all[same].increments.merge(increments)
            }
        }
        return all
    }

    /// Removes all increments that are not stored yet, and returns them as slices.
    ///
    /// Callers store the slices when the store stops, and before a search for a person's data. If checks do the
    /// work of the learning jobs, callers also store the slices before a model is computed.
    func takeSlices() -> [LearntSlice] {
        let left = round.withLock { round in
            defer { round = Round() }
            return round
        }
        let rooms = scopes.withLock { $0.mapValues(\.room) }
        var slices = left.slices
        for (scope, increments) in left.increments + drain() {
            let room = rooms[scope] ?? LearntSlice.Room()
            slices += LearntSlice.slices(scope, increments, atMost: LearntSlice.maximumLength, room)
        }
        let counts = slices.map { (scope: $0.scope, count: $0.sums.count) }
        scopes.withLock { scopes in
            for (scope, count) in counts { scopes[scope, default: ScopeState()].takenCount += count }
        }
        return slices
    }

    /// Returns the number of a scope's sums that ``takeSlices()`` has returned since the last call.
    ///
    /// Without it, the learning job would not notice that these sums have filled the room for counters.
    func takeTakenCount(of scope: Scope) -> Int {
        scopes.withLock { scopes in
            defer { scopes[scope]?.takenCount = 0 }
            return scopes[scope]?.takenCount ?? 0
        }
    }
}

/// The rounds of the learning job.
extension LearningState {
    /// Moves the increments of all loops to a new round.
    func beginRound() {
        let drained = drain()
        round.withLock { $0.increments += drained }
    }

    /// The scope of the increments to split next; nil if all are split.
    var nextScopeOfRound: Scope? { round.withLock { $0.increments.last?.scope } }

    /// Splits a scope's increments into slices of at most `length` sums.
    func splitRound(_ scope: Scope, atMost length: Int, _ room: LearntSlice.Room) {
        scopes.withLock { $0[scope, default: ScopeState()].room = room }
        round.withLock { round in
            // Meanwhile the model may have been reset, or the store may have stopped.
            guard let (next, increments) = round.increments.last, next == scope else { return }
            round.increments.removeLast()
            round.slices += LearntSlice.slices(scope, increments, atMost: length, room).reversed()
        }
    }

    /// Removes and returns the slice to write next.
    func nextSlice() -> LearntSlice? { round.withLock { $0.slices.popLast() } }

    /// Whether nothing of the round is left to split or write.
    var hasStoredRound: Bool { round.withLock { $0.increments.isEmpty && $0.slices.isEmpty } }

    func dropRound() { round.withLock { $0 = Round() } }
}

/// The increments of one loop that are not stored yet.
final class PendingIncrements: Sendable {
    private struct Content {
        var increments: [Scope: LearntIncrements] = [:]
        /// The number of calls of ``drain()``.
        ///
        /// In a flood of keys, the increments drop some keys. This number decides which, so that each time others are
        /// dropped.
        var turn: UInt64 = 0
    }
    private let content = ConditionLock(Content())

    func update(
        _ scope: Scope,
        _ epoch: @autoclosure () -> LearningEpoch,
        _ body: (inout LearntIncrements) -> Void
    ) {
        content.withLock { content in
            if content.increments[scope] == nil {
                content.increments[scope] = LearntIncrements(epoch: epoch(), turn: content.turn)
            }
            // The value is removed first, so that it is changed in place and not copied.
            guard var increments = content.increments.removeValue(forKey: scope) else { return }
            body(&increments)
            content.increments[scope] = increments
        }
    }

    func forget(_ scope: Scope) { content.withLock { $0.increments[scope] = nil } }

    func drain() -> [Scope: LearntIncrements] {
        content.withLock { content in
            defer { content = Content(turn: content.turn &+ 1) }
            return content.increments
        }
    }
}
