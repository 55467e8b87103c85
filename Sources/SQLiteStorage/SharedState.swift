internal import Attribution
internal import Storage
internal import Synchronization
internal import Threads

/// What the writer, the loops and the background threads of one store share.
final class SharedState: Sendable {
    let configuration: SQLiteConfiguration
    let queue: WriteQueue
    let ledger: AnswerLedger
    let troubles: FailureLog
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
    /// Answers that were seen to fail and are not marked on disk yet.
    private let unmarkedDeliveries = Atomic(0)
    /// Whether a write of notes waits for its turn.
    private let notesAreQueued = Atomic(false)
    /// Moves when this process has changed apps or keys.
    private let directoryChanges = Atomic<UInt64>(0)
    private let isStoppingFlag = Atomic(false)
    let isCatchUpQueued = Atomic(false)
    private let health = ConditionLock(StoreHealth())
    private let notes = ConditionLock<[PendingUpdates]>([])
    let logCopying: ConditionLock<CheckpointPolicy>

    init(_ configuration: SQLiteConfiguration) {
        self.configuration = configuration
        jobHolder = Int64(bitPattern: configuration.random())
        troubles = FailureLog(configuration.log, quiet: configuration.quietNanoseconds)
        queue = WriteQueue(limit: configuration.queueLimit)
        ledger = AnswerLedger(now: configuration.monotonicNow)
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

    func noteCommit(batchSize: Int, seconds: Double, logPages pages: Int) {
        commits.wrappingAdd(1, ordering: .releasing)
        logCopying.withLock { $0.noteCommit(logPages: pages) }
        health.withLock { health in
            health.lastFailure = nil
            health.batchSizes.observe(Double(batchSize))
            health.commitSeconds.observe(seconds)
        }
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

    var hasUnmarkedDeliveries: Bool { unmarkedDeliveries.load(ordering: .acquiring) > 0 }

    func noteDeliveryFailed() {
        unmarkedDeliveries.wrappingAdd(1, ordering: .releasing)
    }

    func noteDeliveriesMarked(_ count: Int) {
        unmarkedDeliveries.wrappingSubtract(count, ordering: .releasing)
    }

    /// Makes every loop read in a new snapshot.
    func renewSnapshots() {
        commits.wrappingAdd(1, ordering: .releasing)
    }

    func noteDirectoryChange() {
        directoryChanges.wrappingAdd(1, ordering: .releasing)
    }

    func noteRefusals(_ count: Int, _ error: StoreError) {
        health.withLock { health in
            health.lastFailure = error
            health.refusals[error.code, default: 0] += Int64(count)
        }
    }

    func noteRetentionLag(_ seconds: Int64) {
        health.withLock { $0.retentionLagSeconds = seconds }
    }

    var healthSnapshot: StoreHealth {
        var snapshot = health.withLock { $0 }
        snapshot.queueLength = queue.count
        snapshot.refusals.merge(queue.refusals, uniquingKeysWith: +)
        snapshot.isStopping = isStopping
        return snapshot
    }

    /// Notes of a new loop.
    func makeNotes() -> PendingUpdates {
        let notes = PendingUpdates()
        self.notes.withLock { $0.append(notes) }
        return notes
    }

    /// False where a write of notes waits already.
    func beginQueuingNotes() -> Bool {
        !notesAreQueued.exchange(true, ordering: .acquiringAndReleasing)
    }

    /// What is noted from now on needs another write.
    func endQueuingNotes() {
        _ = notesAreQueued.exchange(false, ordering: .acquiringAndReleasing)
    }

    /// Whether any loop has noted something that is not written yet.
    var hasNotes: Bool {
        notes.withLock { $0 }.contains { !$0.isEmpty }
    }

    func drainNotes() -> PendingUpdates.Content {
        var content = PendingUpdates.Content()
        for notes in notes.withLock({ $0 }) { content.merge(notes.drain()) }
        return content
    }

    /// Puts back what could not be written.
    func restore(_ content: PendingUpdates.Content) {
        guard !content.isEmpty else { return }
        notes.withLock { $0 }.first?.update { $0.merge(content) }
    }

    /// When a write that is queued now must have been answered.
    func deadline() -> UInt64 {
        // The watchdog looks every 50 ms; its answer still has to travel.
        let limit = max(configuration.timeLimitMilliseconds, 100) - 75
        return MonotonicTime.now().nanoseconds + limit * 1_000_000
    }
}
