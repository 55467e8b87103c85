import Attribution
import Simulation
import Storage
import Support
import TestDatabases
import Testing

@Suite("Findings about Google Play's report")
struct PlayFindingStorageTests {
    /// Returns a check with a click's token, and with a report of Google Play whose referrer names the click.
    ///
    /// The times are in seconds after the click.
    private func check(_ click: Click, storeClick: Int64?, begin: Int64?, after seconds: Int64 = 3600)
        -> Check
    {
        let clickedAt = click.facts.clickedAt
        var install = PlayInstall()
        install[.storeClick] = storeClick.map { clickedAt.milliseconds / 1000 + $0 }
        install[.installBegin] = begin.map { clickedAt.milliseconds / 1000 + $0 }
        install.version = "2.1"
        var details = LaunchDetails(requestID: "req_\(click.facts.journeyID.text)")
        details.play = PlayEvidence(install, referrer: "al=\(click.id.text)")
        var check = Check.sample(at: clickedAt.advanced(byMilliseconds: seconds * 1000), caller: click.id.low)
        check.ladder = MatchingLadder([.signedToken(click.id)], fingerprints: [hash(1)])
        check.set(details: details)
        return check
    }

    private func clicks(_ names: [String], in session: TestSession) async throws -> [Click] {
        var clicks: [Click] = []
        for name in names {
            let journey = try #require(JourneyID(name))
            let click = try NewClick.sample(fingerprint: 1) { facts in
                facts.journeyID = journey
                facts.campaignKey = name == "sure" ? nil : CampaignKey("A")
            }
            clicks.append(try await session.record(click).click)
        }
        return clicks
    }

    @Test(
        "a finding lowers the match's confidence, and is stored and counted; the time to install is Google's",
        arguments: backends
    )
    func counted(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let claims = try await test.run { session in
            let names = ["sure", "injected", "spammed", "unknown"]
            let clicks = try await clicks(names, in: session)
            let checks = [
                check(clicks[0], storeClick: 20, begin: 40), check(clicks[1], storeClick: 50, begin: 40),
                check(clicks[2], storeClick: 1801, begin: 1900),
                check(clicks[3], storeClick: nil, begin: nil),
            ]
            var claims: [Claim] = []
            for check in checks { claims.append(try #require(try await session.match(check).claim)) }
            // The token is used, and the finding does not change this outcome.
            let again = try await session.match(checks[1])
            guard case .noMatch(.tokenUsed) = again else {
                Issue.record("a used token has another outcome")
                return claims
            }
            return claims
        }
        #expect(claims.map(\.method) == Array(repeating: .signedToken, count: 4))
        #expect(claims.map(\.confidence) == [0.99, 0.5, 0.5, 0.5])
        #expect(claims.map(\.isGuaranteed) == [true, false, false, false])

        let now = test.clock.now
        let report = try await test.run { try await $0.statistics(StatisticsQuery(), at: now) }
        let findings = report.byPlayFinding.map { ($0.name, $0.counts[.matches]) }
        #expect(findings.map(\.0) == ["click_injection", "click_spamming", "no_server_times"])
        #expect(findings.map(\.1) == [1, 1, 1])
        #expect(report.byMethod.map { $0.counts[.matches] } == [4])
        var query = StatisticsQuery()
        query.campaign = CampaignKey("A")
        let ofCampaign = query
        let campaign = try await test.run { try await $0.statistics(ofCampaign, at: now) }
        #expect(campaign.byPlayFinding.map { $0.counts[.matches] } == [1, 1, 1])
        // The last report lacks Google's times, so the time of the launch counts.
        var delays = TimeToInstallHistogram()
        for seconds in [40, 40, 1900, 3600] as [Int64] {
            delays.add(1, inBin: TimeToInstallHistogram.bin(forMilliseconds: seconds * 1000))
        }
        #expect(report.timeToInstall == delays)

        let page = try await test.run { try await $0.checks(CheckQuery()) }
        let facts = page.records.map(\.facts).filter { $0.outcome == .match }.reversed()
        #expect(facts.map(\.playFinding) == [nil, .clickInjection, .clickSpamming, .noServerTimes])
        #expect(facts.allSatisfy { $0.play?.version == "2.1" })
        #expect(facts.first?.play?[.installBegin] == TestStore.noon.milliseconds / 1000 + 40)
        #expect(page.records.contains { $0.facts.outcome == .noMatch && $0.facts.play != nil })
        test.stop()
        #expect(try test.verify().problems == [])
    }

    @Test(
        "statistics and postbacks ignore Google's installation time if it is over 5 minutes after the launch",
        arguments: backends
    )
    func future(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        let endpoint = try await scenario.endpoint()
        let now = TestStore.noon.advanced(byMilliseconds: 3_600_000)
        let begins: [(journey: String, begin: Int64, seconds: Int64)] = [
            ("early", 40, 40), ("ahead", 3900, 3900), ("late", 3901, 3600), ("far", 2_000_000_000, 3600),
        ]
        let (report, facts) = try await scenario.test.run { session in
            for (click, launch) in zip(try await clicks(begins.map(\.journey), in: session), begins) {
                let check = check(click, storeClick: 20, begin: launch.begin)
                let isGuaranteed = try await session.match(check).claim?.isGuaranteed
                #expect(isGuaranteed == (launch.begin <= 3900), "\(launch.journey)")
            }
            let page = try await session.checks(CheckQuery())
            return (try await session.statistics(StatisticsQuery(), at: now), page.records.map(\.facts))
        }
        #expect(facts.reversed().map(\.playFinding) == [nil, nil, .noServerTimes, .noServerTimes])
        var delays = TimeToInstallHistogram()
        for launch in begins {
            delays.add(1, inBin: TimeToInstallHistogram.bin(forMilliseconds: launch.seconds * 1000))
        }
        #expect(report.timeToInstall == delays)
        let data = try await scenario.deliveries(endpoint).map(\.event.data)
        for launch in begins {
            let event = data.first { $0.contains(#""journey_id":"\#(launch.journey)""#) }
            let time = #""seconds_to_install":\#(launch.seconds)"#
            #expect(event?.contains(time) == true, "\(event ?? launch.journey)")
        }
    }

    @Test(
        "the answer of a match with a finding is repeated, and a report about another click changes nothing"
    )
    func repeated() async throws {
        for backend in backends {
            let test = try await TestStore(backend)
            try await test.run { session in
                let clicks = try await clicks(["injected", "other"], in: session)
                var first = check(clicks[0], storeClick: 50, begin: 40)
                first.installs = [hash(70)]
                let claim = try #require(try await session.match(first).claim)
                // The same installation later sends no report.
                var again = Check.sample(at: first.at, caller: 9)
                again.installs = [hash(70)]
                guard case .replay(let repeated) = try await session.match(again) else {
                    Issue.record("the answer is not repeated")
                    return
                }
                #expect(repeated == claim && !repeated.isGuaranteed)
                var other = check(clicks[1], storeClick: 50, begin: 40)
                var details = other.details
                details.play = PlayEvidence(PlayInstall(), referrer: "al=\(clicks[0].id.text)")
                other.set(details: details)
                #expect(try await session.match(other).claim?.isGuaranteed == true)
            }
            let now = test.clock.now
            let report = try await test.run { try await $0.statistics(StatisticsQuery(), at: now) }
            #expect(report.byPlayFinding.map { $0.counts[.matches] } == [1], "a repeated answer is no match")
        }
    }

    @Test(
        "the model learns from a token with Google's times, and not from one with a finding",
        arguments: backends
    )
    func learning(backend: Backend) async throws {
        for (begin, bins) in [(40, 1), (10, 0)] as [(Int64, Int64)] {
            let test = try await TestStore(backend)
            try await test.run { session in
                let clicks = try await clicks(["a"], in: session)
                _ = try await session.match(check(clicks[0], storeClick: 20, begin: begin))
            }
            let now = test.clock.now
            let report = try await test.run { try await $0.statistics(StatisticsQuery(), at: now) }
            #expect(report.calibration.launches == bins)
            var history = try test.history()
            var launches: [RecordedLaunch] = []
            while let event = try history.next() {
                if case .launch(let launch) = event { launches.append(launch) }
            }
            #expect(launches.map(\.hasFinding) == [begin == 10])
            #expect(launches.first?.token != nil, "the click is consumed either way")
        }
    }
}
