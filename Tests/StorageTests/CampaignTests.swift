import Attribution
import Support
import TestDatabases
import Testing

@Suite("Pages of campaigns, match rates by group, and servers")
struct CampaignTests {
    /// Campaigns named c1, c2, …; each has as many clicks as its number, and one match if the number is even.
    private func store(_ backend: Backend, campaigns: Int) async throws -> TestStore {
        let test = try await TestStore(backend)
        try await test.run { session in
            var fingerprint: UInt64 = 0
            for campaign in 1...campaigns {
                for _ in 1...campaign {
                    fingerprint += 1
                    _ = try await session.record(
                        .sample(fingerprint: fingerprint) { $0.campaignKey = CampaignKey("c\(campaign)") }
                    )
                }
                guard campaign.isMultiple(of: 2) else { continue }
                _ = try await session.match(.sample(fingerprint: fingerprint))
            }
        }
        return test
    }

    @Test("a page in any order has the counts of the statistics", arguments: backends)
    func orders(backend: Backend) async throws {
        let test = try await store(backend, campaigns: 6)
        let orders: [(CampaignQuery.Order, [String])] = [
            (.clicks, ["c6", "c5", "c4", "c3", "c2", "c1"]), (.name, ["c1", "c2", "c3", "c4", "c5", "c6"]),
            (.matches, ["c2", "c4", "c6", "c1", "c3", "c5"]), (.rate, ["c2", "c4", "c6", "c1", "c3", "c5"]),
            (.expected, ["c2", "c4", "c6", "c1", "c3", "c5"]),
        ]
        let (report, pages) = try await test.run { session in
            let report = try await session.statistics(StatisticsQuery(), at: TestStore.noon)
            var pages: [CampaignPage] = []
            for (order, _) in orders {
                var query = CampaignQuery(StatisticsQuery())
                query.order = order
                pages.append(try await session.campaigns(query))
            }
            return (report, pages)
        }
        for (page, (order, names)) in zip(pages, orders) {
            #expect(page.count == 6 && !page.isPartial)
            // The expected conversions of the three campaigns with a match depend on the probabilities of the matches,
            // so the test does not know the order of the three.
            if order == .expected {
                #expect(Set(page.rows.prefix(3).map(\.name)) == Set(names.prefix(3)))
            } else {
                #expect(page.rows.map(\.name) == names)
            }
            for row in page.rows {
                let group = try #require(report.byCampaign.first { $0.name == row.name })
                #expect(row.counts == group.counts && row.expected == group.expected)
                #expect(row.timeToInstall.total == row.counts[.matches] ?? 0 && row.earlier == nil)
            }
        }
    }

    @Test("two spellings of a campaign on different days are one with all counts", arguments: backends)
    func spellings(backend: Backend) async throws {
        let test = try await TestStore(backend)
        func record(_ key: String, _ fingerprint: UInt64) async throws {
            let now = test.clock.now
            try await test.run { session in
                _ = try await session.record(
                    .sample(fingerprint: fingerprint, at: now) { $0.campaignKey = CampaignKey(key) }
                )
            }
        }
        try await record("\u{E9}", 1)
        test.clock.advance(seconds: 86_400)
        // A server makes the partitions of the next days within minutes, but this clock leaps, so make them now.
        try test.database.catchUp()
        for fingerprint in [2, 3] as [UInt64] { try await record("e\u{301}", fingerprint) }
        let now = test.clock.now
        let (report, page) = try await test.run { session in
            (
                try await session.statistics(StatisticsQuery(), at: now),
                try await session.campaigns(CampaignQuery(StatisticsQuery()))
            )
        }
        #expect(report.byCampaign.map { $0.counts[.clicks] } == [3])
        #expect(page.count == 1 && page.rows.map { $0.counts[.clicks] } == [3])
        // The report of the campaign alone has the counts of its row, whichever spelling the row has.
        for key in ["\u{E9}", "e\u{301}"] {
            let one = try await test.run { session in
                var query = StatisticsQuery()
                query.campaign = CampaignKey(key)
                return try await session.statistics(query, at: now)
            }
            #expect(one.totals[.clicks] == 3 && one.byCampaign.map { $0.counts[.clicks] } == [3])
            #expect(one.bySource.map { $0.counts[.clicks] } == [3])
            #expect(one.series.map { $0.counts[.clicks] } == [1, 2])
        }
    }

    @Test("a search ignores case, and a found campaign has counts of an earlier span", arguments: backends)
    func search(backend: Backend) async throws {
        let test = try await store(backend, campaigns: 3)
        let today = Granularity.day.start(of: TestStore.noon)
        let tomorrow = today.advanced(byMilliseconds: 86_400_000)
        let (found, none) = try await test.run { session in
            func days(_ from: Timestamp, _ to: Timestamp) -> StatisticsQuery {
                var query = StatisticsQuery()
                (query.from, query.to) = (from, to)
                return query
            }
            var query = CampaignQuery(days(today, tomorrow))
            let start = today.advanced(byMilliseconds: -86_400_000)
            query.earlier = days(start, today)
            query.search = "C2"
            let found = try await session.campaigns(query)
            let end = tomorrow.advanced(byMilliseconds: 86_400_000)
            query.counts = days(tomorrow, end)
            return (found, try await session.campaigns(query))
        }
        #expect(found.rows.map(\.name) == ["c2"] && found.count == 1)
        #expect(found.rows.first?.counts[.clicks] == 2 && found.rows.first?.earlier == [:])
        #expect(none == CampaignPage())
    }

    @Test("pages have a hundred campaigns, and no campaign is missing or repeated", arguments: backends)
    func paging(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let pages = try await test.run { session in
            for number in 0..<230 {
                _ = try await session.record(
                    .sample(fingerprint: UInt64(number)) { $0.campaignKey = CampaignKey("c\(number)") }
                )
            }
            var pages: [CampaignPage] = []
            for number in [0, 1, 2, 3, Int.max] {
                var query = CampaignQuery(StatisticsQuery())
                query.page = number
                pages.append(try await session.campaigns(query))
            }
            return pages
        }
        #expect(pages.map(\.rows.count) == [100, 100, 30, 0, 0])
        #expect(Set(pages.flatMap(\.rows).map(\.name)).count == 230)
        #expect(pages.allSatisfy { $0.count == 230 })
    }

    @Test("the newest day of a group ends with the last complete span", arguments: backends)
    func matchRates(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let later = TestStore.noon.advanced(byMilliseconds: DriftHistory.periodMilliseconds)
        let (before, after) = try await test.run { session in
            _ = try await session.record(.sample())
            _ = try await session.match(.sample())
            let app = try #require(try session.directory().apps.first?.id)
            return (
                try await session.matchRates(of: app, days: 7, at: TestStore.noon),
                try await session.matchRates(of: app, days: 7, at: later)
            )
        }
        #expect(before.days.isEmpty)
        let launches = after.days.filter { $0.key.side == .launch }
        #expect(launches.count == 1)
        #expect(launches.values.first?.first == DriftCount(trials: 1, matches: 1))
    }

    @Test("a shared database names its servers, and a file has none", arguments: backends)
    func servers(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let servers = try await test.run { session in try await session.runningServers() }
        #expect(servers.isEmpty == (backend == .sqlite))
        #expect(servers.allSatisfy { $0.seenAt.milliseconds > 0 })
    }
}
