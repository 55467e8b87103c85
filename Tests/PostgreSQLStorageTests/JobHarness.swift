#if PostgreSQL
import Attribution
import Support
import Threads

@testable import PostgreSQL
@testable import PostgreSQLStorage
@testable import Storage

/// A migrated database of one test, which several servers use.
struct JobDatabase: Sendable {
    static let scope = Scope(number: 6)

    let database: PostgreSQLTestDatabase
    let opening: DatabaseOpening

    private static let cluster = Result {
        try TestCluster { template, time in
            let connection = try DatabaseOpening(configuration(template)).open().connection
            for slot in slots[time] ?? [] { try Partitions(connection: connection).make(slot) }
        }
    }

    /// The slots whose partitions a test's database has from the start, by the time for which it is made.
    private static let slots = [
        WrittenDatabase.noon.milliseconds: [WrittenDatabase.noon.milliseconds / 86_400_000],
        QuestionHarness.noon.milliseconds: [RowHome.longSlot, QuestionHarness.day - 1, QuestionHarness.day],
        ReaderHarness.noon.milliseconds: [RowHome.longSlot, ReaderHarness.today - 1, ReaderHarness.today],
    ]

    /// Returns a migrated database; without partitions, if no time is given.
    static func make(at time: Timestamp = Timestamp(milliseconds: 0)) throws -> PostgreSQLTestDatabase {
        try cluster.get().makeDatabase(at: time.milliseconds)
    }

    init() throws {
        database = try Self.make()
        opening = DatabaseOpening(try Self.configuration(database))
    }

    static func configuration(_ database: PostgreSQLTestDatabase) throws -> PostgreSQLConfiguration {
        try PostgreSQLConfiguration(
            url: database.socketURL,
            name: "the test's database",
            clock: WallClock { JobServer.noon }
        )
    }

    func connect() throws -> BlockingConnection { try opening.connect() }

    /// Executes SQL, and returns the integer of the first row; 0 for NULL or without rows.
    func integer(_ sql: String) throws -> Int { try Int(database.execute(sql)) ?? 0 }

    /// Inserts a click with this number, whose window ends at `end`, and makes the partitions of its slot if
    /// they are missing.
    func insertClick(_ number: Int64, until end: Int64, fingerprint: UInt64 = 5) throws {
        let home = RowHome(of: number)
        try Partitions(connection: connect()).make(home.slot)
        let clickedAt = number >> 16
        let hash = (0..<8).map { (fingerprint >> (8 * $0)) & 0xff }.map {
            String($0 + 0x100, radix: 16).suffix(2)
        }
        try database.execute(
            """
            INSERT INTO clicks (b, slot, scope, id, id_low, clicked_at, recorded_at, expires_at, visit, visit_rest,
                post, post_rest, turn, window_seconds, is_robot, is_contradictory, destination, journey_id, source,
                platform, fingerprints, idempotency, idempotency_rest, exact_address, near_address)
            VALUES (\(home.bucket), \(home.slot), 6, \(number), 1, \(clickedAt), \(clickedAt), \(end), 1, 1,
                \(number), 1, 1, 3600, 0, 0, 'myapp://', 'jid', 'instagram', 'ios',
                '\\x\(hash.joined())0000000000000000', \(number), 7, 8, 9);
            INSERT INTO click_index (b, slot, scope, hash, since, click, hash_rest, expires_at, visit)
            VALUES (\(fingerprint & 63), \(home.slot), 6, \(Int64(bitPattern: fingerprint)), \(clickedAt), \(number), 0, \(end), 1);
            INSERT INTO click_addresses VALUES (9, \(home.slot), 6, 9, \(clickedAt), \(number), 8, \(end), '');
            INSERT INTO idempotencies VALUES (\(number & 63), 6, \(number), 7, \(number))
            """
        )
    }

    func insertCheck(_ number: Int64) throws {
        let home = RowHome(of: number)
        try database.execute(
            """
            INSERT INTO checks (b, slot, scope, id, id_low, checked_at, outcome, is_campaign_only, minimum_confidence,
                candidates, names_click, has_install_id, platform)
            VALUES (\(home.bucket), \(home.slot), 6, \(number), 1, \(number >> 16), 'no_match', 0, 0.7, 0, 0, 0, 'ios')
            """
        )
    }
}

/// What jobs need of a server: its state, its clocks, and a thread that writes leases.
final class JobServer: Sendable {
    static let noon = Timestamp(milliseconds: 1_700_049_600_000)
    static let day: Int64 = 86_400_000
    /// The day of ``noon``, in days since 1970-01-01.
    static let today = noon.milliseconds / day

    let state: StoreState
    let now: ConditionLock<Timestamp>
    let monotonic = ConditionLock<UInt64>(1_000_000_000)
    /// The number of transactions of the writing thread.
    let transactions = ConditionLock(0)
    private let database: JobDatabase
    private let thread: ConditionLock<JoinableThread?> = ConditionLock(nil)

    init(
        _ database: JobDatabase,
        at time: Timestamp = noon,
        _ change: (inout StoreConfiguration) -> Void = { _ in }
    )
        throws
    {
        let (now, monotonic) = (ConditionLock(time), monotonic)
        var configuration = StoreConfiguration(clock: WallClock { now.withLock { $0 } })
        configuration.monotonicNow = { monotonic.withLock { $0 } }
        configuration.trustsClock = true
        change(&configuration)
        (self.database, self.now, state) = (database, now, StoreState(configuration))
        let (state, transactions) = (state, transactions)
        let started = try JoinableThread {
            WriterThread(LeaseEngine(database, transactions), state).run()
        }
        thread.withLock { $0 = started }
    }

    deinit {
        state.beginStopping()
        thread.withLock { $0 }?.join()
    }

    func move(to time: Timestamp) { now.withLock { $0 = time } }

    func makeContext() -> JobContext<PostgreSQLReader> {
        JobContext(state) { [database] () throws(PostgreSQLError) in
            PostgreSQLReader(connection: try database.opening.connect())
        }
    }
}

/// An engine that performs only the writes to the table `jobs`.
private final class LeaseEngine: BlockingEngine {
    typealias Rules = PostgreSQLRules

    private let database: JobDatabase
    private let transactions: ConditionLock<Int>
    private var connection: BlockingConnection?
    let changeCount: Int64 = 0

    init(_ database: JobDatabase, _ transactions: ConditionLock<Int>) {
        (self.database, self.transactions) = (database, transactions)
    }

    func perform(_ write: Write) throws(EngineFailure) -> Written {
        do throws(PostgreSQLError) {
            if connection == nil { connection = try database.opening.connect() }
            guard let connection, case .job(let step) = write else { return .done }
            switch step {
            case .takeLease(let lease):
                let (now, length) = (lease.now.milliseconds, lease.milliseconds)
                let job = lease.job.rawValue
                let rows = try connection.execute(
                    JobRows.take,
                    job,
                    lease.holder,
                    now,
                    length,
                    JobLease.noProgress,
                    lease.isRenewal
                )
                return .flag(rows.count > 0)
            case .finish(let job, let holder, let progress):
                try connection.execute(JobRows.finish, job.rawValue, holder, progress.milliseconds)
            default: break
            }
            return .done
        } catch {
            throw EngineFailure(error)
        }
    }

    func commit() { transactions.withLock { $0 += 1 } }

    func begin() {}
    func savepoint() {}
    func release() {}
    func undo() {}
    func rollback() {}
    func reopen() -> TransactionFate { .rolledBack }
    func tidy() {}
    func close() { connection = nil }
}
#endif
