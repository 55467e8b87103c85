internal import Attribution
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
    /// Names this process in the leases of jobs.
    let jobHolder: Int64
    /// Nil until the database is open, and for a store that trusts its clock.
    private let settledClock = ConditionLock<SettledClock?>(nil)

    /// What the background threads wait for, and what is waited for of them.
    struct Background: Sendable {
        var wantsCheckpoint = false
        /// Nothing new is begun beside requests.
        var isStopping = false
        /// There is no filter of stored fingerprints, or it is full.
        var wantsFilter = false
        /// A key that very many clicks have wants a summary.
        var wantsSummary = false
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

    /// Begins to compare the clocks.
    ///
    /// - Parameter lastSettled: when jobs last went by the wall clock; nil for a new database.
    func startClock(lastSettled: Timestamp?) {
        guard !configuration.trustsClock else { return }
        let clock = SettledClock(
            lastSettled: lastSettled,
            isAccepted: configuration.acceptsClock,
            now: configuration.clock.now(),
            monotonic: configuration.monotonicNow()
        )
        settledClock.withLock { $0 = clock }
    }

    /// The time that jobs may act on; nil while the clock may have leapt, which the log says.
    func settledNow() -> Timestamp? {
        let (now, monotonic) = (configuration.clock.now(), configuration.monotonicNow())
        let (state, news) = settledClock.withLock { clock -> (SettledClock.State, String?) in
            guard let hasChanged = clock?.update(now: now, monotonic: monotonic) else {
                return (.settled, nil)
            }
            return (clock?.state ?? .settled, hasChanged ? clock?.sentence : nil)
        }
        if let news { configuration.log.write(state == .settled ? .information : .warning, news) }
        return state == .settled ? now : nil
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

    /// Asks the background thread to copy the log into the database.
    func requestCheckpoint() {
        let isNew = background.withLock { state in
            defer { state.wantsCheckpoint = true }
            return !state.wantsCheckpoint
        }
        if isNew { background.broadcast() }
    }

    /// Ends the work beside requests.
    func stopBackground() {
        background.withLock { $0.isStopping = true }
        background.broadcast()
    }

    /// Asks the background for a filter of what is stored.
    func requestFilter() {
        background.withLock { $0.wantsFilter = true }
        background.broadcast()
    }

    /// Asks the background for a summary of a key's clicks as of a moment.
    func requestSummary(of key: KeySummary.Key, at moment: Timestamp) {
        learnt.noteHot(key, at: moment)
        background.withLock { $0.wantsSummary = true }
        background.broadcast()
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
