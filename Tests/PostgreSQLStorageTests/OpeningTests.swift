#if PostgreSQL
import Attribution
import Dispatch
import Storage
import Support
import Testing
import Threads

@testable import PostgreSQL
@testable import PostgreSQLStorage

@Suite("Opening a PostgreSQL database", .onPostgreSQL)
struct OpeningTests {
    private static let clock = WallClock { Timestamp(milliseconds: 1_790_000_000_000) }
    private let database: PostgreSQLTestDatabase

    init() throws { database = try PostgreSQLTestDatabase() }

    private func opening(_ more: [(name: String, text: String)] = []) throws -> DatabaseOpening {
        try opening { $0 += more }
    }

    private func opening(_ change: (inout [(name: String, text: String)]) -> Void) throws -> DatabaseOpening {
        var configuration = try PostgreSQLConfiguration(
            url: database.socketURL,
            name: "the test's database",
            clock: Self.clock
        )
        change(&configuration.migrations)
        return DatabaseOpening(configuration)
    }

    @Test("makes the tables once, and finds them the next time")
    func twice() throws {
        let opening = try opening()
        #expect(try opening.plan().pending == opening.migrations.map(\.name))
        let first = try opening.open()
        #expect(first.isNew)
        #expect(try opening.form(first.connection) == DatabaseForm(shortDays: 2))
        #expect(try !opening.open().isNew)
        #expect(try opening.plan().pending.isEmpty)
        #expect(try opening.openAccepted().isReady)
    }

    @Test("of several servers that start at once, one makes the tables")
    func together() throws {
        let opening = try opening()
        let results = Results()
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            let result = Result { try opening.open().isNew }
            results.add(result)
        }
        #expect(try results.all.map { try $0.get() }.count { $0 } == 1)
    }

    @Test("makes no connection to a former primary once a connection has seen the new primary", .blocking)
    func formerPrimary() throws {
        var configuration = try opening().configuration
        configuration.longTimeLimit = .seconds(2)
        #expect(try DatabaseOpening(configuration).connect().isReady)
        // A promotion begins the second timeline.
        #expect(configuration.timelines.accept(2))
        let error = #expect(throws: PostgreSQLError.self) { try DatabaseOpening(configuration).connect() }
        #expect(error?.kind == .readOnly)
    }

    @Test("refuses the tables of another program")
    func foreign() throws {
        try database.execute("CREATE TABLE visitors (name text)")
        let error = #expect(throws: StoreError.self) { try opening().open() }
        #expect(error?.code == .unsupported)
        #expect(error?.explanation.contains("of another program") == true)
        #expect(try database.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == "1")
    }

    @Test("refuses an empty database that cannot store every character, and makes no table in it")
    func encoding() throws {
        let name = "latin_\(UInt64.random(in: .min ... .max))"
        try database.cluster.execute(
            "CREATE DATABASE \(name) ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
        )
        defer { _ = try? database.cluster.execute("DROP DATABASE \(name) WITH (FORCE)") }
        let url = database.socketURL.replacing(database.name, with: name)
        let configuration = try PostgreSQLConfiguration(url: url, name: "x", clock: Self.clock)
        let opening = DatabaseOpening(configuration)
        let calls: [() throws -> Void] = [{ _ = try opening.open() }, { _ = try opening.plan() }]
        for call in calls {
            let error = #expect(throws: StoreError.self) { try call() }
            #expect(error?.code == .unsupported)
            #expect(error?.explanation.contains("has the encoding LATIN1") == true)
            // PostgreSQL refuses the encoding UTF8 for a database with a locale of another encoding.
            #expect(error?.explanation.contains("--locale C ") == true)
        }
        let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        #expect(try database.cluster.execute(tables, in: name) == "0")
    }

    @Test("refuses a newer schema and a changed migration")
    func unknown() throws {
        let newer = try opening([
            ("9999_more.sql", "CREATE TABLE more (n bigint); -- a comment; with semicolon")
        ])
        #expect(try newer.open().isNew)
        #expect(throws: StoreError.self) { try opening().open() }
        let changed = try opening([("9999_more.sql", "CREATE TABLE more (n int)")])
        let error = #expect(throws: StoreError.self) { try changed.open() }
        #expect(error?.explanation.contains("9999_more.sql is not the one") == true)
    }

    @Test("a migration that fails leaves nothing behind")
    func failing() throws {
        let failing = try opening([("9999_more.sql", "CREATE TABLE more (n bigint); SELECT 1 / 0")])
        #expect(throws: StoreError.self) { try failing.open() }
        #expect(try database.execute("SELECT count(*) FROM pg_tables WHERE tablename = 'more'") == "0")
        #expect(try opening().plan().pending.isEmpty)
    }

    @Test("the migration that lets `erased_rows` name events keeps the names of other erased rows")
    func erasedRows() throws {
        let former = try opening { $0.removeAll { $0.name >= "0004" } }
        #expect(try former.open().isNew)
        try database.execute(
            "INSERT INTO erased_rows VALUES (9, 'checks', -3, -4, 1, 2, 50), (7, 'clicks', 5, 6, 1, 2, 40)"
        )
        let event = "INSERT INTO erased_rows VALUES (12, 'events', 5, 0, 1, 2, 60)"
        #expect(throws: (any Error).self) { try database.execute(event) }
        #expect(try opening().open().isNew == false)
        try database.execute(event)
        #expect(throws: (any Error).self) {
            try database.execute("INSERT INTO erased_rows VALUES (13, 'links', 5, 0, 1, 2, 60)")
        }
        let rows = try database.execute("SELECT string_agg(e::text, ' ' ORDER BY number) FROM erased_rows e")
        #expect(rows == "(7,clicks,5,6,1,2,40) (9,checks,-3,-4,1,2,50) (12,events,5,0,1,2,60)")
    }

    @Test("the error about a database that does not exist says so")
    func unreachable() throws {
        let url = database.socketURL.replacing(database.name, with: "nothing")
        var configuration = try PostgreSQLConfiguration(url: url, name: "x", clock: Self.clock)
        configuration.longTimeLimit = .seconds(1)
        let refused = DatabaseOpening(configuration)
        let error = #expect(throws: StoreError.self) { try refused.open() }
        #expect(error?.code == .unreachable)
        #expect(error?.explanation.contains("does not exist") == true)
    }

    @Test("a server that starts with a wrong clock is not ready, also before its first poll", .blocking)
    func wrongClock() throws {
        var configuration = try opening().configuration
        #expect(!configuration.trustsClock)
        let clock = configuration.clock
        configuration.clock = WallClock { clock.now().advanced(byMilliseconds: 7_200_000) }
        let store = try PostgreSQLStore.open(configuration)
        defer { store.stop(within: 1000) }
        #expect(store.health.hindrance == .wrongClock)
    }

    @Test("an explanation repeats no sentence, and has no full stop at its end")
    func explanations() {
        let late = StoreError(PostgreSQLError(.deadline, "The database did not answer in time."))
        #expect(late.explanation == "the database did not answer in time")
        let lost = StoreError(PostgreSQLError(.connectionLost, "The database sent nothing."))
        #expect(lost.explanation.hasSuffix("address is right. The database sent nothing"))
    }

    @Test("each server gets a number of its own, and a silent one loses its number")
    func servers() throws {
        let connection = try opening().open().connection
        let first = try ServerRow.take(connection, holder: 1, version: "1")
        let second = try ServerRow.take(connection, holder: 2, version: "1")
        #expect([first.number, second.number] == [0, 1])
        try database.execute("UPDATE servers SET seen_at = now() - interval '31 seconds' WHERE number = 0")
        #expect(try ServerRow.take(connection, holder: 3, version: "1").number == 0)
        // The server that lost its number does not delete the row of the server that has the number now.
        try first.release(connection)
        try second.release(connection)
        #expect(try database.execute("SELECT number, holder FROM servers") == "0|3")
        for holder in 4..<35 { _ = try ServerRow.take(connection, holder: Int64(holder), version: "1") }
        let error = #expect(throws: StoreError.self) {
            try ServerRow.take(connection, holder: 35, version: "1")
        }
        #expect(error?.code == .overloaded)
    }

    @Test("a silent server that runs again keeps its number, although another server waits for it", .blocking)
    func revivedServer() throws {
        let opening = try opening()
        let connection = try opening.open().connection
        let first = try ServerRow.take(connection, holder: 1, version: "1")
        try database.execute("UPDATE servers SET seen_at = now() - interval '31 seconds'")
        try connection.execute("SET idle_in_transaction_session_timeout = 0")
        try connection.execute("BEGIN")
        try connection.execute("UPDATE servers SET seen_at = clock_timestamp()")
        let second = ConditionLock<Result<Int64, any Error>?>(nil)
        try SystemThread.start {
            let number = Result<Int64, any Error> {
                let other = try opening.connect()
                try other.execute("SET lock_timeout = 0")
                return try ServerRow.take(other, holder: 2, version: "1").number
            }
            second.withLock { $0 = number }
            second.broadcast()
        }
        let waiting =
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        #expect(try Polling.until { try database.execute(waiting) == "1" })
        try connection.execute("COMMIT")
        let number = try second.wait(until: nil) { $0 }?.get()
        #expect(first.number == 0 && number == 1)
        #expect(try database.execute("SELECT count(*) FROM servers WHERE holder = 1") == "1")
    }

    @Test("partitions are made although an open transaction has read the tables, and dropped with their rows")
    func partitions() throws {
        let opening = try opening()
        let connection = try opening.open().connection
        let partitions = Partitions(connection: connection)
        let reader = try opening.connect()
        try reader.execute("SET idle_in_transaction_session_timeout = 0")
        try reader.execute("BEGIN")
        try reader.execute("SELECT count(*) FROM clicks")
        for slot in [20_780, 20_781, RowHome.longSlot] { #expect(try partitions.make(slot)) }
        #expect(try !partitions.make(20_780))
        try reader.execute("COMMIT")
        #expect(try partitions.slots().map(\.number) == [-1, 20_780, 20_781])
        try database.execute(
            "INSERT INTO click_addresses VALUES (1, 20780, 2, 3, 4, 5, 6, 7, ''), (1, -1, 2, 3, 4, 5, 6, 7, '')"
        )
        try partitions.drop(20_780)
        #expect(try partitions.slots().map(\.number) == [-1, 20_781])
        #expect(try database.execute("SELECT slot FROM click_addresses") == "-1")
        #expect(try database.execute("SELECT count(*) FROM pg_class WHERE relname LIKE '%_d20780%'") == "0")
        #expect(try partitions.make(20_780))
    }
}

/// The results of several threads.
private final class Results: Sendable {
    private let results = ConditionLock<[Result<Bool, any Error>]>([])

    func add(_ result: Result<Bool, any Error>) { results.withLock { $0.append(result) } }

    var all: [Result<Bool, any Error>] { results.withLock { $0 } }
}
#endif
