#if PostgreSQL
import Attribution
import Dispatch
import Support
import Testing
import Threads

@testable import PostgreSQL
@testable import PostgreSQLStorage
@testable import Storage

@Suite("Folding counts", .blocking, .onPostgreSQL)
struct FoldTests {
    private let database: JobDatabase
    private static let hour = Timestamp(milliseconds: 1_700_049_600_000)

    init() throws { database = try JobDatabase() }

    /// Returns the counts of a transaction.
    ///
    /// It counts clicks (in a campaign too), a live click, the four counts of link 1, and an unrecorded
    /// check.
    private static func payload(clicks: Int64 = 1, of campaign: String? = nil, at time: Timestamp = hour)
        -> CountPayload
    {
        var payload = CountPayload()
        var labels = [CounterLabel(.total)]
        if let campaign { labels.append(CounterLabel(campaign: campaign, .total)) }
        payload.counts.add(clicks, .clicks, to: labels, of: JobDatabase.scope, at: time)
        payload.counts.addLive(1, of: JobDatabase.scope, expiringAt: time)
        payload.links[CountPayload.LinkSlot(link: 1, variant: "a")] = LinkCounts(
            clicks: 2,
            robots: 3,
            matches: 4,
            tests: 5
        )
        payload.values[.unrecordedChecks] = 1
        return payload
    }

    private static func write(_ payload: CountPayload, by connection: BlockingConnection) throws {
        try connection.execute(insert, Int64(3), payload.bytes)
    }

    private static let insert = PreparedStatement("INSERT INTO count_deltas (b, payload) VALUES ($1, $2)")

    private func insertLink() throws {
        try database.database.execute(
            """
            INSERT INTO apps (number, id_high, id_low, name, open_clicks, created_at) VALUES (3, 1, 1, 'app', 0, 0);
            INSERT INTO links (number, id_high, id_low, app, slug, search_text, created_at, updated_at)
            VALUES (1, 1, 1, 3, 'slug', '', 0, 0)
            """
        )
    }

    /// The clicks of a span, by its number: 0 all time, 1 the day, 2 the hour.
    private func clicks(span: Int = 0) throws -> Int {
        try database.integer(
            """
            SELECT sum(count) FROM counts WHERE scope = 6 AND campaign = '' AND dimension = 0 AND span = \(span)
            AND metric = 'clicks'
            """
        )
    }

    private var waiting: Int { get throws { try database.integer("SELECT count(*) FROM count_deltas") } }

    @Test("adds each delta once while two servers write and two fold")
    func atOnce() throws {
        try insertLink()
        let database = database
        let writing = ConditionLock(2)
        let failures = ConditionLock<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { index in
            do {
                let connection = try database.connect()
                guard index < 2 else {
                    var memory = FoldMemory()
                    while true {
                        let isLast = writing.withLock { $0 == 0 }
                        do throws(PostgreSQLError) {
                            while try connection.fold(&memory, under: nil) {}
                        } catch {
                            guard error.kind == .lockTimeout else { throw error }
                            continue
                        }
                        if isLast { return }
                    }
                }
                defer { writing.withLock { $0 -= 1 } }
                for number in 1...400 {
                    try Self.write(Self.payload(of: "c\(number % 7)"), by: connection)
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try waiting == 0)
        for span in 0...2 { #expect(try clicks(span: span) == 800) }
        let campaigns = "SELECT sum(count) FROM counts WHERE campaign <> '' AND span = 1"
        #expect(try database.integer(campaigns) == 800)
        #expect(try database.integer("SELECT sum(count) FROM live_clicks WHERE span = 'second'") == 800)
        #expect(try database.integer("SELECT sum(count) FROM live_clicks WHERE span = 'hour'") == 800)
        #expect(try database.integer("SELECT value FROM progress WHERE name = 'unrecorded_checks'") == 800)
        let link = "SELECT clicks, robots, tests, matches FROM link_counts WHERE link = 1 AND variant = 'a'"
        #expect(try database.database.execute(link) == "1600|2400|4000|3200")
    }

    @Test("adds a delta once after the connection that folds was killed in the middle")
    func killed() throws {
        let (folder, writer, blocker) = (
            try database.connect(), try database.connect(), try database.connect()
        )
        var memory = FoldMemory()
        try Self.write(Self.payload(), by: writer)
        _ = try folder.fold(&memory, under: nil)
        for _ in 0..<10 { try Self.write(Self.payload(), by: writer) }
        try folder.execute("SET lock_timeout = 0")
        let pid = try folder.execute("SELECT pg_backend_pid()").value(0, 0, as: Int32.self)
        try blocker.execute("BEGIN")
        try blocker.execute("SELECT FROM counts FOR UPDATE")
        let failure = ConditionLock<PostgreSQLError?>(nil)
        // The other thread uses the connection until this one has joined it.
        nonisolated(unsafe) let dying = folder
        let thread = try JoinableThread {
            var memory = FoldMemory()
            do throws(PostgreSQLError) {
                _ = unsafe try dying.fold(&memory, under: nil)
            } catch {
                failure.withLock { $0 = error }
            }
        }
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE pid = \(pid) AND wait_event_type = 'Lock'"
        #expect(try Polling.until { try database.integer(waits) == 1 })
        try database.database.execute("SELECT pg_terminate_backend(\(pid))")
        thread.join()
        #expect(failure.withLock { $0?.endsConnection } == true)
        try blocker.execute("ROLLBACK")
        #expect(try waiting == 10)
        #expect(try clicks() == 1)
        try writer.foldAll()
        #expect(try waiting == 0)
        #expect(try clicks() == 11)
    }

    @Test("admits 10,000 names a day for all servers together")
    func names() throws {
        let servers = [try database.connect(), try database.connect()]
        var memories = [FoldMemory(), FoldMemory()]
        for batch in 0..<12 {
            var payload = CountPayload()
            for number in 0..<1000 { payload.merge(Self.payload(of: "c\(batch * 1000 + number)")) }
            try Self.write(payload, by: servers[0])
            _ = try servers[batch % 2].fold(&memories[batch % 2], under: nil)
        }
        let names =
            "SELECT count(*) FROM counts WHERE span = 1 AND metric = 'clicks' AND campaign NOT IN ('', 'other')"
        #expect(try database.integer(names) == 10_000)
        #expect(
            try database.integer("SELECT count FROM counts WHERE span = 1 AND campaign = 'other'") == 2000
        )
        // A name that is already counted keeps its own count, and the next day has room for new names.
        try Self.write(Self.payload(of: "c1"), by: servers[0])
        let tomorrow = Timestamp(milliseconds: Self.hour.milliseconds + JobServer.day)
        try Self.write(Self.payload(of: "new", at: tomorrow), by: servers[0])
        _ = try servers[0].fold(&memories[0], under: nil)
        #expect(try database.integer("SELECT count FROM counts WHERE span = 1 AND campaign = 'c1'") == 2)
        #expect(try database.integer("SELECT count FROM counts WHERE span = 1 AND campaign = 'new'") == 1)
    }

    @Test("forgets names that it admitted in a transaction whose commit failed")
    func failedCommit() throws {
        let server = try database.connect()
        var memory = FoldMemory()
        var payload = CountPayload()
        for number in 0..<10_000 { payload.merge(Self.payload(of: "a\(number)")) }
        try Self.write(payload, by: server)
        // The check at the end of the transaction refuses all new counts.
        try database.database.execute(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
            CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON counts DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION refuse()
            """
        )
        #expect(throws: PostgreSQLError.self) { _ = try server.fold(&memory, under: nil) }
        #expect(try waiting == 1)
        try database.database.execute(
            "DROP TRIGGER refuse ON counts; DROP FUNCTION refuse; DELETE FROM count_deltas"
        )
        // Another server's fold gets the number of the failed one.
        var other = FoldMemory()
        try Self.write(Self.payload(), by: server)
        _ = try server.fold(&other, under: nil)
        try Self.write(Self.payload(of: "b"), by: server)
        _ = try server.fold(&memory, under: nil)
        #expect(try database.integer("SELECT count FROM counts WHERE span = 1 AND campaign = 'b'") == 1)
    }

    @Test("is done by the server with the lease, until it is silent for 15 seconds")
    func lease() throws {
        let connection = try database.connect()
        var memory = FoldMemory()
        func fold(_ holder: Int64, after milliseconds: Int64) throws -> Int {
            try Self.write(Self.payload(), by: connection)
            let now = Self.hour.advanced(byMilliseconds: milliseconds)
            let lease = JobLease(job: .fold, holder: holder, now: now, milliseconds: 15_000)
            _ = try connection.fold(&memory, under: lease)
            return try waiting
        }
        #expect(try fold(1, after: 0) == 0)
        #expect(try fold(2, after: 1000) == 1)
        #expect(try fold(1, after: 5000) == 0)
        #expect(try fold(2, after: 19_999) == 1)
        #expect(try fold(2, after: 20_000) == 0)
        #expect(try fold(1, after: 20_001) == 1)
        // A report does not wait for the lease.
        try connection.foldAll()
        #expect(try waiting == 0)
        #expect(try clicks() == 6)
    }

    @Test("the job folds once a second, and again at once if more counts wait than one transaction takes")
    func job() throws {
        let server = try JobServer(database)
        let writer = try database.connect()
        var job = FoldJob(server.makeContext())
        for _ in 0..<257 { try Self.write(Self.payload(), by: writer) }
        #expect(try job.slice(at: 0) == .more)
        #expect(try waiting == 1)
        #expect(try job.slice(at: 0) == .after(1_000_000_000))
        #expect(try clicks() == 257)
    }

    @Test("stops at counts of a newer version, and loses none")
    func newer() throws {
        let connection = try database.connect()
        try Self.write(Self.payload(), by: connection)
        try database.database.execute("INSERT INTO count_deltas (b, payload) VALUES (3, '\\xff')")
        let error = #expect(throws: PostgreSQLError.self) { try connection.foldAll() }
        #expect(error?.kind == .unexpectedValue)
        #expect(try waiting == 2)
        #expect(try clicks() == 0)
    }
}
#endif
