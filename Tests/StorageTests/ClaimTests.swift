import Attribution
import Synchronization
import TestDatabases
import Testing

@Suite("Claiming a click")
struct ClaimTests {
    @Test("the newer of two clicks matches; at equal times, the click recorded later", arguments: backends)
    func prefersNewest(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let clicks = try await test.run { session in
            [
                try await session.record(.sample(at: TestStore.noon.advanced(byMilliseconds: 1))).click,
                try await session.record(.sample(at: TestStore.noon)).click,
                try await session.record(.sample(at: TestStore.noon)).click,
            ]
        }
        let view = try await test.run { try await $0.view(for: .sample()) }
        #expect(view.live == [clicks[0], clicks[2], clicks[1]].map(\.id.high))
        let match = try await test.run { try await $0.match(.sample()) }
        #expect(match.isMatch(of: clicks[0], at: TestStore.noon))
    }

    @Test(
        "a click matches until the last millisecond of its window, by the time of the check",
        arguments: backends,
        [(0, true), (86_400_000, true), (86_400_001, false), (-1, true)] as [(Int64, Bool)]
    )
    func respectsWindow(backend: Backend, expected: (age: Int64, matches: Bool)) async throws {
        let test = try await TestStore(backend)
        let click = try await test.run { try await $0.record(.sample()).click }
        let now = TestStore.noon.advanced(byMilliseconds: expected.age)
        let outcome = try await test.run { try await $0.match(.sample(at: now)) }
        #expect(expected.matches ? outcome.isMatch(of: click, at: now) : outcome == .noMatch(.expired))
        let direct = try await test.run { try await $0.claim(click, by: .fingerprint, for: .sample(at: now)) }
        #expect(direct == .lost, "a claim of a claimed or expired click is lost")
    }

    @Test(
        "after a match, a newer click gives the same caller a new match, not a repeated answer",
        arguments: backends
    )
    func matchesNewClick(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let later = TestStore.noon.advanced(byMilliseconds: 60_000)
        let outcomes = try await test.run { session in
            _ = try await session.record(.sample())
            let first = try await session.match(.sample())
            let click = try await session.record(.sample(at: later)).click
            let second = try await session.match(.sample(at: later, grace: 3_600_000))
            return (first, second, click)
        }
        guard case .match = outcomes.0 else { Issue.record("the first check does not match"); return }
        #expect(outcomes.1.isMatch(of: outcomes.2, at: later))
    }

    @Test("of a thousand checks at once exactly one matches", arguments: backends, [false, true])
    func matchesExactlyOne(backend: Backend, hasInstall: Bool) async throws {
        let test = try await TestStore(backend)
        try await test.run { _ = try await $0.record(.sample()) }
        let outcomes = try await test.runConcurrently(1000) { session, number in
            try await session.match(
                .sample(caller: hasInstall ? number : 1, install: hasInstall ? number : nil, firstByteAt: 0)
            )
        }
        let matches = outcomes.filter { if case .match = $0 { true } else { false } }
        #expect(matches.count == 1)
        #expect(outcomes.filter { $0 == .noMatch(.alreadyClaimed) }.count == 999)
    }

    @Test("200 checks at once match 200 clicks, each check a different click", arguments: backends)
    func matchesEach(backend: Backend) async throws {
        let test = try await TestStore(backend)
        _ = try await test.runConcurrently(200) { session, number in
            let moment = TestStore.noon.advanced(byMilliseconds: Int64(number))
            return try await session.record(.sample(at: moment))
        }
        let now = TestStore.noon.advanced(byMilliseconds: 1000)
        let outcomes = try await test.runConcurrently(200) { session, number in
            try await session.match(.sample(at: now, caller: number, firstByteAt: 0))
        }
        let matched = outcomes.compactMap { outcome -> UInt64? in
            if case .match(let claim) = outcome { claim.click.id.high } else { nil }
        }
        #expect(matched.count == 200)
        #expect(Set(matched).count == 200, "no click is matched twice")
    }

    @Test("overlapping checks of one installation share one match", arguments: backends)
    func sharesWithinInstall(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let click = try await test.run { try await $0.record(.sample()).click }
        let outcomes = try await test.runConcurrently(100) { session, number in
            try await session.match(.sample(caller: number, install: 5, firstByteAt: 0))
        }
        #expect(outcomes.count { $0.isMatch(of: click, at: TestStore.noon) } == 1)
        #expect(outcomes.count { $0.isReplay(of: click, at: TestStore.noon) } == 99)
        #expect(Set(outcomes.map { $0.claim?.confidence }).count == 1, "all checks get the same answer")
    }

    @Test(
        "a claim retires the visit's clicks of the ten minutes before the claimed one, and no others",
        arguments: backends
    )
    func retiresDuplicates(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let times = [-600_001, -600_000, -300_000, -20_000, 0] as [Int64]
        let clicks = try await test.run { session in
            var clicks: [Click] = []
            for time in times {
                let moment = TestStore.noon.advanced(byMilliseconds: time)
                clicks.append(try await session.record(.sample(at: moment, visit: 1)).click)
            }
            clicks.append(
                try await session.record(
                    .sample(at: TestStore.noon.advanced(byMilliseconds: -10_000), visit: 2)
                ).click
            )
            let later = TestStore.noon.advanced(byMilliseconds: 20_000)
            clicks.append(try await session.record(.sample(at: later, visit: 1)).click)
            return clicks
        }
        var named = Check.sample(at: TestStore.noon.advanced(byMilliseconds: 30_000))
        named.ladder = MatchingLadder([.clickID(clicks[4].id)], fingerprints: [hash(1)])
        let check = named
        _ = try await test.run { try await $0.match(check) }
        let view = try await test.run { try await $0.view(for: .sample(caller: 2)) }
        #expect(view.live == [clicks[6], clicks[5], clicks[0]].map(\.id.high))
    }

    @Test("an app never sees another app's click, nor a live check a test click", arguments: backends)
    func keepsScopesApart(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let other = AppID(high: 2, low: 2)
        let live = try await test.run { session in
            try await session.create(
                App(id: other, settings: .init(name: "Other"), createdAt: TestStore.noon)
            )
            let live = try await session.record(.sample()).click
            _ = try await session.record(.sample(app: other))
            _ = try await session.record(.sample { $0.isTest = true })
            return live
        }
        let view = try await test.run { try await $0.view(for: .sample()) }
        #expect(view.live == [live.id.high])
        let stolen = try await test.run {
            try await $0.claim(live, by: .fingerprint, for: .sample(isTest: true))
        }
        #expect(stolen == .lost)
        let tests = try await test.run { try await $0.view(for: .sample(isTest: true)).live }
        #expect(tests.count == 1 && tests.first != live.id.high)
    }

    @Test("a robot's click is never a candidate", arguments: backends)
    func ignoresRobots(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let robot = try await test.run { try await $0.record(.sample { $0.isRobot = true }).click }
        let view = try await test.run { try await $0.view(for: .sample()) }
        #expect(view.onlyReason == .robotClick)
        let claim = try await test.run { try await $0.claim(robot, by: .fingerprint, for: .sample()) }
        #expect(claim == .lost)
    }

    @Test("a check finds a live click behind 40 newer clicks whose window has ended", arguments: backends)
    func passesOverExpired(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let (live, view) = try await test.run { session in
            let live = try await session.record(.sample()).click
            for number in 1...40 {
                let moment = TestStore.noon.advanced(byMilliseconds: Int64(number))
                _ = try await session.record(
                    .sample(at: moment) { $0.window = AttributionWindow(seconds: 60) ?? .standard }
                )
            }
            let later = TestStore.noon.advanced(byMilliseconds: 120_000)
            return (live, try await session.view(for: .sample(at: later)))
        }
        #expect(view.live == [live.id.high])
    }

    @Test(
        "without a possible click, a check reads neither the caller nor the details of its launch",
        arguments: backends
    )
    func readsLaunchLate(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let source = WatchedLaunch()
        var asked = Check.sample(grace: 60_000)
        asked.source = source
        let check = asked
        let nothing = try await test.run { try await $0.view(for: check) }
        #expect(nothing.onlyReason == .noClick)
        #expect(source.readCount.load(ordering: .relaxed) == 0)
        _ = try await test.run { try await $0.record(.sample()) }
        _ = try await test.run { try await $0.match(check) }
        #expect(source.readCount.load(ordering: .relaxed) > 0)
    }

    private final class WatchedLaunch: LaunchSource {
        let readCount = Atomic(0)
        var caller: KeyedHash { read(hash(1)) }
        var earlierCallers: [KeyedHash] { read([]) }
        var details: LaunchDetails { read(LaunchDetails()) }

        private func read<Value>(_ value: Value) -> Value {
            readCount.add(1, ordering: .relaxed)
            return value
        }
    }

    @Test("the reason for no match is the state of the newest click", arguments: backends)
    func givesReasonOfNewest(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let later = TestStore.noon.advanced(byMilliseconds: 1000)
        let reasons = try await test.run { session in
            var reasons = [try await session.view(for: .sample()).reason]
            _ = try await session.record(.sample())
            _ = try await session.match(.sample())
            reasons.append(try await session.view(for: .sample(caller: 2)).reason)
            _ = try await session.record(
                .sample(at: later) { $0.window = AttributionWindow(seconds: 60) ?? .standard }
            )
            let expired = later.advanced(byMilliseconds: 60_001)
            reasons.append(try await session.view(for: .sample(at: expired, caller: 2)).reason)
            _ = try await session.record(.sample(at: later.advanced(byMilliseconds: 1)) { $0.isRobot = true })
            reasons.append(try await session.view(for: .sample(at: expired, caller: 2)).reason)
            return reasons
        }
        #expect(reasons == [.noClick, .alreadyClaimed, .expired, .robotClick])
    }
}
