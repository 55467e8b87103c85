internal import Attribution
internal import SQLite
internal import Storage
internal import Synchronization
internal import Threads

/// What the loops, the writer and the learning thread of one store know of what traffic has taught.
final class LearningState: Sendable {
    /// Everything is learnt and summed up before the next check is answered, by the checks' own time: for servers
    /// with a clock that tests move.
    let isAtOnce: Bool
    let sightings = ConditionLock(RecentLaunches())
    private let models = ConditionLock<[Scope: MatchingModel]>([:])
    private let summaries = ConditionLock<[KeySummary.Key: KeySummary]>([:])
    private let hot = ConditionLock<[KeySummary.Key: Timestamp]>([:])
    private let crowds = ConditionLock<[AddressClickCount.Key: AddressClickCount]>([:])
    private let presents = ConditionLock<[Scope: Present]>([:])
    private let liveClicks = ConditionLock<[Scope: (count: Double, at: Timestamp)]>([:])
    private let gatherings = ConditionLock<[PendingIncrements]>([])
    /// Scopes of which the database holds, or held, something learnt.
    private let stored = ConditionLock<Set<Scope>>([])

    /// What a scope's increments are relative to, and how busy it is.
    struct Present: Sendable {
        let epoch: LearningEpoch
        var relativeClickRate = 1.0
    }

    /// Keys of which summaries are kept, at most.
    private static let mostSummaries = 1000
    /// Live clicks of which a second's more or less make no difference.
    private static let manyLiveClicks = 1000.0
    /// Crowded addresses whose counts are kept, at most.
    private static let mostCrowds = 10_000
    /// After how much time of the checks a model is made anew, in milliseconds.
    static let refreshMilliseconds: Int64 = 30_000

    init(isAtOnce: Bool) {
        self.isAtOnce = isAtOnce
    }

    /// What is known without a look into the database.
    func model(of scope: Scope) -> MatchingModel? {
        models.withLock { $0[scope] }
    }

    func model(of scope: Scope, at moment: Timestamp, by reader: SQLiteReader) throws(SQLiteError)
        -> MatchingModel
    {
        if let model = model(of: scope) { return model }
        return try reload(scope, at: moment, by: reader)
    }

    @discardableResult
    func reload(_ scope: Scope, at moment: Timestamp, by reader: SQLiteReader) throws(SQLiteError)
        -> MatchingModel
    {
        if try reader.learningEpoch(of: scope) != nil { noteStored(scope) }
        let model = try reader.model(of: scope, at: moment)
        models.withLock { $0[scope] = model }
        presents.withLock {
            $0[scope] = Present(epoch: model.epoch, relativeClickRate: model.relativeClickRate)
        }
        return model
    }

    /// Live clicks of a scope, as of a second ago at most where they are many.
    ///
    /// Summing up the seconds and hours in which they expire would cost more than all else that a launch is weighed by.
    func liveClicks(of scope: Scope, at moment: Timestamp, by reader: SQLiteReader) throws(SQLiteError)
        -> Double
    {
        if let known = liveClicks.withLock({ $0[scope] }), abs(moment.milliseconds(since: known.at)) < 1000 {
            return known.count
        }
        let count = Double(try reader.liveClickCount(of: scope, at: moment))
        liveClicks.withLock { $0[scope] = count >= Self.manyLiveClicks ? (count, moment) : nil }
        return count
    }

    /// The scopes whose models somebody has asked for.
    var scopes: [Scope] { models.withLock { Array($0.keys) } }

    /// Drops what was learnt of a scope and is not stored yet.
    func forget(_ scope: Scope) {
        for notes in gatherings.withLock({ $0 }) { notes.forget(scope) }
        models.withLock { $0[scope] = nil }
        presents.withLock { $0[scope] = nil }
        stored.withLock { _ = $0.remove(scope) }
    }

    func noteStored(_ scope: Scope) {
        stored.withLock { _ = $0.insert(scope) }
    }

    /// Whether what was learnt of a scope was seen in the database: where it is there no more, somebody has reset it.
    func wasStored(_ scope: Scope) -> Bool {
        stored.withLock { $0.contains(scope) }
    }

    func summary(of key: KeySummary.Key, at moment: Timestamp) -> KeySummary? {
        let summary = summaries.withLock { $0[key] }
        return summary?.isExpired(at: moment) == false ? summary : nil
    }

    /// Nil where the key has so few clicks by now that all of them are told.
    func publish(_ summary: KeySummary?, of key: KeySummary.Key) {
        summaries.withLock { summaries in
            if summaries.count >= Self.mostSummaries, summaries[key] == nil { summaries = [:] }
            summaries[key] = summary
        }
    }

    /// How many clicks came from an address with much traffic; nil where that is not known, or was counted too long ago.
    func clickCount(_ key: AddressClickCount.Key, at moment: Timestamp) -> AddressClickCount? {
        let known = crowds.withLock { $0[key] }
        return known?.isOld(at: moment) == false ? known : nil
    }

    func publish(_ count: AddressClickCount, of key: AddressClickCount.Key) {
        crowds.withLock { crowds in
            if crowds.count >= Self.mostCrowds, crowds[key] == nil { crowds = [:] }
            crowds[key] = count
        }
    }

    /// Asks for a summary of a key, as of a moment.
    func noteHot(_ key: KeySummary.Key, at moment: Timestamp) {
        hot.withLock { if $0.count < Self.mostSummaries || $0[key] != nil { $0[key] = moment } }
    }

    func takeHot() -> [KeySummary.Key: Timestamp] {
        hot.withLock { hot in
            defer { hot = [:] }
            return hot
        }
    }

    /// Where a new loop gathers what it learns.
    func makeNotes() -> PendingIncrements {
        let notes = PendingIncrements()
        gatherings.withLock { $0.append(notes) }
        return notes
    }

    /// Takes away what all loops have gathered.
    func drain() -> [(scope: Scope, increments: LearntIncrements)] {
        var all: [(scope: Scope, increments: LearntIncrements)] = []
        for notes in gatherings.withLock({ $0 }) {
            for (scope, increments) in notes.drain() {
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

    /// What a scope's increments are relative to: to what its stored sums are, as far as that is known.
    func epoch(of scope: Scope, at moment: Timestamp) -> LearningEpoch {
        present(of: scope, at: moment).epoch
    }

    func present(of scope: Scope, at moment: Timestamp) -> Present {
        presents.withLock { presents in
            if let present = presents[scope] { return present }
            let present = Present(epoch: LearningEpoch(began: moment))
            presents[scope] = present
            return present
        }
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
