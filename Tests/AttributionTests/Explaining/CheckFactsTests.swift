import Attribution
import Simulation
import Testing

@Suite("The record of a check")
struct CheckFactsTests {
    private static let candidates = [
        Scenario.candidate(1, secondsAgo: 300, url: 1, campaign: 7, address: .exact, visitor: 1),
        Scenario.candidate(2, secondsAgo: 280, url: 2, campaign: 7, address: .exact, visitor: 2),
        Scenario.candidate(3, secondsAgo: 250, url: 3, campaign: 8, address: .differs, visitor: 3),
    ]

    private func report(_ ending: MatchOutcome, _ candidates: [Candidate] = candidates) -> CheckReport {
        var basis = CheckBasis()
        basis.verdict = candidates.isEmpty ? nil : Scenario.verdict(candidates)
        basis.evidence = candidates.isEmpty ? nil : CandidateEvidence(candidates: candidates)
        return CheckReport(ending, basis)
    }

    private func check() -> Check {
        Check(
            app: AppID(high: 1, low: 1),
            ladder: MatchingLadder(fingerprint: KeyedHash(index: 1, rest: 2)),
            source: LaunchValues(
                caller: KeyedHash(index: 3, rest: 4),
                details: LaunchDetails(
                    address: LaunchAddress(AddressHashes(exact: 1, near: 2)),
                    release: OSRelease(platform: .ios, major: 26, minor: 1),
                    sdkVersion: "ios 1.8.9",
                    requestID: String(repeating: "r", count: 100),
                    firstInstalledAt: Scenario.noon
                )
            ),
            installs: [KeyedHash(index: 5, rest: 6)],
            at: Scenario.noon,
            firstByteAt: 0,
            replayGrace: 0,
            platform: .ios
        )
    }

    private func claim(_ click: UInt64, _ method: AttributionMethod, campaign: String? = "SUMMER25") throws
        -> Claim
    {
        let facts = Click.Facts(
            app: AppID(high: 1, low: 1),
            destination: DeepLinkURL(stored: "myapp://promo/item"),
            campaignKey: campaign.flatMap { CampaignKey($0) },
            journeyID: try #require(JourneyID("j_1")),
            clickedAt: Scenario.noon,
            recordedAt: Scenario.noon,
            window: .standard
        )
        return Claim(
            click: Click(id: ClickID(high: click, low: 77), facts: facts),
            claimedAt: Scenario.noon,
            method: method,
            confidence: method.confidence ?? 0.8
        )
    }

    @Test("an ambiguous check has its most likely clicks and their evidence")
    func ambiguous() throws {
        let facts = CheckFacts(report(.noMatch(.ambiguous)), of: check())
        #expect(facts.outcome == .noMatch)
        #expect(facts.reason == .ambiguous)
        #expect(facts.candidates == 3)
        #expect(facts.shares.count == 3)
        #expect(facts.shares.first?.click == facts.click)
        #expect(facts.platformForm == PlatformForm(platform: .ios, form: .a))
        #expect(facts.agreement == .exact)
        #expect(facts.method == nil)
        #expect(facts.hasInstallID)
        #expect(facts.caller == 5, "the install id comes before the caller")
        #expect(facts.firstInstalledAt == Scenario.noon)
        #expect(facts.otherFingerprints.isEmpty)
        #expect(!facts.namesClick)
        #expect(facts.sdkVersion == "ios 1.8.9")
        #expect(facts.release?.minor == 1)
        #expect(facts.requestID == String(repeating: "r", count: 64))
        let sum = facts.shares.reduce(facts.organicShare ?? 0) { $0 + $1.probability }
        #expect(abs(sum - 1) < 1e-9)
    }

    @Test("a check with a token has the click of the token, and the fingerprint's probability")
    func token() throws {
        let facts = CheckFacts(report(.match(try claim(3, .signedToken))), of: check())
        #expect(facts.click == ClickID(high: 3, low: 77))
        #expect(facts.method == .signedToken)
        #expect(facts.confidence == 0.99)
        #expect(facts.probability == Scenario.verdict(Self.candidates).probability)
        #expect(facts.agreement == .differs)
        #expect(facts.shares.first?.click.high != 3)
    }

    @Test(
        "a match with a finding has Google Play's report and the finding, but is no sample of the calibration"
    )
    func finding() throws {
        var install = PlayInstall()
        (install[.storeClick], install[.installBegin]) = (20, 10)
        var details = LaunchDetails()
        details.play = PlayEvidence(install, referrer: "al=\(ClickID(high: 3, low: 77).text)")
        var check = check()
        check.source = LaunchValues(caller: check.caller, details: details)
        let sure = try claim(3, .signedToken)
        let doubted = Claim(
            click: sure.click,
            claimedAt: sure.claimedAt,
            method: .signedToken,
            confidence: 0.5
        )
        for ending in [MatchOutcome.match(doubted), .replay(doubted)] {
            let facts = CheckFacts(report(ending), of: check)
            #expect(facts.playFinding == .clickInjection && facts.play == install && facts.confidence == 0.5)
        }
        #expect(CheckFacts(report(.replay(sure)), of: check).playFinding == nil, "the match has none")
        let unmatched = CheckFacts(report(.noMatch(.tokenUsed)), of: check)
        #expect(unmatched.playFinding == nil && unmatched.play == install)
        #expect(CalibrationSample(report(.match(sure))) != nil)
        #expect(CalibrationSample(report(.match(doubted))) == nil)
        let expectation = try #require(CheckExpectation(report(.match(doubted))))
        #expect(expectation.total == ExpectedConversions(probability: 0.5))
    }

    @Test("a check without candidates has no click and no shares")
    func nothing() {
        let facts = CheckFacts(report(.noMatch(.noClick), []), of: check())
        #expect(facts.reason == .noClick)
        #expect(facts.click == nil && facts.confidence == nil && facts.organicShare == nil)
        #expect(facts.candidates == 0 && facts.shares.isEmpty)
    }

    @Test("a campaign's probability is the sum of its destinations' shares")
    func campaigns() throws {
        let verdict = Scenario.verdict(Self.candidates)
        let first = try #require(verdict.campaigns.first)
        #expect(first.campaign == 7)
        let own = verdict.shares.filter { $0.destination.campaign == 7 }.reduce(0) { $0 + $1.probability }
        #expect(abs(first.probability - own) < 1e-12)
        let all = verdict.campaigns.reduce(0) { $0 + $1.probability }
        #expect(abs(all - verdict.expectedConversions) < 1e-9)
    }

    @Test(
        "a check adds to the expected conversions, matched or not, if it has candidates and is no repetition"
    )
    func expectation() throws {
        let unmatched = try #require(CheckExpectation(report(.noMatch(.ambiguous))))
        let verdict = Scenario.verdict(Self.candidates)
        #expect(abs(unmatched.total.count - verdict.expectedConversions) < 1e-6)
        #expect(unmatched.parts.count == 2)
        let sure = try #require(CheckExpectation(report(.match(try claim(1, .signedToken)))))
        #expect(sure.total == ExpectedConversions(probability: 0.99))
        #expect(sure.parts == [.named(try #require(CampaignKey("SUMMER25")), sure.total)])
        #expect(CheckExpectation(report(.replay(try claim(1, .fingerprint)))) == nil)
        #expect(CheckExpectation(report(.noMatch(.noClick), [])) == nil)
    }

    @Test("expected conversions add up in any order, and their spread is the root of the sum of p · (1 − p)")
    func sums() {
        let probabilities = [0.25, 0.5, 0.95, 1, 0]
        let sum = probabilities.map(ExpectedConversions.init(probability:)).reduce(.zero, +)
        #expect(sum == probabilities.reversed().map(ExpectedConversions.init(probability:)).reduce(.zero, +))
        #expect(abs(sum.count - 2.7) < 1e-9)
        #expect(abs(sum.spread - (0.1875 + 0.25 + 0.0475).squareRoot()) < 1e-9)
        for strange in [Double.nan, .infinity, -.infinity, -1] {
            #expect(ExpectedConversions(probability: strange) == .zero)
        }
        #expect(ExpectedConversions(probability: 7).count == 1)
    }

    @Test("a launch with a token shows whether its fingerprint finds the right destination, and how probably")
    func calibration() throws {
        let claimed = report(.match(try claim(2, .signedToken)), [Self.candidates[1]])
        let right = try #require(CalibrationSample(claimed))
        #expect(right.bin.right == 1)
        #expect(right.index == 9)
        let wrong = try #require(CalibrationSample(report(.match(try claim(3, .signedToken)))))
        #expect(wrong.bin.right == 0)
        // If a click led to the launch, each of the two equal clicks is the right one with a probability of 0.5.
        #expect(abs(wrong.bin.expected - 0.5) < 0.05)
        #expect(CalibrationSample(report(.match(try claim(1, .clickID)))) == nil)
        #expect(CalibrationSample(report(.match(try claim(1, .signedToken)), [])) == nil)
        var table = CalibrationTable()
        #expect(table.error == nil)
        table.add(right.bin, at: right.index)
        table.add(wrong.bin, at: wrong.index)
        table.add(wrong.bin, at: 10)
        #expect(table.launches == 2)
        let error = abs(1 - right.bin.expected) + wrong.bin.expected
        #expect(abs((table.error ?? 0) - error / 2) < 1e-9)
        #expect(CalibrationSample(stated: 1, conversion: 1, isRight: true).index == 9)
        // A launch with a token comes from a click. So the stated 0.4 is divided by 0.8, the probability that the
        // launch comes from any click.
        let half = CalibrationSample(stated: 0.4, conversion: 0.8, isRight: false)
        #expect(half.index == 4 && half.bin.statedMillionths == 400_000)
        #expect(half.bin.expectedMillionths == 500_000)
        #expect(CalibrationSample(stated: 0, conversion: 0, isRight: false).index == 0)
    }
}
