import Attribution
import Support
import TestDatabases
import Testing

@Suite("Statistics")
struct StatisticsTests {
    @Test("counters equal the facts after a long random history", arguments: backends, [1, 2, 3] as [UInt64])
    func equalsFacts(backend: Backend, seed: UInt64) async throws {
        let test = try await TestStore(backend)
        let clock = test.clock
        let (model, reports) = try await test.run { session in
            var model = try await CountingModel(withLinks: 2, by: session)
            var random = SeededGenerator(seed: seed)
            for _ in 0..<400 {
                // Advance by nothing, or by more than the ten minutes within which a match retires a visit's clicks.
                if random.next() % 3 > 0 { clock.advance(seconds: Int64(601 + random.next() % 1400)) }
                try await model.step(session, at: clock.now, &random)
            }
            var reports: [StatisticsReport] = []
            for interval in StatisticsQuery.Interval.allCases {
                reports.append(
                    try await session.statistics(StatisticsQuery(interval: interval), at: clock.now)
                )
            }
            return (model, reports)
        }
        for (report, granularity) in zip(reports, [Granularity.hour, .day]) {
            #expect(report.totals == model.totals)
            #expect(
                Dictionary(report.byCampaign.map { ($0.name, $0.counts) }) { first, _ in first }
                    == model.campaigns
            )
            #expect(
                Dictionary(report.bySource.map { ($0.name, $0.counts) }) { first, _ in first }
                    == model.sources
            )
            #expect(
                Dictionary(report.byPlatform.map { ($0.name, $0.counts) }) { first, _ in first }
                    == model.platforms
            )
            func counts(_ groups: [StatisticsReport.Group]) -> [String: Counts] {
                Dictionary(groups.map { ($0.name, $0.counts) }) { first, _ in first }
            }
            #expect(counts(report.byBrowser) == model.browsers)
            #expect(counts(report.byLink) == model.links)
            #expect(counts(report.byHour) == model.hours)
            for group in report.byCampaign {
                #expect(
                    group.timeToInstall ?? TimeToInstallHistogram() == model.delaysByCampaign[group.name]
                        ?? .init()
                )
            }
            let series = report.series.map { StatisticsReport.Period(start: $0.start, counts: $0.counts) }
            #expect(series == model.series(granularity))
            #expect(report.series.reduce(.zero) { $0 + $1.expected } == report.expected)
            #expect(report.timeToInstall == model.delays)
            #expect(report.liveClicks == model.liveClicks(at: clock.now))
        }
        #expect(model.links.count == 2 && model.browsers.count == 2 && model.delaysByCampaign.count == 3)
        // The comparison would also succeed if neither the model nor the store counted anything.
        for metric in [
            Metric.clicks, .duplicates, .robots, .matches, .replays, .noMatch(.expired),
            .noMatch(.alreadyClaimed),
        ] { #expect(model.totals[metric, default: 0] > 0, "\(metric) happened") }
    }

    @Test(
        "days of other offsets than UTC's, and ranges of weeks, have the same sums as plain addition",
        arguments: backends.flatMap { backend in
            // PostgreSQL's sums differ only in the statements, which contain no offset, so one offset is
            // enough.
            (backend == .sqlite ? [-12, -5, 0, 3, 14] : [3] as [Int64]).map { (backend, $0) }
        }
    )
    func countsLocalDays(backend: Backend, offset: Int64) async throws {
        let test = try await TestStore(backend)
        let clock = test.clock
        let start = clock.now
        var model = try await test.run { session in try await CountingModel(withLinks: 2, by: session) }
        for seed in 0..<75 as Range<UInt64> {
            let before = model
            model = try await test.run { session in try await before.stepped(session, clock, seed: seed) }
            // A server makes the partitions of the next days within minutes, but this clock leaps, so make
            // them now.
            try test.database.catchUp()
        }
        let now = clock.now
        for (first, last) in [(0, 52), (3, 4), (1, 30), (29, 70), (10, 38)] as [(Int64, Int64)] {
            var query = StatisticsQuery()
            query.offset = offset
            query.from = query.start(of: start.advanced(byMilliseconds: first * 86_400_000))
            query.to = query.start(of: start.advanced(byMilliseconds: last * 86_400_000))
            let (local, utc) = (query, query.inHours)
            let report = try await test.run { session in try await session.statistics(local, at: now) }
            let (from, to) = query.range
            #expect(query.from == from && query.to == to)
            #expect(report.totals == model.totals(from: from, before: to))
            #expect(
                report.series
                    == model.series(.day, offset: offset).filter { $0.start >= from && $0.start < to }
            )
            func clicks(_ groups: [StatisticsReport.Group]) -> Int64 {
                groups.reduce(0) { $0 + ($1.counts[.clicks] ?? 0) }
            }
            #expect(clicks(report.bySource) == report.totals[.clicks] ?? 0)
            #expect(clicks(report.byHour) == report.totals[.clicks] ?? 0)
            let evening = report.byHour.first { $0.name == "20" }?.counts[.clicks] ?? 0
            let hours = try await test.run { session in try await session.statistics(utc, at: now) }
            #expect(hours.totals == report.totals)
            let same = hours.byHour.first { Int64($0.name) == (20 - offset + 24) % 24 }?.counts[.clicks] ?? 0
            #expect(evening == same)
        }
    }

    @Test("totals and series can be restricted to a value, alone or within a campaign", arguments: backends)
    func slices(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let link = try SampleLink.make(1)
        let later = TestStore.noon.advanced(byMilliseconds: 60_000)
        func report(_ slice: CountedValue, _ campaign: String? = nil) async throws -> StatisticsReport {
            try await test.run { session in
                var query = StatisticsQuery()
                (query.slice, query.campaign) = (slice, campaign.flatMap { CampaignKey($0) })
                return try await session.statistics(query, at: later)
            }
        }
        try await test.run { session in
            try await session.create(link)
            for number in 0..<6 as Range<UInt64> {
                _ = try await session.record(
                    .sample(fingerprint: number) { facts in
                        facts.campaignKey = CampaignKey(number < 4 ? "A" : "B")
                        facts.platform = number % 2 == 0 ? .android : .ios
                        facts.osVersion = "1\(number % 3).0"
                        facts.browser = Browser(.safari, version: number < 2 ? 18 : 26)
                        facts.link = number == 5 ? link.id : nil
                    }
                )
            }
            _ = try await session.match(.sample(fingerprint: 5, at: later))
        }
        #expect(try await report(CountedValue(.platform, "android")).totals[.clicks] == 3)
        #expect(try await report(CountedValue(.platform, "android"), "A").totals == [.clicks: 2])
        #expect(try await report(CountedValue(.osVersion, "11.0")).totals == [.clicks: 2])
        #expect(try await report(CountedValue(.browser, "safari 18")).totals == [.clicks: 2])
        let tapped = try await report(CountedValue(.link, link.id.text))
        #expect(tapped.totals == [.clicks: 1, .matches: 1])
        #expect(tapped.series.map(\.counts) == [[.clicks: 1, .matches: 1]])
        #expect(tapped.byCampaign.isEmpty && tapped.bySource.isEmpty && tapped.timeToInstall.total == 0)
        #expect(try await report(CountedValue(.browser, "chrome 1")).totals.isEmpty)
    }

    @Test(
        "a range counts whole spans of its interval",
        arguments: backends,
        [
            (from: 0, to: 1, interval: .hour, clicks: 1),
            (from: 0, to: 3_600_000, interval: .hour, clicks: 1),
            (from: 0, to: 3_600_001, interval: .hour, clicks: 2),
            (from: 1, to: nil, interval: .hour, clicks: 60),
            (from: 3_600_000, to: nil, interval: .hour, clicks: 59),
            (from: 86_399_999, to: 86_400_000, interval: .day, clicks: 24),
            (from: 5_400_000, to: 180_000_000, interval: .hour, clicks: 49),
            (from: nil, to: nil, interval: .day, clicks: 60),
        ] as [(from: Int64?, to: Int64?, interval: StatisticsQuery.Interval, clicks: Int64)]
    )
    func respectsRange(
        backend: Backend,
        expected: (from: Int64?, to: Int64?, interval: StatisticsQuery.Interval, clicks: Int64)
    ) async throws {
        let test = try await TestStore(backend)
        let midnight = Granularity.day.start(of: TestStore.noon)
        let query = StatisticsQuery(
            from: expected.from.map { midnight.advanced(byMilliseconds: $0) },
            to: expected.to.map { midnight.advanced(byMilliseconds: $0) },
            interval: expected.interval
        )
        let report = try await test.run { session in
            for hour in 0..<60 {
                let moment = midnight.advanced(byMilliseconds: Int64(hour) * 3_600_000)
                _ = try await session.record(.sample(fingerprint: UInt64(hour), at: moment))
            }
            return try await session.statistics(query, at: TestStore.noon)
        }
        #expect(report.totals[.clicks] == expected.clicks)
        #expect(report.bySource.first?.counts[.clicks] == expected.clicks)
        #expect(report.byCampaign.first?.counts[.clicks] == expected.clicks)
        #expect(report.series.reduce(0) { $0 + $1.counts[.clicks, default: 0] } == expected.clicks)
    }

    @Test("a campaign is also counted by source and platform", arguments: backends)
    func filtersByCampaign(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let campaign = try #require(CampaignKey("A"))
        let report = try await test.run { session in
            for number in 0..<6 {
                _ = try await session.record(
                    .sample(fingerprint: UInt64(number)) { facts in
                        facts.campaignKey = CampaignKey(number < 4 ? "A" : "B")
                        facts.source = number == 0 ? .tiktok : .qr
                        facts.platform = number == 1 ? .android : .ios
                    }
                )
            }
            _ = try await session.match(
                .sample(fingerprint: 0, at: TestStore.noon.advanced(byMilliseconds: 5000))
            )
            _ = try await session.match(.sample(fingerprint: 5))
            return try await session.statistics(StatisticsQuery(campaign: campaign), at: TestStore.noon)
        }
        #expect(report.totals == [.clicks: 4, .matches: 1])
        #expect(report.byCampaign.map(\.name) == ["A"])
        #expect(report.byCampaign.map(\.counts) == [[.clicks: 4, .matches: 1]])
        #expect(
            report.bySource == [
                .init(name: "qr", counts: [.clicks: 3]),
                .init(name: "tiktok", counts: [.clicks: 1, .matches: 1]),
            ]
        )
        #expect(report.byPlatform.map(\.name) == ["ios", "android"])
        #expect(report.timeToInstall.total == 1)
    }

    @Test("campaigns and sources that differ only in a zero byte are counted", arguments: backends)
    func countsZeroBytes(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let report = try await test.run { session in
            // PostgreSQL stores a zero byte of a text as U+001A.
            for text in ["x\u{0}", "x\u{1a}"] {
                let click = try NewClick.sample { facts in
                    facts.campaignKey = CampaignKey(text)
                    (facts.source, facts.rawSource) = (.unknown, text)
                }
                _ = try await session.record(click)
            }
            return try await session.statistics(StatisticsQuery(), at: TestStore.noon)
        }
        #expect(report.totals == [.clicks: 2])
        #expect(report.byCampaign.reduce(0) { $0 + ($1.counts[.clicks] ?? 0) } == 2)
        #expect(report.bySource.reduce(0) { $0 + ($1.counts[.clicks] ?? 0) } == 2)
    }

    @Test("a source without a token is reported by its caller's word, in lower case", arguments: backends)
    func reportsRawSource(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let report = try await test.run { session in
            _ = try await session.record(.sample { ($0.source, $0.rawSource) = (.unknown, "Google") })
            _ = try await session.record(.sample { ($0.source, $0.rawSource) = (.direct, "safari") })
            return try await session.statistics(StatisticsQuery(), at: TestStore.noon)
        }
        #expect(report.bySource.map(\.name) == ["direct", "google"])
    }

    @Test("test clicks and checks are counted separately", arguments: backends)
    func keepsTestsApart(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let reports = try await test.run { session in
            _ = try await session.record(.sample { $0.isTest = true })
            _ = try await session.match(.sample(isTest: true))
            _ = try await session.match(.sample())
            return [
                try await session.statistics(StatisticsQuery(), at: TestStore.noon),
                try await session.statistics(StatisticsQuery(isTest: true), at: TestStore.noon),
            ]
        }
        #expect(
            reports.map(\.totals) == [
                [.checks: 1, .noMatch(.noClick): 1], [.clicks: 1, .checks: 1, .matches: 1],
            ]
        )
    }

    @Test("the counts of several apps add up, and are listed separately", arguments: backends)
    func addsApps(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let other = AppID(high: 2, low: 2)
        let (all, one) = try await test.run { session in
            try await session.create(
                App(id: other, settings: .init(name: "Other"), createdAt: TestStore.noon)
            )
            _ = try await session.record(.sample())
            _ = try await session.record(.sample(app: other))
            _ = try await session.record(.sample(fingerprint: 2, app: other))
            return (
                try await session.statistics(StatisticsQuery(), at: TestStore.noon),
                try await session.statistics(StatisticsQuery(app: other), at: TestStore.noon)
            )
        }
        #expect(all.totals == [.clicks: 3])
        #expect(all.byApp.map(\.counts) == [[.clicks: 1], [.clicks: 2]])
        #expect(all.byApp.map(\.name) == [AppID(high: 1, low: 1).text, other.text])
        #expect(all.byCampaign.map(\.name) == ["SUMMER25"])
        #expect(all.byCampaign.map(\.counts) == [[.clicks: 3]])
        #expect((all.liveClicks, one.liveClicks) == (3, 2))
        #expect(one.totals == [.clicks: 2])
        #expect(all.databaseBytes > 0)
        #expect((all.writeAheadLogBytes > 0) == (backend == .sqlite), "PostgreSQL's log does not count")
    }

    @Test("invented names beyond the day's limit count as one, after a restart too", arguments: backends)
    func capsValues(backend: Backend) async throws {
        let limit = try #require(Dimension.osVersion.nameLimit)
        let first = try await TestStore(backend)
        try await first.run { session in
            for number in 0..<(limit + 20) {
                _ = try await session.record(
                    .sample(fingerprint: UInt64(number)) { $0.osVersion = "v\(number)" }
                )
            }
        }
        first.stop()
        let second = try await TestStore(backend, in: first.place)
        let tomorrow = TestStore.noon.advanced(byMilliseconds: 86_400_000)
        let report = try await second.run { session in
            _ = try await session.record(.sample(fingerprint: 5000) { $0.osVersion = "late" })
            _ = try await session.record(.sample(fingerprint: 5001) { $0.osVersion = "v0" })
            _ = try await session.record(.sample(fingerprint: 5002, at: tomorrow) { $0.osVersion = "late" })
            return try await session.statistics(StatisticsQuery(), at: TestStore.noon)
        }
        #expect(
            report.byOSVersion.prefix(2) == [
                .init(name: "other", counts: [.clicks: 21]), .init(name: "v0", counts: [.clicks: 2]),
            ]
        )
        #expect(report.byOSVersion.count == StatisticsReport.groupLimit)
        #expect(report.totals[.clicks] == Int64(limit) + 23)
    }

    @Test("the report lists the hundred most clicked campaigns, of all time or a range", arguments: backends)
    func ranksCampaigns(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let (all, range) = try await test.run { session in
            for number in 0..<150 {
                for copy in 0..<(number >= 147 ? 3 : 1) {
                    let fingerprint = UInt64(number * 10 + copy)
                    _ = try await session.record(
                        .sample(fingerprint: fingerprint) { $0.campaignKey = CampaignKey("c\(number)") }
                    )
                }
            }
            return (
                try await session.statistics(StatisticsQuery(), at: TestStore.noon),
                try await session.statistics(.init(from: TestStore.noon, interval: .day), at: TestStore.noon)
            )
        }
        for report in [all, range] {
            #expect(report.byCampaign.count == 100)
            #expect(report.byCampaign.prefix(3).map(\.name) == ["c147", "c148", "c149"])
            #expect(report.byCampaign.prefix(3).allSatisfy { $0.counts == [.clicks: 3] })
        }
    }

    @Test(
        "the count of live clicks is exact to the second, although no job removes expired clicks",
        arguments: backends
    )
    func countsLiveClicks(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let start = TestStore.noon
        let windows = [60, 61, 3600, 7200, 86_400, 2_592_000] as [Int64]
        try await test.run { session in
            for (number, seconds) in windows.enumerated() {
                _ = try await session.record(
                    .sample(fingerprint: UInt64(number)) {
                        $0.window = AttributionWindow(seconds: seconds) ?? .standard
                    }
                )
            }
        }
        for second in [0, 60, 61, 62, 3600, 3601, 7200, 7201, 86_400, 86_401, 2_592_000, 2_592_001] as [Int64]
        {
            let now = start.advanced(byMilliseconds: second * 1000)
            let report = try await test.run { try await $0.statistics(StatisticsQuery(), at: now) }
            #expect(report.liveClicks == Int64(windows.filter { $0 >= second }.count), "after \(second) s")
        }
    }
}

extension StatisticsQuery {
    /// The same range by the hour, in UTC.
    fileprivate var inHours: StatisticsQuery {
        var query = self
        (query.interval, query.offset) = (.hour, 0)
        return query
    }
}
