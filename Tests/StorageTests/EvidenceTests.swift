import Attribution
import Simulation
import Storage
import Support
import TestDatabases
import Testing

@Suite("The evidence about a check's candidates")
struct EvidenceTests {
    private static let here = AddressHashes(exact: 11, near: 1)
    private static let nextDoor = AddressHashes(exact: 12, near: 1)
    private static let elsewhere = AddressHashes(exact: 21, near: 2)

    private func click(
        _ address: AddressHashes?,
        at moment: Timestamp = TestStore.noon,
        to path: String = "item",
        fingerprint: UInt64 = 1
    ) throws -> NewClick {
        var click = try NewClick.sample(fingerprint: fingerprint, at: moment) {
            $0.destination = DeepLinkURL(stored: "myapp://promo/\(path)")
        }
        click.evidence.address = address
        click.evidence.visitor = click.visit.index
        return click
    }

    private func check(
        _ address: AddressHashes?,
        at moment: Timestamp = TestStore.noon,
        fingerprint: UInt64 = 1,
        caller: UInt64 = 1
    ) -> Check {
        var check = Check.sample(fingerprint: fingerprint, at: moment, caller: caller)
        check.set(details: LaunchDetails(address: address.map { LaunchAddress($0) }))
        return check
    }

    @Test(
        "the evidence states how each click's address agrees with the launch's, and the address traffic",
        arguments: backends
    )
    func agreement(backend: Backend) async throws {
        let test = try await TestStore(backend)
        for address in [Self.here, Self.nextDoor, Self.elsewhere, nil] {
            try await test.run { _ = try await $0.record(click(address)) }
        }
        try await test.run { _ = try await $0.record(click(Self.here, fingerprint: 2)) }
        try test.database.catchUp()
        let view = try await test.run { try await $0.view(for: check(Self.here)) }
        let evidence = try #require(view.evidence)
        #expect(evidence.candidates.map(\.address) == [.missing, .differs, .near, .exact])
        #expect(evidence.candidates.map(\.hasAddress) == [false, true, true, true])
        #expect(evidence.addressTraffic.clicksExact == 2, "clicks of other fingerprints count, too")
        #expect(evidence.addressTraffic.clicksNear == 3)
        #expect(evidence.addressTraffic.liveClicks == 5)
        #expect(view.model != nil)
    }

    @Test(
        "the evidence contains a claimed click at the launch's address, with the claim's time",
        arguments: backends
    )
    func claimed(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { _ = try await $0.record(click(Self.here)) }
        _ = try await test.run { try await $0.match(check(Self.here)) }
        try await test.run { _ = try await $0.record(click(Self.here)) }
        let view = try await test.run { try await $0.view(for: check(Self.here, caller: 2)) }
        let evidence = try #require(view.evidence)
        #expect(evidence.candidates.count { $0.claimedAt != nil } == 1)
        #expect(evidence.addressTraffic.clicksExact == 1)
    }

    @Test(
        "of very many clicks, the newest and those from the launch's address are listed, the others counted",
        arguments: backends
    )
    func hotKey(backend: Backend) async throws {
        let test = try await TestStore(backend) { $0.learnsAtOnce = true }
        let count: Int64 = 400
        try await test.run { session in
            for number in 0..<count {
                let moment = TestStore.noon.advanced(byMilliseconds: number * 1000)
                let address = number == 5 ? Self.here : Self.elsewhere
                _ = try await session.record(click(address, at: moment, to: "\(number % 3)"))
            }
        }
        let now = TestStore.noon.advanced(byMilliseconds: count * 1000)
        let view = try await test.run { try await $0.view(for: check(Self.here, at: now)) }
        let evidence = try #require(view.evidence)
        #expect(evidence.candidates.count == CandidateEvidence.maximumListed + 1)
        #expect(evidence.candidates.count { $0.address == .exact } == 1)
        let counted = evidence.background.reduce(0) { $0 + $1.weight }
        #expect(counted == Double(count) - Double(CandidateEvidence.maximumListed))
        #expect(Set(evidence.background.map(\.destination)).count == 3)
    }

    @Test(
        "if very many clicks have a launch's values, its later fingerprints list only ready-made clicks",
        arguments: backends
    )
    func laterFingerprints(backend: Backend) async throws {
        let test = try await TestStore(backend) { $0.learnsAtOnce = true }
        let count: Int64 = 400
        try await test.run { session in
            for number in 0..<count {
                let moment = TestStore.noon.advanced(byMilliseconds: number * 1000)
                var click = try click(number == 5 ? Self.here : Self.elsewhere, at: moment)
                click.fingerprints = [
                    FingerprintEntry(form: .d, key: hash(1)), FingerprintEntry(form: .c, key: hash(2)),
                ]
                if number == 390 { click.fingerprints = [FingerprintEntry(form: nil, key: hash(2))] }
                _ = try await session.record(click)
            }
        }
        let now = TestStore.noon.advanced(byMilliseconds: count * 1000)
        var check = check(Self.here, at: now)
        check.ladder = MatchingLadder([], fingerprints: [hash(1), hash(2)])
        let launch = check
        let view = try await test.run { try await $0.view(for: launch) }
        let evidence = try #require(view.evidence)
        #expect(evidence.candidates.count { $0.form == .d } == CandidateEvidence.maximumListed + 1)
        #expect(evidence.candidates.count { $0.form == .c } == 0)
        #expect(evidence.candidates.count { $0.form == nil } == 1)
        let counted = evidence.background.reduce(0) { $0 + $1.weight }
        #expect(counted == Double(count) - Double(CandidateEvidence.maximumListed) - 1)
    }

    @Test(
        "old clicks from the launch's address are listed, despite many newer clicks from there",
        arguments: backends
    )
    func hotKeyInACrowd(backend: Backend) async throws {
        let test = try await TestStore(backend) { $0.learnsAtOnce = true }
        let (own, others): (Int64, Int64) = (200, 300)
        try await test.run { session in
            for number in 0..<own + others {
                let moment = TestStore.noon.advanced(byMilliseconds: number * 1000)
                let isOwn = number < own
                let address = isOwn && number % 50 != 5 ? Self.elsewhere : Self.here
                _ = try await session.record(click(address, at: moment, fingerprint: isOwn ? 1 : 2))
            }
        }
        let now = TestStore.noon.advanced(byMilliseconds: (own + others) * 1000)
        let view = try await test.run { try await $0.view(for: check(Self.here, at: now)) }
        let evidence = try #require(view.evidence)
        #expect(evidence.candidates.count { $0.address == .exact } == 4)
        #expect(evidence.addressTraffic.clicksExact == Double(others + 4))
        #expect(evidence.addressTraffic.clicksNear == Double(others + 4))
        // The clicks of a busy address are counted again from time to time, not for each check.
        try await test.run { session in
            for number in 0..<10 as Range<Int64> {
                let moment = now.advanced(byMilliseconds: number)
                _ = try await session.record(click(Self.here, at: moment, fingerprint: 2))
            }
        }
        for (seconds, more) in [1: 0.0, 61: 10.0] as KeyValuePairs<Int64, Double> {
            let later = now.advanced(byMilliseconds: seconds * 1000)
            let crowd = try await test.run { try await $0.view(for: check(Self.here, at: later)) }.evidence?
                .addressTraffic
            #expect(crowd?.clicksExact == Double(others + 4) + more)
        }
    }

    @Test(
        "of very many clicks from the launch's address, the newest are listed, up to twice the usual number",
        arguments: backends
    )
    func newestFromNear(backend: Backend) async throws {
        let test = try await TestStore(backend) {
            $0.learnsAtOnce = true
            $0.durability = .relaxed
        }
        let listed = Int64(CandidateEvidence.maximumListed)
        let (own, others): (Int64, Int64) = (3 * listed, 300)
        try await test.run { session in
            for number in 0..<own + others {
                let moment = TestStore.noon.advanced(byMilliseconds: number * 1000)
                _ = try await session.record(click(Self.here, at: moment, fingerprint: number < own ? 1 : 2))
            }
        }
        let now = TestStore.noon.advanced(byMilliseconds: (own + others) * 1000)
        let view = try await test.run { try await $0.view(for: check(Self.here, at: now)) }
        let candidates = try #require(view.evidence).candidates
        #expect(candidates.count == 2 * CandidateEvidence.maximumListed)
        let oldest = try #require(candidates.map(\.clickedAt).min())
        #expect(oldest == TestStore.noon.advanced(byMilliseconds: listed * 1000))
    }

    @Test(
        "the latest clicks of a very busy address are counted, and their number is scaled to a day",
        arguments: backends
    )
    func largeCrowd(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { _ = try await $0.record(click(Self.here)) }
        // Every 0.4 s, a click comes from near the launch's address, and each 512th click from that address itself. So
        // 8,192 clicks, the limit of the count, come in 55 minutes.
        try test.change(.copyAddress(times: 9000))
        let now = TestStore.noon.advanced(byMilliseconds: 9000 * 400)
        let view = try await test.run { try await $0.view(for: check(Self.here, at: now)) }
        let crowd = try #require(view.evidence?.addressTraffic)
        #expect(crowd.clicksNear == AddressTraffic.countLimit)
        #expect(abs(crowd.clicksExact - 16 * 86_400 / (8191 * 0.4)) < 1)
    }

    @Test("a claim retires its visit's other click at the address, and no stranger's", arguments: backends)
    func retiresAtAddress(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let stranger = try await test.run { session in
            let stranger = try await session.record(click(Self.here)).click
            for second in [20, 40] as [Int64] {
                var tap = try click(Self.here, at: TestStore.noon.advanced(byMilliseconds: second * 1000))
                tap.visit = hash(4711)
                _ = try await session.record(tap)
            }
            return stranger
        }
        let now = TestStore.noon.advanced(byMilliseconds: 60_000)
        _ = try await test.run { try await $0.match(check(Self.here, at: now)) }
        let view = try await test.run { try await $0.view(for: check(Self.here, at: now, caller: 2)) }
        #expect(view.live == [stranger.id.high])
    }

    @Test("a claim retires its visit's other clicks among many strangers' clicks", arguments: backends)
    func retiresAmongStrangers(backend: Backend) async throws {
        let test = try await TestStore(backend) { $0.durability = .relaxed }
        @Sendable func tap(_ second: Int64, _ session: TestSession) async throws -> ClickID {
            var tap = try click(Self.here, at: TestStore.noon.advanced(byMilliseconds: second * 1000))
            tap.visit = hash(4711)
            return try await session.record(tap).click.id
        }
        // Posts within ten seconds would be one click.
        for second in [0, 20, 40] as [Int64] { _ = try await test.run { try await tap(second, $0) } }
        try await test.runInBatches(4200) { session, number in
            let moment = TestStore.noon.advanced(byMilliseconds: 60_000 + Int64(number) * 10)
            let stranger = AddressHashes(exact: 1000 + number, near: 1000 + number % 50)
            _ = try await session.record(click(stranger, at: moment))
        }
        let last = try await test.run { try await tap(120, $0) }
        var named = check(Self.here, at: TestStore.noon.advanced(byMilliseconds: 180_000))
        named.ladder = MatchingLadder([.signedToken(last)], fingerprints: [hash(1)])
        let launch = named
        #expect(try await test.run { try await $0.match(launch) }.claim?.click.id == last)
        #expect(try test.count(.openEntriesNearAddress1) == 0)
        #expect(try test.count(.openEntries) == 4200)
    }

    @Test(
        "without an address, a claim retires its visit's older clicks among many strangers' clicks",
        arguments: backends
    )
    func retiresInCrowd(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let middle = try await test.run { session in
            var middle: ClickID?
            for second in [0, 20, 40] as [Int64] {
                let moment = TestStore.noon.advanced(byMilliseconds: second * 1000)
                var tap = try click(nil, at: moment, to: "own")
                tap.visit = hash(4711)
                let recorded = try await session.record(tap).click.id
                if second == 20 { middle = recorded }
            }
            return middle
        }
        let crowd: Int64 = 4500
        try test.change(.copyNewestEntry(times: crowd))
        let named = try #require(middle)
        var asked = check(nil, at: TestStore.noon.advanced(byMilliseconds: 120_000))
        asked.ladder = MatchingLadder([.clickID(named)], fingerprints: [hash(1)])
        let check = asked
        let outcome = try await test.run { try await $0.match(check) }
        #expect(outcome.claim?.click.id == named)
        // The later click of the visit stays live, because it may be another person's.
        #expect(try test.count(.openEntries) == crowd + 1)
    }

    @Test(
        "a click's address is deleted after the click's window has ended",
        arguments: backends.filter(\.deletesEachRow)
    )
    func isForgotten(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { _ = try await $0.record(click(Self.here)) }
        test.clock.advance(seconds: 86_400 + 120)
        _ = try test.database.runRetention()
        #expect(try test.count(.addresses) == 0)
        #expect(try test.count(.openEntries) == 0)
    }

    @Test("an advertising id leads to its newest click, for any fingerprint", arguments: backends)
    func advertisingID(backend: Backend) async throws {
        let test = try await TestStore(backend)
        @Sendable func marked(_ fingerprint: UInt64, at moment: Timestamp) throws -> NewClick {
            var click = try click(nil, at: moment, fingerprint: fingerprint)
            click.evidence.advertisingIDs = [AdvertisingIDEntry(.idfa, key: hash(900))]
            return click
        }
        let recorded = try await test.run { session in
            let before = TestStore.noon.advanced(byMilliseconds: -60_000)
            _ = try await session.record(marked(6, at: before))
            return try await session.record(marked(5, at: TestStore.noon)).click
        }
        try await test.run { _ = try await $0.record(click(nil, fingerprint: 1)) }
        var asked = check(nil)
        asked.ladder = MatchingLadder([.advertisingID(.idfa, hash(900))], fingerprints: [hash(1)])
        let check = asked
        let outcome = try await test.run { try await $0.match(check) }
        let claim = try #require(outcome.claim)
        #expect(claim.click == recorded)
        #expect(claim.method == .idfa)
        #expect(claim.confidence == 0.95)
        // The device has launched since its older click: a second launch, as after a reset, came from neither click.
        let later = TestStore.noon.advanced(byMilliseconds: 3_600_000)
        asked.at = later
        asked.set(caller: hash(2))
        let again = asked
        #expect(try await test.run { try await $0.match(again) } != .noMatch(.noClick))
        asked.ladder = MatchingLadder([.advertisingID(.idfa, hash(900))], fingerprints: [])
        let alone = asked
        #expect(try await test.run { try await $0.match(alone) } == .noMatch(.alreadyClaimed))
        let newer = try await test.run { try await $0.record(marked(7, at: later)).click }
        #expect(try await test.run { try await $0.match(alone) }.claim?.click == newer)
    }

    @Test("a token leads to its click once", arguments: backends)
    func token(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let recorded = try await test.run { try await $0.record(click(nil)).click }
        var asked = check(nil, fingerprint: 77)
        asked.ladder = MatchingLadder([.signedToken(recorded.id)], fingerprints: [])
        let check = asked
        let first = try await test.run { try await $0.match(check) }
        #expect(first.claim?.method == .signedToken)
        #expect(first.claim?.confidence == 0.99)
        asked.set(caller: hash(2))
        let other = asked
        let second = try await test.run { try await $0.match(other) }
        #expect(second == .noMatch(.tokenUsed))
        let byHash = try await test.run { try await $0.match(self.check(nil, caller: 3)) }
        #expect(byHash == .noMatch(.alreadyClaimed))
    }

    @Test("a click that a token or id names does not match after its window", arguments: backends)
    func namedTooLate(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let recorded = try await test.run { try await $0.record(click(nil)).click }
        let end = TestStore.noon.advanced(byMilliseconds: AttributionWindow.standard.seconds * 1000)
        for (rung, caller) in [
            (MatchingLadder.Rung.clickID(recorded.id), 1), (.signedToken(recorded.id), 2),
        ] {
            var asked = check(
                nil,
                at: end.advanced(byMilliseconds: 1),
                fingerprint: 77,
                caller: UInt64(caller)
            )
            asked.ladder = MatchingLadder([rung], fingerprints: [])
            let late = asked
            #expect(try await test.run { try await $0.match(late) } == .noMatch(.expired))
        }
        var asked = check(nil, at: end, fingerprint: 77, caller: 3)
        asked.ladder = MatchingLadder([.clickID(recorded.id)], fingerprints: [])
        let inTime = asked
        #expect(try await test.run { try await $0.match(inTime) }.claim != nil)
    }

    @Test("a check's view contains the fingerprint under the older key if a click is stored under that key")
    func storedUnderOlderKey() async throws {
        let test = try await TestStore()
        func stored(current: UInt64, older: UInt64) async throws -> KeyedHash? {
            var asked = check(nil, fingerprint: current)
            asked.ladder = MatchingLadder(fingerprintUnderEachKey: [hash(current), hash(older)])
            let check = asked
            return try await test.run { try await $0.view(for: check) }.storedFingerprint
        }
        try await test.run { _ = try await $0.record(click(nil, fingerprint: 2)) }
        #expect(try await stored(current: 1, older: 2) == hash(2))
        #expect(try await stored(current: 2, older: 1) == nil)
        #expect(try await stored(current: 1, older: 3) == nil)
    }
}

@Suite("Very many clicks with one fingerprint")
struct HotFingerprintTests {
    @Test(
        "very many clicks with one fingerprint are matched one after another, until none is left",
        arguments: backends
    )
    func allAreMatched(backend: Backend) async throws {
        let test = try await TestStore(backend) { $0.learnsAtOnce = true }
        let count: UInt64 = 300
        let clicks = try await test.run { session in
            var clicks: Set<ClickID> = []
            for number in 0..<count {
                let moment = TestStore.noon.advanced(byMilliseconds: Int64(number))
                clicks.insert(try await session.record(.sample(at: moment)).click.id)
            }
            return clicks
        }
        let matched = try await test.run { session in
            var matched: Set<ClickID> = []
            for number in 0..<count {
                let outcome = try await session.match(.sample(caller: 100 + number))
                if let claim = outcome.claim { matched.insert(claim.click.id) }
            }
            return matched
        }
        #expect(matched == clicks)
        #expect(try await test.run { try await $0.match(.sample(caller: 1)) } == .noMatch(.alreadyClaimed))
    }
    @Test(
        "clicks that were counted do not prevent a match after their window has ended",
        arguments: backends,
        [110, 800] as [Int64]
    )
    func gone(backend: Backend, secondsLater: Int64) async throws {
        let test = try await TestStore(backend) { $0.learnsAtOnce = true }
        @Sendable func noon(_ seconds: Int64) -> Timestamp {
            TestStore.noon.advanced(byMilliseconds: seconds * 1000)
        }
        let minute = try #require(AttributionWindow(seconds: 60))
        let live = try await test.run { session in
            for number in 0..<20 as Range<UInt64> {
                let moment = noon(-7200 + 60 * Int64(number))
                _ = try await session.match(
                    .sample(fingerprint: 5000 + number, at: moment, caller: 5000 + number)
                )
            }
            let live = try await session.record(
                .sample(at: noon(-60)) { $0.destination = DeepLinkURL(stored: "myapp://promo/day") }
            )
            for number in 0..<200 as Range<Int64> {
                let moment = TestStore.noon.advanced(byMilliseconds: number)
                _ = try await session.record(.sample(at: moment) { $0.window = minute })
            }
            return live.click
        }
        let before = try await test.run { try await $0.view(for: .sample(at: noon(1))) }
        #expect(before.evidence?.background.isEmpty == false && before.model?.isFresh == false)
        let outcome = try await test.run { session in
            try await session.match(.sample(at: noon(secondsLater), caller: 2))
        }
        #expect(outcome.claim?.click == live)
    }
}
