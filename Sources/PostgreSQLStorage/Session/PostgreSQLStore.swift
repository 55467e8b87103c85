#if PostgreSQL
public import Attribution
internal import PostgreSQL
public import Storage
public import Threads

/// An open PostgreSQL database, which other servers read and write too.
///
/// Each event loop has a session, which reads on the loop's own connection and passes its writes to the
/// writing thread. The writing thread, the jobs and the long reads have connections of their own, and block
/// while they wait for PostgreSQL.
public final class PostgreSQLStore: Sendable {
    /// Whether opening the store has created the tables.
    public let isNew: Bool

    /// The keyring that all servers share.
    public let keyring: PostgreSQLKeyring

    private let opening: DatabaseOpening
    private let state: StoreState
    private let directory: DirectoryCache
    private let slots: SlotTable
    private let threads: StoreThreads<PostgreSQLBackend>

    /// The version of the client library, such as 15.18.
    public static var libraryVersion: String { PostgreSQLLibrary.version }

    /// Returns what ``open(_:)`` would change in the schema, and changes nothing.
    public static func migrationPlan(_ configuration: PostgreSQLConfiguration) throws(StoreError)
        -> MigrationPlan
    { try DatabaseOpening(configuration).plan() }

    /// Connects, creates the tables or brings them up to date, and starts the writing thread.
    ///
    /// - Throws: an error that says what to do; for example, if the database server cannot be reached.
    public static func open(_ configuration: PostgreSQLConfiguration) throws(StoreError) -> PostgreSQLStore {
        try PostgreSQLStore(configuration)
    }

    private init(_ given: PostgreSQLConfiguration) throws(StoreError) {
        var configuration = given
        let accepted = DatabaseOpening(given)
        let isReadOnly = given.store.isReadOnly
        let connection: BlockingConnection
        if isReadOnly {
            (connection, isNew) = (try accepted.openAccepted(), false)
        } else {
            (connection, isNew) = try accepted.open()
            try accepted.requireAllRows(connection)
            try Self.makePartitions(connection, from: given.store.clock.now())
        }
        let form = try accepted.form(connection)
        configuration.shards = form.shards
        var server: ServerRow?
        if !isReadOnly {
            let holder = Int64(bitPattern: given.store.random())
            let taken = try ServerRow.take(connection, holder: holder, version: given.programVersion)
            configuration.store.numbers =
                NumberLayout(server: Int(taken.number), shortSeconds: form.shortSeconds) ?? .plain
            server = taken
        }
        opening = DatabaseOpening(configuration)
        keyring = PostgreSQLKeyring(configuration, holder: server?.holder)
        state = StoreState(configuration.store, holder: server?.holder)
        let reader = PostgreSQLReader(connection: connection)
        (slots, directory) = try StoreError.translating { () throws(PostgreSQLError) in
            (SlotTable(try Partitions(connection: connection).table()), try DirectoryCache(reading: reader))
        }
        threads = StoreThreads(state, PostgreSQLBackend(opening: opening))
        guard let server else { return }
        try StoreError.translating { () throws(PostgreSQLError) in
            try state.startClock(lastSettled: reader.lastSettled)
            try Self.compareClocks(connection, state)
        }
        try startThreads(server, form)
    }

    /// Makes the partitions that the first clicks need; a job makes the partitions of the days ahead.
    private static func makePartitions(_ connection: BlockingConnection, from now: Timestamp)
        throws(StoreError)
    {
        let today = now.milliseconds / 86_400_000
        try StoreError.translating { () throws(PostgreSQLError) in
            let existing = try Partitions(connection: connection).table()
            for slot in [RowHome.longSlot, today, today + 1] where existing[slot] == nil {
                try Partitions(connection: connection).make(slot)
            }
        }
    }

    /// Compares the clocks before the first poll, so that a server with a wrong clock is never ready, and its jobs know
    /// how far its clock is ahead.
    private static func compareClocks(_ connection: BlockingConnection, _ state: StoreState)
        throws(PostgreSQLError)
    {
        let configuration = state.configuration
        guard configuration.hasBackgroundWork, !configuration.trustsClock else { return }
        let (begun, start) = (configuration.monotonicNow(), configuration.clock.now().milliseconds)
        let time: PostgreSQLTime = try connection.execute(readClock).value(0, 0)
        let end = configuration.clock.now().milliseconds
        let lead = PostgreSQLReader.clockLead(over: time.microseconds / 1000, start, end)
        state.noteComparison(at: begun, clockLead: lead)
    }

    private static let readClock = PreparedStatement("SELECT clock_timestamp()")

    private func startThreads(_ server: ServerRow, _ form: DatabaseForm) throws(StoreError) {
        let (configuration, state, directory, slots) = (opening.configuration, state, directory, slots)
        let threads = threads
        try threads.startWriter {
            PostgreSQLEngine(
                configuration,
                state,
                form: form,
                server: server,
                directory: directory,
                slots: slots
            )
        }
        try threads.startPoll { DirectoryJob(threads.makeJobContext(), directory, slots) }
        try threads.startBackground(PostgreSQLRules.makeJobs)
    }

    /// Creates a session, which only one event loop may use.
    ///
    /// It waits for its connection by the loop's `port`. Without a port, each of its reads blocks the calling
    /// thread; this is for commands and threads that have no event loop.
    public func makeSession(port: LoopPort?) -> any LoopSession {
        PostgreSQLSession(threads, directory, slots, opening.configuration, port: port)
    }

    /// The store's health, which is cheap enough to be read often.
    public var health: StoreHealth { state.healthSnapshot }

    /// The server keys that the database knows, and the keys that its hashes need.
    public var keys: StoredKeys { StoredKeys(threads) }

    /// Stores an event about a fact that no table contains; blocks.
    public func publish(_ type: PostbackType, of app: AppID, data: String) throws(StoreError) {
        try threads.publish(type, of: app, data: data)
    }

    /// Performs the waiting writes, and leaves this server's number to others; blocks.
    ///
    /// - Parameter milliseconds: the time after which the store refuses writes that still wait.
    public func stop(within milliseconds: UInt64) {
        if !state.configuration.isReadOnly { threads.stop(within: milliseconds) }
    }
}

/// Gives access to jobs and to the writing thread, mostly to tests, which run jobs on their own threads.
extension PostgreSQLStore {
    /// Whether jobs trust the wall clock; see ``SettledClock``.
    public var isClockSettled: Bool { state.isClockSettled }

    package func makeJobContext() -> JobContext<some ReportReader> { threads.makeJobContext() }

    /// Creates the jobs that only PostgreSQL has, for the calling thread.
    package func makeOwnJobs() -> [any Job] {
        let context = threads.makeJobContext()
        return [DirectoryJob(context, directory, slots)] + PostgreSQLRules.makeJobs(context)
    }

    /// Runs `body` on the writing thread within a transaction.
    package func queueWork(_ body: @escaping @Sendable () -> Void) { state.queueWork(body) }

    /// Refuses all writes that have a deadline, and all waiting checks, as if their deadlines had passed.
    package func expireWaiting() { state.expireWaiting() }

    /// Adds the remaining deltas of transactions to the tables of counts; blocks.
    ///
    /// Each report does this before it reads.
    package static func foldCounts(_ configuration: PostgreSQLConfiguration) throws(StoreError) {
        try StoreError.translating { () throws(PostgreSQLError) in
            try DatabaseOpening(configuration).connect().foldAll()
        }
    }
}
#endif
