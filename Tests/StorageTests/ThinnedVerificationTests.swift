import Attribution
import SQLite
import SQLiteStorage
import Support
import Testing

/// 45 days of a store whose oldest days had more sources and campaigns than keep counts of their own.
private struct ThinnedHistory {
    let test: TestStore

    /// Begins 45 days before its end; facts are held for a week, unless `keepsFacts`.
    init(keepsFacts: Bool = false) async throws {
        let test = try await TestStore {
            $0.durability = .relaxed
            $0.queueLimit = 20_000
            if keepsFacts { $0.retentionSeconds = 90 * 86_400 }
        }
        self.test = test
        try await visit(sources: 160, matching: 20)
        test.clock.advance(seconds: 86_400)
        try await visitCampaigns(1_010, matching: 20)
        for days: Int64 in [11, 13, 8, 2, 8, 2] {
            test.clock.advance(seconds: days * 86_400)
            try await visit(sources: 12, matching: 4)
            try test.store.runRetention()
        }
        test.stop()
    }

    /// Clicks of as many sources, each twice, the second one again as a repeated post; some are matched.
    private func visit(sources: UInt64, matching matches: UInt64) async throws {
        let now = test.clock.now
        try await test.run { session in
            for number in 0..<sources {
                for fingerprint in [number, number + 1000] {
                    let click = try NewClick.sample(fingerprint: fingerprint, at: now) {
                        facts in
                        facts.source = number == 0 ? .instagram : .unknown
                        facts.rawSource = number == 0 ? nil : "src \(number)"
                        facts.campaignKey = CampaignKey("campaign \(number % 3)")
                        facts.osVersion = "1\(number % 7).0"
                    }
                    _ = try await session.record(click)
                    if fingerprint >= 1000 { _ = try await session.record(click) }
                }
            }
            for number in 0..<matches + 3 {
                let at = now.advanced(byMilliseconds: 60_000)
                let fingerprint = number < matches ? number : 9_000_000
                _ = try await session.match(.sample(fingerprint: fingerprint, at: at, caller: number))
            }
        }
    }

    private func visitCampaigns(_ count: Int, matching matches: UInt64) async throws {
        let now = test.clock.now
        _ = try await test.runConcurrently(count) { session, number in
            let click = try NewClick.sample(fingerprint: 5_000 + number, at: now) { facts in
                facts.campaignKey = CampaignKey("invented \(10_000 + number)")
            }
            _ = try await session.record(click)
        }
        try await test.run { session in
            for number in 0..<matches {
                let at = now.advanced(byMilliseconds: 60_000)
                _ = try await session.match(.sample(fingerprint: 5_000 + number, at: at, caller: number))
            }
        }
    }

    var configuration: SQLiteConfiguration {
        SQLiteConfiguration(path: test.path, clock: .fixed(test.clock.now))
    }

    func verify() throws -> VerificationReport {
        try DatabaseVerification.run(configuration)
    }

    /// The last moment, and everything, by the day.
    func statistics() async throws -> [StatisticsReport] {
        let now = test.clock.now
        let reopened = try await TestStore(in: test.folder)
        defer { reopened.stop() }
        let first = TestStore.noon.advanced(byMilliseconds: -86_400_000)
        let range = StatisticsQuery(from: first, to: now, interval: .day)
        return try await reopened.run { session in
            [
                try await session.statistics(StatisticsQuery(), at: now),
                try await session.statistics(range, at: now),
            ]
        }
    }
}

@Suite("Verification of what was thinned out")
struct ThinnedVerificationTests {
    @Test(
        "finds nothing in counters whose rare names were added up, and repairs nothing",
        arguments: [false, true]
    )
    func findsNothing(keepsFacts: Bool) async throws {
        let history = try await ThinnedHistory(keepsFacts: keepsFacts)
        try expectFolded(history.test)
        #expect(try history.verify().problems == [])
        let (counters, statistics) = (
            try history.test.content(counters: true), try await history.statistics()
        )
        let repair = try CounterRepair.run(history.configuration)
        #expect(repair.lines == [] && repair.count == 0)
        #expect(try history.test.content(counters: true) == counters)
        #expect(try await history.statistics() == statistics)
    }

    /// That there is something to go wrong about.
    private func expectFolded(_ test: TestStore) throws {
        #expect(
            try test.integer(
                """
                SELECT max(clicks) FROM counters
                WHERE dimension = 'source' AND campaign = '' AND value = 'unknown' AND granularity = 'day'
                """
            ) > 100
        )
        #expect(
            try test.integer(
                "SELECT count(*) FROM counters WHERE dimension = 'source' AND campaign = '' AND value = 'unknown' AND granularity = 'all'"
            )
                == 0
        )
        #expect(
            try test.integer(
                "SELECT sum(count) FROM install_delays WHERE campaign = 'other' AND granularity = 'day'"
            ) >= 10
        )
        let oldHours = try test.integer(
            """
            SELECT count(*) FROM counters WHERE dimension = 'source' AND granularity = 'hour'
                AND period < (SELECT value FROM progress WHERE name = 'thinned_before')
            """
        )
        #expect(oldHours == 0)
        #expect(
            try test.integer("SELECT count(*) FROM counters WHERE value = 'src 5' AND granularity = 'hour'")
                > 2
        )
    }

    @Test("finds nothing in a backup of it, and nothing while a day is being thinned out")
    func findsNothingElsewhere() async throws {
        let history = try await ThinnedHistory()
        let copy = history.test.folder.file("copy.db")
        let backup = try SQLiteBackup(
            of: history.configuration,
            to: copy,
            mayReplace: false,
            unless: { false },
            check: { _ in }
        )
        try backup.publish()
        let configuration = SQLiteConfiguration(path: copy, clock: .fixed(history.test.clock.now))
        #expect(try DatabaseVerification.run(configuration).problems == [])

        // As if the last day that is thinned out were not done yet.
        try history.test.execute(
            """
            UPDATE progress SET value =
                (SELECT max(period) FROM counters WHERE dimension = 'total' AND granularity = 'day' AND period < value)
            WHERE name = 'thinned_before'
            """
        )
        #expect(try history.verify().problems == [])
        #expect(try CounterRepair.run(history.configuration).count == 0)
    }

    struct Damage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let script: String
    }

    /// A day whose hours are all kept, and of whose clicks none is held.
    private static let day = """
        period = (SELECT max(period) FROM counters WHERE dimension = 'total' AND granularity = 'day'
            AND period < (SELECT max(period) - 15 * 86400000 FROM counters))
        """

    private static let damages = [
        Damage(
            testDescription: "a source, where sources were added up",
            script:
                "UPDATE counters SET clicks = clicks + 1 WHERE value = 'src 5' AND granularity = 'day' AND \(day)"
        ),
        Damage(
            testDescription: "repeated posts of several sources",
            script: """
                UPDATE counters SET duplicates = duplicates + 2
                WHERE value IN ('src 2', 'src 7') AND granularity = 'day' AND \(day)
                """
        ),
        Damage(
            testDescription: "one of our own sources",
            script: """
                UPDATE counters SET clicks = clicks - 1
                WHERE value = 'instagram' AND campaign = '' AND granularity = 'day' AND \(day)
                """
        ),
        Damage(
            testDescription: "an OS version, of which none was added up",
            script: """
                UPDATE counters SET matches = matches + 1
                WHERE dimension = 'os_version' AND value = '12.0' AND granularity = 'day' AND \(day)
                """
        ),
        Damage(
            testDescription: "campaigns",
            script: """
                UPDATE counters SET clicks = clicks + 3
                WHERE campaign = 'campaign 1' AND dimension = 'total' AND granularity = 'day' AND \(day)
                """
        ),
        Damage(
            testDescription: "totals and platforms of a day that was thinned out",
            script: """
                UPDATE counters SET clicks = clicks + 3, checks = checks - 1 WHERE campaign = ''
                    AND dimension IN ('total', 'platform') AND granularity = 'day'
                    AND period = (SELECT min(period) FROM counters WHERE granularity = 'day')
                """
        ),
        Damage(
            testDescription: "hours that facts tell",
            script: """
                UPDATE counters SET clicks = clicks + 1 WHERE value = 'src 5' AND granularity = 'hour'
                    AND period = (SELECT max(period) FROM counters WHERE value = 'src 5' AND granularity = 'hour')
                """
        ),
    ]

    @Test("finds and repairs what later days, facts or totals prove, exactly", arguments: damages)
    func repairs(damage: Damage) async throws {
        let history = try await ThinnedHistory()
        let counters = try history.test.content(counters: true)
        try history.test.execute(damage.script)
        #expect(try history.test.content(counters: true) != counters)
        #expect(try !history.verify().isWhole)
        #expect(try CounterRepair.run(history.configuration).count > 0)
        #expect(try history.test.content(counters: true) == counters)
        #expect(try history.verify().problems == [])
    }

    private static let undecided = [
        Damage(
            testDescription: "a source of a day that was thinned out",
            script: """
                UPDATE counters SET clicks = clicks + 1 WHERE dimension = 'source' AND value = 'unknown'
                    AND campaign = '' AND granularity = 'day'
                """
        ),
        Damage(
            testDescription: "an OS version over all time",
            script: """
                UPDATE counters SET duplicates = duplicates + 1
                WHERE dimension = 'os_version' AND value = '12.0' AND granularity = 'all'
                """
        ),
        Damage(
            testDescription: "hours and days of sources that make up for each other",
            script: """
                UPDATE counters SET clicks = clicks + 1 WHERE value = 'src 5' AND granularity = 'hour' AND \(hour);
                UPDATE counters SET clicks = clicks - 1 WHERE value = 'src 7' AND granularity = 'hour' AND \(hour);
                """
        ),
    ]

    private static let hour = day.replacing("granularity = 'day'", with: "granularity = 'hour'")

    @Test("says what nobody can tell any more, and leaves it as it is", arguments: undecided)
    func undecidable(damage: Damage) async throws {
        let history = try await ThinnedHistory()
        try history.test.execute(damage.script)
        let counters = try history.test.content(counters: true)
        let findings = try #require(history.verify().checks.first { $0.name == "counter_sums" }).findings
        #expect(findings.first?.advice.contains("stays as it is") == true)
        #expect(try CounterRepair.run(history.configuration).count == 0)
        #expect(try history.test.content(counters: true) == counters)
    }

    @Test("after a leap ahead and back, clicks that were deleted there are not taken for held ones")
    func afterLeap() async throws {
        let test = try await TestStore()
        for days: Int64 in [0, 100, 200, 0] {
            test.clock.now = TestStore.noon.advanced(byMilliseconds: days * 86_400_000)
            let now = test.clock.now
            try await test.run { _ = try await $0.record(.sample(fingerprint: UInt64(days), at: now)) }
            try test.store.runRetention()
        }
        test.stop()
        let counters = try test.content(counters: true)
        let configuration = SQLiteConfiguration(path: test.path, clock: .fixed(test.clock.now))
        #expect(try DatabaseVerification.run(configuration).problems == [])
        #expect(try CounterRepair.run(configuration).count == 0)
        #expect(try test.content(counters: true) == counters)
    }
}
