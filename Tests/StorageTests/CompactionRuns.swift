import Attribution
import SQLiteStorage
import Storage

extension SQLiteStore {
    /// Compacts the counts of all days that are due.
    func compactCounts() throws(StoreError) {
        var job = CompactionJob(makeJobContext())
        try job.runToEnd()
    }
}
