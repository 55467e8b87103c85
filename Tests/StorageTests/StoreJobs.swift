import Attribution
import SQLiteStorage
import Storage

/// Jobs that tests run in place; all of them block.
extension SQLiteStore {
    /// Closes and deletes all clicks that are due.
    ///
    /// - Returns: the number of clicks that were closed and deleted.
    @discardableResult
    func runRetention() throws(StoreError) -> RetentionProgress {
        var job = RetentionJob(makeJobContext())
        try job.runToEnd()
        return job.progress
    }

    /// Evaluates the match rates of all apps, if a span has ended since the last evaluation.
    func lookAtMatchRates() throws(StoreError) {
        var job = DriftJob(makeJobContext())
        try job.runToEnd()
    }

    /// Counts collisions now and stores the reports.
    func countCollisions() throws(StoreError) {
        var job = CollisionJob(makeJobContext())
        try job.beginRound()
        try job.runToEnd()
    }

    /// Runs the job of collisions `times` times; each run counts only if a round is due.
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

    /// Builds a filter of the stored fingerprints, even if none is due.
    func buildFilter() throws(StoreError) {
        var job = FilterJob(makeScanContext())
        try job.build()
    }
}
