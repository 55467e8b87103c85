#if PostgreSQL
import Attribution
import Dispatch
import Support
import Testing
import Threads

@testable import PostgreSQLStorage
@testable import Storage

@Suite("Claiming clicks in PostgreSQL", .blocking, .onPostgreSQL)
struct ClaimingTests {
    private let database: WrittenDatabase
    private let servers: [WritingServer]

    init() throws {
        let database = try WrittenDatabase()
        self.database = database
        servers = [try database.openServer(), try database.openServer()]
    }

    private func end() { for server in servers { server.stop() } }

    /// Reports to the first server that its answer with a click was not delivered, and waits until that is written.
    private func failToDeliver(_ click: ClickID) throws {
        servers[0].state.updates.addFailedDelivery(of: click)
        servers[0].state.queue.requestUpdates()
        #expect(try servers[0].write(.barrier).isDone)
    }

    private func record(_ click: NewClick) throws -> ClickID {
        try #require(try servers[0].record(click)?.click).id
    }

    @Test("a batch reads the endpoints of postbacks with its other rows, in one trip")
    func endpoints() throws {
        defer { end() }
        let click = try record(try .sample(1))
        let connection = try database.connect()
        let batch = WriteBatch(connection, SlotTable([:]))
        let transaction = try WriteTransaction(PostgreSQLWriter(batch: batch), servers[0].state)
        #expect(transaction.readsTargets)
        try batch.prepare([.claim(.sample(of: click))], transaction)
        #expect(!transaction.readsTargets)
        connection.rollback()
        connection.close()
    }

    @Test("a waiting claim gets the click if the claim before it is rolled back")
    func rollback() throws {
        defer { end() }
        let click = try record(try .sample(1))
        // Another transaction claims the click, and is undone while the server's claim waits for its lock.
        let other = try OtherSession(database.database)
        try other.execute("BEGIN")
        try other.execute("UPDATE clicks SET claimed_at = 1, method = 'fingerprint'")
        let claim = servers[1].queue(.claim(.sample(of: click)))
        let waiting =
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        #expect(try Polling.until { try database.number(waiting) == 1 })
        try other.execute("ROLLBACK")
        #expect(claim()?.claimed?.isClaimed == true)
    }

    @Test("an installation on two servers at once gets one click")
    func installation() throws {
        defer { end() }
        for round in 0..<20 as Range<UInt64> {
            let clicks = try [1, 2].map { try record(try .sample(10 * round + $0)) }
            let outcomes = ConditionLock<[ClaimOutcome?]>([nil, nil])
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                let outcome = try? servers[index].claim(clicks[index], install: 500 + round)
                outcomes.withLock { $0[index] = outcome }
            }
            let found = outcomes.withLock { $0 }
            #expect(found.count { $0?.isClaimed == true } == 1)
            #expect(found.count { $0?.replayed != nil } == 1)
        }
        #expect(try database.number("SELECT count(*) FROM installs") == 20)
        #expect(try database.number("SELECT count(*) FROM clicks WHERE claimed_at IS NOT NULL") == 20)
    }

    @Test("an answer whose delivery failed is given once more, by one of two servers")
    func undelivered() throws {
        defer { end() }
        let click = try record(try .sample(1))
        #expect(try servers[0].claim(click)?.isClaimed == true)
        try failToDeliver(click)
        #expect(try database.number("SELECT count(*) FROM click_index WHERE is_undelivered = 1") == 1)
        // From now on, another server may give the answer, so this server does not know whether the answer
        // was sent.
        let check = Check.sample(caller: 1)
        #expect(servers[0].state.ledger.wasAnswered(click, claimedAt: check.at, before: check) == nil)
        let outcomes = ConditionLock<[ClaimOutcome?]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            let outcome = try? servers[index].claim(click, caller: 2)
            outcomes.withLock { $0.append(outcome) }
        }
        let found = outcomes.withLock { $0 }
        #expect(found.count { $0?.replayed == click } == 1)
        #expect(found.count { $0?.isLost == true } == 1)
        #expect(try database.number("SELECT count(*) FROM click_index WHERE is_undelivered = 1") == 0)
    }

    @Test("an answer that went to another caller is no longer repeated for the first caller")
    func undeliveredToAnother() throws {
        defer { end() }
        let click = try record(try .sample(1))
        #expect(try servers[0].claim(click)?.isClaimed == true)
        try failToDeliver(click)
        #expect(try servers[1].claim(click, install: 8, caller: 2)?.replayed == click)
        #expect(try servers[0].claim(click)?.isLost == true)
        #expect(try servers[0].claim(click, install: 8, caller: 2)?.replayed == click)
        let callers =
            "SELECT count(*) FROM clicks c JOIN click_index i ON i.click = c.id AND i.hash = c.hash AND i.caller = c.caller"
        #expect(try database.number(callers) == 1)
    }

    @Test("an undelivered answer still belongs to its installation, to which other servers may have sent it")
    func undeliveredToInstallation() throws {
        defer { end() }
        let click = try record(try .sample(1))
        #expect(try servers[0].claim(click, install: 7)?.isClaimed == true)
        #expect(try servers[1].claim(click, install: 7)?.replayed == click)
        try failToDeliver(click)
        #expect(try servers[1].claim(click, install: 8, caller: 2)?.isLost == true)
        #expect(try servers[0].claim(click, install: 7)?.replayed == click)
    }

    @Test("an undelivered answer that other servers may have repeated goes to no other caller")
    func undeliveredTooLate() throws {
        defer { end() }
        let click = try record(try .sample(1))
        let request = ClaimRequest.sample(of: click, caller: 1, after: -1500)
        #expect(try servers[0].write(.claim(request)).claimed?.isClaimed == true)
        try failToDeliver(click)
        #expect(try database.number("SELECT count(*) FROM clicks WHERE is_undelivered = 1") == 0)
        #expect(try servers[1].claim(click, caller: 2)?.isLost == true)
    }

    @Test("thousands of claims of overlapping batches end without a deadlock")
    func overlappingBatches() throws {
        defer { end() }
        // Each visit has three clicks, of which a claim takes one and retires the older ones.
        let clicks = try (0..<1000 as Range<UInt64>).map { number in
            Write.click(try .sample(number + 1, visit: number / 3 + 1, after: Int64(number % 3)))
        }
        let ids = clicks.map { servers[0].queue($0) }.compactMap { $0()?.recorded?.click?.id }
        #expect(ids.count == 1000)
        let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        let winners = ConditionLock<[ClickID: Int]>([:])
        // A claim whose connection was lost on a busy machine may have been committed.
        let doubtful = ConditionLock<Set<ClickID>>([])
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            let shuffled = index == 0 ? ids : ids.reversed()
            let waits = shuffled.map {
                ($0, servers[index].queue(.claim(.sample(of: $0, caller: UInt64(index)))))
            }
            for (id, wait) in waits {
                let outcome = wait()?.claimed
                if outcome?.isClaimed == true {
                    winners.withLock { $0[id, default: 0] += 1 }
                } else if outcome?.isLost != true {
                    doubtful.withLock { _ = $0.insert(id) }
                }
            }
        }
        let found = winners.withLock { $0 }
        #expect(found.values.allSatisfy { $0 == 1 })
        let rows = try database.database.execute("SELECT id FROM clicks WHERE claimed_at IS NOT NULL")
        let numbers = try Set(rows.split(separator: "\n").map { try #require(Int64($0)) })
        let claimed = Set(ids.filter { numbers.contains(Int64(bitPattern: $0.high)) })
        #expect(claimed.count >= 334 && claimed.count == numbers.count)
        #expect(claimed.isSuperset(of: found.keys), "each answered claim is stored")
        #expect(
            claimed.subtracting(found.keys).isSubset(of: doubtful.withLock(\.self)),
            "every other stored claim was in doubt"
        )
        #expect(
            try database.number("SELECT count(*) FROM clicks WHERE claimed_at IS NULL AND retired_at IS NULL")
                == 0
        )
        // PostgreSQL publishes what a session has counted, such as deadlocks, when the session is idle or ends.
        end()
        #expect(try database.number(deadlocks) == 0)
    }

    @Test(
        "an erasure in the transaction of a claim leaves no row of the installation or caller",
        arguments: [7, nil] as [UInt64?]
    )
    func erasedWithClaim(install: UInt64?) throws {
        defer { end() }
        let click = try record(try .sample(1))
        var slice = WrittenDatabase.erasure()
        slice.clicks = [Int64(bitPattern: click.high)]
        let claim = ClaimRequest.sample(of: click, install: install)
        let written = servers[0].writeTogether([.claim(claim), .erase(slice)])
        #expect(written.first??.claimed?.isClaimed == true)
        #expect(try database.number("SELECT count(*) FROM clicks") == 0)
        #expect(try database.number("SELECT count(*) FROM installs") == 0)
        // Afterwards, the installation can claim another click.
        let other = try record(try .sample(2))
        #expect(try servers[0].claim(other, install: install)?.isClaimed == true)
    }

    @Test("a click that was consumed in spite of the locks is not claimed again")
    func guardedClaim() throws {
        defer { end() }
        let click = try record(try .sample(1))
        // A trigger consumes the click between the lock and the claim of the same transaction.
        try database.database.execute(
            """
            CREATE FUNCTION consume() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            UPDATE clicks SET retired_at = 1; RETURN NEW; END $$;
            CREATE TRIGGER consume BEFORE INSERT ON checks FOR EACH ROW EXECUTE FUNCTION consume()
            """
        )
        let error = #expect(throws: StoreError.self) { try servers[0].claim(click) }
        #expect(error?.code == .defect)
        #expect(try database.number("SELECT count(*) FROM clicks WHERE claimed_at IS NOT NULL") == 0)
        try database.database.execute("DROP TRIGGER consume ON checks")
        #expect(try servers[0].claim(click)?.isClaimed == true)
    }
}
#endif
