public import Attribution

/// Stores every few seconds what the loops have learnt, then computes the models again.
public struct LearningJob<Reader: JobReader>: Job {
    public let name = JobName.learning
    public let share = 0.2

    private let context: JobContext<Reader>
    private var learnt: LearningState { context.state.learnt }
    /// The scopes whose models are not computed yet in the current round; the next one is at the end.
    private var scopes: [Scope] = []
    private var tallies: [Scope: CounterTally] = [:]

    /// The pause between two rounds, in nanoseconds.
    private static var interval: UInt64 { 5_000_000_000 }
    /// If a scope has this many counters of systems, or this many of signals, neither new systems nor new
    /// signals get counters.
    private static var maximumMarks: Int { 4000 }

    public init(_ context: JobContext<Reader>) { self.context = context }

    public mutating func slice(at moment: UInt64) throws(StoreError) -> Due {
        do throws(StoreError) {
            try runStep(at: moment)
        } catch {
            // The round is dropped, so that increments do not accumulate while the database cannot be written.
            learnt.dropRound()
            scopes = []
            throw error
        }
        return scopes.isEmpty && learnt.hasStoredRound ? .after(Self.interval) : .more
    }

    private mutating func runStep(at moment: UInt64) throws(StoreError) {
        if let slice = learnt.nextSlice() {
            try context.queue.perform(.learning(.add([slice])))
            tallies[slice.scope, default: CounterTally()].add(slice.sums.count)
        } else if let scope = learnt.nextScopeOfRound {
            let length = context.state.configuration.learntSumsAtOnce
            learnt.splitRound(scope, atMost: length, try room(in: scope, at: moment))
        } else if let scope = scopes.popLast() {
            try reload(scope)
        } else {
            learnt.beginRound()
            scopes = learnt.scopesWithModel
        }
    }

    private mutating func room(in scope: Scope, at moment: UInt64) throws(StoreError) -> LearntSlice.Room {
        var (room, tally) = (LearntSlice.Room(), tallies[scope] ?? CounterTally())
        tally.add(learnt.takeTakenCount(of: scope))
        if tally.mustCount(at: moment) { tally.set(try count(of: scope, nil), at: moment) }
        tallies[scope] = tally
        room.forKeys = tally.hasRoom
        for family in CounterFamily.openEndedModelFamilies
        where try count(of: scope, family) >= Self.maximumMarks { room.forMarks = false }
        return room
    }

    private func count(of scope: Scope, _ family: CounterFamily?) throws(StoreError) -> Int {
        try context.read { reader throws(Reader.Failure) in try reader.learntCounterCount(of: scope, family) }
    }

    private func reload(_ scope: Scope) throws(StoreError) {
        let now = context.clock.now
        let model = try context.read { reader throws(Reader.Failure) in
            try learnt.reload(scope, at: now, reader)
        }
        // If the clock started in the past and is not set yet, the start of learning only seems to be in the future.
        guard model.epoch.began > now, let settled = context.settledNow() else { return }
        try context.queue.perform(.learning(.beginEarlier(scope, at: settled)))
    }
}

/// The largest possible number of a scope's counters: their number at the last count, plus each sum that this process
/// has written since.
public struct CounterTally: Sendable {
    /// If a scope has this many counters, new fingerprints and addresses get no counters.
    public static let maximum = 2_000_000
    /// The pause between two counts of a full scope, in nanoseconds: a count reads all its counters.
    private static let interval: UInt64 = 60_000_000_000

    private var count = Self.maximum
    private var countedAt: UInt64?

    /// Creates the tally of a scope whose counters are not counted yet.
    public init() {}

    /// Whether new fingerprints and addresses get counters.
    public var hasRoom: Bool { count < Self.maximum }

    /// Adds written sums, each of which may be a new counter.
    public mutating func add(_ sums: Int) { count += sums }

    /// Returns whether to count the counters: the scope seems to be full, and was not counted in the last minute.
    public func mustCount(at moment: UInt64) -> Bool {
        !hasRoom && (countedAt.map { moment >= $0 + Self.interval } ?? true)
    }

    /// Stores the number of counters that was found at a time.
    public mutating func set(_ count: Int, at moment: UInt64) { (self.count, countedAt) = (count, moment) }
}

/// A part of what the loops have learnt of a scope, small enough for one write.
public struct LearntSlice: Sendable {
    public let scope: Scope
    let epoch: LearningEpoch
    let sums: [(key: CounterKey, sum: Double)]
    /// Whether new counters may be created.
    let room: Room

    /// Whether there is room for more counters.
    struct Room: Sendable {
        /// For counters of fingerprints and addresses.
        var forKeys = true
        /// For counters of systems and signals.
        var forMarks = true

        /// Whether there is room for more counters of a family.
        func holds(_ family: CounterFamily) -> Bool {
            guard family.isOpenEnded else { return true }
            return family.belongsToModel ? forMarks : forKeys
        }
    }

    /// The maximum number of sums in one write.
    static let maximumLength = 400

    /// Splits the increments of a scope into slices of at most `length` sums.
    static func slices(
        _ scope: Scope,
        _ increments: LearntIncrements,
        atMost length: Int,
        _ room: Room = Room()
    ) -> [LearntSlice] {
        // The sums are in the order of the table, so that neighbours share pages.
        let sums = increments.sums.map { ($0.key, $0.value) }.sorted {
            ($0.0.family.rawValue, Int64(bitPattern: $0.0.key))
                < ($1.0.family.rawValue, Int64(bitPattern: $1.0.key))
        }
        return stride(from: 0, to: sums.count, by: length).map { start in
            let part = Array(sums[start..<min(start + length, sums.count)])
            return LearntSlice(scope: scope, epoch: increments.epoch, sums: part, room: room)
        }
    }
}

/// Computes the summaries that checks request for large keys (hashes with too many live clicks to list).
struct SummaryJob<Reader: JobReader>: Job {
    let name = JobName.summaries
    /// Leaves most of a core to requests.
    let share = 0.2

    private let context: JobContext<Reader>
    private var learnt: LearningState { context.state.learnt }
    private var waiting: [(key: KeySummary.Key, at: Timestamp)] = []
    private var current: Summing?

    /// A summary for which some clicks have been read.
    private struct Summing {
        let key: KeySummary.Key
        var builder: KeySummary.Builder
        /// The last click that was read.
        var position = RowPosition.last
    }

    /// The number of rows in one slice.
    private static var sliceLength: Int { 4000 }

    init(_ context: JobContext<Reader>) { self.context = context }

    mutating func slice(at _: UInt64) throws(StoreError) -> Due {
        guard var summing = current ?? next() else { return .whenAsked }
        // If the property kept its value, the first change of `summing` would copy the value, which may be large.
        // After a failure, checks request the summary again.
        current = nil
        var count = 0
        try context.read { reader throws(Reader.Failure) in
            let (key, position) = (summing.key, summing.position)
            try reader.openClicks(of: key, before: position, atMost: Self.sliceLength) { click in
                count += 1
                summing.builder.add(click)
                summing.position = click.position
            }
        }
        if count < Self.sliceLength {
            learnt.publish(summing.builder.finished(), of: summing.key)
        } else {
            current = summing
        }
        return .more
    }

    private mutating func next() -> Summing? {
        if waiting.isEmpty {
            // A check may have requested a summary that was computed meanwhile; such requests are dropped.
            waiting = learnt.takeSummaryRequests().map { (key: $0.key, at: $0.value) }
                .filter { learnt.summary(of: $0.key, at: $0.at)?.isOld(at: $0.at) ?? true }
        }
        return waiting.popLast().map { key, now in
            Summing(key: key, builder: KeySummary.Builder(at: now, within: key.window))
        }
    }
}

/// Deletes counters that have faded (decayed to almost nothing), once an hour.
public struct FadingJob<Reader: JobReader>: Job {
    public let name = JobName.fading
    public let share = 1.0 / 9

    private let context: JobContext<Reader>
    private var learnt: LearningState { context.state.learnt }
    /// The remaining steps of the current round; the next step is at the end.
    private var steps: [Step] = []

    private enum Step {
        /// Moves a scope's landmark (the time that its sums are relative to) if it is too old, and adds the scope's
        /// other steps.
        case begin(Scope)
        /// Deletes sums learnt while the clock was years ahead, because they would outweigh everything learnt now.
        case forget(Scope)
        case fade(Scope, CounterFamily, after: Int64)
        case keepLargest(Scope, CounterFamily)
    }

    private static var interval: UInt64 { 3_600_000_000_000 }
    /// The pause while the clock is not settled, in nanoseconds.
    private static var clockInterval: UInt64 { 5_000_000_000 }
    /// The maximum number of counters in one step.
    private static var limit: Int { 1000 }
    /// The maximum number of a scope's counters in each family of systems or signals; only the largest remain.
    private static var keptMarks: Int { 1000 }

    public init(_ context: JobContext<Reader>) { self.context = context }

    public mutating func slice(at _: UInt64) throws(StoreError) -> Due {
        guard let now = context.clock.settledNow() else { return .after(Self.clockInterval) }
        if let step = steps.popLast() {
            try perform(step, at: now)
        } else {
            let scopes = try context.read { reader throws(Reader.Failure) in try reader.learntScopes() }
            steps = scopes.map { .begin($0) }
        }
        return steps.isEmpty ? .after(Self.interval) : .more
    }

    private mutating func perform(_ step: Step, at now: Timestamp) throws(StoreError) {
        switch step {
        case .begin(let scope):
            for family in CounterFamily.openEndedModelFamilies { steps.append(.keepLargest(scope, family)) }
            for family in CounterFamily.allCases.reversed() {
                steps.append(.fade(scope, family, after: .min))
            }
            try moveLandmark(of: scope, at: now)
        case .forget(let scope):
            learnt.forget(scope)
            let isMore = try write(.forget(scope, limit: Self.limit))
            if case .flag(true) = isMore { steps.append(step) } else { learnt.forget(scope) }
        case .fade(let scope, let family, let first):
            let written = try write(.fade(scope, family, after: first, at: now, limit: Self.limit))
            guard case .faded(let last) = written else { throw .mismatch }
            if let last { steps.append(.fade(scope, family, after: last)) }
        case .keepLargest(let scope, let family): try write(.keepLargest(Self.keptMarks, of: scope, family))
        }
    }

    private mutating func moveLandmark(of scope: Scope, at now: Timestamp) throws(StoreError) {
        let epoch = try context.read { reader throws(Reader.Failure) in try reader.learningEpoch(of: scope) }
        guard let epoch else { return }
        let age = Double(now.milliseconds(since: epoch.landmark)) / 1000
        if age > LearningEpoch.maximumSpan / 2 {
            try write(.moveLandmark(scope, to: now))
        } else if age < -LearningEpoch.maximumSpan / 2 {
            steps.append(.forget(scope))
        }
    }

    @discardableResult
    private func write(_ change: LearningChange) throws(StoreError) -> Written {
        try context.queue.perform(.learning(change))
    }
}
