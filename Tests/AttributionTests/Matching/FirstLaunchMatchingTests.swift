import Attribution
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

    /// What a store that knows nothing but these clicks with the fingerprint tells.
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

    @Test("claims the newest candidate and says so before it answers")
    func match() async throws {
        let store = ScriptedClickStore(view(newer, older), claims: [.claimed(claim(of: newer))])
        #expect(try await outcome(store) == .match(claim(of: newer)))
        #expect(
            store.calls == [
                .view, .claim(.click(newer.id)), .willRespond(newer.id), .note(.match(claim(of: newer))),
            ]
        )
    }

    @Test("gives an earlier answer again without claiming anything, even when there are candidates")
    func replay() async throws {
        let store = ScriptedClickStore(view(newer, replay: claim(of: older)))
        #expect(try await outcome(store) == .replay(claim(of: older)))
        #expect(store.calls == [.view, .note(.replay(claim(of: older)))])
    }

    @Test("finds nothing without a candidate, with the store's reason", arguments: NoMatchReason.allCases)
    func noMatch(_ reason: NoMatchReason) async throws {
        let store = ScriptedClickStore(CheckView(reason: reason))
        #expect(try await outcome(store) == .noMatch(reason))
        #expect(store.calls == [.view, .note(.noMatch(reason))])
    }

    @Test("looks again when somebody else was faster, and takes what is left")
    func lostThenMatch() async throws {
        let store = ScriptedClickStore(
            view(newer, older),
            view(older),
            claims: [.lost, .claimed(claim(of: older))]
        )
        #expect(try await outcome(store) == .match(claim(of: older)))
        #expect(
            store.calls == [
                .view, .claim(.click(newer.id)), .view, .claim(.click(older.id)), .willRespond(older.id),
                .note(.match(claim(of: older))),
            ]
        )
    }

    @Test("does not look again and again for counted clicks of which none is left")
    func countedAndGone() async throws {
        let gone = CreditedDestination(url: 7, campaign: 7)
        var counted = view(older)
        counted.model = Scenario.taught()
        counted.evidence?.background = [
            BackgroundCount(
                destination: gone,
                platformForm: PlatformForm(platform: .ios, form: nil),
                ageBin: 0,
                weight: 1000
            )
        ]
        let store = ScriptedClickStore(counted, claims: [.lost, .claimed(claim(of: older))])
        #expect(try await outcome(store) == .match(claim(of: older)))
        #expect(store.calls.prefix(4) == [.view, .claim(.newest(of: gone)), .view, .claim(.click(older.id))])
        #expect(store.reports.last?.basis.evidence?.background.isEmpty == true)
    }

    @Test("takes the next best click while another check is claiming the best, and learns nothing from it")
    func secondChoice() async throws {
        let store = ScriptedClickStore(
            view(newer, older),
            claims: [.underWay(newer.id), .claimed(claim(of: older))]
        )
        #expect(try await outcome(store) == .match(claim(of: older)))
        #expect(
            store.calls == [
                .view, .claim(.click(newer.id)), .claim(.click(older.id)), .willRespond(older.id),
                .note(.match(claim(of: older))),
            ]
        )
        let report = try #require(store.reports.last)
        #expect(report.basis.hasLostRace && report.basis.verdict == nil && report.basis.evidence == nil)
        let first = ScriptedClickStore(view(newer, older), claims: [.claimed(claim(of: newer))])
        #expect(try await outcome(first) == .match(claim(of: newer)))
        #expect(first.reports.last?.hasLostRace == false && first.reports.last?.verdict != nil)
    }

    @Test("stands in line for the only click while another check is claiming it, and reads again after that")
    func standsInLine() async throws {
        let store = ScriptedClickStore(
            view(newer),
            CheckView(reason: .alreadyClaimed),
            claims: [.underWay(newer.id)]
        )
        #expect(try await outcome(store) == .noMatch(.alreadyClaimed))
        #expect(
            store.calls == [
                .view, .claim(.click(newer.id)), .wait(newer.id), .view, .note(.noMatch(.alreadyClaimed)),
            ]
        )
        let failed = ScriptedClickStore(
            view(newer),
            claims: [.underWay(newer.id), .claimed(claim(of: newer))]
        )
        #expect(try await outcome(failed) == .match(claim(of: newer)), "the one before it has failed")
    }

    @Test("stands in line for the click that a certain way leads to, and takes no other")
    func certainStandsInLine() async throws {
        var certain = view(newer, older)
        certain.certainChoice = ClickChoice(newer.id, method: .signedToken)
        let store = ScriptedClickStore(certain, CheckView(reason: .tokenUsed), claims: [.underWay(newer.id)])
        #expect(try await outcome(store) == .noMatch(.tokenUsed))
        #expect(store.calls.prefix(4) == [.view, .claim(.click(newer.id)), .wait(newer.id), .view])
    }

    @Test("finds nothing when somebody else was faster and nothing is left")
    func lostThenNothing() async throws {
        let store = ScriptedClickStore(view(newer), CheckView(reason: .alreadyClaimed), claims: [.lost])
        #expect(try await outcome(store) == .noMatch(.alreadyClaimed))
        #expect(store.calls == [.view, .claim(.click(newer.id)), .view, .note(.noMatch(.alreadyClaimed))])
    }

    @Test("gives the answer of a twin of the same caller that was faster, as a replay, and says so before")
    func replayedWhileClaiming() async throws {
        let store = ScriptedClickStore(view(newer), claims: [.replayed(claim(of: older))])
        #expect(try await outcome(store) == .replay(claim(of: older)))
        #expect(
            store.calls == [
                .view, .claim(.click(newer.id)), .willRespond(older.id), .note(.replay(claim(of: older))),
            ]
        )
    }

    @Test(
        "passes every error of the store on and never makes it no match",
        arguments: [
            StoreError.Code.overloaded, .timedOut, .full, .readOnly, .inputOutput, .locked, .corrupted,
            .stopping, .defect,
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

    @Test("gives up with an error, not with no match, when it loses again and again")
    func alwaysLost() async {
        let store = ScriptedClickStore(view(newer), claims: [.lost])
        await #expect { try await outcome(store) } throws: { ($0 as? StoreError)?.code == .overloaded }
        #expect(store.calls.count { $0 == .view } == 64)
        #expect(!store.calls.contains { if case .note = $0 { true } else { false } })
    }
}
