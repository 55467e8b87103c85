import Attribution
import SQLite
import Storage
import Support
import TestDatabases
import Testing

/// A store with 45 days of traffic, in which compaction has merged rare sources and campaigns of the oldest days.
private struct CompactedHistory {
    let test: TestStore

    /// Records the traffic of 45 days; facts are retained for a week, or with `keepsFacts` for 90 days.
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

    /// Records two clicks of each source, the second one with a repeated post, and matches some of them.
    private func visit(sources: UInt64, matching matches: UInt64) async throws {
        let now = test.clock.now
        try await test.run { session in
            for number in 0..<sources {
                for fingerprint in [number, number + 1000] {
                    let click = try NewClick.sample(fingerprint: fingerprint, at: now) { facts in
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

    func verify() throws -> VerificationReport { try test.verify() }
}

@Suite("Verification of compacted counts")
struct CompactedVerificationTests {
    @Test("finds nothing wrong in counts whose rare names were merged", arguments: [false, true])
    func findsNothing(keepsFacts: Bool) async throws {
        let history = try await CompactedHistory(keepsFacts: keepsFacts)
        try expectMergedNames(history.test)
        #expect(try history.verify().problems == [])
    }

    /// Expects that compaction has merged rare names, so that the test verifies merged counts.
    private func expectMergedNames(_ test: TestStore) throws {
        #expect(
            try test.integer(
                """
                SELECT max(count) FROM counts
                WHERE dimension = \(Dimension.source) AND campaign = '' AND value = 'unknown' AND span = \(Granularity.day) AND metric = 'clicks'
                """
            ) > 100
        )
        #expect(
            try test.integer(
                """
                SELECT count(*) FROM counts
                WHERE dimension = \(Dimension.source) AND campaign = '' AND value = 'unknown' AND span = \(Granularity.all)
                """
            ) == 0
        )
        #expect(
            try test.integer(
                """
                SELECT sum(count) FROM counts
                WHERE dimension = \(Dimension.timeToInstall) AND campaign = 'other' AND span = \(Granularity.day)
                """
            ) >= 10
        )
        let oldHours = try test.integer(
            """
            SELECT count(*) FROM counts
            WHERE dimension = \(Dimension.source) AND span = \(Granularity.hour)
                AND period < (SELECT value FROM progress WHERE name = 'thinned_before')
            """
        )
        #expect(oldHours == 0)
        let hours: SQL = "SELECT count(*) FROM counts WHERE value = 'src 5' AND span = \(Granularity.hour)"
        #expect(try test.integer(hours) > 0)
    }

    @Test(
        "finds counts that compaction cannot produce",
        arguments: [
            "UPDATE counts SET count = count + 1 WHERE value = 'src 5' AND span = \(Granularity.day) AND metric = 'clicks'",
            """
            UPDATE counts SET count = count - 1
            WHERE dimension = \(Dimension.total) AND campaign = '' AND span = \(Granularity.hour) AND metric = 'clicks'
                AND period = (SELECT min(period) FROM counts WHERE span = \(Granularity.hour))
            """,
            "UPDATE counts SET count = count + 1 WHERE campaign = 'other' AND dimension = \(Dimension.total) AND span = \(Granularity.day)",
        ]
    )
    func findsDamage(damage: String) async throws {
        let history = try await CompactedHistory()
        try history.test.execute(damage)
        #expect(try !history.verify().isWhole)
    }

    @Test("finds nothing wrong after a clock that was ahead made retention delete clicks too early")
    func afterLeap() async throws {
        let test = try await TestStore()
        for days: Int64 in [0, 100, 200, 0] {
            test.clock.now = TestStore.noon.advanced(byMilliseconds: days * 86_400_000)
            let now = test.clock.now
            try await test.run { _ = try await $0.record(.sample(fingerprint: UInt64(days), at: now)) }
            try test.store.runRetention()
        }
        test.stop()
        #expect(try test.verify().problems == [])
    }
}
