public import Attribution
internal import SQLite
public import Storage
internal import Threads

/// A database on SQLite: one writer, any number of readers.
///
/// Each event loop has a session of its own, which reads in place and hands its writes to the writer.
public final class SQLiteStore: Sendable {
    /// Whether the database was made by this opening.
    public let isNew: Bool

    private let state: StoreState
    private let opening: DatabaseOpening
    private let directory: DirectoryCache
    private let threads: StoreThreads<SQLiteBackend>

    /// What ``open(_:)`` would change in the schema; changes nothing.
    public static func migrationPlan(_ configuration: SQLiteConfiguration) throws(StoreError) -> MigrationPlan
    {
        try DatabaseOpening(configuration, migrations: Migration.embedded).plan()
    }

    /// Opens the database, makes it where there is none, brings it up to date, and starts the writer.
    ///
    /// - Throws: an error that names the file and what to do; the file is as it was.
    public static func open(_ configuration: SQLiteConfiguration) throws(StoreError) -> SQLiteStore {
        try SQLiteStore(DatabaseOpening(configuration, migrations: Migration.embedded))
    }

    private init(_ opening: DatabaseOpening) throws(StoreError) {
        let state = StoreState(opening.configuration.store)
        let isReadOnly = state.configuration.isReadOnly
        let connection: SQLiteConnection
        if isReadOnly {
            (connection, isNew) = (try opening.openAccepted(), false)
        } else {
            (connection, isNew) = try opening.open()
        }
        directory = try opening.translated { () throws(SQLiteError) in
            try DirectoryCache(reading: SQLiteReader(connection: connection))
        }
        self.state = state
        self.opening = opening
        threads = StoreThreads(state, SQLiteBackend(opening: opening))
        if !isReadOnly { try startThreads(connection) }
    }

    private func startThreads(_ connection: SQLiteConnection) throws(StoreError) {
        let (state, opening) = (state, opening)
        let transaction = try opening.translated { () throws(SQLiteError) in
            let writer = SQLiteWriter(connection: connection)
            try state.startClock(lastSettled: writer.reader.lastSettled)
            return try WriteTransaction(writer, state)
        }
        connection.releaseFromThread()
        let first = SendOnce(transaction)
        let hasBackground = state.configuration.hasBackgroundWork
        let checkpoints = ConditionLock(CheckpointPolicy(hasBackground: hasBackground))
        try threads.startWriter { SQLiteEngine(first.value, state, opening, checkpoints: checkpoints) }
        try threads.startBackground { [CheckpointJob(opening, checkpoints)] }
    }

    /// A session for one event loop, which alone may use it.
    public func makeSession() -> any LoopSession { SQLiteSession(LoopState(threads, directory)) }

    /// How the store is doing; cheap enough to be asked often.
    public var health: StoreHealth {
        var health = state.healthSnapshot
        health.databaseBytes = DatabaseFile.byteCount(opening.file.path)
        health.writeAheadLogBytes = DatabaseFile.byteCount(opening.file.logPath)
        return health
    }

    /// Finishes what waits, copies the log into the database, and closes; blocks.
    ///
    /// - Parameter milliseconds: after this time, writes that still wait are refused.
    public func stop(within milliseconds: UInt64) {
        if !state.configuration.isReadOnly { threads.stop(within: milliseconds) }
    }
}

/// Which keys the stored hashes need; all of these wait for the disk, and are never called on a loop.
extension SQLiteStore {
    /// Remembers by their ``ServerKey/checkValue`` which server keys the store is used with from now on, the current one
    /// first.
    ///
    /// Nothing is changed where the store's rows were hashed under other keys.
    public func confirm(serverKeys checks: [KeyedHash], at now: Timestamp) throws(StoreError)
        -> ServerKeyRecognition
    {
        guard case .serverKeys(let recognition) = try state.queue.perform(.keys(.confirm(checks, at: now)))
        else {
            throw .mismatch
        }
        return recognition
    }

    /// The keys that may not be destroyed, as of now by the store's own clock.
    public func keyNeeds() throws(StoreError) -> RequiredKeys {
        let now = state.configuration.clock.now()
        // Not by the writer, whose commits show that the disk takes writes.
        let (needs, hasPastDays) = try opening.translated { () throws(SQLiteError) in
            let reader = SQLiteReader(connection: try opening.openReader())
            return (try reader.requiredKeys(at: now), try reader.hasPastAddressDays(at: now))
        }
        guard hasPastDays, isClockSettled else { return needs }
        try state.queue.perform(.keys(.forgetAddressDays(before: now)))
        return needs
    }

    /// Forgets a server key under which nothing is stored any more, by the first word of its check value.
    public func forget(serverKey check: UInt64) throws(StoreError) {
        try state.queue.perform(.keys(.forget(serverKey: check)))
    }
}

/// Jobs that commands and tests run in place; all of them block.
extension SQLiteStore {
    /// Whether jobs go by the wall clock; see ``SettledClock``.
    public var isClockSettled: Bool { state.isClockSettled }

    /// Closes and deletes what is due, until nothing is left.
    ///
    /// - Returns: how many clicks were closed and deleted.
    @discardableResult
    public func runRetention() throws(StoreError) -> RetentionProgress {
        var job = RetentionJob(threads.makeJobContext())
        try job.runToEnd()
        return job.progress
    }

    /// Evaluates the match rates of all apps, if a span has ended since the last evaluation.
    package func lookAtMatchRates() throws(StoreError) {
        var job = DriftJob(threads.makeJobContext())
        try job.runToEnd()
    }

    /// Counts collisions now and stores the reports.
    package func countCollisions() throws(StoreError) {
        var job = CollisionJob(threads.makeJobContext())
        try job.beginRound()
        try job.runToEnd()
    }

    /// Counts collisions so often, each time only where a round is due as it is beside requests.
    package func countCollisionsIfDue(times: Int, afterEach: () -> Void = {}) throws(StoreError) {
        var job = CollisionJob(threads.makeJobContext())
        for _ in 0..<times {
            try job.runToEnd()
            afterEach()
        }
    }

    /// Deletes learnt counters that are worth nothing any more.
    package func fadeLearning() throws(StoreError) {
        var job = FadingJob(threads.makeJobContext())
        try job.runToEnd()
    }

    /// Builds a filter of what is stored, whether one is due or not.
    package func buildFilter() throws(StoreError) {
        var job = FilterJob(threads.makeScanContext())
        try job.build()
    }
}

/// Stores of other migrations, and a held writer, for tests.
extension SQLiteStore {
    /// As ``open(_:)``, with other migrations.
    package static func open(_ configuration: SQLiteConfiguration, migrations: [(name: String, text: String)])
        throws(StoreError) -> SQLiteStore
    {
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

    /// Runs `body` on the writer's thread within a transaction.
    package func queueWork(_ body: @escaping @Sendable () -> Void) { state.queueWork(body) }

    /// Refuses all writes that wait, as if their deadlines had passed.
    package func expireWaiting() { state.expireWaiting() }
}

/// Carries a value from the thread that made it to the one that will own it.
///
/// Sendable, because the value is given away once and the giver keeps no other way to it.
private final class SendOnce<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
