#if PostgreSQL
import Attribution
import Dispatch
import Storage
import Support
import Synchronization
import Testing

@testable import PostgreSQL
@testable import PostgreSQLStorage

@Suite("The keyring of a PostgreSQL database", .onPostgreSQL, .blocking)
struct KeyringTests {
    private let database: PostgreSQLTestDatabase
    private let configuration: PostgreSQLConfiguration

    init() throws {
        database = try JobDatabase.make()
        configuration = try PostgreSQLConfiguration(
            url: database.socketURL,
            name: "the test's database",
            clock: WallClock { Timestamp(milliseconds: 1_790_000_000_000) }
        )
        _ = try DatabaseOpening(configuration).open()
    }

    private func row(_ number: Int64, _ kind: KeyringRow.Kind = .server, _ bytes: [UInt8] = [0, 255, 7])
        -> KeyringRow
    {
        KeyringRow(
            number: number,
            kind: kind,
            wrapped: bytes,
            madeAt: Timestamp(milliseconds: 1_790_000_000_000)
        )
    }

    private func startServer(_ holder: Int64) throws -> ServerRow {
        let connection = try DatabaseOpening(configuration).connect()
        return try ServerRow.take(connection, holder: holder, version: "test")
    }

    @Test("rows are read as they were inserted, and a row is inserted only with a new highest number")
    func rows() throws {
        let keyring = PostgreSQLKeyring(configuration)
        #expect(try keyring.rows().isEmpty)
        let rows = [row(1), row(2, .addresses, []), row(5, .server, (0...255).map { UInt8($0) })]
        for row in rows { #expect(try keyring.insert(row)) }
        #expect(try keyring.rows().sorted { $0.number < $1.number } == rows)
        for number in Int64(1)...5 { #expect(try !keyring.insert(row(number, .addresses))) }
        try keyring.delete(number: 2)
        try keyring.delete(number: 2)
        // The number of a deleted row is not used again.
        #expect(try !keyring.insert(row(2)))
        #expect(try keyring.rows().map(\.number).sorted() == [1, 5])
        #expect(try keyring.insert(row(6)))
    }

    @Test("of several processes that insert the next row at once, one succeeds")
    func together() throws {
        let configuration = configuration
        let keyrings = (0..<4).map { _ in PostgreSQLKeyring(configuration) }
        for number in Int64(1)...20 {
            let count = Mutex(0)
            DispatchQueue.concurrentPerform(iterations: keyrings.count) { index in
                do {
                    let isFirst = try keyrings[index].insert(row(number, .server, [UInt8(index)]))
                    if isFirst { count.withLock { $0 += 1 } }
                } catch {
                    Issue.record(error)
                }
            }
            #expect(count.withLock { $0 } == 1)
        }
        #expect(try keyrings[0].rows().count == 20)
    }

    @Test("other processes read a server's report until the server has been silent for 30 s")
    func reports() throws {
        let (first, second) = (try startServer(11), try startServer(12))
        let keyring = PostgreSQLKeyring(configuration, holder: first.holder)
        let keys = HeldKeys(server: [.max, 0, 1], addresses: 7, addressDay: 20_800)
        #expect(try keyring.servers().map(\.keys) == [nil, nil])
        try keyring.report(keys)
        let holders = try keyring.servers().sorted { $0.number < $1.number }
        #expect(
            holders == [
                KeyHolder(number: first.number, isThisServer: true, keys: keys),
                KeyHolder(number: second.number, isThisServer: false, keys: nil),
            ]
        )
        let command = PostgreSQLKeyring(configuration)
        try command.report(HeldKeys(server: [1], addresses: 1, addressDay: 1))
        #expect(try command.servers().allSatisfy { !$0.isThisServer })
        #expect(try Set(command.servers().compactMap(\.keys?.addresses)) == [7])
        // A process that has lost its number cannot report for the process that has the number now.
        try PostgreSQLKeyring(configuration, holder: 99).report(keys)
        #expect(try command.servers().first { $0.number == second.number }?.keys == nil)
        try database.execute(
            "UPDATE servers SET seen_at = clock_timestamp() - interval '31 s' WHERE holder = 11"
        )
        #expect(try command.servers().map(\.number) == [second.number])
    }

    @Test("a server that gets another number finds its new row without keys, and reports them there")
    func numbers() throws {
        let first = try startServer(11)
        let keyring = PostgreSQLKeyring(configuration, holder: first.holder)
        let keys = HeldKeys(server: [1], addresses: 2, addressDay: 3)
        try keyring.report(keys)
        try database.execute("UPDATE servers SET seen_at = clock_timestamp() - interval '31 s'")
        #expect(try startServer(12).number == first.number)
        #expect(try keyring.servers().map(\.isThisServer) == [false])
        let second = try startServer(11)
        #expect(second.number != first.number)
        #expect(try keyring.servers().first(where: \.isThisServer)?.keys == nil)
        try keyring.report(keys)
        let holders = try keyring.servers().sorted { $0.number < $1.number }
        #expect(
            holders == [
                KeyHolder(number: first.number, isThisServer: false, keys: nil),
                KeyHolder(number: second.number, isThisServer: true, keys: keys),
            ]
        )
    }

    @Test(
        "a report waits at most half a second for its server's transaction, and calls work again after a loss"
    )
    func failures() throws {
        let keyring = PostgreSQLKeyring(configuration, holder: try startServer(11).holder)
        let keys = HeldKeys(server: [1], addresses: 2, addressDay: 3)
        let writer = try DatabaseOpening(configuration).connect()
        try writer.execute(BlockingConnection.begin)
        try writer.execute("UPDATE servers SET batch = batch + 1")
        let locked = #expect(throws: StoreError.self) { try keyring.report(keys) }
        #expect(locked?.code == .locked)
        try writer.execute(BlockingConnection.rollback)
        try keyring.report(keys)
        try database.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() "
                + "AND pid <> pg_backend_pid()"
        )
        let lost = #expect(throws: StoreError.self) { try keyring.rows() }
        #expect(lost?.code == .unreachable)
        #expect(try keyring.servers().map(\.keys) == [keys])
    }
}

#endif
