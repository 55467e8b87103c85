#if PostgreSQL
import Attribution
import PostgreSQL
import Support
import Testing

@testable import PostgreSQLStorage
@testable import Storage

@Suite("Changing apps, keys, links and sums in PostgreSQL", .blocking, .onPostgreSQL)
struct ChangingTests {
    private let database: WrittenDatabase
    private let server: WritingServer

    init() throws {
        database = try WrittenDatabase()
        server = try database.openServer()
    }

    @Test("the last step of an erasure searches the idempotency keys part by part")
    func erasedKeys() throws {
        defer { server.stop() }
        // These keys fill more blocks than one part has.
        let others = 200_000
        try database.database.execute(
            "INSERT INTO idempotencies SELECT n % 64, 2, n, n, n FROM generate_series(1, \(others)) AS n"
        )
        let click = try #require(try server.record(try .sample(1, idempotency: 7))?.click)
        #expect(try server.record(try .sample(1, after: 100, idempotency: 8))?.click == click)
        #expect(try database.number("SELECT count(*) FROM idempotencies") == others + 2)
        var slice = WrittenDatabase.erasure()
        (slice.clicks, slice.isLast) = ([Int64(bitPattern: click.id.high)], true)
        var (parts, next): (Int, Int64?) = (0, 0)
        while let position = next, parts < 9 {
            slice.position = position
            guard case .erased(_, let end) = try server.write(.erase(slice)) else { break }
            (parts, next) = (parts + 1, end)
        }
        #expect(parts == 2 && next == nil)
        #expect(try database.number("SELECT count(*) FROM idempotencies") == others)
    }

    @Test(
        "a missing table or partition is a failure that ends, not a defect; the server is not ready meanwhile",
        arguments: [
            "DROP TABLE clicks_d\(WrittenDatabase.noon.milliseconds / 86_400_000)",
            "ALTER TABLE clicks RENAME TO hidden",
        ]
    )
    func missing(damage: String) throws {
        defer { server.stop() }
        let health = HealthRecorder()
        try database.database.execute(damage)
        let settings = App.Settings(name: "Other")
        let other = App(id: AppID(high: 2, low: 2), settings: settings, createdAt: WrittenDatabase.noon)
        let written = server.writeTogether([.click(try .sample(1)), .directory(.createApp(other, []))])
        let error = try #require(written.first??.refusal)
        #expect(written.last??.isDone == true, "only the write that fails is refused")
        #expect(error.code == .incompatible && error.explanation.contains("partition is missing"))
        #expect(!server.state.healthSnapshot.acceptsWrites)
        // Writes that need other tables succeed meanwhile.
        #expect(try server.write(.barrier).isDone)
        #expect(!server.state.healthSnapshot.acceptsWrites)
        health.didRefuse(1, error, at: 7)
        for (time, isReady) in [(5_000_000_006, false), (5_000_000_007, true)] as [(UInt64, Bool)] {
            health.didCommit(1, seconds: 0, at: time)
            #expect(health.snapshot.acceptsWrites == isReady)
        }
    }

    @Test("of two servers that change an app at once, one is refused, and reads the change of the other")
    func settingsAtOnce() throws {
        let other = try database.openServer()
        defer {
            server.stop()
            other.stop()
        }
        let servers = [server, other]
        for round in 1...20 {
            let former = try #require(server.directory.snapshot.directory.apps.first)
            let waits = servers.enumerated().map { index, server in
                var settings = former.settings
                settings.destinations = ["https://\(round)-\(index).example/*"]
                return server.queue(.directory(.updateApp(former.id, from: former.settings, to: settings)))
            }
            let written = waits.map { $0() }
            #expect(written.filter { $0?.isDone == true }.count == 1)
            #expect(written.compactMap { $0?.refusal?.code } == [.conflict])
            #expect(server.directory.snapshot.directory == other.directory.snapshot.directory)
        }
    }

    @Test("of a tap and the deletion of the link in one transaction, the first one decides")
    func tappedLink() throws {
        defer { server.stop() }
        let links = (1...2 as ClosedRange<UInt64>).map { number in
            Link(
                id: LinkID(high: 1, low: number),
                app: WrittenDatabase.app,
                slug: LinkSlug(stored: "link\(number)"),
                settings: Link.Settings(),
                createdAt: WrittenDatabase.noon,
                updatedAt: WrittenDatabase.noon
            )
        }
        let new = links.map { NewLink($0, neighbours: []) }
        #expect(try server.write(.links(.create(new))).isDone)
        let taps = try links.enumerated().map { index, link in
            Write.click(try .sample(UInt64(index) + 1) { $0.link = link.id })
        }
        let tapped = server.writeTogether([taps[0], .links(.delete(links[0].id))])
        #expect(tapped.first??.recorded?.isNew == true)
        if case .linkRefused(.clicked)? = tapped.last ?? nil {} else { Issue.record("the link was deleted") }
        let deleted = server.writeTogether([.links(.delete(links[1].id)), taps[1]])
        #expect(deleted.first??.isDone == true)
        if case .linkEnded? = deleted.last??.recorded {} else { Issue.record("the click was stored") }
        #expect(try database.number("SELECT count(*) FROM links") == 1)
        #expect(try database.number("SELECT count(*) FROM links JOIN clicks ON link = number") == 1)
        #expect(try database.number("SELECT count(*) FROM clicks") == 1)
    }

    @Test("learnt sums are added up, and a full family gets no new counters")
    func learning() throws {
        defer { server.stop() }
        let scope = Scope(app: 1, isTest: false)
        let family = try #require(CounterFamily.allCases.first)
        let epoch = LearningEpoch(began: WrittenDatabase.noon, landmark: WrittenDatabase.noon)
        #expect(server.writeTogether([]).isEmpty)
        try server.state.queue.perform(.learning(.beginEarlier(scope, at: WrittenDatabase.noon)))
        let connection = try database.connect()
        let writer = WriteBatch(connection, SlotTable([:]))
        let statements = PostgreSQLWriter(batch: writer)
        try statements.beginLearning(of: scope, epoch)
        for key in [2, 1, 2] as [UInt64] {
            statements.add(0.5, to: CounterKey(family, key), of: scope, hasRoom: true)
        }
        statements.add(4, to: CounterKey(family, 3), of: scope, hasRoom: false)
        try connection.commit { writer.flush(to: &$0) }
        writer.clear()
        statements.add(1, to: CounterKey(family, 1), of: scope, hasRoom: false)
        try connection.commit { writer.flush(to: &$0) }
        #expect(
            try database.database.execute("SELECT key, value FROM learnt_counters ORDER BY key")
                == "1|1.5\n2|1"
        )
        try statements.keepLargest(1, of: scope, family)
        #expect(try !statements.forgetCounters(of: scope, limit: 5))
        try connection.commit { writer.flush(to: &$0) }
        #expect(try database.number("SELECT count(*) FROM learnt_counters") == 0)
        connection.close()
    }

    @Test("all counters of a family are scaled once, whatever their keys")
    func scaling() throws {
        defer { server.stop() }
        let family = try #require(CounterFamily.allCases.first)
        let length: Int64 = 1 << 60
        let keys: [Int64] = [.min, Int64.min + length, -length - 1, -1, 0, 7, length - 1, length, .max]
        for key in keys {
            try database.database.execute(
                "INSERT INTO learnt_counters VALUES (2, \(family.rawValue), \(key), 8)"
            )
        }
        try database.database.execute(
            "INSERT INTO learnt_counters VALUES (2, \(family.rawValue + 1), 7, 8)"
        )
        let connection = try database.connect()
        let batch = WriteBatch(connection, SlotTable([:]))
        let scope = Scope(app: 1, isTest: false)
        try PostgreSQLWriter(batch: batch).scaleCounters(of: scope, family, by: 0.5)
        try connection.commit { batch.flush(to: &$0) }
        #expect(try database.number("SELECT count(*) FROM learnt_counters WHERE value = 4") == keys.count)
        #expect(try database.number("SELECT count(*) FROM learnt_counters WHERE value = 8") == 1)
        connection.close()
    }

    @Test("a landmark is not moved before another server has added to the sums")
    func landmark() throws {
        defer { server.stop() }
        try database.database.execute("INSERT INTO learning VALUES (2, 0, 0)")
        let connection = try database.connect()
        let batch = WriteBatch(connection, SlotTable([:]))
        let reader = PostgreSQLWriterReader(batch: batch)
        #expect(try reader.learningEpoch(of: Scope(app: 1, isTest: false)) != nil)
        let other = try OtherSession(database.database)
        #expect { try other.execute("UPDATE learning SET landmark = 1") } throws: { error in
            (error as? PostgreSQLError)?.kind == .lockTimeout
        }
        connection.rollback()
        try other.execute("UPDATE learning SET landmark = 1")
        connection.close()
    }

    private func isWaiting() throws -> Bool {
        let waiting =
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        return try Polling.until { try database.number(waiting) == 1 }
    }

    @Test("a change of an endpoint keeps a secret that another server stores at the same time")
    func endpoint() throws {
        defer { server.stop() }
        let endpoint = PostbackEndpoint(
            id: EndpointID(high: 3, low: 4),
            app: WrittenDatabase.app,
            isTest: false,
            url: "https://example.com/hook",
            types: [.matchCreated],
            body: nil,
            createdAt: WrittenDatabase.noon
        )
        let actor = AuditActor.command(user: "test")
        #expect(try server.write(.postbacks(.create(endpoint), by: actor)).isDone)
        let other = try OtherSession(database.database)
        try other.execute("BEGIN")
        try other.execute("UPDATE postback_endpoints SET secret = 'new'")
        let change = EndpointChange.set(.disabled, reason: PostbackEndpoint.byOperator)
        let outcome = server.queue(.postbacks(.change(endpoint.id, change), by: actor))
        #expect(try isWaiting())
        try other.execute("COMMIT")
        #expect(outcome()?.isDone == true)
        let changed = "SELECT count(*) FROM postback_endpoints WHERE state = 'disabled' AND secret = 'new'"
        #expect(try database.number(changed) == 1)
    }

    @Test("leases of endpoints are taken in one order, so that two servers do not wait for each other")
    func leaseOrder() throws {
        defer { server.stop() }
        let (blocker, other) = (try OtherSession(database.database), try OtherSession(database.database))
        try blocker.execute("BEGIN")
        try blocker.execute("INSERT INTO jobs VALUES ('postbacks/1', 1, 0, 0)")
        var step = PostbackStep()
        for subject in ["2", "1"] {
            let now = WrittenDatabase.minuteLater
            var lease = JobLease(job: .postbacks, holder: 5, now: now, milliseconds: 1000)
            lease.subject = subject
            step.leases.append(lease)
        }
        let outcome = server.queue(.job(.postbacks(step)))
        #expect(try isWaiting())
        // The server waits for the first lease, and does not have the second one yet.
        try other.execute("SET lock_timeout = 50")
        try other.execute("INSERT INTO jobs VALUES ('postbacks/2', 1, 0, 0)")
        try blocker.execute("ROLLBACK")
        guard case .leases(let held, _)? = outcome() else {
            Issue.record("the leases were not taken")
            return
        }
        #expect(held == ["postbacks/1", "postbacks/2"])
    }

    /// Stores two endpoints whose secrets are encrypted under a missing key, and returns them.
    private func makeEndpoints() throws -> [PostbackEndpoint] {
        var endpoints: [PostbackEndpoint] = []
        for number in [1, 2] as [UInt64] {
            var endpoint = PostbackEndpoint(
                id: EndpointID(high: 3, low: number),
                app: WrittenDatabase.app,
                isTest: false,
                url: "https://example.com/hook",
                types: [.matchCreated],
                body: nil,
                createdAt: WrittenDatabase.noon
            )
            endpoint.secret = [UInt8](repeating: 1, count: 40)
            let actor = AuditActor.command(user: "test")
            #expect(try server.write(.postbacks(.create(endpoint), by: actor)).isDone)
            endpoints.append(endpoint)
        }
        return endpoints
    }

    @Test("the progress of endpoints is stored in one order, so that two servers do not wait for each other")
    func progressOrder() throws {
        defer { server.stop() }
        let endpoints = try makeEndpoints()
        let (blocker, other) = (try OtherSession(database.database), try OtherSession(database.database))
        try blocker.execute("BEGIN")
        try blocker.execute("UPDATE postback_endpoints SET reason = 'a' WHERE id_low = 1")
        var step = PostbackStep()
        step.progress = endpoints.reversed().map { EndpointRecord($0, scope: 2) }
        let outcome = server.queue(.job(.postbacks(step)))
        #expect(try isWaiting())
        // The server waits for the first endpoint, and has not locked the second one yet.
        try other.execute("SET lock_timeout = 50")
        try other.execute("UPDATE postback_endpoints SET reason = 'b' WHERE id_low = 2")
        try blocker.execute("ROLLBACK")
        guard case .leases(_, _)? = outcome() else {
            Issue.record("the progress was not stored")
            return
        }
    }

    @Test("an endpoint whose secrets are encrypted under a missing key is not locked for a new key")
    func missingKey() throws {
        defer { server.stop() }
        _ = try makeEndpoints()
        let other = try OtherSession(database.database)
        try other.execute("BEGIN")
        try other.execute("UPDATE postback_endpoints SET reason = 'a'")
        var step = PostbackStep()
        let key = try #require(ServerKey(bytes: [UInt8](repeating: 7, count: ServerKey.byteCount)))
        (step.keys, step.random) = (ServerKeys(key), RandomSource { [UInt8](repeating: 1, count: $0) })
        let written = server.queue(.job(.postbacks(step)))()
        try other.execute("ROLLBACK")
        guard case .leases(_, _)? = written else {
            Issue.record("the step waited for the endpoints")
            return
        }
    }

    /// Stores a match about which an endpoint has a delivery, and returns the click and the endpoint.
    private func makeDelivery() throws -> (click: ClickID, endpoint: EndpointID) {
        let endpoint = try #require(try makeEndpoints().first).id
        let click = try #require(try server.record(try .sample(1))?.click).id
        #expect(try server.claim(click)?.isClaimed == true)
        #expect(try database.number("SELECT count(*) FROM deliveries WHERE endpoint = 1") == 1)
        return (click, endpoint)
    }

    @Test("a replay stores no delivery of an event that another server is erasing")
    func replayDuringErasure() throws {
        defer { server.stop() }
        let endpoint = try makeDelivery().endpoint
        try database.database.execute("DELETE FROM deliveries")
        let other = try OtherSession(database.database)
        try other.execute("BEGIN")
        try other.execute("DELETE FROM outbox_events")
        let replay = PostbackChange.replay(PostbackReplay(.all), endpoint, after: nil)
        let written = server.queue(.postbacks(replay, by: .command(user: "test")))()
        try other.execute("COMMIT")
        guard case .replayed(let count, _)? = written else {
            Issue.record("the replay was not stored")
            return
        }
        #expect(try count == 0 && database.number("SELECT count(*) FROM deliveries") == 0)
    }

    @Test("an erasure deletes the deliveries that a replay on another server stores at the same time")
    func erasureDuringReplay() throws {
        defer { server.stop() }
        let click = try makeDelivery().click
        try database.database.execute("DELETE FROM deliveries")
        let other = try OtherSession(database.database)
        try other.execute("BEGIN")
        try other.execute(
            """
            INSERT INTO deliveries (endpoint, id_high, id_low, sequence, state, attempts, due_at)
            SELECT 1, id_high, id_low, 0, 0, 0, 0 FROM outbox_events FOR KEY SHARE
            """
        )
        var slice = WrittenDatabase.erasure()
        slice.clicks = [Int64(bitPattern: click.high)]
        let outcome = server.queue(.erase(slice))
        #expect(try isWaiting())
        try other.execute("COMMIT")
        guard case .erased(let counts, _)? = outcome() else {
            Issue.record("the click was not erased")
            return
        }
        #expect(try counts.clicks == 1 && database.number("SELECT count(*) FROM outbox_events") == 0)
        #expect(try database.number("SELECT count(*) FROM deliveries") == 0)
    }

    @Test("two erasures that find the same records of checks at once delete and count them once")
    func erasuresAtOnce() throws {
        defer { server.stop() }
        let click = try #require(try server.record(try .sample(1))?.click).id
        #expect(try server.claim(click)?.isClaimed == true)
        var slice = WrittenDatabase.erasure()
        let texts = try database.database.execute("SELECT id, id_low FROM checks").split(separator: "|")
        let words = try texts.map { try #require(Int64($0)) }
        try #require(words.count == 2)
        slice.checks = [CheckID(high: UInt64(bitPattern: words[0]), low: UInt64(bitPattern: words[1]))]
        var counts: [Int64] = []
        for _ in 0..<2 {
            guard case .erased(let erased, _) = try server.write(.erase(slice)) else { continue }
            counts.append(erased.checks)
        }
        #expect(counts == [1, 0])
        #expect(try database.number("SELECT checks FROM erasures") == 1)
        #expect(try database.counted { $0.values[.keptChecks] ?? 0 } == 0)
    }

    @Test("counts are not compacted while a server adds counts")
    func compactionDuringFold() throws {
        defer { server.stop() }
        try database.database.execute("INSERT INTO jobs VALUES ('fold', 0, 0, 0)")
        let folding = try OtherSession(database.database)
        try folding.execute("BEGIN")
        try folding.execute("UPDATE jobs SET progress = 1 WHERE name = 'fold'")
        let connection = try database.connect()
        let writer = PostgreSQLWriter(batch: WriteBatch(connection, SlotTable([:])))
        let day = Granularity.day.start(of: WrittenDatabase.noon)
        let names = RareNames(.campaign, .day, from: day, of: Scope(app: 1, isTest: false))
        #expect { try writer.foldRareNames(names) } throws: { error in
            (error as? PostgreSQLError)?.kind == .lockTimeout
        }
        connection.rollback()
        connection.close()
    }
}
#endif
