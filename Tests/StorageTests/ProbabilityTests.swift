import Attribution
import Storage
import Support
import TestDatabases
import Testing

@Suite("Statistics of probabilities")
struct ProbabilityTests {
    private func report(_ test: TestStore, _ query: StatisticsQuery = StatisticsQuery()) async throws
        -> StatisticsReport
    {
        let now = test.clock.now
        return try await test.run { try await $0.statistics(query, at: now) }
    }

    @Test(
        "the statistics contain matches by method, and each campaign's expected conversions",
        arguments: backends
    )
    func methods(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { session in
            let clicks = [
                try await session.record(.sample(fingerprint: 1) { $0.campaignKey = CampaignKey("A") }).click,
                try await session.record(.sample(fingerprint: 2) { $0.campaignKey = CampaignKey("B") }).click,
            ]
            var check = Check.sample(fingerprint: 1)
            check.ladder = MatchingLadder([.signedToken(clicks[0].id)], fingerprints: [hash(1)])
            _ = try await session.match(check)
            _ = try await session.match(.sample(fingerprint: 2, caller: 2))
            _ = try await session.match(.sample(fingerprint: 3, caller: 3))
        }
        let report = try await report(test)
        #expect(report.byMethod.map(\.name) == ["signed_token", "fingerprint"])
        #expect(report.byMethod.map { $0.counts[.matches] } == [1, 1])
        let campaigns = Dictionary(uniqueKeysWithValues: report.byCampaign.map { ($0.name, $0.expected) })
        #expect(campaigns["A"] == ExpectedConversions(probability: 0.99))
        let other = try #require(campaigns["B"] ?? nil)
        #expect(other.count > 0.9)
        #expect(abs(report.expected.count - 0.99 - other.count) < 1e-5)
        #expect(report.calibration.launches == 1)
        #expect(report.calibration.bins[9].right == 1)
        var query = StatisticsQuery(interval: .hour)
        query.from = TestStore.noon
        #expect(try await self.report(test, query).expected == report.expected)
        query.from = TestStore.noon.advanced(byMilliseconds: 86_400_000)
        #expect(try await self.report(test, query).expected == .zero)
        query = StatisticsQuery(campaign: CampaignKey("A"))
        #expect(try await self.report(test, query).expected == ExpectedConversions(probability: 0.99))
        test.stop()
        #expect(try test.verify().problems == [])
    }

    @Test(
        "a device that repeats a check without a match adds at most one expected conversion",
        arguments: backends
    )
    func repeated(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { session in
            for number in 0..<2 {
                _ = try await session.record(
                    .sample { $0.destination = DeepLinkURL(stored: "myapp://promo/\(number)") }
                )
            }
            for _ in 0..<3 {
                var check = Check.sample(install: 7)
                // No match has a confidence of 1.
                check.policy = MatchPolicy(minimumConfidence: 1)
                check.policy.usesFingerprints = false
                _ = try await session.match(check)
            }
        }
        let expected = try await report(test).expected
        #expect(expected.count > 0.5 && expected.count <= 1)
    }

    @Test("a launch with a token counts in the calibration of its fingerprint", arguments: backends)
    func calibration(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { session in
            let later = TestStore.noon.advanced(byMilliseconds: 1000)
            var clicks = [
                try NewClick.sample { $0.destination = DeepLinkURL(stored: "myapp://promo/first") },
                try NewClick.sample(at: later) {
                    $0.destination = DeepLinkURL(stored: "myapp://promo/second")
                },
            ]
            for index in clicks.indices {
                // The clicks come from two visitors. The launch has no address that could be compared.
                let address = UInt64(index + 1)
                clicks[index].evidence.address = AddressHashes(exact: address, near: address)
                clicks[index].evidence.visitor = address
            }
            let first = try await session.record(clicks[0]).click
            _ = try await session.record(clicks[1])
            var check = Check.sample(fingerprint: 1, at: later)
            check.ladder = MatchingLadder([.signedToken(first.id)], fingerprints: [hash(1)])
            _ = try await session.match(check)
        }
        let table = try await report(test).calibration
        #expect(table.launches == 1)
        let bin = try #require(table.bins.first { $0.launches > 0 })
        #expect(bin.stated > 0.3 && bin.stated < 1)
        #expect(bin.expected >= bin.stated)
    }
}
