import Attribution
import Simulation
import SQLite
import SQLiteStorage
import Storage
import TestDatabases
import Testing

@Suite("Collisions of stored fingerprints")
struct CollisionStorageTests {
    private func click(_ fingerprint: UInt64, visitor: UInt64, at minutes: Int64, robot: Bool = false) throws
        -> NewClick
    {
        let moment = TestStore.noon.advanced(byMilliseconds: minutes * 60_000)
        var click = try NewClick.sample(fingerprint: fingerprint, at: moment) { $0.isRobot = robot }
        click.fingerprints = [
            FingerprintEntry(form: .d, key: hash(fingerprint)),
            FingerprintEntry(form: .a, key: hash(fingerprint + 1000), weight: 0.5),
        ]
        click.evidence.visitor = visitor
        return click
    }

    private func count(_ test: TestStore, _ seconds: Int64 = 3600) async throws -> CollisionReport {
        let window = try #require(AttributionWindow(seconds: seconds))
        let (app, now) = (test.app, test.clock.now)
        let report = try await test.run {
            try await $0.countCollisions(of: app, isTest: false, window: window, at: now) { _ in }
        }
        return try #require(report)
    }

    private static let d = PlatformForm(platform: .ios, form: .d)
    private static let a = PlatformForm(platform: .ios, form: .a)

    @Test("open, claimed and expired clicks collide; robots' clicks and advertising ids do not")
    func allStates() async throws {
        let test = try await TestStore()
        var ids = try click(3, visitor: 9, at: 0)
        ids.fingerprints = []
        ids.evidence.advertisingIDs = [AdvertisingIDEntry(.idfa, key: hash(77))]
        let clicks = [
            try click(1, visitor: 1, at: 0), try click(1, visitor: 2, at: 10),
            try click(1, visitor: 1, at: 20),
            try click(1, visitor: 3, at: 5, robot: true), try click(2, visitor: 4, at: 0), ids,
        ]
        try await test.run { session in for click in clicks { _ = try await session.record(click) } }
        let before = try await count(test)
        #expect(before.forms.map(\.platformForm) == [Self.a, Self.d])
        let sharing = try #require(before.forms.last?.sharing)
        #expect(sharing.clicks == 4)
        // The clicks of fingerprint 1 compete with 0, 1 and 1 other visitors; the other click with none.
        #expect(sharing.alone == 0.5)
        #expect(sharing.competing == 0.5)
        #expect(before.forms.first?.sharing.clicks == 2)

        let check = Check.sample(at: TestStore.noon.advanced(byMilliseconds: 1_800_000))
        #expect(try await test.run { try await $0.match(check) }.claim != nil)
        test.clock.advance(seconds: 2 * 86_400)
        let now = test.clock.now
        // The next report of statistics writes the loop's pending check records to disk.
        _ = try await test.run { try await $0.statistics(StatisticsQuery(), at: now) }
        try test.store.runRetention()
        #expect(try test.integer("SELECT count(*) FROM click_index WHERE state = 0") == 0)
        let after = try await count(test)
        #expect(after.forms == before.forms)
        #expect(after.matches == 1)
    }

    @Test("clicks without a stored form count as competitors, but are not reported themselves")
    func olderRows() async throws {
        let test = try await TestStore()
        let clicks = [try click(1, visitor: 1, at: 0), try click(1, visitor: 2, at: 10)]
        try await test.run { session in for click in clicks { _ = try await session.record(click) } }
        try test.execute(
            "UPDATE click_index SET platform_form = NULL, weight = NULL, visitor = NULL WHERE visit = "
                + "(SELECT visit FROM clicks ORDER BY id LIMIT 1)"
        )
        let sharing = try #require(try await count(test).forms.last?.sharing)
        #expect(sharing.clicks == 1)
        #expect(sharing.competing == 1)
    }

    @Test("a count in slices includes every click, and reports its progress")
    func slices() async throws {
        let test = try await TestStore()
        try await test.runInBatches(5000) { session, number in
            _ = try await session.record(click(number % 700, visitor: number, at: Int64(number % 90)))
        }
        let shown = ReportedProgress()
        let (app, now) = (test.app, test.clock.now)
        let report = try await test.run {
            try await $0.countCollisions(of: app, isTest: false, window: .standard, at: now) {
                shown.values.append($0)
            }
        }
        #expect(report?.forms.map(\.sharing.clicks) == [2500, 5000])
        #expect(shown.values.count > 5)
        #expect(shown.values == shown.values.sorted())
        #expect(shown.values.last == 1)
        // Each of 700 fingerprints has seven or eight visitors within a day.
        let pairs = (0..<5000).reduce(into: 0) { sum, number in sum += number / 700 }
        let competing = try #require(report?.forms.last?.sharing.competing)
        #expect(abs(competing - Double(pairs) / 5000) < 0.01)
    }

    @Test("the report counts the records of all matches, even thousands")
    func manyRecords() async throws {
        let test = try await TestStore()
        let click = try click(1, visitor: 1, at: 0)
        let (check, now) = (Check.sample(), test.clock.now)
        try await test.run { session in
            _ = try await session.record(click)
            #expect(try await session.match(check).claim != nil)
            _ = try await session.statistics(StatisticsQuery(), at: now)
        }
        for doubling in 0..<12 {
            try test.execute(
                """
                CREATE TABLE copies AS SELECT * FROM checks;
                UPDATE copies SET id = id + \(1 << doubling);
                INSERT INTO checks SELECT * FROM copies;
                DROP TABLE copies;
                """
            )
        }
        #expect(try await count(test).matches == 4096)
    }

    /// The reported progress; only one loop's thread uses it.
    private final class ReportedProgress: @unchecked Sendable {
        var values: [Double] = []
    }

    @Test("the collision report is stored, and the statistics only read the stored report")
    func kept() async throws {
        let test = try await TestStore()
        let clicks = [try click(1, visitor: 1, at: 0), try click(1, visitor: 2, at: 10)]
        try await test.run { session in for click in clicks { _ = try await session.record(click) } }
        let now = test.clock.now
        func shown(_ query: StatisticsQuery = StatisticsQuery()) async throws -> [AppCollisions] {
            try await test.run { try await $0.statistics(query, at: now) }.collisions
        }
        #expect(try await shown().isEmpty)
        _ = try await test.run { try await $0.match(.sample(at: now.advanced(byMilliseconds: 900_000))) }
        _ = try await shown()
        try test.store.countCollisions()
        let kept = try #require(try await shown().first)
        #expect(kept.app == test.app)
        #expect(kept.report == (try await count(test, 86_400)))
        #expect(kept.report.matches == 1)
        #expect(kept.report.limits.map(\.share) == [0.01, 0.05])
        #expect(try await shown(StatisticsQuery(isTest: true)).isEmpty)

        _ = try await test.run { try await $0.record(click(5, visitor: 3, at: 20)) }
        #expect(try await shown().first == kept)
        test.clock.advance(seconds: 3600)
        try test.store.countCollisions()
        let later = try #require(try await shown().first).report
        #expect(later.countedAt == now.advanced(byMilliseconds: 3_600_000))
        #expect(later.forms.last?.sharing.clicks == 3)
    }

    @Test("collisions are counted within each app's window, separately by app and for test traffic")
    func ownWindow() async throws {
        let test = try await TestStore()
        let other = AppID(high: 1, low: 2)
        var settings = App.Settings(name: "Other")
        settings.window = AttributionWindow(seconds: 300)
        let app = App(id: other, settings: settings, createdAt: TestStore.noon)
        try await test.run { session in
            try await session.create(app)
            for owner in [test.app, other] {
                for number in 1...2 as ClosedRange<UInt64> {
                    var click = try click(1, visitor: number, at: Int64(number) * 10)
                    click.facts.app = owner
                    _ = try await session.record(click)
                }
            }
        }
        var tried = try click(9, visitor: 1, at: 0)
        tried.facts.isTest = true
        let trial = tried
        try await test.run { _ = try await $0.record(trial) }
        try test.store.countCollisions()
        let now = test.clock.now
        let tests = try await test.run { try await $0.statistics(StatisticsQuery(isTest: true), at: now) }
        #expect(tests.collisions.map(\.report.forms.last?.sharing.clicks) == [1])
        let shown = try await test.run { try await $0.statistics(StatisticsQuery(), at: now) }.collisions
        let reports = Dictionary(uniqueKeysWithValues: shown.map { ($0.app, $0.report) })
        #expect(reports[test.app]?.window == .standard)
        #expect(reports[test.app]?.forms.last?.sharing.alone == 0.5)
        #expect(reports[other]?.window == AttributionWindow(seconds: 300))
        #expect(reports[other]?.forms.last?.sharing.clicks == 2)
        #expect(reports[other]?.forms.last?.sharing.alone == 1)
    }

    @Test("collisions are no longer reported after their clicks are deleted")
    func emptied() async throws {
        let test = try await TestStore { $0.retentionSeconds = 3600 }
        let click = try click(1, visitor: 1, at: 0)
        try await test.run { _ = try await $0.record(click) }
        try test.store.countCollisions()
        func shown() async throws -> [AppCollisions] {
            let now = test.clock.now
            return try await test.run { try await $0.statistics(StatisticsQuery(), at: now) }.collisions
        }
        #expect(try await shown().first?.report.forms.count == 2)
        test.clock.advance(seconds: 3 * 86_400)
        try test.store.runRetention()
        try test.store.countCollisions()
        #expect(try await shown().first?.report.forms.isEmpty == true)
    }

    @Test("collisions are counted again only after a write, and not within a minute of the last count")
    func whenDue() async throws {
        let test = try await TestStore()
        func countedAt() throws -> Int64 {
            (try test.integer("SELECT CAST(max(value) AS INTEGER) FROM figures WHERE name = 'counted_at'")
                - TestStore.noon.milliseconds)
                / 1000
        }
        let clicks = try (1...3).map { try click($0, visitor: $0, at: 0) }
        func record(_ index: Int) async throws {
            let click = clicks[index]
            try await test.run { _ = try await $0.record(click) }
        }
        try await record(0)
        try test.store.countCollisionsIfDue(times: 2) {
            test.clock.advance(seconds: 100)
            // Retention commits each second, even if nothing is due.
            #expect(throws: Never.self) { try test.store.runRetention() }
        }
        #expect(try countedAt() == 0, "no click was written since the last count")
        try await record(1)
        try test.store.countCollisionsIfDue(times: 1)
        #expect(try countedAt() == 200)
        try await record(2)
        test.clock.advance(seconds: 59)
        try test.store.countCollisionsIfDue(times: 1)
        #expect(try countedAt() == 200, "the last count is less than a minute old")
        test.clock.advance(seconds: 1)
        try test.store.countCollisionsIfDue(times: 1)
        #expect(try countedAt() == 260)
    }

    @Test("the collision report is stored with all its limits")
    func keptLimits() async throws {
        let test = try await TestStore()
        let now = test.clock.now
        // Two launches soon after their clicks are nearly certain matches; two late launches are less certain.
        let delays: [Int64] = [60_000, 60_000, 50_000_000, 50_001_000]
        for (index, delay) in delays.enumerated() {
            let number = UInt64(index + 1)
            let click = try click(number, visitor: number, at: 0)
            let check = Check.sample(
                fingerprint: number,
                at: now.advanced(byMilliseconds: delay),
                caller: number
            )
            let outcome = try await test.run { session in
                _ = try await session.record(click)
                return try await session.match(check)
            }
            #expect(outcome.claim != nil)
        }
        _ = try await test.run { try await $0.statistics(StatisticsQuery(), at: now) }
        for (delay, probability) in [60_000: 0.999, 50_000_000: 0.96, 50_001_000: 0.5] as [Int64: Double] {
            let moment = now.milliseconds + delay
            try test.execute(
                "UPDATE checks SET confidence = \(probability), shares = NULL WHERE checked_at = \(moment)"
            )
        }
        try test.store.countCollisions()
        let shown = try await test.run { try await $0.statistics(StatisticsQuery(), at: now) }.collisions
        let kept = try #require(shown.first?.report)
        #expect(kept.matches == 4)
        #expect(abs(kept.expectedFalse - 0.542) < 1e-9)
        let limit = try #require(kept.limits.last)
        #expect(limit.share == 0.05)
        #expect(limit.threshold?.matches == 3)
        #expect(limit.window?.window.seconds == 43_200)
        #expect(limit.window?.matches == 2)
        #expect(kept == (try await count(test, 86_400)))
    }

    @Test(
        "the report predicts the number of wrong matches in simulated traffic, under each rule of the policy",
        arguments: [MatchPolicy.Rule.probability, .newest]
    )
    func simulated(rule: MatchPolicy.Rule) async throws {
        var world = Worlds.turkey(700)
        world.days = 2
        let events = TraceGenerator.events(of: world, seed: 17)
        let test = try await TestStore {
            $0.learnsAtOnce = true
            $0.durability = .relaxed
        }
        let start = TraceGenerator.beginning
        test.clock.now = start
        let app = test.app
        let traffic = try await test.run { session in
            var traffic = SimulatedTraffic(app: app, policy: MatchPolicy(rule: rule))
            let firstDay = events.prefix { $0.at < start.advanced(byMilliseconds: 86_400_000) }
            for event in firstDay { try await traffic.play(event, session) }
            traffic.beginCounting()
            for event in events.dropFirst(firstDay.count) { try await traffic.play(event, session) }
            return (matches: traffic.matches, wrong: traffic.wrong)
        }
        // The first day only trains the model.
        let dayTwo = (start.milliseconds + 86_400_000) << 16
        test.clock.now = start.advanced(byMilliseconds: 4 * 86_400_000)
        _ = try await test.run { try await $0.statistics(StatisticsQuery(), at: start) }
        try test.execute("DELETE FROM checks WHERE id < \(dayTwo)")
        try test.store.runRetention()
        let report = try await count(test, 86_400)
        #expect(report.matches == traffic.matches)
        let off = abs(report.expectedFalse - Double(traffic.wrong))
        #expect(off <= 0.02 * Double(report.matches) + 2 * report.spread)
    }
}
