#if PostgreSQL
import Attribution
import SQLite
import Storage
import Support
import Synchronization
import TestDatabases
import Testing

@Suite("The move of an SQLite database to PostgreSQL", .onPostgreSQL)
struct MoveTests {
    private let noon = TestStore.noon

    /// Stops a store on an SQLite file, and returns a store on a PostgreSQL database with its rows.
    private func moved(_ test: TestStore) async throws -> TestStore {
        test.stop()
        let place = try await PostgreSQLPlace.make(at: TestStore.noon)
        let file = try #require(test.place as? SQLitePlace)
        let report = try place.fill(from: file.moveSource())
        #expect(report.differences.isEmpty, "\(report.differences)")
        let verification = try place.verify(at: test.clock.now)
        #expect(verification.isWhole, "\(verification.checks.filter { !$0.findings.isEmpty })")
        let after = try await TestStore(.postgreSQL, in: place)
        after.clock.now = test.clock.now
        return after
    }

    /// Returns the outcomes of checks, one after the other.
    private func match(_ checks: [Check], in store: TestStore) async throws -> [MatchOutcome] {
        try await store.run { session in
            var outcomes: [MatchOutcome] = []
            for check in checks { outcomes.append(try await session.match(check)) }
            return outcomes
        }
    }

    /// Returns whether each click repeats an earlier one.
    private func repeats(_ clicks: [NewClick], in store: TestStore) async throws -> [Bool] {
        try await store.run { session in
            var repeats: [Bool] = []
            for click in clicks { repeats.append(try await session.record(click).isDuplicate) }
            return repeats
        }
    }

    @Test("live clicks match once, by fingerprint and by identifier, and claimed ones do not match")
    func liveAndClaimed() async throws {
        let test = try await TestStore(.sqlite)
        let clicks = try await test.run { session in
            var clicks: [Click] = []
            for number in 1...4 as ClosedRange<UInt64> {
                let new = try NewClick.sample(fingerprint: number) {
                    $0.clickIDs = number == 4 ? nil : #"{"gclid":"id \(number)"}"#
                }
                clicks.append(try await session.record(new).click)
            }
            _ = try await session.match(.sample(fingerprint: 1, install: 5))
            _ = try await session.match(.sample(fingerprint: 2, caller: 2))
            return clicks
        }
        let after = try await moved(test)
        let later = noon.advanced(byMilliseconds: 20_000)
        var named = Check.sample(fingerprint: 99, at: later)
        named.ladder = MatchingLadder([.clickID(clicks[3].id)], fingerprints: [hash(99)])
        let checks: [Check] = [
            .sample(fingerprint: 3, at: later),
            .sample(fingerprint: 3, at: later, caller: 3),
            named,
            named,
            // The installation and the caller get their answers again, and no other check does.
            .sample(fingerprint: 50, at: later, caller: 9, install: 5),
            .sample(fingerprint: 2, at: later, caller: 2, grace: 60_000),
            .sample(fingerprint: 1, at: later, caller: 9),
            .sample(fingerprint: 2, at: later, caller: 9),
        ]
        let outcomes = try await match(checks, in: after)
        #expect(outcomes[0].isMatch(of: clicks[2], at: later))
        #expect(outcomes[2].claim?.click == clicks[3])
        #expect(outcomes[4].isReplay(of: clicks[0], at: noon))
        #expect(outcomes[5].isReplay(of: clicks[1], at: noon))
        let claimed = MatchOutcome.noMatch(.alreadyClaimed)
        #expect(outcomes[1] == claimed && outcomes[6] == claimed && outcomes[7] == claimed)
        #expect(outcomes[3].claim == nil)
        #expect(try after.verify().isWhole)
    }

    @Test("an undelivered answer goes to the next check; expired clicks and robots keep their reasons")
    func closedClicks() async throws {
        let test = try await TestStore(.sqlite)
        let claim = try await test.run { session in
            _ = try await session.record(.sample(fingerprint: 1) { $0.window = Self.short })
            _ = try await session.record(.sample(fingerprint: 2) { $0.isRobot = true })
            let click = try await session.record(.sample(fingerprint: 3)).click
            let made = try await session.claim(click, by: .fingerprint, for: .sample(fingerprint: 3))
            guard case .claimed(let claim) = made else { throw StoreError(.defect, "\(made)") }
            session.receipt(for: claim).failed()
            return claim
        }
        test.clock.advance(seconds: 600)
        #expect(try test.database.runRetention().closed == 1)
        let now = test.clock.now
        let after = try await moved(test)
        let checks: [Check] = [
            .sample(fingerprint: 1, at: now),
            .sample(fingerprint: 2, at: now),
            .sample(fingerprint: 3, at: now, caller: 7),
            .sample(fingerprint: 3, at: now, caller: 8),
        ]
        let outcomes = try await match(checks, in: after)
        let expected: [MatchOutcome] = [
            .noMatch(.expired), .noMatch(.robotClick), .replay(claim), .noMatch(.alreadyClaimed),
        ]
        #expect(outcomes == expected)
    }

    private static let short = AttributionWindow(seconds: 60) ?? .standard

    @Test("a claim after the move retires the visit's clicks from before the move, wherever they are stored")
    func retiresMoved() async throws {
        let test = try await TestStore(.sqlite)
        let clicks = try await test.run { session in
            var clicks: [Click] = []
            // A click's number determines the bucket and the slot that the click is moved to. The numbers of one
            // millisecond use all 64 buckets in turn, first in the day's slot and then in the slot for long windows.
            for post in 1...140 as ClosedRange<UInt64> {
                clicks.append(try await session.record(.sample(visit: 1, post: post)).click)
            }
            return clicks
        }
        let homes = Set(clicks.map { RowHome(of: Int64(bitPattern: $0.id.high)) })
        let (buckets, slots) = (Set(homes.map(\.bucket)), Set(homes.map(\.slot)))
        #expect(buckets.count == 64 && slots.count == 2)
        let after = try await moved(test)
        let later = noon.advanced(byMilliseconds: 5000)
        let outcomes = try await after.run { session in
            // A click after the move, in the bucket of its visit.
            let last = try await session.record(.sample(at: later, visit: 1, post: 500)).click
            let match = try await session.match(.sample(at: later))
            return (
                match.isMatch(of: last, at: later), try await session.match(.sample(at: later, caller: 2))
            )
        }
        #expect(outcomes.0)
        #expect(outcomes.1 == .noMatch(.alreadyClaimed))
        #expect(try after.verify().isWhole)
    }

    @Test("a post is recognised across the move: within ten seconds, and by its idempotency key for longer")
    func repeatedPosts() async throws {
        let test = try await TestStore(.sqlite)
        _ = try await test.run { session in
            _ = try await session.record(.sample(fingerprint: 1, visit: 1))
            _ = try await session.record(.sample(fingerprint: 2, idempotency: 5))
        }
        let after = try await moved(test)
        let (soon, later) = (noon.advanced(byMilliseconds: 9000), noon.advanced(byMilliseconds: 90_000))
        let clicks: [NewClick] = [
            try .sample(fingerprint: 1, at: soon, visit: 1),
            try .sample(fingerprint: 1, at: later, visit: 1),
            try .sample(fingerprint: 2, at: later, idempotency: 5),
            try .sample(fingerprint: 2, at: later, idempotency: 6),
        ]
        #expect(try await repeats(clicks, in: after) == [true, false, true, false])
    }

    @Test("statistics, links and records of checks are equal after the move; apps and links can be added")
    func reports() async throws {
        let test = try await TestStore(.sqlite)
        let link = try SampleLink.make(1, [.maximumClicks: ["2"]])
        let full = try SampleLink.make(2, [.maximumClicks: ["1"], .tags: ["a", "b"]])
        let clock = test.clock
        let app = test.app
        try await test.run { session in
            try await session.update(app, to: App.Settings(name: "Shop", clickIDs: .answer))
            try await session.create(link)
            try await session.create(full)
            for (number, link) in [link, full].enumerated() {
                let click = try NewClick.sample(fingerprint: UInt64(100 + number)) { $0.link = link.id }
                _ = try await session.record(click)
            }
            var model = CountingModel()
            var random = SeededGenerator(seed: 1)
            for _ in 0..<200 {
                if random.next() % 3 > 0 { clock.advance(seconds: Int64(601 + random.next() % 1400)) }
                try await model.step(session, at: clock.now, &random)
            }
        }
        let now = clock.now
        let ids = [link.id, full.id]
        let before = try await test.run { try await Reports($0, ids, at: now) }
        let after = try await moved(test)
        let found = try await after.run { try await Reports($0, ids, at: now) }
        #expect(found.statistics == before.statistics)
        #expect(found.checks.records == before.checks.records)
        #expect(found.checks.next == before.checks.next)
        #expect(found.links == before.links)
        #expect(found.apps == before.apps && found.apps.first?.settings.clickIDs == .answer)
        try await after.run { session in
            for (number, link) in [link, link, full].enumerated() {
                let click = try NewClick.sample(fingerprint: UInt64(200 + number), at: now) {
                    $0.link = link.id
                }
                let outcome = try await session.record(click)
                if case .recorded = outcome {
                    #expect(number == 0)
                } else {
                    #expect(number > 0, "\(outcome)")
                }
            }
            let other = App(id: AppID(high: 2, low: 2), settings: .init(name: "Other"), createdAt: now)
            try await session.create(other)
            try await session.create(try SampleLink.make(3, app: other.id))
            #expect(try await session.link(LinkID(high: 100, low: 3)) != nil)
        }
    }

    /// The reports that operators read.
    private struct Reports: Equatable, Sendable {
        let statistics: StatisticsReport
        let checks: CheckPage
        let links: [LinkListing?]
        let apps: [App]

        init(_ session: TestSession, _ ids: [LinkID], at now: Timestamp) async throws {
            var statistics = try await session.statistics(StatisticsQuery(), at: now)
            (statistics.databaseBytes, statistics.writeAheadLogBytes) = (0, 0)
            self.statistics = statistics
            checks = try await session.checks(CheckQuery())
            apps = try session.directory().apps
            var links: [LinkListing?] = []
            for id in ids { links.append(try await session.link(id)) }
            self.links = links
        }
    }

    /// Returns nil if the source has stopped the move.
    private static func fill(_ place: PostgreSQLPlace, from source: StoppingSource) throws(StoreError)
        -> MoveReport?
    {
        do throws(StoreError) {
            return try place.fill(from: source)
        } catch {
            guard error.code == .stopping else { throw error }
            return nil
        }
    }

    @Test("a move that stops at any call continues, and ends with the same rows as one that does not stop")
    func continues() async throws {
        let test = try await TestStore(.sqlite)
        _ = try await test.runConcurrently(1200) { session, number in
            _ = try await session.record(.sample(fingerprint: number, visit: number))
            if number % 3 == 0 { _ = try await session.match(.sample(fingerprint: number, caller: number)) }
        }
        test.stop()
        let file = try #require(test.place as? SQLitePlace)
        let place = try await PostgreSQLPlace.make(at: TestStore.noon)
        var count = 0
        for calls in 0..<1000 {
            let report = try Self.fill(
                place,
                from: StoppingSource(source: try file.moveSource(), calls: calls)
            )
            if let report {
                #expect(report.differences.isEmpty)
                count = calls
                break
            }
            // No store opens on a part of the rows.
            guard calls % 10 == 1 else { continue }
            let store = try? await TestStore(.postgreSQL, in: place)
            #expect(store == nil)
        }
        #expect(count > 25)
        #expect(try place.verify(at: noon).isWhole)
        let whole = try await PostgreSQLPlace.make(at: TestStore.noon)
        _ = try whole.fill(from: file.moveSource())
        for table in ["clicks", "click_index", "checks", "counts", "apps", "installs", "progress", "jobs"] {
            let rows = "SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM \(table) t"
            #expect(try place.execute(rows) == whole.execute(rows), "\(table)")
        }
        #expect(throws: StoreError.self) { _ = try place.fill(from: file.moveSource()) }
    }

    @Test("a move does not end if a row is missing, and ends when it is run again with all rows")
    func compares() async throws {
        let test = try await TestStore(.sqlite)
        _ = try await test.run { try await $0.record(.sample()) }
        test.stop()
        let file = try #require(test.place as? SQLitePlace)
        let place = try await PostgreSQLPlace.make(at: TestStore.noon)
        let report = try place.fill(from: StoppingSource(source: try file.moveSource(), additional: 1))
        #expect(report.differences == [MoveReport.Count(name: "clicks", expected: 2, found: 1)])
        await #expect(throws: StoreError.self) { _ = try await TestStore(.postgreSQL, in: place) }
        #expect(try place.fill(from: file.moveSource()).differences.isEmpty)
        #expect(try await TestStore(.postgreSQL, in: place).count(.entries) == 1)
    }

    @Test("an unfinished move does not continue with a file that was served in between")
    func refusesChanged() async throws {
        let test = try await TestStore(.sqlite)
        _ = try await test.run { try await $0.record(.sample()) }
        test.stop()
        let file = try #require(test.place as? SQLitePlace)
        let place = try await PostgreSQLPlace.make(at: TestStore.noon)
        #expect(throws: StoreError.self) {
            _ = try place.fill(from: StoppingSource(source: try file.moveSource(), calls: 3))
        }
        let again = try await TestStore(.sqlite, in: file)
        _ = try await again.run { try await $0.match(.sample()) }
        again.stop()
        #expect(throws: StoreError.self) { _ = try place.fill(from: file.moveSource()) }
    }

    @Test("an unfinished move does not continue with a file in which an erasure was interrupted in between")
    func refusesPartlyErased() async throws {
        let test = try await TestStore(.sqlite)
        _ = try await test.run { try await $0.record(.sample()) }
        test.stop()
        let file = try #require(test.place as? SQLitePlace)
        try file.execute(
            "INSERT INTO erasures VALUES (1, 1, 9, 1, 1, 'user', 'command ann', 0, 0, 0, 0, 0, 2, 0, 0)"
        )
        let place = try await PostgreSQLPlace.make(at: TestStore.noon)
        #expect(throws: StoreError.self) {
            _ = try place.fill(from: StoppingSource(source: try file.moveSource(), calls: 3))
        }
        // A further step has deleted learnt sums; the step that adds an entry to the audit log never ran.
        try file.execute("UPDATE erasures SET learnt_counters = 3")
        #expect(throws: StoreError.self) { _ = try place.fill(from: file.moveSource()) }
    }

    @Test("an unfinished move does not continue with a file from which a command has erased rows in between")
    func refusesErased() async throws {
        let test = try await TestStore(.sqlite)
        let app = test.app
        var event = AppEvent(id: "a", name: try #require(EventName("open")), occurredAt: TestStore.noon)
        event.users = [hash(5)]
        let batch = EventBatch(
            app: app,
            isTest: false,
            isVerified: false,
            receivedAt: TestStore.noon,
            events: [event]
        )
        try await test.run { session in
            _ = try await session.record(.sample())
            _ = try await session.record(batch)
        }
        test.stop()
        let file = try #require(test.place as? SQLitePlace)
        let place = try await PostgreSQLPlace.make(at: TestStore.noon)
        #expect(throws: StoreError.self) {
            _ = try place.fill(from: StoppingSource(source: try file.moveSource(), calls: 3))
        }
        let record = Erasure(
            id: ErasureID(high: 1, low: 1),
            at: TestStore.noon,
            app: app,
            kind: .user,
            actor: .command(user: "ann")
        )
        let again = try await TestStore(.sqlite, in: file)
        let erasure = try await again.run { session in
            try await session.erase(DataSubject(.user(live: [hash(5)], test: []), of: app), record)
        }
        #expect(erasure.counts.events == 1)
        again.stop()
        #expect(throws: StoreError.self) { _ = try place.fill(from: file.moveSource()) }
    }

    @Test("a move has all columns of its tables, and forgets no table of SQLite")
    func tables() async throws {
        let test = try await TestStore(.sqlite)
        let place = try await PostgreSQLPlace.make(at: TestStore.noon)
        // From here on, the test stays on one thread, to which the connection belongs.
        let connection = try SQLiteConnection(path: test.path, access: .readOnly, busyMilliseconds: 1000)
        func texts(_ sql: String) throws -> [String] {
            var texts: [String] = []
            try connection.prepare(text: sql).forEach { row in texts.append(row.text(0)) }
            return texts
        }
        let own: Set<String> = [
            "migrations", "directory", "clicks", "click_index", "click_addresses", "claims", "checks",
            // After the move, users sign in again, and the server stores its address again.
            "dashboard_sessions", "sign_in_links", "dashboard_address", "apple_probes",
        ]
        let tables = try texts("SELECT name FROM sqlite_schema WHERE type = 'table'").filter {
            !own.contains($0)
        }
        let moved: [String] = MovedTable.all.map { $0.name.description }
        #expect(moved.sorted() == tables.sorted())
        for table in MovedTable.all {
            let name: String = table.name.description
            let columns: [String] = table.columns.names.map { $0.description }.sorted()
            let former: [String] = try texts("SELECT name FROM pragma_table_info('\(name)') ORDER BY 1")
            #expect(former == columns)
            let listed: String = try place.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = '\(name)'::regclass AND attnum > 0"
            )
            let present: [String] = listed.split(separator: "\n").map { String($0) }
            #expect(present.sorted() == columns)
        }
    }
}

/// A source that stops at one of its calls, or counts clicks that it does not have.
private final class StoppingSource: MoveSource {
    let source: any MoveSource
    private let remaining: Mutex<Int>
    let additional: Int64

    init(source: any MoveSource, calls: Int = .max, additional: Int64 = 0) {
        (self.source, self.additional) = (source, additional)
        remaining = Mutex(calls)
    }

    private func countCall() throws(StoreError) {
        let isLast = remaining.withLock { remaining in
            remaining -= 1
            return remaining < 0
        }
        if isLast { throw StoreError(.stopping, "the test stops the move") }
    }

    var mark: Int64 { get throws(StoreError) { try source.mark } }

    func forEachRow(of table: MovedTable, _ body: (any RowReader) throws(StoreError) -> Void)
        throws(StoreError)
    {
        try countCall()
        try source.forEachRow(of: table, body)
        try countCall()
    }

    func clicks(after number: Int64, atMost limit: Int) throws(StoreError) -> [MovedClick] {
        try countCall()
        return try source.clicks(after: number, atMost: limit)
    }

    func checks(after number: Int64, atMost limit: Int) throws(StoreError) -> [CheckRecord] {
        try countCall()
        return try source.checks(after: number, atMost: limit)
    }

    func rowCount(of rows: MovedRows) throws(StoreError) -> Int64 {
        try countCall()
        let count = try source.rowCount(of: rows)
        guard case .clicks = rows else { return count }
        return count + additional
    }
}
#endif
