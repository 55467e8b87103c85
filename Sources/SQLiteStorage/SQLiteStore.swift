public import Attribution
internal import SQLite
public import Storage
internal import Threads

/// A database on SQLite: one writer, any number of readers.
///
/// Each event loop has a ``SQLiteSession`` of its own, which reads in place and hands its writes to the writer.
public final class SQLiteStore: Sendable {
    /// Whether the database was made by this opening.
    public let isNew: Bool

    let shared: SharedState
    let opening: DatabaseOpening
    private let directory: DirectoryCache
    private let hasEnded = ConditionLock(false)
    private let threads = ConditionLock<[JoinableThread]>([])

    /// What ``open(_:)`` would change in the schema; changes nothing.
    public static func migrationPlan(_ configuration: SQLiteConfiguration) throws(StoreError) -> MigrationPlan
    {
        try DatabaseOpening(configuration, migrations: Migration.embedded).plan()
    }

    /// Opens the database, makes it where there is none, brings it up to date, and starts the writer.
    ///
    /// - Throws: an error that names the file and says what to do; the file is as it was.
    public static func open(_ configuration: SQLiteConfiguration) throws(StoreError) -> SQLiteStore {
        try SQLiteStore(DatabaseOpening(configuration, migrations: Migration.embedded))
    }

    private init(_ opening: DatabaseOpening) throws(StoreError) {
        let shared = SharedState(opening.configuration)
        guard !opening.configuration.isReadOnly else {
            isNew = false
            self.shared = shared
            self.opening = opening
            let connection = try opening.openAccepted()
            directory = try opening.translated { () throws(SQLiteError) in
                try DirectoryCache(reading: SQLiteReader(connection: connection))
            }
            return
        }
        let (connection, isNew) = try opening.open()
        let (context, directory) = try opening.translated { () throws(SQLiteError) in
            if !opening.configuration.trustsClock {
                shared.jobClock.start(
                    lastSettled: try SQLiteReader(connection: connection).lastSettled(),
                    isAccepted: opening.configuration.acceptsClock
                )
            }
            return (
                try WriteContext(connection: connection, shared: shared),
                try DirectoryCache(reading: SQLiteReader(connection: connection))
            )
        }
        self.isNew = isNew
        self.shared = shared
        self.opening = opening
        self.directory = directory
        try startThreads(context)
    }

    /// As ``open(_:)``, with other migrations: for tests of what an upgrade does.
    package static func open(
        _ configuration: SQLiteConfiguration,
        migrations: [(name: String, text: String)]
    ) throws(StoreError) -> SQLiteStore {
        try SQLiteStore(DatabaseOpening(configuration, migrations: Migration.read(migrations)))
    }

    /// Creates a database with other migrations and closes it: for tests that open what another program made.
    package static func makeDatabase(
        _ configuration: SQLiteConfiguration,
        migrations: [(name: String, text: String)]
    ) throws(StoreError) {
        _ = try DatabaseOpening(configuration, migrations: Migration.read(migrations)).open()
    }

    /// As ``migrationPlan(_:)``, with other migrations.
    package static func migrationPlan(
        _ configuration: SQLiteConfiguration,
        migrations: [(name: String, text: String)]
    ) throws(StoreError) -> MigrationPlan {
        try DatabaseOpening(configuration, migrations: Migration.read(migrations)).plan()
    }

    /// The migrations of this program, as file names and texts.
    package static var embeddedMigrations: [(name: String, text: String)] { EmbeddedMigrations.files }

    /// Runs `body` on the writer's thread within a transaction: for tests that hold the writer or make it fail.
    package func queueWork(_ body: @escaping @Sendable () -> Void) {
        shared.queue.append(QueuedWrite(.hold(body)) { _ in }, isInternal: true)
    }

    /// Does what the watchdog does when everybody's time is up: for tests that do not wait for it.
    package func expireWaiting() {
        shared.queue.expire(at: .max - 1)
        shared.claims.expire(at: .max - 1)
    }

    /// A view of the store for one event loop, which alone may use it.
    public func makeSession() -> SQLiteSession {
        SQLiteSession(shared: shared, opening: opening, directory: directory)
    }

    /// How the store is doing.
    ///
    /// Cheap enough to be asked often.
    public var health: StoreHealth {
        var health = shared.healthSnapshot
        health.databaseBytes = DatabaseFile.byteCount(opening.file.path)
        health.writeAheadLogBytes = DatabaseFile.byteCount(opening.file.logPath)
        return health
    }

    /// Finishes what waits, copies the log into the database, and closes.
    ///
    /// Blocks.
    ///
    /// - Parameter milliseconds: after this time, what still waits is refused.
    public func stop(within milliseconds: UInt64) {
        guard !opening.configuration.isReadOnly else { return }
        let deadline = MonotonicTime.now().nanoseconds + milliseconds * 1_000_000
        shared.noteStopping()
        shared.stopBackground()
        shared.queue.requestUpdates()
        let slices = shared.learnt.takeSlices()
        if !slices.isEmpty {
            shared.queue.append(QueuedWrite(.learning(.add(slices))) { _ in }, isInternal: true)
        }
        shared.queue.stop()
        let isDone = hasEnded.wait(until: deadline) { $0 ? true : nil } ?? false
        if !isDone {
            // The disk does not answer: whoever waits for it is told so, and its thread is left behind.
            _ = shared.queue.refuseAll(StoreError(.stopping, "the server is stopping"))
            shared.queue.expire(at: .max - 1)
            shared.claims.expire(at: .max - 1)
        }
        shared.background.withLock { $0.hasEnded = true }
        shared.background.broadcast()
        let threads = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        if isDone { for thread in threads { thread.join() } }
    }

    private func startThreads(_ context: WriteContext) throws(StoreError) {
        let (shared, opening, hasEnded) = (shared, opening, hasEnded)
        context.connection.releaseFromThread()
        let context = SendOnce(context)
        var started = [
            try start {
                let engine = SQLiteEngine(context.take(), shared: shared, open: opening.reopen)
                WriterThread(
                    engine,
                    queue: shared.queue,
                    updates: shared.updates,
                    health: shared.health,
                    failures: shared.failures,
                    batchLimit: shared.configuration.batchLimit
                ).run()
                hasEnded.withLock { $0 = true }
                hasEnded.broadcast()
            },
            try start { Self.watchDeadlines(shared) },
        ]
        if opening.configuration.hasBackgroundWork {
            // Before all other jobs: checks ask the database until there is a filter.
            shared.jobs.ask(for: .filter)
            started.append(try startInBackground { shared.runJobs(opening) })
            started.append(
                try startInBackground { BackgroundReader(shared: shared, opening: opening).run() }
            )
        }
        threads.withLock { $0 = started }
    }

    private static func watchDeadlines(_ shared: SharedState) {
        Deadlines(shared.queue, shared.claims, shared.updates).run { moment in
            shared.background.wait(until: moment) { $0.hasEnded ? true : nil } == nil
        }
    }

    /// Starts a thread whose connections are closed before the writer's.
    private func startInBackground(_ run: @escaping @Sendable () -> Void) throws(StoreError) -> JoinableThread
    {
        let shared = shared
        shared.beginBackgroundThread()
        return try start {
            run()
            shared.endBackgroundThread()
        }
    }

    private func start(_ run: @escaping @Sendable () -> Void) throws(StoreError) -> JoinableThread {
        do throws(ThreadStartError) {
            return try JoinableThread(run: run)
        } catch {
            throw StoreError(
                .resources,
                "the system refused a thread for the database (error \(error.systemError))"
            )
        }
    }
}

/// Carries a value from the thread that made it to the one that will own it.
///
/// Sendable, because the value is given away once and the giver keeps no other way to it.
private final class SendOnce<Value>: @unchecked Sendable {
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    func take() -> Value { value }
}
