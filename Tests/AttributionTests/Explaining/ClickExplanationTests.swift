import Attribution
import Testing

@Suite("Explanations of unmatched clicks")
struct ClickExplanationTests {
    private static let noon = TestValues.noon

    private func explanation(
        minutesAgo: Int64 = 60,
        keys: Int = 6,
        isIndexed: Bool = true,
        usesFingerprints: Bool = true,
        near: [RelatedCheck] = [],
        set: (inout KnownClick) -> Void = { _ in }
    ) -> ClickExplanation {
        let clickedAt = Self.noon.advanced(byMilliseconds: -minutesAgo * 60_000)
        var click = KnownClick(
            id: ClickID(high: 7, low: 7),
            clickedAt: clickedAt,
            expiresAt: clickedAt.advanced(byMilliseconds: 86_400_000),
            campaign: CampaignKey("SUMMER25")
        )
        set(&click)
        let app = AppID(high: 1, low: 1)
        var material = ClickExplanationInput(
            click,
            app: app,
            isTest: false,
            keyCount: keys,
            isIndexed: isIndexed
        )
        material.near = near
        material.searchedChecks = near.count
        return ClickExplanation(material, usesFingerprints: usesFingerprints, at: Self.noon)
    }

    private func check(_ relation: RelatedCheck.Relation, minutesAgo: Int64 = 50) -> RelatedCheck {
        let facts = CheckFacts(
            at: Self.noon.advanced(byMilliseconds: -minutesAgo * 60_000),
            outcome: .noMatch,
            reason: .noClick
        )
        let id = CheckID(high: 9, low: 9)
        let record = RecordedCheck(id: id, app: AppID(high: 1, low: 1), isTest: false, facts: facts)
        return RelatedCheck(record, relation)
    }

    @Test("state the time until which the click is live, or why it is not live")
    func fates() {
        #expect(explanation().summary.contains("of the campaign \"SUMMER25\""))
        #expect(explanation().summary.contains("It is live until 2023-11-15T"), "\(explanation().summary)")
        #expect(explanation().summary.contains(", for 23 h more."))
        let expired = explanation(minutesAgo: 3000)
        #expect(expired.state == .expired)
        #expect(expired.summary.contains("26 h ago: its window was 24 h."))
        let robot = explanation { $0.isRobot = true }
        #expect(robot.summary.contains("from a robot, a preview or a browser that fetches ahead"))
        #expect(!robot.summary.contains("No check with its fingerprint"))
        let retired = explanation { $0.isRetired = true }
        #expect(retired.summary.contains("another click of the same visitor"))
        let claimed = explanation {
            $0.claimedAt = $0.clickedAt.advanced(byMilliseconds: 300_000)
            $0.claimedBy = .signedToken
        }
        #expect(claimed.summary.contains("5 min after the click: it brought the click's own signed token."))
    }

    @Test("state why launches cannot find the click, with a remedy")
    func hindrances() {
        let bare = explanation(keys: 0)
        #expect(bare.summary.contains("only its token leads to it"))
        #expect(bare.advice.contains { $0.contains("send signals") })
        let lost = explanation(isIndexed: false)
        #expect(lost.summary.contains("No row of the index leads to it"))
        #expect(lost.advice.contains { $0.contains("afterlink verify") })
        let off = explanation(usesFingerprints: false)
        #expect(off.summary.contains("The app recognises no launch by its fingerprint"))
        #expect(off.advice.contains { $0.contains("apps set") })
        let contradictory = explanation { $0.isContradictory = true }
        #expect(contradictory.advice.first?.contains("none of those that the page's signals give") == true)
        #expect(explanation().advice == ["Most clicks lead to no launch and end like this."])
    }

    @Test("name the nearest check and its result", arguments: RelatedCheck.Relation.allCases)
    func near(relation: RelatedCheck.Relation) {
        let explanation = explanation(near: [check(relation)])
        #expect(
            explanation.summary.contains(
                "10 min after the click, \(relation.meaning) and found nothing (no_click)."
            )
        )
        #expect(explanation.advice.contains { $0.hasPrefix("`afterlink explain chk_") })
    }

    @Test(
        "list checks that weighed the click, then checks with its fingerprint, then checks from its address"
    )
    func order() {
        #expect(RelatedCheck.Relation.allCases == RelatedCheck.Relation.allCases.sorted())
        #expect(RelatedCheck.Relation.weighed < .sameFingerprint)
        #expect(RelatedCheck.Relation.sameAddress < .nearAddress)
    }
}
