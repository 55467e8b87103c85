public import Attribution
internal import Synchronization
internal import Threads

/// The state that the threads of one store share: the writing thread, the loops, and the background threads.
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
    /// The random number that identifies this process in the leases of jobs.
    public let jobHolder: Int64
    let filters = ConditionLock(FilterState())
    /// The apps for which a comparison of policies was requested.
    let gridRequests = Mutex<Set<AppID>>([])

    private struct Threads: Sendable {
        /// Background threads that use the database.
        var backgroundCount = 0
        /// Whether the writing thread has ended, or was abandoned.
        var hasEnded = false
    }
    private let threads = ConditionLock(Threads())

    /// A number that grows when loops must read in a new snapshot: with each commit, before its callers are answered,
    /// and when the writer has copied the whole write-ahead log.
    private let commits = Atomic<UInt64>(0)
    /// A number that grows when this process has changed clicks or records of checks.
    private let trafficChanges = Atomic<UInt64>(0)
    /// The number of commits of this process that changed apps or keys.
    private let directoryChanges = Atomic<UInt64>(0)
    private let isStoppingFlag = Atomic(false)
    /// Whether there may be new deliveries of postbacks to send.
    private let postbackHint = Atomic(false)
    private let isCatchUpQueued = Atomic(false)

    /// - Parameters:
    ///   - configuration: the settings of the store.
    ///   - holder: the number of this process; nil for a random one.
    public init(_ configuration: StoreConfiguration, holder: Int64? = nil) {
        self.configuration = configuration
        jobHolder = holder ?? Int64(bitPattern: configuration.random())
        let (monotonicNow, log) = (configuration.monotonicNow, configuration.log)
        clock = JobClock(configuration.clock, monotonicNow: monotonicNow, log: log)
        failures = FailureLog(log, quiet: configuration.quietNanoseconds)
        queue = WriteQueue(limit: configuration.queueLimit)
        claims = ClaimsUnderWay(queue)
        let (updates, queue) = (updates, self.queue)
        let foreignMilliseconds = configuration.foreignAnswerMilliseconds ?? 0
        ledger = AnswerLedger(foreignMilliseconds: foreignMilliseconds, now: monotonicNow) { click in
            updates.addFailedDelivery(of: click)
            queue.requestUpdates()
        }
        learnt = LearningState(isAtOnce: configuration.learnsAtOnce)
        if configuration.isReadOnly {
            queue.close(StoreError(.readOnly, "the database was opened for reading only"))
        }
    }

    var commitCount: UInt64 { commits.load(ordering: .acquiring) }
    var trafficChangeCount: UInt64 { trafficChanges.load(ordering: .acquiring) }
    var directoryChangeCount: UInt64 { directoryChanges.load(ordering: .acquiring) }

    /// Makes every loop read in a new snapshot.
    ///
    /// Called after a commit, before its callers are answered, and after the writer has copied the whole log.
    public func renewSnapshots() { commits.wrappingAdd(1, ordering: .releasing) }

    /// Marks the reports about all clicks and checks as due; called after clicks or checks were recorded, closed or
    /// deleted.
    public func noteTraffic() { trafficChanges.wrappingAdd(1, ordering: .releasing) }

    /// Makes every loop read whether apps and keys have changed.
    public func noteDirectoryChange() { directoryChanges.wrappingAdd(1, ordering: .releasing) }

    /// Makes the job that sends postbacks read new deliveries.
    func hintPostbacks() {
        postbackHint.store(true, ordering: .releasing)
        jobs.ask(for: .postbacks)
    }

    /// Returns whether ``hintPostbacks()`` was called since the last call.
    func takePostbackHint() -> Bool { postbackHint.exchange(false, ordering: .acquiringAndReleasing) }

    /// Whether jobs use the wall clock; see ``SettledClock``.
    public var isClockSettled: Bool { clock.settledNow() != nil }

    /// Starts to compare the wall clock with the expected time, unless the wall clock is trusted.
    ///
    /// The time of the start is stored before any request. Without a stored time, the next start would expect the time
    /// of the newest click or check. That request may have come after a jump of the clock and before the first job.
    ///
    /// `lastSettled` returns when jobs last used the wall clock; nil for a new database.
    public func startClock<Failure>(lastSettled: () throws(Failure) -> Timestamp?) throws(Failure) {
        guard !configuration.trustsClock else { return }
        clock.start(lastSettled: try lastSettled(), isAccepted: configuration.acceptsClock)
        guard configuration.hasBackgroundWork, let now = clock.settledNow() else { return }
        queue.append(QueuedWrite(.job(.noteSettled(now))) { _ in }, isInternal: true)
    }

    /// The store's health, apart from the sizes of its files.
    public var healthSnapshot: StoreHealth {
        var snapshot = health.snapshot
        snapshot.queueLength = queue.count
        if queue.isStuck(at: MonotonicTime.now().nanoseconds) { snapshot.lastFailure = .stuck }
        snapshot.refusals.merge(queue.refusals, uniquingKeysWith: +)
        snapshot.isStopping = isStoppingFlag.load(ordering: .relaxed)
        snapshot.hindrance = health.hindrance(at: configuration.monotonicNow())
        return snapshot
    }

    /// Records that apps and keys in memory were compared with a database that other servers change too.
    ///
    /// - Parameters:
    ///   - moment: when the comparison began, in nanoseconds of the configuration's monotonic clock.
    ///   - clockLead: the milliseconds by which this server's clock was ahead of the database's.
    public func noteComparison(at moment: UInt64, clockLead: Int64) {
        health.noteComparison(at: moment, clockLead: clockLead)
    }

    /// The milliseconds by which this server's clock is ahead of the database's; 0 before the first comparison.
    public var clockLead: Int64 { health.clockLead }

    /// Records whether other servers write to the database now.
    public func noteOtherServers(_ exist: Bool) { learnt.hasOtherServers = exist }

    /// Records the size of a database that is no file of this machine.
    public func noteDatabaseSize(bytes: Int64) { health.setDatabaseSize(bytes) }

    /// Records how late the deletion of the oldest click is, in seconds; 0 if no deletion is due.
    public func noteRetentionLag(seconds: Int64) { health.setRetentionLag(seconds) }

    /// The deadline of a write that is queued now, in nanoseconds of the monotonic clock.
    func deadline() -> UInt64 {
        // Deadlines are compared only every 50 ms, and the response still has to reach the caller.
        let limit = max(configuration.timeLimitMilliseconds, 100) - 75
        return MonotonicTime.now().nanoseconds + limit * 1_000_000
    }

    /// Requests a summary of a key's clicks as of a time.
    func requestSummary(of key: KeySummary.Key, at now: Timestamp) {
        learnt.requestSummary(of: key, at: now)
        jobs.ask(for: .summaries)
    }

    /// Makes the writing thread do an empty transaction, in which it reads what other processes wrote, or shows them that
    /// this process is alive.
    public func requestCatchUp() {
        guard !isCatchUpQueued.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let write = QueuedWrite(.barrier) { [self] _ in isCatchUpQueued.store(false, ordering: .releasing) }
        queue.append(write, isInternal: true)
    }

    /// Runs `body` on the writing thread within a transaction: for tests that block the thread or make it fail.
    package func queueWork(_ body: @escaping @Sendable () -> Void) {
        queue.append(QueuedWrite(.hold(body)) { _ in }, isInternal: true)
    }

    /// Refuses all writes that have a deadline, and all waiting checks, as if their deadlines had passed.
    package func expireWaiting() {
        queue.expire(at: .max - 1)
        claims.expire(at: .max - 1)
    }
}

/// The life of the store's threads.
extension StoreState {
    /// Stops the jobs, queues the model's increments that are not stored yet, and refuses further writes.
    func beginStopping() {
        isStoppingFlag.store(true, ordering: .relaxed)
        jobs.stop()
        queue.requestUpdates()
        let slices = learnt.takeSlices()
        if !slices.isEmpty { queue.append(QueuedWrite(.learning(.add(slices))) { _ in }, isInternal: true) }
        queue.stop()
    }

    func beginBackgroundThread() { threads.withLock { $0.backgroundCount += 1 } }

    func endBackgroundThread() {
        threads.withLock { $0.backgroundCount -= 1 }
        threads.broadcast()
    }

    /// Waits until no background thread uses the database any more.
    ///
    /// - Parameter deadline: the end of the wait, in nanoseconds of the monotonic clock; nil for none.
    /// - Returns: whether no thread uses it.
    @discardableResult
    public func awaitBackgroundThreads(until deadline: UInt64? = nil) -> Bool {
        threads.wait(until: deadline) { $0.backgroundCount > 0 ? nil : true } ?? false
    }

    /// Ends ``watchDeadlines()``.
    func endDeadlines() {
        threads.withLock { $0.hasEnded = true }
        threads.broadcast()
    }

    /// Refuses writes that passed their deadline, and requests twice a second that pending updates are written, until
    /// the writing thread has ended.
    ///
    /// This runs on a separate thread, because the writing thread may wait for the disk.
    func watchDeadlines() {
        var updatesAreDueAt: UInt64 = 0
        while true {
            let now = MonotonicTime.now().nanoseconds
            queue.expire(at: now)
            claims.expire(at: now)
            if queue.isStuck(at: now) { failures.note(.stuck, of: .writing, at: now) }
            if now >= updatesAreDueAt, !updates.isEmpty {
                updatesAreDueAt = now + 500_000_000
                queue.requestUpdates()
            }
            // While no write waits, the pause is longer, but shorter than the standard time limit of a write.
            let pause: UInt64 = queue.count > 0 ? 50_000_000 : 250_000_000
            if threads.wait(until: now + pause, { $0.hasEnded ? true : nil }) != nil { return }
        }
    }
}
