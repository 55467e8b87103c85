internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

/// Stores what the loops have learnt, and makes models and summaries of what is stored, on a thread of its own.
final class LearningThread {
    private let shared: SharedState
    private let opening: DatabaseOpening
    private var connection: SQLiteConnection?
    private var fadedAt: UInt64 = 0
    /// When it stores again what was learnt.
    private var due: UInt64 = 0
    /// Counters of each scope, at most: as of the last count, and all that were written since.
    private var counts: [Scope: Int] = [:]

    /// How often it stores what was learnt, in nanoseconds.
    private static let interval: UInt64 = 5_000_000_000
    private static let fadingInterval: UInt64 = 3_600_000_000_000
    /// Counters of one scope: those of more fingerprints and addresses than that are changed but not added.
    private static let mostCounters = 2_000_000
    /// Systems, and signals, that one scope has counters for; of more, the largest are kept.
    private static let mostMarks = 4000
    private static let keptMarks = 1000

    init(shared: SharedState, opening: DatabaseOpening) {
        self.shared = shared
        self.opening = opening
    }

    /// Learns until the store stops.
    func run() {
        defer {
            connection = nil
            shared.endBackgroundThread()
        }
        due = MonotonicTime.now().nanoseconds + Self.interval
        while true {
            switch wake(until: due) {
            case .stop: return
            case .summary: noting { () throws(StoreError) in try summarise() }
            case nil:
                noting { () throws(StoreError) in
                    try learn()
                    if let now = shared.settledNow() { try fade(at: now) }
                }
            }
        }
    }

    private enum Wake: Sendable {
        case stop
        case summary
    }

    /// Nil when the time has come.
    private func wake(until due: UInt64) -> Wake? {
        shared.background.wait(until: due) { state in
            if state.isStopping { return .stop }
            guard state.wantsSummary else { return nil }
            state.wantsSummary = false
            return .summary
        }
    }

    /// False when the store stops.
    private func pause(_ nanoseconds: UInt64) -> Bool {
        let end = MonotonicTime.now().nanoseconds + nanoseconds
        return shared.background.wait(until: end) { $0.isStopping ? true : nil } == nil
    }

    private func summarise() throws(StoreError) {
        for (key, moment) in shared.learnt.takeHot() {
            let start = MonotonicTime.now().nanoseconds
            try read { reader throws(SQLiteError) in
                shared.learnt.publish(
                    try reader.summary(of: key, at: moment),
                    of: key
                )
            }
            // Leaves most of a core to requests, however hot the keys are.
            guard pause(4 * (MonotonicTime.now().nanoseconds - start)) else { return }
        }
    }

    private func learn() throws(StoreError) {
        defer { due = MonotonicTime.now().nanoseconds + Self.interval }
        for (scope, increments) in shared.learnt.drain() {
            for slice in LearntSlice.slices(scope, increments, try room(in: scope)) {
                let start = MonotonicTime.now().nanoseconds
                try shared.queue.perform(.learning(.add([slice])))
                counts[scope, default: 0] += slice.sums.count
                guard pause(4 * (MonotonicTime.now().nanoseconds - start)) else { return }
            }
        }
        let now = shared.configuration.clock.now()
        for scope in shared.learnt.scopes {
            try read { reader throws(SQLiteError) in
                try shared.learnt.reload(scope, at: now, by: reader)
            }
            guard let model = shared.learnt.model(of: scope), model.epoch.began > now else { continue }
            try shared.queue.perform(.learning(.beginEarlier(scope, at: now)))
        }
    }

    private func room(in scope: Scope) throws(StoreError) -> LearntSlice.Room {
        var room = LearntSlice.Room()
        try read { reader throws(SQLiteError) in
            if counts[scope, default: Self.mostCounters] >= Self.mostCounters {
                let count = try reader.connection.statement(LearntSQL.count).first(scope.number) {
                    $0.integer(0)
                }
                counts[scope] = Int(clamping: count ?? 0)
            }
            room.forKeys = counts[scope, default: 0] < Self.mostCounters
            for family in CounterFamily.openEndedModelFamilies {
                let count = try reader.connection.statement(LearntSQL.countOfFamily)
                    .first(scope.number, Int64(family.rawValue)) { $0.integer(0) }
                if count ?? 0 >= Self.mostMarks { room.forMarks = false }
            }
        }
        return room
    }

    /// Deletes counters that are worth nothing any more, once an hour.
    private func fade(at now: Timestamp) throws(StoreError) {
        guard MonotonicTime.now().nanoseconds >= fadedAt + Self.fadingInterval || fadedAt == 0 else { return }
        fadedAt = MonotonicTime.now().nanoseconds
        var scopes: [Scope] = []
        try read { reader throws(SQLiteError) in scopes = try reader.learntScopes() }
        for scope in scopes {
            try moveLandmark(of: scope, at: now)
            for family in CounterFamily.allCases {
                var key: Int64? = .min
                while let first = key {
                    let start = MonotonicTime.now().nanoseconds
                    let fading = LearningChange.fade(scope, family, after: first, at: now, limit: 1000)
                    guard case .faded(let last) = try shared.queue.perform(.learning(fading)) else {
                        throw .mismatch
                    }
                    key = last
                    guard pause(8 * (MonotonicTime.now().nanoseconds - start)), try attend() else { return }
                }
            }
            for family in CounterFamily.openEndedModelFamilies {
                try shared.queue.perform(.learning(.keepLargest(Self.keptMarks, of: scope, family)))
            }
            counts[scope] = nil
        }
    }

    /// Does what has come up meanwhile: it does not wait for the hourly work.
    ///
    /// - Returns: false when the store stops.
    private func attend() throws(StoreError) -> Bool {
        switch wake(until: 0) {
        case .stop: return false
        case .summary: try summarise()
        case nil: break
        }
        if MonotonicTime.now().nanoseconds >= due { try learn() }
        return true
    }

    private func moveLandmark(of scope: Scope, at now: Timestamp) throws(StoreError) {
        var epoch: LearningEpoch?
        try read { reader throws(SQLiteError) in
            epoch = try reader.learningEpoch(of: scope)
        }
        guard let epoch else { return }
        let age = Double(now.milliseconds(since: epoch.landmark)) / 1000
        if age > LearningEpoch.maximumSpan / 2 {
            try shared.queue.perform(.learning(.moveLandmark(scope, to: now)))
        } else if age < -LearningEpoch.maximumSpan / 2 {
            // Learnt by a clock that was years ahead: it would outweigh for ever what is learnt now.
            try shared.forgetLearning(of: scope)
        }
    }

    private func read(_ body: (SQLiteReader) throws(SQLiteError) -> Void) throws(StoreError) {
        do throws(SQLiteError) {
            if connection == nil { connection = try opening.openReader() }
            if let connection { try body(SQLiteReader(connection: connection)) }
        } catch {
            if error.endsConnection { connection = nil }
            throw StoreError(error)
        }
    }

    private func noting(_ body: () throws(StoreError) -> Void) {
        do throws(StoreError) {
            try body()
            shared.failures.noteSuccess(of: .learning, at: MonotonicTime.now().nanoseconds)
        } catch {
            guard error.code != .stopping else { return }
            shared.failures.note(error, of: .learning, at: MonotonicTime.now().nanoseconds)
        }
    }
}

extension SharedState {
    /// Begins anew with a scope, in slices: nobody else's write waits for all of it.
    fileprivate func forgetLearning(of scope: Scope) throws(StoreError) {
        learnt.forget(scope)
        while case .flag(true) = try queue.perform(.learning(.forget(scope, limit: 1000))) {}
        learnt.forget(scope)
    }

    /// Queues the writing of what was learnt and is not stored yet, all at once: for the end, and for servers that
    /// learn at once.
    func makeLearningWrites() -> [LearntSlice] {
        learnt.drain().flatMap { LearntSlice.slices($0.scope, $0.increments) }
    }

    func queueLearning() {
        let slices = makeLearningWrites()
        guard !slices.isEmpty else { return }
        queue.append(QueuedWrite(.learning(.add(slices))) { _ in }, isInternal: true)
    }
}
