internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

/// Writes to the SQLite database, on the thread that writes.
final class SQLiteEngine: BlockingEngine {
    private let shared: SharedState
    private let open: () throws(StoreError) -> SQLiteConnection
    /// Nil after a failure, until another connection is open.
    private var context: WriteContext?
    /// Given up after a failure, and open until there is another: the last one to close would leave the log to be
    /// read again from the disk.
    private var failed: WriteContext?
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

    func begin() throws(EngineFailure) {
        try checkFiles()
        try run { context throws(SQLiteError) in try context.begin() }
    }

    func perform(_ write: Write) throws(EngineFailure) -> Written {
        try run { context throws(SQLiteError) in try context.perform(write) }
    }

    var changeCount: Int64 { context?.connection.totalChangeCount ?? 0 }

    func savepoint() throws(EngineFailure) {
        try run { context throws(SQLiteError) in try context.connection.savepoint() }
    }

    func release() throws(EngineFailure) {
        try run { context throws(SQLiteError) in try context.connection.releaseSavepoint() }
    }

    func undo() throws(EngineFailure) {
        try run { context throws(SQLiteError) in try context.connection.rollbackToSavepoint() }
    }

    func commit() throws(EngineFailure) {
        try run { context throws(SQLiteError) in
            let changesDirectory = context.changesDirectory
            try context.commit()
            context.changesDirectory = false
            shared.noteCommit(logPages: context.connection.logPageCount)
            if changesDirectory { shared.noteDirectoryChange() }
        }
    }

    func rollback() {
        context?.rollback()
    }

    /// Lets the log begin again from its start.
    ///
    /// Writes that follow each other without a pause would make it grow without end, because SQLite goes back to
    /// its start only when all of it has been copied.
    func tidy() throws(EngineFailure) {
        switch shared.logCopying.withLock({ $0.copier }) {
        case .writer:
            try run { context throws(SQLiteError) in
                let checkpoint = try context.connection.checkpoint(.passive)
                // Readers that begin now read the database alone, so that the next write may go back to the start.
                if checkpoint.copiedPages == checkpoint.logPages { shared.renewSnapshots() }
            }
        case .background: shared.jobs.ask(for: .checkpoint)
        case nil: break
        }
    }

    /// Opens a connection after a failure, and writes over what the failure may have left.
    ///
    /// A commit whose sync failed can stand whole in the log: SQLite goes on as if it did not, but a start would read
    /// it back (sqlite.org/walformat.html, 4.1), and clicks would be consumed by claims that were answered "try
    /// again". A commit of its own in the same place makes the rest of the log unreadable, synced or not.
    func reopen() throws(EngineFailure) {
        let isFirstTry = context != nil
        if let context { failed = context }
        context = nil
        do throws(StoreError) {
            try files.check()
            context = try makeContext()
            failed = nil
        } catch {
            // What is locked may be so by the connection that failed.
            if !isFirstTry, error.code == .locked { failed = nil }
            throw EngineFailure(error, endsBatch: true, endsConnection: true)
        }
    }

    private func makeContext() throws(StoreError) -> WriteContext {
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

    /// Leaves all that was written in the database's own file.
    func close() {
        // Two cannot copy the log at once, and the second one is not made to wait (sqlite.org/c3ref/wal_checkpoint_v2.html).
        shared.awaitBackgroundThreads()
        do throws(SQLiteError) {
            _ = try context?.connection.checkpoint(.truncate)
        } catch {
            shared.failures.note(StoreError(error), of: .writing, at: MonotonicTime.now().nanoseconds)
        }
        context = nil
    }

    /// Refuses to write when the database's files are not where they were.
    private func checkFiles() throws(EngineFailure) {
        do throws(StoreError) {
            try files.check()
        } catch {
            throw EngineFailure(error, endsBatch: true, endsConnection: false)
        }
    }

    private func run<Result>(
        _ body: (WriteContext) throws(SQLiteError) -> Result
    ) throws(EngineFailure) -> Result {
        guard let context else {
            let error = StoreError(.inputOutput, "the database could not be opened again yet")
            throw EngineFailure(error, endsBatch: true, endsConnection: true)
        }
        do throws(SQLiteError) {
            return try body(context)
        } catch {
            // Where SQLite has undone the transaction by itself, nothing of it can be kept.
            throw EngineFailure(
                StoreError(error),
                endsBatch: error.endsBatch || !context.connection.isInTransaction,
                endsConnection: error.endsConnection
            )
        }
    }
}

extension WriteContext {
    /// Does a write in the open transaction.
    func perform(_ write: Write) throws(SQLiteError) -> Written {
        switch write {
        case .click(let click): return try record(click)
        case .claim(let request): return .claim(try claim(request))
        case .updates(let updates): try self.write(updates)
        case .directory(let change): return try perform(change)
        case .links(let change): return try perform(change)
        case .learning(let change): return try perform(change)
        case .keys(let change): return try perform(change)
        case .job(let step): return try perform(step)
        case .barrier: break
        case .hold(let body): body()
        }
        return .done
    }

    private func perform(_ change: DirectoryChange) throws(SQLiteError) -> Written {
        let refusal =
            switch change {
            case .createApp(let app, let keys): try create(app, with: keys)
            case .updateApp(let app, let settings): try update(app, to: settings)
            case .createKey(let key): try create(key)
            case .revokeKey(let key, let now): try revoke(key, at: now)
            }
        return refusal.map { .refused($0) } ?? .done
    }

    private func perform(_ change: LinkChange) throws(SQLiteError) -> Written {
        let refusal =
            switch change {
            case .create(let links): try create(links)
            case .update(let link, let earlier): try update(link, ifUpdatedAt: earlier)
            case .delete(let link): try delete(link)
            }
        return refusal.map { .linkRefused($0) } ?? .done
    }

    private func perform(_ change: LearningChange) throws(SQLiteError) -> Written {
        switch change {
        case .add(let slices): for slice in slices { try learn(slice) }
        case .forget(let scope, let limit): return .flag(try forgetCounters(of: scope, limit: limit))
        case .beginEarlier(let scope, let now): try beginEarlier(scope, at: now)
        case .fade(let scope, let family, let first, let now, let limit):
            return .faded(
                upTo: try fadeCounters(of: scope, family, after: first, at: now, limit: limit)
            )
        case .keepLargest(let count, let scope, let family): try keepLargest(count, of: scope, family)
        case .moveLandmark(let scope, let landmark): try moveLandmark(of: scope, to: landmark)
        }
        return .done
    }

    private func perform(_ change: KeyChange) throws(SQLiteError) -> Written {
        switch change {
        case .confirm(let checks, let now): return .serverKeys(try confirm(serverKeys: checks, at: now))
        case .forget(let check): try forget(serverKey: check)
        case .forgetAddressDays(let now): try forgetAddressDays(before: now)
        }
        return .done
    }

    private func perform(_ step: JobStep) throws(SQLiteError) -> Written {
        switch step {
        case .retention(let step): return .retention(try runRetention(step))
        case .compact(let day, let nanoseconds):
            try compact(day, until: MonotonicTime.now().nanoseconds + nanoseconds)
        case .takeLease(let lease): return .flag(try take(lease))
        case .finish(let job, let holder, let progress):
            try finish(job, for: holder, progress: progress)
        case .drift(let findings, let scope, let end, let lease):
            guard try take(lease) else { return .flag(false) }
            try keep(findings, of: scope, lookedAt: end)
            return .flag(true)
        case .collisions(let reports):
            for entry in reports { try keep(entry.report, of: entry.scope) }
        }
        return .done
    }
}
