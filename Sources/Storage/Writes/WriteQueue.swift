public import Attribution
internal import Synchronization
internal import Threads

/// The writes that wait for the thread that writes, and those that it is working on.
///
/// Shared by all threads.
public final class WriteQueue: Sendable {
    private struct State: Sendable {
        var waiting: [QueuedWrite] = []
        /// Taken, not answered yet.
        var running: [QueuedWrite] = []
        var isWriterAsleep = false
        var isStopping = false
        /// The writer will not come again.
        var hasEnded = false
        /// Why the writer cannot take anything at present.
        var obstacle: StoreError?
        var closedBecause: StoreError?
        /// Whether pending updates are to be written with the next transaction.
        var wantsUpdates = false
        /// Requests refused here, without the writer, since the start.
        public var refusals: [StoreError.Code: Int64] = [:]
    }

    private let state = ConditionLock(State())
    private let limit: Int
    private let isInDoubtFlag = Atomic(false)

    /// - Parameter limit: writes that wait, at most.
    public init(limit: Int) {
        self.limit = limit
    }

    /// Queues a write, or refuses it at once.
    ///
    /// - Parameters:
    ///   - write: what is to be done.
    ///   - isInternal: whether it is one of the store's own, which are few, and may wait whatever else does.
    public func append(_ write: QueuedWrite, isInternal: Bool = false) {
        guard let refusal = enqueue(write, isInternal: isInternal) else { return }
        refuse([write], refusal)
        write.end()
    }

    /// Queues a write and returns nil; or returns why not, and does not answer the write.
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

    /// Lets pending updates be written with the next transaction, and one begin.
    ///
    /// Writes that are appended from now on are answered after they are written.
    public func requestUpdates() {
        state.withLock { state in
            guard state.closedBecause == nil, !state.hasEnded else { return }
            state.wantsUpdates = true
            if state.isWriterAsleep {
                state.isWriterAsleep = false
                self.state.signal()
            }
        }
    }

    /// Requests that were refused for want of room or time, since the start.
    public var refusals: [StoreError.Code: Int64] { state.withLock(\.refusals) }

    private func refuse(_ writes: [QueuedWrite], _ error: StoreError) {
        let refused = writes.count { $0.refuse(error) }
        state.withLock { $0.refusals[error.code, default: 0] += Int64(refused) }
    }

    /// Waits for something to write.
    ///
    /// False when the queue is empty for good.
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

    /// Takes the oldest writes that wait; from now on the thread that writes answers them.
    ///
    /// - Returns: the writes, and whether pending updates are to be written before them.
    func take(atMost count: Int) -> (writes: [QueuedWrite], wantsUpdates: Bool) {
        state.withLock { state in
            let taken: [QueuedWrite]
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
            defer { state.wantsUpdates = false }
            return (taken, state.wantsUpdates)
        }
    }

    /// Marks the running batch as answered and clears the in-doubt flag.
    ///
    /// Outcomes that came to disk too late for their callers have been recorded before.
    func finish() {
        state.withLock { state in
            state.running.removeAll(keepingCapacity: true)
            isInDoubtFlag.store(false, ordering: .releasing)
        }
    }

    /// Whether a caller got `timedOut` while its write may still come to disk: what readers see then is not
    /// the last word.
    public var isInDoubt: Bool { isInDoubtFlag.load(ordering: .acquiring) }

    /// Stores why nothing can be taken now; requests that time out report it.
    func note(obstacle: StoreError) {
        state.withLock { $0.obstacle = obstacle }
    }

    /// Refuses all writes whose deadline has passed.
    ///
    /// Those that still wait are withdrawn: they will never be done.
    public func expire(at now: UInt64) {
        let (withdrawn, running, obstacle) = state.withLock { state in
            let late = state.waiting.filter { $0.deadline <= now }
            if !late.isEmpty { state.waiting.removeAll { $0.deadline <= now } }
            let running = state.running.filter { $0.deadline <= now }
            // Before any caller is refused, so that one that asks again knows.
            if !running.isEmpty { isInDoubtFlag.store(true, ordering: .releasing) }
            return (late, running, state.obstacle)
        }
        guard !withdrawn.isEmpty || !running.isEmpty else { return }
        refuse(withdrawn + running, obstacle ?? .late)
        for write in withdrawn { write.end() }
    }

    /// Refuses everything that waits.
    @discardableResult
    public func refuseAll(_ error: StoreError) -> Int {
        let waiting = state.withLock { state in
            let waiting = state.waiting
            state.waiting = []
            // Asked for again in time: a database that takes nothing is not tried without a pause.
            state.wantsUpdates = false
            return waiting
        }
        for write in waiting { write.refuse(error) }
        for write in waiting { write.end() }
        return waiting.count
    }

    /// Refuses everything from now on.
    public func close(_ reason: StoreError) {
        state.withLock { $0.closedBecause = reason }
    }

    /// Lets nothing more in.
    ///
    /// Writes that wait are still done.
    public func stop() {
        state.withLock { $0.isStopping = true }
        state.broadcast()
    }

    /// Writes that wait or are under way.
    public var count: Int {
        state.withLock { $0.waiting.count + $0.running.count }
    }
}

extension StoreError {
    public static let late = StoreError(.timedOut, "the database did not answer in time")
}

extension WriteQueue {
    /// Does a write of the store's own and waits for it, blocking the thread: never called on a loop.
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
    ///   - write: what is to be done.
    ///   - deadline: when the caller stops waiting, in nanoseconds of the monotonic clock.
    /// - Returns: what became of it.
    /// - Throws: why it was refused.
    public func perform(_ write: Write, until deadline: UInt64) async throws(StoreError) -> Written {
        // Resumed exactly once: a queued write completes once, whichever thread answers it, and every write that is
        // queued is answered, withdrawn or refused.
        let written = await unsafe withUnsafeContinuation {
            (continuation: UnsafeContinuation<Written, Never>) in
            append(
                QueuedWrite(write, deadline: deadline) { unsafe continuation.resume(returning: $0) }
            )
        }
        if case .refused(let error) = written { throw error }
        return written
    }
}
