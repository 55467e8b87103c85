public import Attribution
internal import SQLite
public import Storage

/// Jobs that commands and tests run in place; all of them block.
extension SQLiteStore {
    /// Closes and deletes what is due, until nothing is left.
    ///
    /// - Returns: how many clicks were closed and deleted.
    @discardableResult
    public func runRetention() throws(StoreError) -> RetentionProgress {
        var job = shared.makeRetentionJob(shared.makeJobContext(opening))
        try job.runToEnd()
        return job.progress
    }

    /// Whether jobs go by the wall clock; see ``SettledClock``.
    public var isClockSettled: Bool { shared.jobClock.settledNow() != nil }

    /// Evaluates the match rates of all apps, if a span has ended since the last evaluation.
    package func lookAtMatchRates() throws(StoreError) {
        var job = DriftJob(shared.makeJobContext(opening))
        try job.runToEnd()
    }

    /// Counts collisions now and keeps what was found.
    package func countCollisions() throws(StoreError) {
        var job = shared.makeCollisionJob(shared.makeJobContext(opening))
        try job.beginRound()
        try job.runToEnd()
    }

    /// Counts collisions so often, each time only where a round is due as it is beside requests.
    package func countCollisionsIfDue(times: Int, afterEach: () -> Void = {}) throws(StoreError) {
        var job = shared.makeCollisionJob(shared.makeJobContext(opening))
        for _ in 0..<times {
            try job.runToEnd()
            afterEach()
        }
    }

    /// Deletes learnt counters that are worth nothing any more.
    package func fadeLearning() throws(StoreError) {
        var job = FadingJob(shared.makeJobContext(opening), shared.learnt)
        try job.runToEnd()
    }

    /// Builds a filter of what is stored, whether one is due or not.
    package func buildFilter() throws(StoreError) {
        var job = FilterJob(shared, opening)
        try job.build()
    }
}

extension SharedState {
    /// Runs all jobs until the store stops.
    func runJobs(_ opening: DatabaseOpening) {
        let context = makeJobContext(opening)
        let jobs: [any Job] = [
            CheckpointJob(self, opening),
            FilterJob(self, opening),
            SummaryJob(context, learnt),
            makeRetentionJob(context),
            LearningJob(context, learnt),
            DriftJob(context),
            FadingJob(context, learnt),
            makeCollisionJob(context),
        ]
        var thread = JobThread(jobs, self.jobs, failures: failures)
        thread.run()
    }

    /// What jobs work with on the calling thread.
    fileprivate func makeJobContext(_ opening: DatabaseOpening) -> JobContext<SQLiteReader> {
        JobContext(queue: queue, clock: jobClock, holder: jobHolder, log: configuration.log) {
            () throws(SQLiteError) in
            SQLiteReader(connection: try opening.openReader())
        }
    }

    fileprivate func makeRetentionJob(_ context: JobContext<SQLiteReader>) -> RetentionJob<SQLiteReader> {
        RetentionJob(
            context,
            health: health,
            keptMilliseconds: configuration.retentionSeconds * 1000,
            notesSettledClock: !configuration.trustsClock
        )
    }

    fileprivate func makeCollisionJob(_ context: JobContext<SQLiteReader>) -> CollisionJob<SQLiteReader> {
        CollisionJob(context, standardWindow: configuration.standardWindow) { self.commitCount }
    }
}
