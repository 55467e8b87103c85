public import Attribution
internal import SQLite
public import Storage
internal import Threads

/// An open database file, with one writer and any number of readers.
///
/// Each event loop has a session, which reads on the loop's thread and passes its writes to the writing thread.
public final class SQLiteStore: Sendable {
    /// Whether opening the store has created the database.
    public let isNew: Bool

    private let state: StoreState
    private let opening: DatabaseOpening
    private let directory: DirectoryCache
    private let threads: StoreThreads<SQLiteBackend>

    /// Returns what ``open(_:)`` would change in the schema, and changes nothing.
    public static func migrationPlan(_ configuration: SQLiteConfiguration) throws(StoreError) -> MigrationPlan
    { try DatabaseOpening(configuration).plan() }

    /// Opens the database, creates it if it does not exist, brings it up to date, and starts the writing thread.
    ///
    /// With `isReadOnly`, it only opens a database that is up to date.
    ///
    /// - Throws: an error that names the file and what to do; a refused file has not changed.
    public static func open(_ configuration: SQLiteConfiguration) throws(StoreError) -> SQLiteStore {
        try SQLiteStore(DatabaseOpening(configuration))
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
        (self.state, self.opening) = (state, opening)
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
        try threads.startBackground { _ in [CheckpointJob(opening, checkpoints)] }
    }

    /// Creates a session, which only one event loop may use.
    public func makeSession() -> any LoopSession { SQLiteSession(LoopState(threads, directory)) }

    /// The store's health, which is cheap enough to be read often.
    public var health: StoreHealth {
        var health = state.healthSnapshot
        health.databaseBytes = DatabaseFile.byteCount(opening.file.path)
        health.writeAheadLogBytes = DatabaseFile.byteCount(opening.file.logPath)
        health.freeBytes = DatabaseFile.freeByteCount(inFolder: opening.file.folder)
        return health
    }

    /// The server keys that the database knows, and the keys that its hashes need.
    public var keys: StoredKeys { StoredKeys(threads) }

    /// Stores an event about a fact that no table contains; blocks.
    public func publish(_ type: PostbackType, of app: AppID, data: String) throws(StoreError) {
        try threads.publish(type, of: app, data: data)
    }

    /// Performs the waiting writes, copies the log into the database, and closes the database; blocks.
    ///
    /// It does nothing if the store is read-only.
    ///
    /// - Parameter milliseconds: the time after which the store refuses writes that still wait.
    public func stop(within milliseconds: UInt64) {
        if !state.configuration.isReadOnly { threads.stop(within: milliseconds) }
    }
}

/// Gives access to jobs and to the writing thread, mostly to tests, which run jobs on their own threads.
extension SQLiteStore {
    /// Whether jobs trust the wall clock; after a leap of more than a day, they wait (``SettledClock``).
    public var isClockSettled: Bool { state.isClockSettled }

    package func makeJobContext() -> JobContext<some ReportReader> { threads.makeJobContext() }
    package func makeScanContext() -> JobContext<some JobReader> { threads.makeScanContext() }

    /// Runs `body` on the writing thread within a transaction.
    package func queueWork(_ body: @escaping @Sendable () -> Void) { state.queueWork(body) }

    /// Refuses all writes that have a deadline, and all waiting checks, as if their deadlines had passed.
    package func expireWaiting() { state.expireWaiting() }
}

/// Carries a value from the thread that created it to the thread that will own it.
///
/// It is `Sendable` because the first thread no longer uses the value.
private final class SendOnce<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
