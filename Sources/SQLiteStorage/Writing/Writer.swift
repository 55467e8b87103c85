internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

/// The one thread that writes: takes all that waits into one transaction, commits, and answers.
///
/// A commit costs a sync to disk, whatever it holds; so requests share it (group commit).
final class Writer {
    /// How long a transaction takes in what keeps arriving, in nanoseconds.
    private static let gatheringNanoseconds: UInt64 = 4_000_000
    /// How long to wait before the database is tried again after it could not be opened.
    private static let retryNanoseconds: UInt64 = 250_000_000

    private let shared: SharedState
    private let open: () throws(StoreError) -> SQLiteConnection
    private var context: WriteContext?
    /// Given up after a failure, and open until there is another: the last one to close would leave the log to be
    /// read anew from the disk.
    private var failed: WriteContext?
    private var retryAt: UInt64 = 0
    /// As they were at the start: another database that came in their place is none of this store's.
    private let files: OpenFiles

    /// `open` opens the connection again after it had to be given up.
    init(
        _ context: WriteContext,
        shared: SharedState,
        open: @escaping () throws(StoreError) -> SQLiteConnection
    ) {
        self.context = context
        self.shared = shared
        self.open = open
        files = OpenFiles(path: shared.configuration.path)
    }

    /// Writes until the queue is stopped and empty.
    func run() {
        while shared.queue.waitForWork() { writeBatch() }
        close()
    }

    /// Leaves all that was written in the database's own file.
    private func close() {
        // Two cannot copy the log at once, and the second one is not made to wait (sqlite.org/c3ref/wal_checkpoint_v2.html).
        shared.awaitBackgroundThreads()
        do throws(SQLiteError) {
            _ = try context?.connection.checkpoint(.truncate)
        } catch {
            shared.troubles.note(StoreError(error), of: .writing, at: MonotonicTime.now().nanoseconds)
        }
        context = nil
    }

    private func writeBatch() {
        guard areFilesThere(), let context = usableContext() else { return }
        do throws(SQLiteError) {
            try context.begin()
        } catch {
            fail([], error)
            return
        }
        var batch: [any QueuedWrite] = []
        do throws(SQLiteError) {
            try gather(into: &batch, context)
            let start = MonotonicTime.now().nanoseconds
            let changesDirectory = context.changesDirectory
            try context.commit()
            context.changesDirectory = false
            let seconds = Double(MonotonicTime.now().nanoseconds - start) / 1_000_000_000
            shared.noteCommit(
                batchSize: batch.count,
                seconds: seconds,
                logPages: context.connection.logPageCount
            )
            if changesDirectory { shared.noteDirectoryChange() }
            shared.troubles.noteSuccess(of: .writing, at: MonotonicTime.now().nanoseconds)
            answer(batch)
        } catch {
            context.rollback()
            fail(batch, error)
            return
        }
        do throws(SQLiteError) {
            try boundLog(context.connection)
        } catch {
            // Everything of the batch is on disk: nobody is refused for it.
            if error.endsConnection { giveUpConnection() }
            shared.troubles.note(StoreError(error), of: .writing, at: MonotonicTime.now().nanoseconds)
        }
    }

    /// Refuses what waits when the database's files are not where they were.
    private func areFilesThere() -> Bool {
        do throws(StoreError) {
            try files.check()
            return true
        } catch {
            shared.noteRefusals(shared.queue.refuseAll(error), error)
            shared.troubles.note(error, of: .writing, at: MonotonicTime.now().nanoseconds)
            return false
        }
    }

    /// Does what waits, and what arrives meanwhile, within bounds.
    private func gather(into batch: inout [any QueuedWrite], _ context: WriteContext) throws(SQLiteError) {
        let end = MonotonicTime.now().nanoseconds + Self.gatheringNanoseconds
        repeat {
            let taken = shared.queue.take(atMost: shared.configuration.batchLimit - batch.count)
            if taken.isEmpty { break }
            batch.append(contentsOf: taken)
            for write in taken {
                if try isDone(write, context) { continue }
                try redo(batch, context)
                break
            }
        } while batch.count < shared.configuration.batchLimit && MonotonicTime.now().nanoseconds < end
    }

    /// Does one request, without a savepoint.
    ///
    /// False when it failed or was refused after it had changed something.
    private func isDone(_ write: any QueuedWrite, _ context: WriteContext) throws(SQLiteError) -> Bool {
        let changes = context.connection.totalChangeCount
        do throws(SQLiteError) {
            let isKept = try write.perform(in: context)
            return isKept || context.connection.totalChangeCount == changes
        } catch {
            if error.endsBatch || !context.connection.isInTransaction { throw error }
            return false
        }
    }

    /// Undoes the transaction and does it again with a savepoint around each request, so that one that fails
    /// spoils nobody else's.
    ///
    /// All others do without savepoints, which would keep a copy of each page they touch.
    private func redo(_ batch: [any QueuedWrite], _ context: WriteContext) throws(SQLiteError) {
        context.rollback()
        try context.begin()
        for write in batch {
            try context.connection.savepoint()
            do throws(SQLiteError) {
                if try write.perform(in: context) {
                    try context.connection.releaseSavepoint()
                } else {
                    try context.connection.rollbackToSavepoint()
                }
            } catch {
                if error.endsBatch || !context.connection.isInTransaction { throw error }
                let failure = StoreError(error)
                write.refuse(failure)
                shared.noteRefusals(1, failure)
                shared.troubles.note(failure, of: .writing, at: MonotonicTime.now().nanoseconds)
                try context.connection.rollbackToSavepoint()
            }
        }
    }

    /// Lets the log begin anew.
    ///
    /// Writes that follow each other without a pause would make it grow for ever, because SQLite goes back to
    /// its start only when all of it has been copied.
    private func boundLog(_ connection: SQLiteConnection) throws(SQLiteError) {
        switch shared.logCopying.withLock({ $0.copier }) {
        case .writer:
            let checkpoint = try connection.checkpoint(.passive)
            // Readers that begin now read the database alone, so that the next write may go back to the start.
            if checkpoint.copiedPages == checkpoint.logPages { shared.renewSnapshots() }
        case .background: shared.requestCheckpoint()
        case nil: break
        }
    }

    private func answer(_ batch: [any QueuedWrite]) {
        for write in batch { write.answer() }
        shared.queue.finish()
    }

    /// Nothing of the batch was done: everybody is told to try again, nobody "no match".
    private func fail(_ batch: [any QueuedWrite], _ cause: SQLiteError) {
        let error = StoreError(cause)
        if cause.endsConnection { giveUpConnection() }
        for write in batch { write.refuse(error) }
        shared.queue.finish()
        var refused = batch.count
        if batch.isEmpty {
            if error.code == .locked {
                // Who waits may still be served: SQLite has waited a little, and is asked again.
                shared.queue.note(obstacle: error)
            } else {
                refused = shared.queue.refuseAll(error)
            }
        }
        shared.noteRefusals(refused, error)
        shared.troubles.note(error, of: .writing, at: MonotonicTime.now().nanoseconds)
    }

    /// Opens another connection at once, before anybody is told that nothing was done.
    private func giveUpConnection() {
        failed = context
        context = nil
        retryAt = 0
        do throws(StoreError) {
            context = try reopen()
            failed = nil
        } catch {
            // Told by whoever calls; tried again with the next write.
            retryAt = MonotonicTime.now().nanoseconds + Self.retryNanoseconds
        }
    }

    /// Opens a connection after a failure, and writes over what the failure may have left.
    ///
    /// A commit whose sync failed can stand whole in the log: SQLite goes on as if it did not, but a start would read
    /// it back (sqlite.org/walformat.html, 4.1), and clicks would be consumed by claims that were answered "try
    /// again". A commit of its own in the same place makes the rest of the log unreadable, synced or not.
    private func reopen() throws(StoreError) -> WriteContext {
        let connection = try open()
        do throws(SQLiteError) {
            try connection.transaction(.immediate) { () throws(SQLiteError) in
                try connection.statement(Self.overwrite).run()
            }
            return try WriteContext(connection: connection, shared: shared)
        } catch {
            throw StoreError(error)
        }
    }

    /// Another value each time, or SQLite would write nothing.
    private static let overwrite: SQL = """
        INSERT INTO progress VALUES ('failures', 1) ON CONFLICT DO UPDATE SET value = value + 1
        """

    /// The context, made anew after its connection was given up.
    ///
    /// Nil, and all refused, when that fails.
    private func usableContext() -> WriteContext? {
        if let context { return context }
        let now = MonotonicTime.now().nanoseconds
        if now < retryAt {
            let error = StoreError(.inputOutput, "the database could not be opened again yet")
            shared.noteRefusals(shared.queue.refuseAll(error), error)
            return nil
        }
        do throws(StoreError) {
            context = try reopen()
            failed = nil
        } catch {
            // What is locked may be so by the connection that failed.
            if error.code == .locked { failed = nil }
            retryAt = now + Self.retryNanoseconds
            let refused = shared.queue.refuseAll(error)
            shared.noteRefusals(refused, error)
            shared.troubles.note(error, of: .writing, at: now)
        }
        return context
    }
}
