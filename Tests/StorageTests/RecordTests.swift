import Attribution
import Simulation
import TestDatabases
import Testing

@Suite("Recording a click")
struct RecordTests {
    @Test("a click is read with all values that were recorded", arguments: backends)
    func keepsFacts(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let click = try NewClick.sample { facts in
            facts.source = .unknown
            facts.rawSource = "google"
            facts.isContradictory = true
            facts.campaignKey = nil
            facts.osVersion = nil
            facts.metadata = nil
        }
        let recorded = try await test.run { try await $0.record(click) }
        #expect(recorded == .recorded(Click(id: recorded.click.id, facts: click.facts)))
        let view = try await test.run { try await $0.view(for: .sample()) }
        #expect(view.live == [recorded.click.id.high])
    }

    @Test("click identifiers begin with the time and grow, within a millisecond too", arguments: backends)
    func ordersIdentifiers(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let ids = try await test.run { session in
            var ids: [ClickID] = []
            for number in 0..<5 {
                ids.append(try await session.record(.sample(fingerprint: UInt64(number))).click.id)
            }
            return ids
        }
        #expect(ids == ids.sorted())
        #expect(Set(ids.map(\.high)).count == 5)
        #expect(ids.allSatisfy { Int64($0.high >> 16) == TestStore.noon.milliseconds })
    }

    @Test(
        "a repeated post of one visit within ten seconds counts as the first click",
        arguments: backends,
        [(0, true), (9_999, true), (10_000, true), (10_001, false), (-10_000, true), (-10_001, false)]
            as [(Int64, Bool)]
    )
    func findsRepeatedVisit(backend: Backend, expected: (delay: Int64, isDuplicate: Bool)) async throws {
        let test = try await TestStore(backend)
        let again = TestStore.noon.advanced(byMilliseconds: expected.delay)
        let (first, second) = try await test.run { session in
            (
                try await session.record(.sample(visit: 7)),
                try await session.record(.sample(at: again, visit: 7))
            )
        }
        #expect(second.isDuplicate == expected.isDuplicate)
        #expect((second.click.id == first.click.id) == expected.isDuplicate)
    }

    @Test(
        "two unlike posts of one visit are two clicks; a match retires the older click",
        arguments: backends
    )
    func keepsPostsApart(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let clicks = try await test.run { session in
            var clicks: [RecordOutcome] = []
            for (second, post) in [(0, 1), (1, 2), (2, 1), (3, 2)] as [(Int64, UInt64)] {
                let moment = TestStore.noon.advanced(byMilliseconds: second * 1000)
                clicks.append(try await session.record(.sample(at: moment, visit: 7, post: post)))
            }
            return clicks
        }
        #expect(clicks.map(\.isDuplicate) == [false, false, true, true])
        #expect(clicks[2].click == clicks[0].click && clicks[3].click == clicks[1].click)
        let now = TestStore.noon.advanced(byMilliseconds: 60_000)
        let outcome = try await test.run { try await $0.match(.sample(at: now)) }
        #expect(outcome.claim?.click == clicks[1].click)
        let view = try await test.run { try await $0.view(for: .sample(at: now, caller: 2)) }
        #expect(view.live.isEmpty)
    }

    @Test(
        "a repeated post is its visit's click until the visit is claimed, and a new click from then on",
        arguments: backends,
        [(1_999, true), (2_000, false), (2_001, false)] as [(Int64, Bool)]
    )
    func endsVisitWithClaim(backend: Backend, expected: (delay: Int64, isDuplicate: Bool)) async throws {
        let test = try await TestStore(backend)
        let (claimTime, again) = (
            TestStore.noon.advanced(byMilliseconds: 2_000),
            TestStore.noon.advanced(byMilliseconds: expected.delay)
        )
        let (first, second) = try await test.run { session in
            let first = try await session.record(.sample(visit: 7))
            let outcome = try await session.match(.sample(at: claimTime))
            #expect(outcome.claim?.click == first.click)
            return (first, try await session.record(.sample(at: again, visit: 7)))
        }
        #expect(second.isDuplicate == expected.isDuplicate)
        #expect((second.click.id == first.click.id) == expected.isDuplicate)
    }

    @Test("posts of one visit remain distinct after a restart", arguments: backends)
    func keepsPostsApartAfterRestart(backend: Backend) async throws {
        let first = try await TestStore(backend)
        let id = try await first.run { try await $0.record(.sample(visit: 7, post: 1)).click.id }
        first.stop()
        let second = try await TestStore(backend, in: first.place)
        let again = TestStore.noon.advanced(byMilliseconds: 9000)
        let outcomes = try await second.run { session in
            [
                try await session.record(.sample(at: again, visit: 7, post: 2)),
                try await session.record(.sample(at: again, visit: 7, post: 1)),
            ]
        }
        #expect(outcomes.map(\.isDuplicate) == [false, true])
        #expect(outcomes[1].click.id == id)
    }

    @Test("a repeated post is recognised after a restart", arguments: backends)
    func findsRepeatedVisitAfterRestart(backend: Backend) async throws {
        let first = try await TestStore(backend)
        let id = try await first.run { try await $0.record(.sample(visit: 7)).click.id }
        first.stop()
        let second = try await TestStore(backend, in: first.place)
        let again = try await second.run { session in
            try await session.record(.sample(at: TestStore.noon.advanced(byMilliseconds: 9000), visit: 7))
        }
        #expect(again.isDuplicate)
        #expect(again.click.id == id)
    }

    @Test("another visitor's post at the same time is another click", arguments: backends)
    func keepsVisitorsApart(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let outcomes = try await test.run { session in
            [try await session.record(.sample(visit: 7)), try await session.record(.sample(visit: 8))]
        }
        #expect(outcomes.allSatisfy { !$0.isDuplicate })
    }

    @Test(
        "posts with one idempotency key are one click, days later too, but not for another app",
        arguments: backends
    )
    func findsIdempotencyKey(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let other = AppID(high: 2, low: 2)
        try await test.run { session in
            try await session.create(
                App(id: other, settings: .init(name: "Other"), createdAt: TestStore.noon)
            )
        }
        let later = TestStore.noon.advanced(byMilliseconds: 3 * 86_400_000)
        let outcomes = try await test.run { session in
            [
                try await session.record(.sample(idempotency: 5)),
                try await session.record(.sample(at: later, idempotency: 5)),
                try await session.record(.sample(app: other, idempotency: 5)),
                try await session.record(.sample(idempotency: 6)),
            ]
        }
        #expect(outcomes.map(\.isDuplicate) == [false, true, false, false])
        #expect(outcomes[1].click == outcomes[0].click)
    }

    @Test(
        "a tap after a prefetch is a click of its own, even with the same idempotency key",
        arguments: backends,
        [nil, 7] as [UInt64?]
    )
    func afterPrefetch(backend: Backend, idempotency: UInt64?) async throws {
        let test = try await TestStore(backend)
        func record(after milliseconds: Int64, isRobot: Bool) async throws -> RecordOutcome {
            let moment = TestStore.noon.advanced(byMilliseconds: milliseconds)
            let click = try NewClick.sample(at: moment, visit: 1, idempotency: idempotency) {
                $0.isRobot = isRobot
            }
            return try await test.run { try await $0.record(click) }
        }
        let prefetch = try await record(after: 0, isRobot: true).click
        let visit = try await record(after: 3000, isRobot: false)
        #expect(visit == .recorded(visit.click) && visit.click.id != prefetch.id)
        let repeated = try await record(after: 4000, isRobot: false)
        #expect(repeated == .duplicate(visit.click, sharesFingerprint: true))
        let outcome = try await test.run { session in
            try await session.match(.sample(at: TestStore.noon.advanced(byMilliseconds: 5000)))
        }
        #expect(outcome.claim?.click == visit.click)
    }

    @Test("a click of an app that does not exist is refused", arguments: backends)
    func refusesUnknownApp(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let error = await #expect(throws: StoreError.self) {
            try await test.run { try await $0.record(.sample(app: AppID(high: 9, low: 9))) }
        }
        #expect(error?.code == .notFound)
    }

    @Test("a click can be found by each of its fingerprints", arguments: backends)
    func findsEveryFingerprint(backend: Backend) async throws {
        let test = try await TestStore(backend)
        var click = try NewClick.sample(fingerprint: 1)
        click.fingerprints.append(FingerprintEntry(form: .a, key: hash(2), weight: 0.3))
        let twofold = click
        let recorded = try await test.run { try await $0.record(twofold).click }
        for fingerprint in [1, 2] as [UInt64] {
            let view = try await test.run { try await $0.view(for: .sample(fingerprint: fingerprint)) }
            #expect(view.live == [recorded.id.high])
        }
        _ = try await test.run { try await $0.match(.sample(fingerprint: 2)) }
        let view = try await test.run { try await $0.view(for: .sample(fingerprint: 1)) }
        #expect(view.onlyReason == .alreadyClaimed)
    }

    @Test("fingerprints with equal indexes but different rests are different", arguments: backends)
    func comparesWholeHash(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { _ = try await $0.record(.sample(fingerprint: 1)) }
        var check = Check.sample(fingerprint: 1)
        let key = hash(1)
        check.ladder = MatchingLadder(fingerprint: KeyedHash(index: key.index, rest: key.rest + 1))
        let almost = check
        let view = try await test.run { try await $0.view(for: almost) }
        #expect(view.onlyReason == .noClick)
    }
}
