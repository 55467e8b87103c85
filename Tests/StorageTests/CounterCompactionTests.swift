import Attribution
import Foundation
import SQLite
import SQLiteStorage
import Storage
import Support
import TestDatabases
import Testing

@Suite("Counters by campaign")
struct CounterCompactionTests {
    @Test("campaigns invented day after day leave a bounded number of counters with the same sums")
    func compacts() async throws {
        // The test writes thousands of small transactions, and does not need them to survive a crash.
        let test = try await TestStore { $0.durability = .relaxed }
        let days: Int64 = isLong ? 100 : 2
        try await test.run { _ = try await $0.record(.sample()) }
        // Insert the counters of a hostile client that invents ten thousand new names each day.
        try test.execute(
            """
            CREATE TEMP TABLE invented AS
            WITH RECURSIVE number(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM number WHERE n < \(days * 10_000 - 1))
            SELECT n, 'invented ' || n AS campaign, 1699920000000 + (n / 10000) * 86400000 AS day FROM number;
            INSERT INTO counts
            SELECT 2, campaign, dimension, span, iif(span = \(Granularity.all), 0, day), value, 'clicks', 1
            FROM invented,
                (SELECT \(Granularity.all) AS span UNION SELECT \(Granularity.day) UNION SELECT \(Granularity.hour)),
                (SELECT \(Dimension.total) AS dimension, '' AS value UNION SELECT \(Dimension.source), 'direct')
            WHERE span <> \(Granularity.hour) OR n % 20 = 0;
            """
        )
        let before = try test.integer(sum)
        test.clock.advance(seconds: (days + 31) * 86_400)
        try test.store.runRetention()
        #expect(try test.integer(campaigns(.all)) <= 10_001)
        #expect(try test.integer(campaigns(.day)) <= 1_001 * days)
        #expect(try test.integer(campaigns(.hour)) == 0)
        #expect(try test.integer(sum) == before, "compaction keeps the sums")
        let now = test.clock.now
        let report = try await test.run { try await $0.statistics(StatisticsQuery(), at: now) }
        #expect(report.byCampaign.first?.name == "other")
        #expect(report.totals[.clicks] == 1, "totals are counted separately, and stay")
        #expect(try test.store.runRetention().deleted == 0, "a day is compacted once")
    }

    @Test(
        "a span of four weeks is compacted once its last day is old enough, by browser sooner than by link",
        arguments: backends
    )
    func compactsWeeks(backend: Backend) async throws {
        let test = try await TestStore(backend)
        // A compacted span keeps 100 browsers and 1,000 links; record 150 of each within one span of four weeks.
        let first = Granularity.fourWeeks.start(of: test.clock.now.advanced(byMilliseconds: 28 * 86_400_000))
        test.clock.now = first
        try await test.run { session in
            for number in 0..<150 as Range<UInt64> {
                let link = try SampleLink.make(number)
                try await session.create(link)
                for copy in 0..<(number < 3 ? 3 : 1) as Range<UInt64> {
                    let click = try NewClick.sample(fingerprint: number * 10 + copy, at: first) { facts in
                        (facts.link, facts.browser) = (link.id, Browser(.chrome, version: Int(number)))
                    }
                    _ = try await session.record(click)
                }
            }
        }
        func browsers(_ days: Int64) async throws -> [StatisticsReport.Group] {
            test.clock.now = first.advanced(byMilliseconds: days * 86_400_000)
            _ = try test.database.runRetention()
            let now = test.clock.now
            let end = first.advanced(byMilliseconds: 28 * 86_400_000)
            let report = try await test.run { session in
                var query = StatisticsQuery()
                (query.from, query.to) = (first, end)
                query.groupLimit = 200
                return try await session.statistics(query, at: now)
            }
            #expect(report.totals[.clicks] == 156)
            #expect(report.byLink.count == 150, "no link is compacted")
            #expect(report.byLink.reduce(0) { $0 + ($1.counts[.clicks] ?? 0) } == 156)
            #expect(report.byLink.prefix(4).map { $0.counts[.clicks] } == [3, 3, 3, 1])
            return report.byBrowser
        }
        #expect(try await browsers(57).count == 150, "the last day is not old enough")
        let compacted = try await browsers(59)
        #expect(compacted.count == 101 && compacted.reduce(0) { $0 + ($1.counts[.clicks] ?? 0) } == 156)
        #expect(compacted.first?.name == "other" && compacted.first?.counts[.clicks] == 50)
    }

    private let sum: SQL = """
        SELECT sum(count) FROM counts
        WHERE campaign <> '' AND span = \(Granularity.all) AND dimension = \(Dimension.total) AND metric = 'clicks'
        """

    private func campaigns(_ granularity: Granularity) -> SQL {
        switch granularity {
        case .all:
            "SELECT count(DISTINCT campaign) FROM counts WHERE campaign <> '' AND span = \(Granularity.all)"
        case .day, .fourWeeks:
            """
            SELECT count(*) FROM counts
            WHERE dimension = \(Dimension.total) AND campaign <> '' AND span = \(Granularity.day) AND metric = 'clicks'
            """
        case .hour, .quarter:
            "SELECT count(*) FROM counts WHERE campaign <> '' AND span = \(Granularity.hour)"
        }
    }
}
