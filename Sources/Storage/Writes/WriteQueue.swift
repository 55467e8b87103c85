public import Attribution
internal import Synchronization
internal import Threads

/// The waiting writes, and the batch that the writing thread has taken.
///
/// It is shared by all threads.
public final class WriteQueue: Sendable {
    private struct State: Sendable {
        var waiting: [QueuedWrite] = []
        /// The batch, until it is answered.
        var running: [QueuedWrite] = []
        /// When the writing thread took the first write or the updates of this batch, in nanoseconds of the monotonic
        /// clock; nil between two batches.
        var runningSince: UInt64?
        var isWriterAsleep = false
        var isStopping = false
        /// Whether the writing thread has taken its last batch.
        var hasEnded = false
        /// The reason why the writing thread cannot begin a transaction.
        var obstacle: StoreError?
        var closedBecause: StoreError?
        /// Whether pending updates are to be written with the next transaction.
        var wantsUpdates = false
        /// The number of writes that `append` and `expire` have refused since the start.
        var refusals: [StoreError.Code: Int64] = [:]
    }

    private let state = ConditionLock(State())
    private let limit: Int
    private let isInDoubtFlag = Atomic(false)

    /// - Parameter limit: the maximum number of waiting writes.
    init(limit: Int) { self.limit = limit }

    /// Queues a write, or refuses it at once.
    ///
    /// - Parameters:
    ///   - write: the write.
    ///   - isInternal: whether the store itself writes; such writes are few, and exempt from the limit.
    func append(_ write: QueuedWrite, isInternal: Bool = false) {
        guard let refusal = enqueue(write, isInternal: isInternal) else { return }
        refuse([write], refusal)
        write.end()
    }

    /// Queues a write and returns nil; or returns the refusal, and does not answer the write.
    func enqueue(_ write: QueuedWrite, isInternal: Bool = false) -> StoreError? {
        state.withLock { state in
            if let reason = state.closedBecause { return reason }
            if isInternal ? state.hasEnded : state.isStopping {
                return StoreError(.stopping, "the server is stopping")
            }
            if !isInternal, state.waiting.count >= limit {
                return StoreError(.overloaded, "\(limit) writes are waiting already")
            }
            state.waiting.append(write)
            if state.isWriterAsleep {
                state.isWriterAsleep = false
                self.state.signal()
            }
            return nil
        }
    }

    /// Requests a transaction that writes the pending updates.
    ///
    /// Writes that are appended from now on are answered after these updates are on disk.
    func requestUpdates() {
        state.withLock { state in
            guard state.closedBecause == nil, !state.hasEnded else { return }
            state.wantsUpdates = true
            if state.isWriterAsleep {
                state.isWriterAsleep = false
                self.state.signal()
            }
        }
    }

    /// The number of writes that `append` and `expire` have refused since the start, by reason.
    var refusals: [StoreError.Code: Int64] { state.withLock(\.refusals) }

    private func refuse(_ writes: [QueuedWrite], _ error: StoreError) {
        let refused = writes.count { $0.refuse(error) }
        state.withLock { $0.refusals[error.code, default: 0] += Int64(refused) }
    }

    /// Waits for a write or for requested updates; returns false when the queue is stopped and empty.
    func waitForWork() -> Bool {
        state.wait(until: nil) { state in
            if !state.waiting.isEmpty || state.wantsUpdates { return true }
            if state.isStopping {
                state.hasEnded = true
                return false
            }
            state.isWriterAsleep = true
            return nil
        } ?? false
    }

    /// Moves the oldest waiting writes to the batch, which the writing thread answers.
    ///
    /// - Returns: the writes, and whether pending updates are to be written before them.
    func take(atMost count: Int) -> (writes: [QueuedWrite], wantsUpdates: Bool) {
        state.withLock { state in
            let taken: [QueuedWrite]
            if state.waiting.count <= count {
                // The array itself is handed over: a shared one would be copied at the next change.
                taken = state.waiting
                state.waiting = []
            } else {
                taken = Array(state.waiting.prefix(count))
                state.waiting.removeFirst(taken.count)
            }
            // A batch may consist of pending updates only, which are not in `running`.
            if state.runningSince == nil, !taken.isEmpty || state.wantsUpdates {
                state.runningSince = MonotonicTime.now().nanoseconds
            }
            state.running.append(contentsOf: taken)
            state.obstacle = nil
            defer { state.wantsUpdates = false }
            return (taken, state.wantsUpdates)
        }
    }

    /// Marks the running batch as answered and clears the in-doubt flag.
    ///
    /// The writing thread records undelivered outcomes before it calls this.
    func finish() {
        state.withLock { state in
            state.running.removeAll(keepingCapacity: true)
            state.runningSince = nil
            isInDoubtFlag.store(false, ordering: .releasing)
        }
    }

    /// Blocks the writing thread; the batch stays unanswered.
    func pause(_ nanoseconds: UInt64) {
        state.wait(until: MonotonicTime.now().nanoseconds + nanoseconds) { _ in nil as Void? }
    }

    /// Whether a caller got `timedOut` for a write that may still be committed, and that reads may not show yet.
    var isInDoubt: Bool { isInDoubtFlag.load(ordering: .acquiring) }

    /// Returns whether the running batch has waited so long that the disk or the database server does not respond.
    func isStuck(at now: UInt64) -> Bool {
        state.withLock { $0.runningSince.map { now > $0 + Self.longestRun } ?? false }
    }

    /// In nanoseconds; far longer than a batch takes, and shorter than a load balancer waits.
    private static let longestRun: UInt64 = 2_000_000_000

    /// Stores why no transaction can begin now; requests that time out report it.
    func note(obstacle: StoreError) { state.withLock { $0.obstacle = obstacle } }

    /// Refuses all writes whose deadline has passed.
    ///
    /// Waiting writes are withdrawn; writes of the batch may still be committed.
    func expire(at now: UInt64) {
        let (withdrawn, running, obstacle) = state.withLock { state in
            let late = state.waiting.filter { $0.deadline <= now }
            if !late.isEmpty { state.waiting.removeAll { $0.deadline <= now } }
            let running = state.running.filter { $0.deadline <= now }
            // The flag is set before any caller is refused, so that the caller's retry finds it set.
            if !running.isEmpty { isInDoubtFlag.store(true, ordering: .releasing) }
            return (late, running, state.obstacle)
        }
        guard !withdrawn.isEmpty || !running.isEmpty else { return }
        refuse(withdrawn + running, obstacle ?? .late)
        for write in withdrawn { write.end() }
    }

    /// Refuses all waiting writes, and returns their number; ``refusals`` does not count them.
    @discardableResult
    func refuseAll(_ error: StoreError) -> Int {
        let waiting = state.withLock { state in
            let waiting = state.waiting
            state.waiting = []
            // The thread that watches deadlines requests the updates later, so that a failing database is not
            // tried without a pause.
            state.wantsUpdates = false
            return waiting
        }
        for write in waiting { write.refuse(error) }
        for write in waiting { write.end() }
        return waiting.count
    }

    /// Refuses every write from now on.
    func close(_ reason: StoreError) { state.withLock { $0.closedBecause = reason } }

    /// Refuses every write from now on, except the store's own; waiting writes are still done.
    func stop() {
        state.withLock { $0.isStopping = true }
        state.broadcast()
    }

    /// The number of writes that wait or are in the batch.
    var count: Int { state.withLock { $0.waiting.count + $0.running.count } }
}

extension StoreError {
    static let late = StoreError(.timedOut, "the database did not answer in time")
    static let stuck = StoreError(.timedOut, "the disk or the database server does not respond")
    static let underWay = StoreError(.underWay, "another server may be answering the same launch")
}

extension WriteQueue {
    /// Does a write of the store itself, and blocks the thread until it is on disk; never called on a loop.
    @discardableResult
    public func perform(_ write: Write) throws(StoreError) -> Written {
        let result = ConditionLock<Written?>(nil)
        let queued = QueuedWrite(write) { written in
            result.withLock { $0 = written }
            result.broadcast()
        }
        append(queued, isInternal: true)
        guard let written = result.wait(until: nil, { $0 }) else {
            throw StoreError(.defect, "a wait without end ended")
        }
        if case .refused(let error) = written { throw error }
        return written
    }

    /// Does a write for a loop, and suspends the caller until it is on disk.
    ///
    /// - Parameters:
    ///   - write: the write.
    ///   - deadline: the time at which the caller stops waiting, in nanoseconds of the monotonic clock.
    /// - Returns: the outcome.
    /// - Throws: the refusal.
    func perform(_ write: Write, until deadline: UInt64) async throws(StoreError) -> Written {
        // The continuation is resumed exactly once: a queued write completes once, whichever thread answers it, and
        // every write that is queued is answered, withdrawn or refused.
        let written = await unsafe withUnsafeContinuation {
            (continuation: UnsafeContinuation<Written, Never>) in
            append(QueuedWrite(write, deadline: deadline) { unsafe continuation.resume(returning: $0) })
        }
        if case .refused(let error) = written { throw error }
        return written
    }
}
