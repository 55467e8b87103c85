import Attribution
import Testing

@Suite("The verdict on a launch")
struct VerdictTests {
    private let near = Scenario.candidate(1, secondsAgo: 300, url: 1, campaign: 7, address: .exact)
    private let other = Scenario.candidate(2, secondsAgo: 280, url: 2, campaign: 7, address: .exact)

    @Test("is the newest click with the fingerprint while the model is fresh")
    func freshServer() {
        let clicks = (1...9).map { Scenario.candidate($0, secondsAgo: 5000 - Double($0), url: $0) }
        let verdict = Scenario.verdict(clicks, model: Scenario.model)
        let newest = CreditedDestination(url: 9, campaign: 1)
        #expect(verdict.outcome == .match(ClickID(high: 9, low: 0), newest))
        let alone = Scenario.verdict([clicks[0]], model: Scenario.model)
        #expect(alone.confidence == Verdict.highestConfidence)
    }

    @Test("is a match only with the minimum confidence, and else has a reason")
    func threshold() {
        let weak = Scenario.candidate(1, secondsAgo: 300)
        let verdict = Scenario.verdict([weak], organic: 2)
        #expect(verdict.outcome == .noMatch(.belowThreshold))
        #expect(abs(verdict.confidence - 0.6833) < 2e-4)
        #expect(abs(verdict.expectedConversions - 0.6833) < 2e-4)
        #expect(abs(verdict.variance - 0.6833 * 0.3167) < 2e-4)
        #expect(abs(verdict.organicShare - 0.3167) < 2e-4)
        let lenient = Scenario.verdict([weak], organic: 2, policy: MatchPolicy(minimumConfidence: 0.6))
        #expect(lenient.outcome == .match(weak.click, weak.destination))
        #expect(lenient.evidence == .fingerprint)
    }

    @Test("is ambiguous if two visitors' clicks compete, and then follows the policy")
    func ambiguity() {
        func verdict(_ ambiguity: MatchPolicy.Ambiguity) -> Verdict {
            Scenario.verdict([near, other], policy: MatchPolicy(onAmbiguity: ambiguity))
        }
        #expect(verdict(.noMatch).outcome == .noMatch(.ambiguous))
        #expect(verdict(.newest).outcome == .match(other.click, other.destination))
        guard case .campaignOnly(_, let destination) = verdict(.campaignOnly).outcome else {
            Issue.record("the verdict is not campaign-only")
            return
        }
        #expect(destination.campaign == 7)
        #expect(verdict(.campaignOnly).confidence == Verdict.highestConfidence)
        #expect(verdict(.noMatch).competingClicks == 1)
    }

    @Test("adds up clicks with one destination: two visitors' clicks on one link do not compete")
    func sums() {
        var same = other
        same.destination = near.destination
        let verdict = Scenario.verdict([near, same])
        #expect(verdict.outcome == .match(same.click, near.destination))
        #expect(verdict.evidence == .probabilistic)
    }

    @Test("under the newest-click rule is the newest click, with its probability")
    func plainRule() {
        let late = Scenario.candidate(3, secondsAgo: 20, url: 3, visitor: 3)
        let verdict = Scenario.verdict([near, late], organic: 2, policy: MatchPolicy(rule: .newest))
        #expect(verdict.outcome == .match(late.click, late.destination))
        #expect(verdict.confidence < 0.01)
    }

    @Test("counts the competing clicks, among candidates and in background counts")
    func competing() {
        let count = BackgroundCount(
            destination: CreditedDestination(url: 1, campaign: 7),
            platformForm: PlatformForm(platform: .ios, form: .a),
            ageBin: 20,
            weight: 29
        )
        #expect(Scenario.verdict([near]).competingClicks == 0)
        #expect(Scenario.verdict([near, other], background: [count]).competingClicks == 30)
    }

    @Test("contains the shares of the sixteen most likely campaigns")
    func campaigns() {
        let clicks = (1...20).map { (number: UInt64) in
            Scenario.candidate(number, secondsAgo: 300 + Double(number) * 60, url: number, campaign: number)
        }
        let verdict = Scenario.verdict(clicks)
        #expect(verdict.campaigns.count == 16 && verdict.campaigns.first?.campaign == 1)
        let probabilities = verdict.campaigns.map(\.probability)
        #expect(probabilities == probabilities.sorted(by: >))
        #expect(probabilities.reduce(0, +) < verdict.expectedConversions)
    }

    @Test("matches no fingerprint if fingerprints are switched off")
    func switchedOff() {
        let verdict = Scenario.verdict([near], policy: MatchPolicy(usesFingerprints: false))
        #expect(verdict.outcome == .noMatch(.fingerprintDisabled))
        #expect(Scenario.verdict([]).outcome == .noMatch(nil))
    }

    @Test(
        "clamps the minimum confidence",
        arguments: [(-1.0, 0.0), (2, 1), (.nan, 0.70), (.infinity, 1), (0.9, 0.9)]
    )
    func policies(minimum: Double, held: Double) {
        #expect(MatchPolicy(minimumConfidence: minimum).minimumConfidence == held)
    }
}
