internal import Attribution
internal import Synchronization
internal import Threads

/// What waits for the writer, and what it is working on.
///
/// Shared by all threads.
final class WriteQueue: Sendable {
    private struct State: Sendable {
        var waiting: [any QueuedWrite] = []
        /// Taken, not answered yet.
        var running: [any QueuedWrite] = []
        var isWriterAsleep = false
        var isStopping = false
        /// The writer will not come again.
        var hasEnded = false
        /// Why the writer cannot take anything at present.
        var obstacle: StoreError?
        var closedBecause: StoreError?
        /// Requests refused here, without the writer, since the start.
        var refusals: [StoreError.Code: Int64] = [:]
    }

    private let state = ConditionLock(State())
    private let limit: Int
    private let isInDoubtFlag = Atomic(false)

    init(limit: Int) {
        self.limit = limit
    }

    /// Queues a write, or refuses it at once.
    ///
    /// The store's own writes are few, and may wait whatever else does.
    func append(_ write: any QueuedWrite, isOurs: Bool = false) {
        let refusal: StoreError? = state.withLock { state in
            if let reason = state.closedBecause { return reason }
            if isOurs ? state.hasEnded : state.isStopping {
                return StoreError(.stopping, "the server is stopping")
            }
            if !isOurs, state.waiting.count >= limit {
                return StoreError(.overloaded, "\(limit) writes are waiting already")
            }
            state.waiting.append(write)
            if state.isWriterAsleep {
                state.isWriterAsleep = false
                self.state.signal()
            }
            return nil
        }
        if let refusal { refuse([write], refusal) }
    }

    /// Requests that were refused for want of room or time, since the start.
    var refusals: [StoreError.Code: Int64] { state.withLock(\.refusals) }

    private func refuse(_ writes: [any QueuedWrite], _ error: StoreError) {
        let told = writes.count { $0.refuse(error) }
        state.withLock { $0.refusals[error.code, default: 0] += Int64(told) }
    }

    /// Waits for something to write.
    ///
    /// False when the queue is empty for good.
    func waitForWork() -> Bool {
        state.wait(until: nil) { state in
            if !state.waiting.isEmpty { return true }
            if state.isStopping {
                state.hasEnded = true
                return false
            }
            state.isWriterAsleep = true
            return nil
        } ?? false
    }

    /// The oldest writes that wait; from now on the writer answers them.
    func take(atMost count: Int) -> [any QueuedWrite] {
        state.withLock { state in
            let taken: [any QueuedWrite]
            if state.waiting.count <= count {
                // Handed over whole: an array that both sides hold would be copied as soon as either changes it.
                taken = state.waiting
                state.waiting = []
            } else {
                taken = Array(state.waiting.prefix(count))
                state.waiting.removeFirst(taken.count)
            }
            state.running.append(contentsOf: taken)
            state.obstacle = nil
            return taken
        }
    }

    /// All that was taken is answered, and what came to disk too late for its caller has been noted.
    func finish() {
        state.withLock { state in
            state.running.removeAll(keepingCapacity: true)
            isInDoubtFlag.store(false, ordering: .releasing)
        }
    }

    /// Whether a caller was told `timedOut` while its write may still come to disk: what readers see then is not
    /// the last word.
    var isInDoubt: Bool { isInDoubtFlag.load(ordering: .acquiring) }

    /// Nothing can be taken now: who waits too long is told why.
    func note(obstacle: StoreError) {
        state.withLock { $0.obstacle = obstacle }
    }

    /// Answers everybody whose time is up.
    ///
    /// What still waits is withdrawn: it will never be done.
    func expire(at now: UInt64) {
        let (late, obstacle) = state.withLock { state in
            let late = state.waiting.filter { $0.deadline <= now }
            if !late.isEmpty { state.waiting.removeAll { $0.deadline <= now } }
            let running = state.running.filter { $0.deadline <= now }
            // Before anybody is told, so that whoever asks again knows.
            if !running.isEmpty { isInDoubtFlag.store(true, ordering: .releasing) }
            return (late + running, state.obstacle)
        }
        guard !late.isEmpty else { return }
        refuse(late, obstacle ?? .late)
    }

    /// Refuses everything that waits.
    func refuseAll(_ error: StoreError) -> Int {
        let waiting = state.withLock { state in
            let waiting = state.waiting
            state.waiting = []
            return waiting
        }
        for write in waiting { write.refuse(error) }
        return waiting.count
    }

    /// Refuses everything from the beginning.
    func close(_ reason: StoreError) {
        state.withLock { $0.closedBecause = reason }
    }

    /// Lets nothing more in.
    ///
    /// What waits is still done.
    func stop() {
        state.withLock { $0.isStopping = true }
        state.broadcast()
    }

    var count: Int {
        state.withLock { $0.waiting.count + $0.running.count }
    }
}

extension StoreError {
    static let late = StoreError(.timedOut, "the database did not answer in time")
}
