#if PostgreSQL
import Attribution
import Support
import Testing
import Threads

@testable import PostgreSQLStorage
@testable import Storage

/// Commits whose answer does not arrive, or reports that a standby does not have them.
///
/// `write(_:endingBy:)` makes PostgreSQL wait for a standby that does not exist, so a COMMIT is on disk,
/// but gets no answer.
@Suite("Commits in doubt in PostgreSQL", .blocking, .onPostgreSQL)
struct DoubtfulCommitTests {
    private let cluster: PostgreSQLCluster
    private let database: WrittenDatabase
    private let server: WritingServer

    init() throws {
        let cluster = try PostgreSQLCluster()
        self.cluster = cluster
        database = try WrittenDatabase(try PostgreSQLTestDatabase(in: cluster))
        server = try database.openServer()
        #expect(try server.record(try .sample(1))?.isNew == true)
    }

    private func setStandbys(_ names: String) throws {
        try cluster.execute("ALTER SYSTEM SET synchronous_standby_names = '\(names)'")
        try cluster.execute("SELECT pg_reload_conf()")
        // When a new session has the setting, the postmaster has read it and signalled its children. The
        // checkpointer decides whether commits wait; it has read the setting when it answers the next
        // CHECKPOINT.
        #expect(try Polling.until { try cluster.execute("SHOW synchronous_standby_names") == names })
        try cluster.execute("CHECKPOINT")
    }

    private func count(_ condition: String) throws -> Int {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND \(condition)"
        return Int(try cluster.execute(sql)) ?? 0
    }

    /// Makes a write whose COMMIT waits for a standby, ends the wait with a function of PostgreSQL, and then
    /// removes the need for a standby.
    private func write(_ write: Write, endingBy function: String) throws -> Written? {
        try setStandbys("missing")
        defer { server.stop() }
        let outcome = server.queue(write)
        let waits = "wait_event = 'SyncRep'"
        #expect(try Polling.until { try count(waits) == 1 })
        try cluster.execute("SELECT \(function)(pid) FROM pg_stat_activity WHERE \(waits)")
        // Afterlink's server looks for its transaction, and waits for the standby again.
        #expect(try Polling.until { try count("\(waits) AND query LIKE '%seen_at%'") == 1 })
        #expect(server.state.queue.count == 1)
        try setStandbys("")
        return outcome()
    }

    @Test(
        "a transaction that was committed is not done again",
        arguments: ["pg_terminate_backend", "pg_cancel_backend"]
    )
    func committed(function: String) throws {
        let outcome = try write(.click(try .sample(2)), endingBy: function)
        #expect(outcome?.recorded?.isNew == true)
        #expect(try database.number("SELECT count(*) FROM clicks") == 2)
        #expect(try database.countedLiveClicks() == 2)
    }

    @Test("a transaction that was not committed is done again")
    func notCommitted() throws {
        defer { server.stop() }
        // The insert is still waiting for a lock when the test ends its connection.
        let blocker = try OtherSession(database.database)
        try blocker.execute("BEGIN")
        try blocker.execute("LOCK TABLE count_deltas")
        let outcome = server.queue(.click(try .sample(2)))
        #expect(try Polling.until { try count("wait_event_type = 'Lock'") == 1 })
        try cluster.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        )
        try blocker.execute("ROLLBACK")
        #expect(outcome()?.recorded?.isNew == true)
        #expect(try database.number("SELECT count(*) FROM clicks") == 2)
    }

    @Test("a transaction that was not committed is done again, also if the first new connection fails")
    func notCommittedAndNotOpened() throws {
        defer { server.stop() }
        let blocker = try OtherSession(database.database)
        try blocker.execute("BEGIN")
        try blocker.execute("LOCK TABLE count_deltas, progress")
        let outcome = server.queue(.click(try .sample(2)))
        #expect(try Polling.until { try count("wait_event_type = 'Lock'") == 1 })
        try cluster.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        )
        // The new connection has read that the transaction was not committed, and waits half a second for `progress`.
        let waits = "wait_event_type = 'Lock' AND query LIKE '%progress%'"
        #expect(try Polling.until { try count(waits) == 1 })
        #expect(try Polling.until { try count(waits) == 0 })
        try blocker.execute("ROLLBACK")
        #expect(outcome()?.recorded?.isNew == true)
        #expect(try database.number("SELECT count(*) FROM clicks") == 2)
    }

    @Test("a transaction whose connection is lost when it begins is done again")
    func lostBeginning() throws {
        defer { server.stop() }
        let pid = "SELECT pid FROM pg_stat_activity WHERE datname = '\(database.database.name)'"
        try cluster.execute("SELECT pg_terminate_backend(pid, 5000) FROM (\(pid)) p")
        // This write reads nothing, so its transaction begins when it is committed.
        var content = PendingUpdates.Content()
        content.checks.leaveOut()
        let deltas = try database.number("SELECT count(*) FROM count_deltas")
        #expect(try server.write(.updates(content)).isDone)
        #expect(try database.number("SELECT count(*) FROM count_deltas") == deltas + 1)
    }

    @Test("a server that lost its number takes another one")
    func lostNumber() throws {
        defer { server.stop() }
        try database.database.execute("UPDATE servers SET holder = 5, seen_at = now()")
        let click = try #require(try server.record(try .sample(2))?.click)
        #expect(RowHome(of: Int64(bitPattern: click.id.high)).server == 1)
    }

    @Test("a batch without changes begins no transaction shortly after another one")
    func heartbeat() throws {
        defer { server.stop() }
        // The transaction of the first click was shortly before.
        let batch = "SELECT batch FROM servers"
        let before = try database.number(batch)
        #expect(try server.write(.barrier).isDone)
        #expect(try database.number(batch) == before)
    }

    @Test("a transaction that is rolled back does not delay the next sign that the server runs")
    func rolledBack() throws {
        defer { server.stop() }
        let connection = try database.connect()
        try connection.commit { _ in }
        let seen = connection.seenAt.nanoseconds
        _ = try connection.run { _ in }
        connection.rollback()
        #expect(connection.seenAt.nanoseconds == seen)
    }
}
#endif
