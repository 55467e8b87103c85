import Attribution
import Simulation
import Testing

@Suite("First-launch matching")
struct FirstLaunchMatchingTests {
    private let older = TestValues.click(1)
    private let newer = TestValues.click(2)
    private let check = Check(
        app: TestValues.app,
        ladder: MatchingLadder(fingerprint: KeyedHash(index: 1, rest: 2)),
        source: LaunchValues(caller: KeyedHash(index: 3, rest: 4)),
        at: TestValues.noon,
        firstByteAt: 0,
        replayGrace: 60_000
    )

    /// Returns the view of a store with only these clicks.
    private func view(_ clicks: Click..., replay: Claim? = nil) -> CheckView {
        let candidates = clicks.map { click in
            Candidate(
                click: click.id,
                clickedAt: click.facts.clickedAt,
                destination: CreditedDestination(click.facts),
                platform: click.facts.platform,
                form: nil,
                visitor: click.id.high
            )
        }
        return CheckView(
            replay: replay,
            evidence: CandidateEvidence(candidates: candidates),
            model: .fresh(at: TestValues.noon),
            reason: .noClick
        )
    }

    private func claim(of click: Click) -> Claim {
        Claim(click: click, claimedAt: TestValues.noon, method: .fingerprint)
    }

    private func outcome(_ store: ScriptedClickStore) async throws -> MatchOutcome {
        var check = check
        return try await FirstLaunchMatching(store: store).match(&check)
    }

    /// Returns the last calls of a check that matches a click.
    private func matched(_ click: Click) -> [ScriptedClickStore.Call] {
        [.claim(.click(click.id)), .willRespond(click.id), .record(.match(claim(of: click)))]
    }

    @Test("claims the newest candidate, and announces the response before it returns")
    func match() async throws {
        let store = ScriptedClickStore(view(newer, older), claims: [.claimed(claim(of: newer))])
        #expect(try await outcome(store) == .match(claim(of: newer)))
        #expect(store.calls == [.view] + matched(newer))
    }

    @Test("repeats a former match without a claim, even if there are candidates")
    func replay() async throws {
        let store = ScriptedClickStore(view(newer, replay: claim(of: older)))
        #expect(try await outcome(store) == .replay(claim(of: older)))
        #expect(store.calls == [.view, .record(.replay(claim(of: older)))])
    }

    @Test("returns no match without a candidate, with the store's reason", arguments: NoMatchReason.allCases)
    func noMatch(_ reason: NoMatchReason) async throws {
        let store = ScriptedClickStore(CheckView(reason: reason))
        #expect(try await outcome(store) == .noMatch(reason))
        #expect(store.calls == [.view, .record(.noMatch(reason))])
    }

    @Test("reads again after another check was faster, and claims the next click")
    func lostThenMatch() async throws {
        let claims: [ClaimOutcome] = [.lost, .claimed(claim(of: older))]
        let store = ScriptedClickStore(view(newer, older), view(older), claims: claims)
        #expect(try await outcome(store) == .match(claim(of: older)))
        #expect(store.calls == [.view, .claim(.click(newer.id)), .view] + matched(older))
    }

    @Test("reads once more if the clicks that were only counted are gone, and no longer uses their count")
    func countedAndGone() async throws {
        let gone = CreditedDestination(url: 7, campaign: 7)
        var counted = view(older)
        counted.model = Scenario.learnt()
        let form = PlatformForm(platform: .ios, form: nil)
        let count = BackgroundCount(destination: gone, platformForm: form, ageBin: 0, weight: 1000)
        counted.evidence?.background = [count]
        let store = ScriptedClickStore(counted, claims: [.lost, .claimed(claim(of: older))])
        #expect(try await outcome(store) == .match(claim(of: older)))
        #expect(store.calls.prefix(4) == [.view, .claim(.newest(of: gone)), .view, .claim(.click(older.id))])
        #expect(store.reports.last?.basis.evidence?.background.isEmpty == true)
    }

    @Test("claims the next best click while another check claims the best, and learns nothing from the match")
    func secondChoice() async throws {
        let claims: [ClaimOutcome] = [.underWay(newer.id), .claimed(claim(of: older))]
        let store = ScriptedClickStore(view(newer, older), claims: claims)
        #expect(try await outcome(store) == .match(claim(of: older)))
        #expect(store.calls == [.view, .claim(.click(newer.id))] + matched(older))
        let report = try #require(store.reports.last)
        #expect(report.basis.hasLostRace && report.basis.verdict == nil && report.basis.evidence == nil)
        let first = ScriptedClickStore(view(newer, older), claims: [.claimed(claim(of: newer))])
        #expect(try await outcome(first) == .match(claim(of: newer)))
        #expect(first.reports.last?.basis.hasLostRace == false && first.reports.last?.basis.verdict != nil)
    }

    @Test("waits for the only click while another check claims it, and reads again then")
    func standsInLine() async throws {
        let nothing = CheckView(reason: .alreadyClaimed)
        let store = ScriptedClickStore(view(newer), nothing, claims: [.underWay(newer.id)])
        #expect(try await outcome(store) == .noMatch(.alreadyClaimed))
        let waiting: [ScriptedClickStore.Call] = [.view, .claim(.click(newer.id)), .wait(newer.id), .view]
        #expect(store.calls == waiting + [.record(.noMatch(.alreadyClaimed))])
        let claims: [ClaimOutcome] = [.underWay(newer.id), .claimed(claim(of: newer))]
        let failed = ScriptedClickStore(view(newer), claims: claims)
        #expect(try await outcome(failed) == .match(claim(of: newer)), "the first claim failed")
    }

    @Test("waits for the click of a certain match, and claims no other")
    func certainStandsInLine() async throws {
        var certain = view(newer, older)
        certain.certainChoice = ClickChoice(newer.id, method: .signedToken)
        let store = ScriptedClickStore(certain, CheckView(reason: .tokenUsed), claims: [.underWay(newer.id)])
        #expect(try await outcome(store) == .noMatch(.tokenUsed))
        #expect(store.calls.prefix(4) == [.view, .claim(.click(newer.id)), .wait(newer.id), .view])
    }

    @Test("returns no match when another check was faster and no click is left")
    func lostThenNothing() async throws {
        let store = ScriptedClickStore(view(newer), CheckView(reason: .alreadyClaimed), claims: [.lost])
        #expect(try await outcome(store) == .noMatch(.alreadyClaimed))
        #expect(store.calls == [.view, .claim(.click(newer.id)), .view, .record(.noMatch(.alreadyClaimed))])
    }

    @Test("repeats the match of an equal check that was faster, and announces the response")
    func replayedWhileClaiming() async throws {
        let store = ScriptedClickStore(view(newer), claims: [.replayed(claim(of: older))])
        #expect(try await outcome(store) == .replay(claim(of: older)))
        let calls: [ScriptedClickStore.Call] = [.view, .claim(.click(newer.id)), .willRespond(older.id)]
        #expect(store.calls == calls + [.record(.replay(claim(of: older)))])
    }

    @Test(
        "fails with the store's error, and never returns no match instead",
        arguments: [
            StoreError.Code.overloaded, .timedOut, .full, .readOnly, .inputOutput, .locked, .underWay,
            .corrupted, .stopping, .defect,
        ]
    )
    func errors(_ code: StoreError.Code) async {
        let error = StoreError(code, "for the test")
        let unreadable = ScriptedClickStore(views: [.failure(error)])
        await #expect(throws: error) { try await outcome(unreadable) }
        #expect(unreadable.calls == [.view])

        let unwritable = ScriptedClickStore(views: [.success(view(newer))], claims: [.failure(error)])
        await #expect(throws: error) { try await outcome(unwritable) }
        #expect(unwritable.calls == [.view, .claim(.click(newer.id))])

        let unreadableAfterLoss = ScriptedClickStore(
            views: [.success(view(newer)), .failure(error)],
            claims: [.success(.lost)]
        )
        await #expect(throws: error) { try await outcome(unreadableAfterLoss) }
        #expect(unreadableAfterLoss.calls == [.view, .claim(.click(newer.id)), .view])
    }

    @Test("fails with an error, not with no match, after it lost 64 claims")
    func alwaysLost() async {
        let store = ScriptedClickStore(view(newer), claims: [.lost])
        await #expect { try await outcome(store) } throws: { ($0 as? StoreError)?.code == .overloaded }
        #expect(store.calls.count { $0 == .view } == 64)
        #expect(!store.calls.contains { if case .record = $0 { true } else { false } })
    }
}
