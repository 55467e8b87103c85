internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

/// Copies the write-ahead log into the database when the writer asks for it, and every second.
///
/// It never waits for a reader or a writer, and copies only the pages that none of them blocks.
struct CheckpointJob: Job {
    let name = JobName.checkpoint
    let share = 1.0
    let comesFirst = true

    private let opening: DatabaseOpening
    private let checkpoints: ConditionLock<CheckpointPolicy>
    private var connection: SQLiteConnection?

    private static let interval: UInt64 = 1_000_000_000

    init(_ opening: DatabaseOpening, _ checkpoints: ConditionLock<CheckpointPolicy>) {
        (self.opening, self.checkpoints) = (opening, checkpoints)
    }

    mutating func slice(at _: UInt64) throws(StoreError) -> Due {
        if connection == nil { connection = try opening.reopen() }
        guard let connection else { return .more }
        do throws(SQLiteError) {
            let checkpoint = try connection.checkpoint(.passive)
            if !checkpoint.isBlocked {
                checkpoints.withLock { $0.recordCopied(logPages: checkpoint.copiedPages) }
            }
        } catch {
            if error.endsConnection { self.connection = nil }
            throw StoreError(error)
        }
        return .after(Self.interval)
    }
}
