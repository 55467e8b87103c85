import Attribution
import SQLite
import SQLiteStorage
import Storage
import Support
import TestDatabases
import Testing

@Suite("The alarm on match rates in the store")
struct DriftTests {
    private static let day: Int64 = 86_400_000
    /// The end of the last complete span of six hours.
    private let end = DriftHistory.end(at: TestStore.noon)

    /// Writes the counts of one group's days into the database; `days` begins with the newest day.
    private func write(
        _ name: String,
        _ days: [(trials: Int, matches: Int)],
        side: Dimension = .launch,
        to test: TestStore
    ) throws {
        let values = days.enumerated().map { age, day in
            let period = end.milliseconds - Int64(age) * Self.day - DriftHistory.periodMilliseconds
            return "(\(period), \(side), '\(name)', \(day.trials), \(day.matches))"
        }
        try insert(values, into: test)
    }

    /// Writes the counts of two groups, of which the one on iOS has a lower match rate in the last two days
    /// than before.
    private func writeFall(to test: TestStore) throws {
        let fallen = Array(repeating: (trials: 100, matches: 40), count: 2)
        try write("ios/26.1/1.8.9", fallen + Array(repeating: (100, 70), count: 33), to: test)
        try write("android/15/1.8.9", Array(repeating: (900, 600), count: 35), to: test)
    }

    private func drift(_ test: TestStore, _ query: StatisticsQuery = StatisticsQuery()) async throws
        -> [AppDrift]
    {
        let now = test.clock.now
        return try await test.run { try await $0.statistics(query, at: now) }.drift
    }

    @Test("a falling match rate is in the statistics, before and after the job has evaluated the rates")
    func statistics() async throws {
        let test = try await TestStore()
        #expect(try await drift(test) == [])
        try writeFall(to: test)
        let before = try await drift(test)
        let reading = try #require(before.first?.readings.first)
        #expect(reading.group.name == "ios/26.1/1.8.9")
        #expect(reading.status == .falling)
        #expect(before[0].readings.map(\.group.name) == ["ios/26.1/1.8.9", "=/=/=", "android/15/1.8.9"])
        try test.store.evaluateMatchRates()
        #expect(try await drift(test) == before)
        #expect(try test.integer("SELECT count(*) FROM drift_groups WHERE began IS NOT NULL") == 1)
        #expect(try await drift(test, StatisticsQuery(isTest: true)) == [])
    }

    @Test("an alarm is logged once when it starts, and once when it ends")
    func log() async throws {
        let test = try await TestStore()
        try writeFall(to: test)
        try test.store.evaluateMatchRates()
        try test.store.evaluateMatchRates()
        test.clock.advance(seconds: 600)
        try test.store.evaluateMatchRates()
        let began = test.log.lines.filter { $0.contains("match rate") }
        #expect(began.count == 1)
        #expect(
            began[0].contains("app Shop: the match rate of launches on iOS 26.1 with SDK 1.8.9 fell from 7")
        )
        try write("ios/26.1/1.8.9", Array(repeating: (100, 70), count: 2), later: 2, to: test)
        try write("android/15/1.8.9", Array(repeating: (900, 600), count: 2), later: 2, to: test)
        test.clock.advance(seconds: 2 * 86_400)
        try test.store.evaluateMatchRates()
        let lines = test.log.lines.filter { $0.contains("match rate") }
        #expect(lines.count == 2)
        #expect(lines.last?.contains("is back near its usual") == true)
        #expect(try test.integer("SELECT count(*) FROM drift_groups WHERE began IS NOT NULL") == 0)
    }

    private func write(_ name: String, _ days: [(Int, Int)], later: Int64, to test: TestStore) throws {
        let values = days.enumerated().map { age, day in
            let period = end.milliseconds + (later - Int64(age)) * Self.day - DriftHistory.periodMilliseconds
            return "(\(period), \(Dimension.launch), '\(name)', \(day.0), \(day.1))"
        }
        try insert(values, into: test)
    }

    /// Inserts rows of period, side, name, trials and matches.
    private func insert(_ rows: [String], into test: TestStore) throws {
        try test.execute(
            """
            WITH day (period, side, name, trials, matches) AS (VALUES \(rows.joined(separator: ", ")))
            INSERT INTO counts
            SELECT 2, '', side, \(Granularity.quarter), period, name, 'trials', trials FROM day
            UNION ALL SELECT 2, '', side, \(Granularity.quarter), period, name, 'matches', matches FROM day
            """
        )
    }

    /// Returns the stored count of a metric of one group.
    private func count(_ metric: String, of name: String, in test: TestStore) throws -> Int64? {
        try SQLiteConnection(path: test.path, access: .readOnly, busyMilliseconds: 1000)
            .prepare(
                "SELECT count FROM counts WHERE span = \(Granularity.quarter) AND value = ?1 AND metric = ?2"
            )
            .first(name, metric) { $0.integer(0) }
    }

    @Test("an alarm continues after a restart, without another line in the log")
    func restart() async throws {
        let first = try await TestStore()
        try writeFall(to: first)
        try first.store.evaluateMatchRates()
        first.stop()
        let second = try await TestStore(in: first.place)
        second.clock.advance(seconds: 21_600)
        try second.store.evaluateMatchRates()
        #expect(second.log.lines.filter { $0.contains("match rate") } == [])
        #expect(try second.integer("SELECT count(*) FROM drift_groups WHERE began IS NOT NULL") == 1)
    }

    @Test("match rates are evaluated again after a clock that was far ahead is set back")
    func leap() async throws {
        let test = try await TestStore()
        try writeFall(to: test)
        try test.execute("INSERT INTO jobs VALUES ('drift', 0, 0, 4000000000000)")
        try test.store.evaluateMatchRates()
        #expect(try await drift(test).first?.readings.first?.status == .falling)
    }

    @Test("a process that has lost its lease does not store an earlier span as the last one")
    func lostLease() async throws {
        let test = try await TestStore()
        let settings = App.Settings(name: "Other")
        let other = App(id: AppID(high: 2, low: 2), settings: settings, createdAt: TestStore.noon)
        try await test.run { try await $0.create(other) }
        try writeFall(to: test)
        var job = DriftJob(test.store.makeJobContext())
        #expect(try job.slice(at: 0) == .more)
        // Another process evaluates the next span before this one evaluates the second app.
        let next = end.milliseconds + DriftHistory.periodMilliseconds
        try test.execute("UPDATE jobs SET holder = 7, until = 0, progress = \(next) WHERE name = 'drift'")
        try job.runToEnd()
        #expect(try test.integer("SELECT progress FROM jobs WHERE name = 'drift'") == next)
        #expect(try test.integer("SELECT count(*) FROM drift_groups") == 0)
    }

    @Test("the job deletes only those counts of match rates that are too old to be compared")
    func deletes() async throws {
        let test = try await TestStore()
        try write("ios/26.1/1.8.9", Array(repeating: (10, 5), count: 66), to: test)
        for _ in 0..<2 {
            test.clock.advance(seconds: 21_600)
            try test.store.evaluateMatchRates()
        }
        let trials: SQL =
            "SELECT count(*) FROM counts WHERE span = \(Granularity.quarter) AND metric = 'trials'"
        #expect(try test.integer(trials) == 63)
    }

    @Test("a limited number of groups is counted by name, always including the groups that are watched")
    func bounded() async throws {
        let test = try await TestStore()
        try test.execute(
            "INSERT INTO drift_groups VALUES (2, 'launch', 'ios/?/999.9.9', 1, 1, 0.5, NULL, NULL, NULL)"
        )
        try await test.run { session in
            for number in 0..<300 { try await session.check(sdk: "\(number % 30 + 1).\(number / 30).0") }
            try await session.check(sdk: "999.9.9")
            try await session.check(sdk: "1.0.0")
            _ = try await session.statistics(StatisticsQuery(), at: TestStore.noon)
        }
        #expect(try test.integer("SELECT count(*) FROM counts WHERE dimension = \(Dimension.launch)") == 201)
        #expect(try test.integer("SELECT sum(count) FROM counts WHERE metric = 'trials'") == 302)
        #expect(try count("trials", of: "ios/?/999.9.9", in: test) == 1)
        #expect(try count("trials", of: "*/*/*", in: test) ?? 0 > 90)
    }

    @Test("a match counts for the group of its launch and for the group of its click")
    func claims() async throws {
        let test = try await TestStore()
        try await test.run { session in
            _ = try await session.record(.sample { $0.browser = Browser(.instagram, version: 415) })
            var check = Check.sample()
            check.launch = CountedLaunch(platform: .ios, sdk: SDKVersion(header: "x/1.8.9"))
            _ = try await session.match(check)
            _ = try await session.match(check)
        }
        _ = try await drift(test)
        for (name, trials) in [("ios/17.2/instagram", 1), ("ios/?/1.8.9", 2)] as [(String, Int64)] {
            #expect(try count("trials", of: name, in: test) == trials)
            #expect(try count("matches", of: name, in: test) == 1)
        }
        #expect(try test.integer("SELECT count(*) FROM counts WHERE span = \(Granularity.quarter)") == 4)
    }
}

extension ClickStore {
    /// Matches a check from this SDK version that finds no click.
    fileprivate func check(sdk: String) async throws {
        var check = Check.sample(fingerprint: 99)
        check.launch = CountedLaunch(platform: .ios, sdk: SDKVersion(header: "x/" + sdk))
        _ = try await match(check)
    }
}
