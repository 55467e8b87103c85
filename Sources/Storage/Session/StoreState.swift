public import Attribution
internal import Synchronization
internal import Threads

/// What the threads of one store share: the one that writes, the loops, and those in the background.
public final class StoreState: Sendable {
    public let configuration: StoreConfiguration
    public let queue: WriteQueue
    public let jobs = JobRequests()
    public let failures: FailureLog
    let claims: ClaimsUnderWay
    let ledger: AnswerLedger
    let updates = UpdateCollector()
    let health = HealthRecorder()
    let learnt: LearningState
    let records = RecordBudget()
    let clock: JobClock
    /// Names this process in the leases of jobs.
    let jobHolder: Int64
    let filters = ConditionLock(FilterState())

    private struct Threads: Sendable {
        /// Background threads that use the database.
        var backgroundCount = 0
        /// Whether the thread that writes has ended, or was given up.
        var hasEnded = false
    }
    private let threads = ConditionLock(Threads())

    /// Moves after each commit, before any caller is answered: a loop that finds it unmoved has missed nothing.
    private let commits = Atomic<UInt64>(0)
    /// Moves when this process has changed apps or keys.
    private let directoryChanges = Atomic<UInt64>(0)
    private let isStoppingFlag = Atomic(false)
    private let isCatchUpQueued = Atomic(false)

    public init(_ configuration: StoreConfiguration) {
        self.configuration = configuration
        jobHolder = Int64(bitPattern: configuration.random())
        clock = JobClock(
            configuration.clock,
            monotonicNow: configuration.monotonicNow,
            log: configuration.log
        )
        failures = FailureLog(configuration.log, quiet: configuration.quietNanoseconds)
        queue = WriteQueue(limit: configuration.queueLimit)
        claims = ClaimsUnderWay(queue)
        let (updates, queue) = (updates, self.queue)
        ledger = AnswerLedger(now: configuration.monotonicNow) { click in
            updates.addFailedDelivery(of: click)
            queue.requestUpdates()
        }
        learnt = LearningState(isAtOnce: configuration.learnsAtOnce)
        if configuration.isReadOnly {
            queue.close(StoreError(.readOnly, "the database was opened to be read"))
        }
    }

    var commitCount: UInt64 { commits.load(ordering: .acquiring) }
    var directoryChangeCount: UInt64 { directoryChanges.load(ordering: .acquiring) }

    /// Makes every loop read in a new snapshot: after a commit, before its callers are answered.
    public func renewSnapshots() { commits.wrappingAdd(1, ordering: .releasing) }

    func noteDirectoryChange() { directoryChanges.wrappingAdd(1, ordering: .releasing) }

    /// Whether jobs go by the wall clock; see ``SettledClock``.
    public var isClockSettled: Bool { clock.settledNow() != nil }

    /// Begins to compare the clocks, unless the wall clock is trusted.
    ///
    /// `lastSettled` returns when jobs last went by the wall clock; nil for a new database.
    public func startClock<Failure>(lastSettled: () throws(Failure) -> Timestamp?) throws(Failure) {
        guard !configuration.trustsClock else { return }
        clock.start(lastSettled: try lastSettled(), isAccepted: configuration.acceptsClock)
    }

    /// The store's health, apart from the sizes of its files.
    public var healthSnapshot: StoreHealth {
        var snapshot = health.snapshot
        snapshot.queueLength = queue.count
        snapshot.refusals.merge(queue.refusals, uniquingKeysWith: +)
        snapshot.isStopping = isStoppingFlag.load(ordering: .relaxed)
        return snapshot
    }

    /// The time by which a write that is queued now must be answered, in nanoseconds of the monotonic clock.
    func deadline() -> UInt64 {
        // Deadlines are compared every 50 ms, and the answer still has to travel.
        let limit = max(configuration.timeLimitMilliseconds, 100) - 75
        return MonotonicTime.now().nanoseconds + limit * 1_000_000
    }

    /// Asks for a summary of a key's clicks as of a time.
    func requestSummary(of key: KeySummary.Key, at now: Timestamp) {
        learnt.requestSummary(of: key, at: now)
        jobs.ask(for: .summaries)
    }

    /// Has the thread that writes read what another process has recorded, although there is nothing to write.
    func requestCatchUp() {
        guard !isCatchUpQueued.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let write = QueuedWrite(.barrier) { [self] _ in isCatchUpQueued.store(false, ordering: .releasing) }
        queue.append(write, isInternal: true)
    }

    /// Runs `body` on the thread that writes within a transaction: for tests that hold the thread or make it fail.
    package func queueWork(_ body: @escaping @Sendable () -> Void) {
        queue.append(QueuedWrite(.hold(body)) { _ in }, isInternal: true)
    }

    /// Refuses all writes that wait for their deadline, as if it had passed.
    package func expireWaiting() {
        queue.expire(at: .max - 1)
        claims.expire(at: .max - 1)
    }
}

/// The life of the store's threads.
extension StoreState {
    /// Ends the jobs and lets no new writes in; what waits is still done, and what was learnt is stored.
    func beginStopping() {
        isStoppingFlag.store(true, ordering: .relaxed)
        jobs.stop()
        queue.requestUpdates()
        let slices = learnt.takeSlices()
        if !slices.isEmpty {
            queue.append(QueuedWrite(.learning(.add(slices))) { _ in }, isInternal: true)
        }
        queue.stop()
    }

    func beginBackgroundThread() {
        threads.withLock { $0.backgroundCount += 1 }
    }

    func endBackgroundThread() {
        threads.withLock { $0.backgroundCount -= 1 }
        threads.broadcast()
    }

    /// Waits until no background thread uses the database any more.
    public func awaitBackgroundThreads() {
        _ = threads.wait(until: nil) { $0.backgroundCount > 0 ? nil : true }
    }

    /// Ends ``watchDeadlines()``.
    func endDeadlines() {
        threads.withLock { $0.hasEnded = true }
        threads.broadcast()
    }

    /// Refuses writes that passed their deadline, and requests the writing of pending updates twice a second, until the
    /// writing thread has ended.
    ///
    /// Runs on a thread of its own, because the writing thread may wait for the disk.
    func watchDeadlines() {
        var updatesAreDueAt: UInt64 = 0
        while true {
            let now = MonotonicTime.now().nanoseconds
            queue.expire(at: now)
            claims.expire(at: now)
            if now >= updatesAreDueAt, !updates.isEmpty {
                updatesAreDueAt = now + 500_000_000
                queue.requestUpdates()
            }
            // While nothing waits, longer, but shorter than any time limit.
            let pause: UInt64 = queue.count > 0 ? 50_000_000 : 250_000_000
            if threads.wait(until: now + pause, { $0.hasEnded ? true : nil }) != nil { return }
        }
    }
}
