#if PostgreSQL
import Attribution
import Dispatch
import Support
import Testing
import Threads

@testable import PostgreSQLStorage
@testable import Storage

@Suite("Recording clicks in PostgreSQL", .blocking, .onPostgreSQL)
struct RecordingTests {
    private let database: WrittenDatabase
    private let servers: [WritingServer]

    init() throws {
        let database = try WrittenDatabase()
        self.database = database
        servers = [try database.openServer(), try database.openServer()]
    }

    private func end() { for server in servers { server.stop() } }

    @Test("a post within ten seconds is a duplicate, in one batch and on two servers")
    func duplicate() throws {
        defer { end() }
        let together = servers[0].writeTogether([.click(try .sample(1)), .click(try .sample(1, after: 1))])
        #expect(together.map { $0?.recorded?.isNew } == [true, false])
        let first = together.first??.recorded?.click
        #expect(try servers[0].record(try .sample(1, after: 9_000))?.click == first)
        #expect(try servers[1].record(try .sample(1, after: 10_000))?.click == first)
        #expect(try servers[1].record(try .sample(1, after: 10_001))?.isNew == true)
    }

    @Test("of equal posts on two servers at once, one is recorded")
    func concurrentDuplicates() throws {
        defer { end() }
        let clicks = try (0..<200).map { try NewClick.sample(UInt64($0) + 1) }
        let outcomes = ConditionLock<[[RecordOutcome?]]>([[], []])
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            let writes = (index == 0 ? clicks : clicks.reversed()).map { Write.click($0) }
            let waits = writes.map { servers[index].queue($0) }
            let found = waits.map { $0()?.recorded }
            outcomes.withLock { $0[index] = index == 0 ? found : found.reversed() }
        }
        let found = outcomes.withLock { $0 }
        for (one, other) in zip(found[0], found[1]) {
            #expect([one?.isNew, other?.isNew].count { $0 == true } == 1)
            #expect(one?.click?.id == other?.click?.id)
        }
        #expect(try database.number("SELECT count(*) FROM clicks") == 200)
        #expect(try database.number("SELECT count(*) FROM click_index") == 400)
    }

    @Test("of equal posts with different times on two servers at once, one is stored", arguments: [1, 9999])
    func concurrentDuplicates(apart milliseconds: Int64) throws {
        defer { end() }
        // Two unique indexes over turns of 20 seconds recognise equal posts of two servers. For some pairs, a turn
        // begins between the two times; for others, none does.
        let times = (0..<40).map { Int64($0) * 1000 }
        let clicks = try times.enumerated().map { number, time in
            try [0, milliseconds].map { try NewClick.sample(UInt64(number) + 1, after: time + $0) }
        }
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            let waits = (index == 0 ? clicks : clicks.reversed()).map {
                servers[index].queue(.click($0[index]))
            }
            for wait in waits { _ = wait() }
        }
        #expect(try database.number("SELECT count(*) FROM clicks") == 40)
    }

    @Test("an idempotency key finds its click, even on another server and for posts at the same time")
    func idempotency() throws {
        defer { end() }
        let first = try servers[0].record(try .sample(1, idempotency: 7))?.click
        #expect(first != nil)
        #expect(try servers[1].record(try .sample(2, after: 60_000, idempotency: 7))?.click == first)
        // A repeated post with another key adds this key to the click, which is found by the key later.
        #expect(try servers[0].record(try .sample(1, after: 100, idempotency: 8))?.click == first)
        #expect(try servers[1].record(try .sample(3, after: 60_000, idempotency: 8))?.click == first)

        let ids = ConditionLock<[ClickID?]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { index in
            let click = try? NewClick.sample(100 + UInt64(index), idempotency: 9)
            let outcome = click.flatMap { try? servers[index % 2].record($0) }
            ids.withLock { $0.append(outcome?.click?.id) }
        }
        #expect(Set(ids.withLock { $0 }).count == 1)
        #expect(try database.number("SELECT count(*) FROM clicks") == 2)
    }

    @Test("a missing partition is made, and a click with a long window goes to the partition of all days")
    func slots() throws {
        defer { end() }
        let days: Int64 = 40 * 86_400_000
        #expect(try servers[0].record(try .sample(1, after: days))?.isNew == true)
        #expect(try servers[1].record(try .sample(1, after: days + 5))?.isNew == false)
        let week = try #require(AttributionWindow(seconds: 604_800))
        #expect(try servers[0].record(try .sample(2) { $0.window = week })?.isNew == true)
        #expect(try servers[1].record(try .sample(2, after: 1) { $0.window = week })?.isNew == false)
        #expect(try database.number("SELECT count(*) FROM clicks WHERE slot = -1") == 1)
        #expect(try database.number("SELECT count(*) FROM partitions") == 3)
    }

    @Test("a write that the database refuses fails alone, and leaves nothing in the counts")
    func refusedRow() throws {
        defer { end() }
        try database.database.execute("ALTER TABLE clicks ADD CHECK (destination <> 'myapp://promo/2')")
        let clicks = try (1...3).map { Write.click(try .sample(UInt64($0))) }
        let outcomes = servers[0].writeTogether(clicks)
        #expect(outcomes.map { $0?.recorded?.isNew } == [true, nil, true])
        #expect(outcomes[1]?.refusal?.code == .defect)
        #expect(try database.number("SELECT count(*) FROM clicks") == 2)
        #expect(try database.countedLiveClicks() == 2)
    }

    @Test("a link with a limit gets no more clicks than its limit from two servers")
    func limitedLink() throws {
        defer { end() }
        var settings = Link.Settings()
        settings.maximumClicks = 30
        let id = LinkID(high: 3, low: 4)
        let link = Link(
            id: id,
            app: WrittenDatabase.app,
            slug: LinkSlug(stored: "promo"),
            settings: settings,
            createdAt: WrittenDatabase.noon,
            updatedAt: WrittenDatabase.noon
        )
        let new = NewLink(link, neighbours: [])
        #expect(try servers[0].write(.links(.create([new]))).isDone)
        guard case .linkRefused(.slugTaken) = try servers[1].write(.links(.create([new]))) else {
            Issue.record("a slug was given twice")
            return
        }
        let outcomes = ConditionLock<[RecordOutcome?]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            let clicks = (0..<40).compactMap {
                try? NewClick.sample(UInt64(index * 100 + $0)) { $0.link = id }
            }
            let waits = clicks.map { servers[index].queue(.click($0)) }
            let found = waits.map { $0()?.recorded }
            outcomes.withLock { $0 += found }
        }
        let found = outcomes.withLock { $0 }
        #expect(found.count { $0?.isNew == true } == 30)
        #expect(found.count { $0 == RecordOutcome.linkEnded(.usedUp) } == 50)
        #expect(try database.number("SELECT clicks FROM link_limits") == 30)
        guard case .linkRefused(.clicked) = try servers[0].write(.links(.delete(id))) else {
            Issue.record("a link with clicks was deleted")
            return
        }
    }

    /// Returns what a write stores that must wait for the lock of another server's transaction, which executes the
    /// statement `last` before it commits.
    private func outcome(
        of write: Write,
        waitingFor lock: StaticString,
        then last: StaticString? = nil
    ) throws -> Written? {
        let other = try OtherSession(database.database)
        try other.execute("BEGIN")
        try other.execute(lock)
        let written = servers[0].queue(write)
        #expect(
            try Polling.until {
                try database.number(
                    """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE wait_event_type = 'Lock' AND datname = current_database()
                    """
                ) == 1
            }
        )
        if let last { try other.execute(last) }
        try other.execute("COMMIT")
        return written()
    }

    private static let countClick: StaticString =
        "INSERT INTO link_counts SELECT number, '', 1, 0, 0, 0 FROM links"

    @Test("a link's first click waits for another server's deletion of the link, and is then refused")
    func firstClickOfDeletedLink() throws {
        defer { end() }
        let link = WrittenDatabase.link()
        #expect(try servers[0].write(.links(.create([NewLink(link, neighbours: [])]))).isDone)
        let click = try NewClick.sample(1) { $0.link = link.id }
        let written = try outcome(of: .click(click), waitingFor: "DELETE FROM links")
        if case .linkEnded? = written?.recorded {} else { Issue.record("the click was stored") }
        #expect(try database.number("SELECT count(*) FROM clicks") == 0)
    }

    @Test("the deletion of a link waits for its first click on another server, and is then refused")
    func deletionDuringFirstClick() throws {
        defer { end() }
        let link = WrittenDatabase.link()
        #expect(try servers[0].write(.links(.create([NewLink(link, neighbours: [])]))).isDone)
        // A server locks the link in this way before it records the click.
        let lock: StaticString = "SELECT FROM links FOR KEY SHARE"
        let deletion = try outcome(of: .links(.delete(link.id)), waitingFor: lock, then: Self.countClick)
        if case .linkRefused(.clicked)? = deletion {} else { Issue.record("the link was deleted") }
    }

    @Test("a new limit of a link waits for clicks under way on another server, and counts them")
    func newLimitDuringClick() throws {
        defer { end() }
        var link = WrittenDatabase.link()
        #expect(try servers[0].write(.links(.create([NewLink(link, neighbours: [])]))).isDone)
        // A server locks limits in this way before it records a click.
        let lock: StaticString = "SELECT FROM links JOIN link_limits m ON m.link = number FOR UPDATE OF m"
        link.settings.maximumClicks = 1
        link.updatedAt = WrittenDatabase.minuteLater
        let update = LinkChange.update(link, ifUpdatedAt: nil)
        let change = try outcome(of: .links(update), waitingFor: lock, then: Self.countClick)
        #expect(change?.isDone == true)
        #expect(try database.number("SELECT clicks FROM link_limits") == 1)
        #expect(try servers[1].record(.sample(2) { $0.link = link.id }) == .linkEnded(.usedUp))
    }

    @Test("a new limit of a link waits for other servers' clicks before it locks anything that they wait for")
    func newLimitsAtOnce() throws {
        defer { end() }
        var link = WrittenDatabase.link()
        #expect(try servers[0].write(.links(.create([NewLink(link, neighbours: [])]))).isDone)
        link.settings.maximumClicks = 1
        // Only the other server has locked the table. Two changes that had both locked it would wait for each other.
        let change = try outcome(
            of: .links(.update(link, ifUpdatedAt: nil)),
            waitingFor: "SELECT FROM link_limits FOR UPDATE",
            then: """
                SELECT 1 / (CASE count(*) WHEN 1 THEN 1 ELSE 0 END)
                FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE datname = current_database()
                AND relation = 'link_limits'::regclass AND mode = 'RowShareLock' AND granted
                """
        )
        #expect(change?.isDone == true)
    }

    @Test("the creation of a link waits for a new limit on another server before it locks the slugs")
    func creationDuringNewLimit() throws {
        defer { end() }
        // The other server may have locked the table to give a link a limit, and then create a link in its batch.
        let created = try outcome(
            of: .links(.create([NewLink(WrittenDatabase.link(), neighbours: [])])),
            waitingFor: "LOCK TABLE link_limits IN EXCLUSIVE MODE",
            then: "SELECT 1 / pg_try_advisory_xact_lock(x'41464c4b0004'::bigint)::int4"
        )
        #expect(created?.isDone == true)
    }

    @Test("a change of a link with a limit locks the limit first, as a click does")
    func orderOfLocks() throws {
        defer { end() }
        var link = WrittenDatabase.link()
        link.settings.maximumClicks = 2
        #expect(try servers[0].write(.links(.create([NewLink(link, neighbours: [])]))).isDone)
        let change = try outcome(
            of: .links(.update(link, ifUpdatedAt: nil)),
            waitingFor: "SELECT FROM link_limits FOR UPDATE",
            then: "SELECT FROM links FOR UPDATE NOWAIT"
        )
        #expect(change?.isDone == true)
    }

    @Test("a new limit of a link counts the clicks that no job has added to the link's counts yet")
    func newLimit() throws {
        defer { end() }
        var link = WrittenDatabase.link()
        let id = link.id
        #expect(try servers[0].write(.links(.create([NewLink(link, neighbours: [])]))).isDone)
        #expect(try servers[0].record(.sample(1) { $0.link = id })?.isNew == true)
        link.settings.maximumClicks = 1
        link.updatedAt = WrittenDatabase.minuteLater
        #expect(try servers[1].write(.links(.update(link, ifUpdatedAt: nil))).isDone)
        #expect(try database.number("SELECT clicks FROM link_limits") == 1)
        #expect(try servers[1].record(.sample(2) { $0.link = id }) == .linkEnded(.usedUp))
    }

    @Test("a new limit of a link counts the clicks before and after it in the same transaction")
    func newLimitTogether() throws {
        defer { end() }
        var link = WrittenDatabase.link()
        let id = link.id
        #expect(try servers[0].write(.links(.create([NewLink(link, neighbours: [])]))).isDone)
        link.settings.maximumClicks = 2
        link.updatedAt = WrittenDatabase.minuteLater
        let clicks = try (1...3 as ClosedRange<UInt64>).map { number in
            Write.click(try .sample(number) { $0.link = id })
        }
        let update = Write.links(.update(link, ifUpdatedAt: nil))
        let written = servers[0].writeTogether([clicks[0], update, clicks[1], clicks[2]])
        #expect(written.map { $0?.recorded?.isNew } == [true, nil, true, false])
        #expect(written.last??.recorded == .linkEnded(.usedUp))
        #expect(try database.number("SELECT clicks FROM link_limits") == 2)
    }
}
#endif
