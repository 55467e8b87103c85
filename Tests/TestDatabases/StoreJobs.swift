package import Attribution
package import SQLiteStorage
package import Storage

/// Runs background jobs on the thread of a test; each call blocks until its job has ended.
extension TestDatabase {
    @discardableResult
    package func runRetention() throws(StoreError) -> RetentionProgress {
        var job = RetentionJob(makeJobContext())
        try job.runToEnd()
        var compaction = CompactionJob(makeJobContext())
        try compaction.runToEnd()
        return job.progress
    }

    /// Evaluates the match rates of all apps, if a quarter of a day has ended since the last evaluation.
    package func evaluateMatchRates() throws(StoreError) {
        var job = DriftJob(makeJobContext())
        try job.runToEnd()
    }

    /// Counts collisions now and stores the reports.
    package func countCollisions() throws(StoreError) {
        var job = CollisionJob(makeJobContext())
        try job.beginRound()
        try job.runToEnd()
    }

    /// Runs the collision job `times` times; a run counts collisions only if a count is due.
    package func countCollisionsIfDue(times: Int, afterEach: () -> Void = {}) throws(StoreError) {
        var job = CollisionJob(makeJobContext())
        for _ in 0..<times {
            try job.runToEnd()
            afterEach()
        }
    }

    /// Compares other windows and minimum confidences, if that is due or was requested.
    package func comparePolicies(
        eventLimit: Int = PolicyGrid.eventLimit,
        timeLimitSeconds: UInt64 = PolicyGrid.timeLimitSeconds
    ) throws(StoreError) {
        var job = PolicyGridJob(makeJobContext(), eventLimit: eventLimit, timeLimitSeconds: timeLimitSeconds)
        try job.runToEnd()
    }

    /// Deletes entries of the audit log after their retention.
    package func deleteOldAudit() throws(StoreError) {
        var job = AuditJob(makeJobContext())
        try job.runToEnd()
    }

    /// Deletes Apple's postbacks after their retention.
    package func deleteOldApplePostbacks() throws(StoreError) {
        var job = ApplePostbackJob(makeJobContext())
        try job.runToEnd()
    }

    /// Runs the first slices of a round that stores what was learnt, and leaves the rest of it.
    package func beginStoringLearnt(slices: Int) throws(StoreError) {
        var job = LearningJob(makeJobContext())
        for _ in 0..<slices { _ = try job.slice(at: 0) }
    }

    /// Deletes faded counters.
    package func fadeLearning() throws(StoreError) {
        var job = FadingJob(makeJobContext())
        try job.runToEnd()
    }
}

extension SQLiteStore {
    /// Builds a filter of the stored fingerprints, even if no build is due.
    package func buildFilter() throws(StoreError) {
        var job = FilterJob(makeScanContext())
        try job.build()
    }
}
