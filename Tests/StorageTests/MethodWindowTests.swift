import Attribution
import Simulation
import Storage
import TestDatabases
import Testing

/// An app's windows for fingerprints, and for tokens and ids.
@Suite("Windows by method")
struct MethodWindowTests {
    private static let hour = AttributionWindow(seconds: 3600)
    private static let later = TestStore.noon.advanced(byMilliseconds: 2 * 3_600_000)

    private static func check(
        _ windows: MethodWindows,
        at now: Timestamp,
        _ rungs: [MatchingLadder.Rung] = []
    ) -> Check {
        var check = Check.sample(at: now)
        check.policy.windows = windows
        if !rungs.isEmpty { check.ladder = MatchingLadder(rungs, fingerprints: []) }
        return check
    }

    @Test("the smaller window of click and app applies", arguments: backends)
    func fingerprints(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let outcomes = try await test.run { session in
            _ = try await session.record(.sample(post: 1))
            let windows = MethodWindows(fingerprint: Self.hour)
            let end = TestStore.noon.advanced(byMilliseconds: 3_600_000)
            return [
                try await session.match(Self.check(windows, at: end.advanced(byMilliseconds: 1))),
                try await session.match(Self.check(MethodWindows(deterministic: Self.hour), at: Self.later)),
            ]
        }
        #expect(outcomes[0] == .noMatch(.expired))
        #expect(outcomes[1].claim != nil)
        let atEnd = try await test.run { session in
            let click = try await session.record(.sample(fingerprint: 2)).click
            var check = Check.sample(
                fingerprint: 2,
                at: click.facts.clickedAt.advanced(byMilliseconds: 3_600_000)
            )
            check.policy.windows.fingerprint = Self.hour
            return try await session.match(check)
        }
        #expect(atEnd.claim != nil, "the last millisecond belongs to the window")
    }

    @Test("tokens and ids have a window of their own", arguments: backends)
    func tokens(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let outcomes = try await test.run { session in
            let click = try await session.record(.sample()).click
            let (short, long) = (
                MethodWindows(deterministic: Self.hour), MethodWindows(fingerprint: Self.hour)
            )
            return [
                try await session.match(Self.check(short, at: Self.later, [.signedToken(click.id)])),
                try await session.match(Self.check(short, at: Self.later, [.clickID(click.id)])),
                try await session.match(Self.check(long, at: Self.later, [.clickID(click.id)])),
            ]
        }
        #expect(outcomes[0] == .noMatch(.expired) && outcomes[1] == .noMatch(.expired))
        #expect(outcomes[2].claim?.method == .clickID)
    }

    @Test("clicks outside the window are neither candidates nor live clicks", arguments: backends)
    func evidence(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let database = test.database
        let view = try await test.run { session in
            let address = AddressHashes(exact: 5, near: 6)
            for (fingerprint, minutes) in [(1, 0), (1, 90), (2, 0), (2, 100)] as [(UInt64, Int64)] {
                let at = TestStore.noon.advanced(byMilliseconds: minutes * 60_000)
                var click = try NewClick.sample(fingerprint: fingerprint, at: at)
                click.fingerprintWindow = Self.hour
                click.evidence.address = address
                _ = try await session.record(click)
            }
            try database.catchUp()
            var check = Self.check(MethodWindows(fingerprint: Self.hour), at: Self.later)
            check.set(details: LaunchDetails(address: LaunchAddress(address)))
            return try await session.view(for: check)
        }
        let evidence = try #require(view.evidence)
        #expect(view.live.count == 1)
        #expect(evidence.addressTraffic.liveClicks == 2 && evidence.addressTraffic.clicksExact == 2)
    }

    @Test("a claim after the window of its method takes no click", arguments: backends)
    func lateClaim(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let isLost = try await test.run { session in
            let click = try await session.record(.sample()).click
            let check = Self.check(MethodWindows(fingerprint: Self.hour), at: Self.later)
            let outcome = try await session.claim(click, by: .fingerprint, for: check)
            return outcome == .lost
        }
        #expect(isLost)
    }

    @Test("a replay applies the windows as the service does")
    func replay() {
        func answers(_ windows: MethodWindows, token: Bool) -> Bool {
            var policy = MatchPolicy(rule: .newest)
            policy.windows = windows
            var replay = Replay(ReplayPlan(policy: policy, warmUpDays: 0), began: TestStore.noon)
            let click = RecordedClick(
                name: 1,
                at: TestStore.noon,
                platform: .ios,
                fingerprints: [RecordedFingerprint(key: 7, form: nil)],
                visitor: 1,
                destination: CreditedDestination(url: 1, campaign: 1)
            )
            replay.play(.click(click))
            var launch = RecordedLaunch(at: Self.later, fingerprints: [7], caller: 1)
            if token { launch.token = 1 }
            return replay.play(.launch(launch))?.click != nil
        }
        #expect(answers(MethodWindows(), token: false) && answers(MethodWindows(), token: true))
        #expect(!answers(MethodWindows(fingerprint: Self.hour), token: false))
        #expect(answers(MethodWindows(fingerprint: Self.hour), token: true))
        #expect(!answers(MethodWindows(fingerprint: Self.hour, deterministic: Self.hour), token: true))
    }
}
