#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Reads four times a second which apps, keys and partitions other servers have changed, and compares the clocks.
///
/// If the reads fail for two seconds, or the clocks differ by more than a second, this server is not ready. Therefore
/// this job has a thread and a connection of its own, and gives up a connection that does not answer within a second.
struct DirectoryJob: Job {
    let name = JobName.directory
    let share = 1.0
    /// As short as every later pause: a key that is revoked right after the start is refused as early as any other.
    let firstPause = DirectoryJob.interval
    let maximumBackoff = DirectoryJob.interval

    private let context: JobContext<PostgreSQLReader>
    private let directory: DirectoryCache
    private let slots: SlotTable
    /// When this job last requested an empty transaction, which shows other servers that this one is alive; in
    /// nanoseconds.
    private var showedLifeAt: UInt64 = 0

    private static let interval: UInt64 = 250_000_000
    fileprivate static let timeLimit = Duration.seconds(1)
    /// The time between two requests for an empty transaction, in nanoseconds: other servers forget a server
    /// that has shown no sign of life for 30 seconds.
    private static let lifeInterval: UInt64 = 10_000_000_000

    init(_ context: JobContext<PostgreSQLReader>, _ directory: DirectoryCache, _ slots: SlotTable) {
        (self.context, self.directory, self.slots) = (context, directory, slots)
        // The start of the store has just read everything, and compared the clocks.
        let state = context.state
        state.noteComparison(at: state.configuration.monotonicNow(), clockLead: state.clockLead)
    }

    mutating func slice(at now: UInt64) throws(StoreError) -> Due {
        let state = context.state
        let configuration = state.configuration
        let (begun, start) = (configuration.monotonicNow(), configuration.clock.now().milliseconds)
        let shared = try context.read { reader throws(PostgreSQLError) in
            try reader.connection.sharedState()
        }
        let end = configuration.clock.now().milliseconds
        slots.publish(shared.slots)
        if shared.version != directory.snapshot.version {
            directory.publish(
                try context.read { reader throws(PostgreSQLError) in try reader.directorySnapshot() }
            )
            state.noteDirectoryChange()
        }
        let lead = configuration.trustsClock ? 0 : PostgreSQLReader.clockLead(over: shared.time, start, end)
        state.noteComparison(at: begun, clockLead: lead)
        state.noteOtherServers(shared.serverCount > 1)
        if now >= showedLifeAt + Self.lifeInterval {
            showedLifeAt = now
            state.requestCatchUp()
        }
        return .after(Self.interval)
    }
}

/// Reads the size of the database once a minute.
///
/// The read is slow, because the database server asks the file system for the size of each of its files.
struct SizeJob: Job {
    let name = JobName.size
    let share = 1.0

    private let context: JobContext<PostgreSQLReader>

    init(_ context: JobContext<PostgreSQLReader>) { self.context = context }

    mutating func slice(at _: UInt64) throws(StoreError) -> Due {
        let bytes = try context.read { reader throws(PostgreSQLError) in try reader.databaseByteCount() }
        context.state.noteDatabaseSize(bytes: bytes)
        return .after(60_000_000_000)
    }
}

/// The shared state that this job polls.
private struct SharedState {
    let version: Int64
    /// The database's clock, in milliseconds since 1970.
    let time: Int64
    let slots: [Int64: Timestamp?]
    /// The number of servers of the database, this one included.
    let serverCount: Int64
}

extension BlockingConnection {
    fileprivate func sharedState() throws(PostgreSQLError) -> SharedState {
        var batch = StatementBatch()
        batch.append(Self.sharedState)
        guard let rows = try rows(of: batch, within: DirectoryJob.timeLimit).first else {
            throw PostgreSQLError(.other, "The poll of the shared state has no result.")
        }
        let time: PostgreSQLTime = try rows.value(0, 1)
        let (slots, ends): ([Int64], [Int64?]) = (try rows.value(0, 2), try rows.value(0, 3))
        var table: [Int64: Timestamp?] = [:]
        for (slot, end) in zip(slots, ends) {
            table.updateValue(end.map { Timestamp(milliseconds: $0) }, forKey: slot)
        }
        return SharedState(
            version: try rows.value(0, 0),
            time: time.microseconds / 1000,
            slots: table,
            serverCount: try rows.value(0, 4)
        )
    }

    private static let sharedState: PreparedStatement = """
        SELECT (SELECT version FROM directory), clock_timestamp(), coalesce(array_agg(slot::int8), '{}'),
        coalesce(array_agg(needed_until), '{}'), (SELECT count(*) FROM servers
        WHERE seen_at > clock_timestamp() - interval '\(ServerRow.silentSeconds) seconds') FROM partitions
        """
}
#endif
