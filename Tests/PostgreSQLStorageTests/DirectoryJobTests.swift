#if PostgreSQL
import Attribution
import Foundation
import Support
import Testing
import Threads

@testable import PostgreSQL
@testable import PostgreSQLStorage
@testable import Storage

@Suite("Changes by other servers", .blocking, .onPostgreSQL)
struct DirectoryJobTests {
    private let database: JobDatabase

    init() throws { database = try JobDatabase() }

    /// A server's job with the directory and the slots that it publishes.
    private func job(of server: JobServer) throws -> (
        job: DirectoryJob, directory: DirectoryCache, slots: SlotTable
    ) {
        let directory = try DirectoryCache(reading: PostgreSQLReader(connection: database.connect()))
        let slots = SlotTable([:])
        return (DirectoryJob(server.makeContext(), directory, slots), directory, slots)
    }

    @Test("the next poll finds apps and days that another server has added or changed")
    func changes() throws {
        let server = try JobServer(database)
        var (job, directory, slots) = try job(of: server)
        #expect(try job.slice(at: 0) == .after(250_000_000))
        #expect(directory.snapshot.directory.apps.isEmpty)
        #expect(slots.hot(at: JobServer.noon) == [])
        let seen = server.state.directoryChangeCount

        let connection = try database.connect()
        try Partitions(connection: connection).make(JobServer.today)
        try Partitions(connection: connection).make(JobServer.today - 2)
        try database.database.execute(
            """
            UPDATE partitions SET needed_until = 7 WHERE slot = \(JobServer.today - 2);
            INSERT INTO apps (number, id_high, id_low, name, open_clicks, created_at) VALUES (3, 1, 1, 'app', 0, 0);
            UPDATE directory SET version = version + 1
            """
        )
        _ = try job.slice(at: 0)
        #expect(directory.snapshot.directory.apps.map(\.settings.name) == ["app"])
        #expect(directory.snapshot.numbers.map(\.value) == [3])
        #expect(server.state.directoryChangeCount > seen)
        #expect(slots.hot(at: JobServer.noon) == [JobServer.today, JobServer.today - 2])

        let version = directory.snapshot.version
        let changes = server.state.directoryChangeCount
        _ = try job.slice(at: 0)
        #expect(directory.snapshot.version == version)
        #expect(server.state.directoryChangeCount == changes)
    }

    @Test("the first poll after a start comes as soon as every other one")
    func first() throws {
        let server = try JobServer(database)
        let (job, _, _) = try job(of: server)
        #expect(JobSchedule([job], at: 0).nextDueAt == 250_000_000)
    }

    @Test("a server is not ready while its last poll is older than two seconds")
    func oldDirectory() throws {
        let server = try JobServer(database)
        #expect(server.state.healthSnapshot.hindrance == nil)
        var (job, _, _) = try job(of: server)
        server.monotonic.withLock { $0 += 2_000_000_000 }
        #expect(server.state.healthSnapshot.hindrance == nil)
        server.monotonic.withLock { $0 += 1 }
        #expect(server.state.healthSnapshot.hindrance == .oldDirectory)
        _ = try job.slice(at: 0)
        #expect(server.state.healthSnapshot.hindrance == nil)
        try database.database.execute("ALTER TABLE directory RENAME TO hidden")
        server.monotonic.withLock { $0 += 2_000_000_001 }
        #expect(throws: StoreError.self) { try job.slice(at: 0) }
        #expect(server.state.healthSnapshot.hindrance == .oldDirectory)
        #expect(job.maximumBackoff == 250_000_000)
    }

    @Test("a poll gives up a connection that does not answer within a second, and the next opens another")
    func silence() throws {
        let server = try JobServer(database)
        var (job, _, _) = try job(of: server)
        _ = try job.slice(at: 0)
        try database.database.execute(
            """
            ALTER TABLE directory RENAME TO hidden;
            CREATE VIEW directory AS SELECT version FROM hidden, pg_sleep(50)
            """
        )
        let start = MonotonicTime.now()
        let error = #expect(throws: StoreError.self) { try job.slice(at: 0) }
        #expect(error?.code == .timedOut)
        #expect(start.advanced(by: .seconds(30)) > .now())
        try database.database.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() "
                + "AND query LIKE '%FROM directory%' AND pid <> pg_backend_pid()"
        )
        try database.database.execute("DROP VIEW directory; ALTER TABLE hidden RENAME TO directory")
        #expect(try job.slice(at: 0) == .after(250_000_000))
    }

    @Test(
        "a server is not ready while its clock differs from the database's by more than a second",
        arguments: [
            (lead: 0, isReady: true), (lead: -900, isReady: true), (lead: -5000, isReady: false),
            (lead: 5000, isReady: false),
        ]
    )
    func wrongClock(lead: Int64, isReady: Bool) throws {
        let server = try JobServer(database) { configuration in
            configuration.clock = WallClock {
                Timestamp(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000) + lead)
            }
            configuration.trustsClock = false
        }
        var (job, _, _) = try job(of: server)
        _ = try job.slice(at: 0)
        #expect(server.state.healthSnapshot.hindrance == (isReady ? nil : .wrongClock))
    }

    @Test("a server that writes nothing shows every ten seconds that it is alive")
    func heartbeat() throws {
        let server = try JobServer(database)
        var (job, _, _) = try job(of: server)
        let seconds: UInt64 = 1_000_000_000
        for (time, count) in [(10, 1), (19, 1), (20, 2)] as [(UInt64, Int)] {
            _ = try job.slice(at: time * seconds)
            #expect(Polling.until { server.transactions.withLock { $0 } >= count })
            try server.state.queue.perform(.barrier)
            #expect(server.transactions.withLock { $0 } == count + 1)
            server.transactions.withLock { $0 = count }
        }
    }
}
#endif
