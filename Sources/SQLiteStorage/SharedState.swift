internal import Attribution
internal import SQLite
internal import Storage
internal import Synchronization
internal import Threads

/// What the writer, the loops and the background threads of one store share.
final class SharedState: Sendable {
    let configuration: SQLiteConfiguration
    let queue: WriteQueue
    let claims: ClaimsUnderWay
    let ledger: AnswerLedger
    let failures: FailureLog
    let updates = UpdateCollector()
    let health = HealthRecorder()
    let learnt: LearningState
    let records = RecordBudget()
    let jobs = JobRequests()
    let jobClock: JobClock
    /// Names this process in the leases of jobs.
    let jobHolder: Int64

    /// What the threads beside the writer wait for, and what is waited for of them.
    struct Background: Sendable {
        /// No question is taken any more.
        var isStopping = false
        /// What the reader beside the loops is to answer.
        var questions: [BackgroundQuery] = []
        /// Threads beside the writer that have their hands in the database.
        var threadCount = 0
        /// The writer has ended, or was given up.
        var hasEnded = false
    }
    let background = ConditionLock(Background())
    let filters = ConditionLock(FilterState())

    /// Moves after each commit, before anybody is told: whoever sees it unmoved has missed nothing.
    private let commits = Atomic<UInt64>(0)
    /// Moves when this process has changed apps or keys.
    private let directoryChanges = Atomic<UInt64>(0)
    private let isStoppingFlag = Atomic(false)
    let isCatchUpQueued = Atomic(false)
    let logCopying: ConditionLock<CheckpointPolicy>

    init(_ configuration: SQLiteConfiguration) {
        self.configuration = configuration
        jobHolder = Int64(bitPattern: configuration.random())
        jobClock = JobClock(
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
        logCopying = ConditionLock(CheckpointPolicy(hasBackground: configuration.hasBackgroundWork))
        // Nobody comes to do them.
        if configuration.isReadOnly {
            queue.close(StoreError(.readOnly, "the database was opened to be read"))
        }
    }

    var commitCount: UInt64 { commits.load(ordering: .acquiring) }
    var directoryChangeCount: UInt64 { directoryChanges.load(ordering: .acquiring) }
    var isStopping: Bool { isStoppingFlag.load(ordering: .relaxed) }

    func noteStopping() {
        isStoppingFlag.store(true, ordering: .relaxed)
    }

    func noteCommit(logPages pages: Int) {
        commits.wrappingAdd(1, ordering: .releasing)
        logCopying.withLock { $0.noteCommit(logPages: pages) }
    }

    /// Ends the work beside requests.
    func stopBackground() {
        jobs.stop()
        background.withLock { $0.isStopping = true }
        background.broadcast()
    }

    /// Asks for a summary of a key's clicks as of a moment.
    func requestSummary(of key: KeySummary.Key, at moment: Timestamp) {
        learnt.requestSummary(of: key, at: moment)
        jobs.ask(for: .summaries)
    }

    func beginBackgroundThread() {
        background.withLock { $0.threadCount += 1 }
    }

    func endBackgroundThread() {
        background.withLock { $0.threadCount -= 1 }
        background.broadcast()
    }

    /// Waits until all hands but the writer's are off the database.
    func awaitBackgroundThreads() {
        _ = background.wait(until: nil) { $0.threadCount > 0 ? nil : true }
    }

    /// Makes every loop read in a new snapshot.
    func renewSnapshots() {
        commits.wrappingAdd(1, ordering: .releasing)
    }

    func noteDirectoryChange() {
        directoryChanges.wrappingAdd(1, ordering: .releasing)
    }

    var healthSnapshot: StoreHealth {
        var snapshot = health.snapshot
        snapshot.queueLength = queue.count
        snapshot.refusals.merge(queue.refusals, uniquingKeysWith: +)
        snapshot.isStopping = isStopping
        return snapshot
    }

    /// When a write that is queued now must have been answered.
    func deadline() -> UInt64 {
        // The watchdog looks every 50 ms; its answer still has to travel.
        let limit = max(configuration.timeLimitMilliseconds, 100) - 75
        return MonotonicTime.now().nanoseconds + limit * 1_000_000
    }
}
