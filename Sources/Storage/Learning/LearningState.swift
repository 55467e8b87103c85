public import Attribution
internal import Threads

/// What the loops, the writer and the jobs of one store know of what traffic has taught.
public final class LearningState: Sendable {
    /// Everything is learnt and summed up before the next check is answered, by the checks' own time: for servers
    /// with a clock that tests move.
    public let isAtOnce: Bool
    let sightings = ConditionLock(RecentLaunches())
    private let scopes = ConditionLock<[Scope: ScopeState]>([:])
    private let keys = ConditionLock(Keys())
    private let traffic = ConditionLock<[AddressClickCount.Key: AddressClickCount]>([:])
    private let loops = ConditionLock<[PendingIncrements]>([])

    /// What is known of a scope.
    private struct ScopeState {
        /// Nil before the first check that asks for it.
        var model: MatchingModel?
        var present: Present?
        /// Where they are many.
        var liveClicks: (count: Double, at: Timestamp)?
        /// Whether the database holds, or held, something learnt.
        var isStored = false
    }

    /// What a scope's increments are relative to, and how busy it is.
    struct Present {
        let epoch: LearningEpoch
        var relativeClickRate = 1.0
    }

    /// Summaries of large keys, and those that are asked for, as of a moment.
    private struct Keys {
        var summaries: [KeySummary.Key: KeySummary] = [:]
        var requests: [KeySummary.Key: Timestamp] = [:]
    }

    /// Keys of which summaries are kept, at most.
    private static let maximumSummaries = 1000
    /// Live clicks of which a second's more or less make no difference.
    private static let manyLiveClicks = 1000.0
    /// Addresses with much traffic whose counts are kept, at most.
    private static let maximumAddresses = 10_000
    /// After how much time of the checks a model is made anew, in milliseconds.
    public static let refreshMilliseconds: Int64 = 30_000

    public init(isAtOnce: Bool) {
        self.isAtOnce = isAtOnce
    }
}

/// Models, and what they are made of.
extension LearningState {
    /// What is known without a look into the database.
    public func model(of scope: Scope) -> MatchingModel? {
        scopes.withLock { $0[scope]?.model }
    }

    public func model<Reader: JobReader>(of scope: Scope, at moment: Timestamp, _ reader: Reader)
        throws(Reader.Failure) -> MatchingModel
    {
        if let model = model(of: scope) { return model }
        return try reload(scope, at: moment, reader)
    }

    /// Makes the model anew from what is stored.
    @discardableResult
    public func reload<Reader: JobReader>(_ scope: Scope, at moment: Timestamp, _ reader: Reader)
        throws(Reader.Failure) -> MatchingModel
    {
        if try reader.learningEpoch(of: scope) != nil { noteStored(scope) }
        let model = try reader.model(of: scope, at: moment)
        scopes.withLock { scopes in
            let present = Present(epoch: model.epoch, relativeClickRate: model.relativeClickRate)
            scopes[scope, default: ScopeState()].present = present
            scopes[scope]?.model = model
        }
        return model
    }

    /// Live clicks of a scope, as of a second ago at most where they are many.
    ///
    /// Summing up the seconds and hours in which they expire would cost more than all else that a launch is weighed by.
    public func liveClicks<Failure>(
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

    /// The scopes whose models were asked for.
    var scopesWithModel: [Scope] { scopes.withLock { $0.filter { $0.value.model != nil }.map(\.key) } }

    /// Drops what was learnt of a scope and is not stored yet.
    public func forget(_ scope: Scope) {
        for pending in loops.withLock({ $0 }) { pending.forget(scope) }
        scopes.withLock { $0[scope] = nil }
    }

    public func noteStored(_ scope: Scope) {
        scopes.withLock { $0[scope, default: ScopeState()].isStored = true }
    }

    /// Whether what was learnt of a scope was seen in the database: where it is there no more, another process has
    /// reset it.
    public func wasStored(_ scope: Scope) -> Bool {
        scopes.withLock { $0[scope]?.isStored ?? false }
    }

    /// What a scope's increments are relative to: to what its stored sums are, as far as that is known.
    func present(of scope: Scope, at moment: Timestamp) -> Present {
        scopes.withLock { scopes in
            if let present = scopes[scope]?.present { return present }
            let present = Present(epoch: LearningEpoch(began: moment))
            scopes[scope, default: ScopeState()].present = present
            return present
        }
    }
}

/// Summaries of large keys and counts of addresses with much traffic.
extension LearningState {
    public func summary(of key: KeySummary.Key, at moment: Timestamp) -> KeySummary? {
        let summary = keys.withLock { $0.summaries[key] }
        return summary?.isExpired(at: moment) == false ? summary : nil
    }

    /// - Parameters:
    ///   - summary: nil where the key has so few clicks by now that all of them are listed.
    ///   - key: the key that it sums up.
    public func publish(_ summary: KeySummary?, of key: KeySummary.Key) {
        keys.withLock { keys in
            if keys.summaries.count >= Self.maximumSummaries, keys.summaries[key] == nil {
                keys.summaries = [:]
            }
            keys.summaries[key] = summary
        }
    }

    /// Asks for a summary of a key, as of a moment.
    public func requestSummary(of key: KeySummary.Key, at moment: Timestamp) {
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

    /// How many clicks came from an address with much traffic; nil where that is not known, or was counted too long ago.
    public func clickCount(_ key: AddressClickCount.Key, at moment: Timestamp) -> AddressClickCount? {
        let known = traffic.withLock { $0[key] }
        return known?.isOld(at: moment) == false ? known : nil
    }

    public func publish(_ count: AddressClickCount, of key: AddressClickCount.Key) {
        traffic.withLock { traffic in
            if traffic.count >= Self.maximumAddresses, traffic[key] == nil { traffic = [:] }
            traffic[key] = count
        }
    }
}

/// What the loops gather.
extension LearningState {
    /// Where a new loop gathers what it learns.
    func makePendingIncrements() -> PendingIncrements {
        let pending = PendingIncrements()
        loops.withLock { $0.append(pending) }
        return pending
    }

    /// Takes away what all loops have gathered.
    func drain() -> [(scope: Scope, increments: LearntIncrements)] {
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

    /// Takes away what all loops have gathered, to be written all at once: for the end, and for servers that learn at
    /// once.
    public func takeSlices() -> [LearntSlice] {
        drain().flatMap { LearntSlice.slices($0.scope, $0.increments) }
    }
}

/// What one loop has gathered to be learnt.
final class PendingIncrements: Sendable {
    private let content = ConditionLock<[Scope: LearntIncrements]>([:])

    func update(
        _ scope: Scope,
        _ epoch: @autoclosure () -> LearningEpoch,
        _ body: (inout LearntIncrements) -> Void
    ) {
        content.withLock { content in
            if content[scope] == nil { content[scope] = LearntIncrements(epoch: epoch()) }
            // Taken out, so that it is changed in place.
            guard var increments = content.removeValue(forKey: scope) else { return }
            body(&increments)
            content[scope] = increments
        }
    }

    func forget(_ scope: Scope) {
        content.withLock { $0[scope] = nil }
    }

    func drain() -> [Scope: LearntIncrements] {
        content.withLock { content in
            defer { content = [:] }
            return content
        }
    }
}
