import Attribution
import SQLiteStorage
import Storage

/// Runs background jobs on the thread of a test; each call blocks until its job has ended.
extension SQLiteStore {
    /// Closes and deletes all clicks that are due.
    ///
    /// - Returns: the number of clicks that were closed and deleted.
    @discardableResult
    func runRetention() throws(StoreError) -> RetentionProgress {
        var job = RetentionJob(makeJobContext())
        try job.runToEnd()
        var compaction = CompactionJob(makeJobContext())
        try compaction.runToEnd()
        return job.progress
    }

    /// Evaluates the match rates of all apps, if a quarter of a day has ended since the last evaluation.
    func evaluateMatchRates() throws(StoreError) {
        var job = DriftJob(makeJobContext())
        try job.runToEnd()
    }

    /// Counts collisions now and stores the reports.
    func countCollisions() throws(StoreError) {
        var job = CollisionJob(makeJobContext())
        try job.beginRound()
        try job.runToEnd()
    }

    /// Runs the job of collisions `times` times; a run counts only if a count is due.
    func countCollisionsIfDue(times: Int, afterEach: () -> Void = {}) throws(StoreError) {
        var job = CollisionJob(makeJobContext())
        for _ in 0..<times {
            try job.runToEnd()
            afterEach()
        }
    }

    /// Deletes faded counters.
    func fadeLearning() throws(StoreError) {
        var job = FadingJob(makeJobContext())
        try job.runToEnd()
    }

    /// Builds a filter of the stored fingerprints, even if no build is due.
    func buildFilter() throws(StoreError) {
        var job = FilterJob(makeScanContext())
        try job.build()
    }
}
