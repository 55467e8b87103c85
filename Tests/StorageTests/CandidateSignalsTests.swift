import Attribution
import Simulation
import Storage
import Support
import TestDatabases
import Testing

@Suite("Signals of clicks and launches beyond their fingerprints")
struct CandidateSignalsTests {
    private static let pro = screen(393, 852)
    private static let max = screen(430, 932)
    private static let here = AddressHashes(exact: 11, near: 1)
    private static let elsewhere = AddressHashes(exact: 21, near: 2)

    private static func screen(_ width: Double, _ height: Double) -> SignalHashes {
        var signals = CanonicalSignals(platform: .ios)
        signals.screen = ScreenSize(width, height)
        signals.scale = 3
        return SignalHashes(signals.evidence())
    }

    /// Returns a click with fingerprint 1 in the given form.
    private func click(
        _ signals: SignalHashes,
        form: FingerprintForm? = .d,
        to path: String = "item",
        at seconds: Int64 = 0,
        address: AddressHashes? = nil
    ) throws -> NewClick {
        var click = try NewClick.sample(at: TestStore.noon.advanced(byMilliseconds: seconds * 1000)) {
            $0.destination = DeepLinkURL(stored: "myapp://promo/\(path)")
        }
        click.fingerprints = [FingerprintEntry(form: form, key: hash(1))]
        click.evidence.signals = signals
        click.evidence.address = address
        // Without addresses, all clicks have one visitor hash, because the agents of iPhones are equal.
        click.evidence.visitor = address?.exact ?? 4711
        return click
    }

    private func check(
        _ signals: SignalHashes,
        at seconds: Int64 = 600,
        caller: UInt64 = 1,
        address: AddressHashes? = nil
    ) -> Check {
        let moment = TestStore.noon.advanced(byMilliseconds: seconds * 1000)
        var check = Check.sample(at: moment, caller: caller)
        let address = address.map { LaunchAddress($0) }
        check.set(details: LaunchDetails(address: address, signals: signals))
        return check
    }

    /// Matches launches without clicks, so that the model has learnt enough not to choose just the newest click.
    private func teach(_ session: TestSession) async throws {
        for number in 0..<12 as Range<Int64> {
            let at = TestStore.noon.advanced(byMilliseconds: (number - 60) * 120_000)
            _ = try await session.match(.sample(fingerprint: 50, at: at, caller: UInt64(100 + number)))
        }
    }

    @Test(
        "of two clicks, the one with the launch's screen matches; a launch without a screen matches none",
        arguments: backends
    )
    func decides(backend: Backend) async throws {
        let test = try await TestStore(backend) { $0.learnsAtOnce = true }
        let clicks = try await test.run { session in
            try await teach(session)
            return [
                try await session.record(click(Self.pro, to: "pro")).click,
                try await session.record(click(Self.max, to: "max", at: 60)).click,
            ]
        }
        let untold = try await test.run { try await $0.match(check(.none, caller: 9)) }
        #expect(untold == .noMatch(.ambiguous))
        let matched = try await test.run { try await $0.match(check(Self.pro)) }
        let claim = try #require(matched.claim)
        #expect(claim.click == clicks[0] && claim.method == .probabilistic)
        #expect((claim.confidence ?? 0) > 0.9)
    }

    @Test(
        "while the model has learnt little, the newest click without a different screen matches",
        arguments: backends,
        [(launch: pro, link: "unknown"), (max, "max"), (screen(402, 874), "unknown"), (.none, "max")]
    )
    func plainRule(backend: Backend, example: (launch: SignalHashes, link: String)) async throws {
        let test = try await TestStore(backend)
        let outcome = try await test.run { session in
            _ = try await session.record(click(Self.pro, to: "pro"))
            _ = try await session.record(click(.none, to: "unknown", at: 30))
            _ = try await session.record(click(Self.max, to: "max", at: 60))
            return try await session.match(check(example.launch))
        }
        #expect(outcome.claim?.click.facts.destination.text == "myapp://promo/\(example.link)")
    }

    @Test("a click's signals are stored until the click is closed", arguments: backends)
    func stored(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let forms: [FingerprintForm?] = [.a, .b, .c, .d, nil]
        var new = try click(Self.pro)
        new.fingerprints = forms.enumerated().map { FingerprintEntry(form: $1, key: hash(UInt64($0) + 1)) }
        new.evidence.advertisingIDs = [AdvertisingIDEntry(.idfa, key: hash(9))]
        let click = new
        try await test.run { _ = try await $0.record(click) }
        #expect(try test.count(.entries) == 6)
        #expect(try test.count(.entriesWithSignals) == 1)
        #expect(try test.count(.signalsOfFormD) == Int64(Self.pro.word))
        let view = try await test.run { session in
            var check = check(Self.pro)
            check.ladder = MatchingLadder(fingerprint: hash(4))
            return try await session.view(for: check)
        }
        #expect(view.evidence?.candidates.map(\.signals) == [Self.pro])
        _ = try await test.run { try await $0.match(check(.none)) }
        #expect(try test.count(.entriesWithSignals) == 0)
    }

    @Test("signals are also read for old clicks from the launch's address", arguments: backends)
    func nearAddress(backend: Backend) async throws {
        let test = try await TestStore(backend) { $0.learnsAtOnce = true }
        let count: Int64 = 400
        try await test.run { session in
            for number in 0..<count {
                let isHere = number == 5
                let click = try click(
                    isHere ? Self.pro : Self.max,
                    at: number,
                    address: isHere ? Self.here : Self.elsewhere
                )
                _ = try await session.record(click)
            }
        }
        let asked = check(Self.pro, at: count, address: Self.here)
        let view = try await test.run { try await $0.view(for: asked) }
        let candidates = try #require(view.evidence).candidates
        #expect(candidates.filter { $0.address == .exact }.map(\.signals) == [Self.pro])
        #expect(candidates.count { $0.signals == Self.max } == CandidateEvidence.maximumListed)
    }

    @Test("signals are in the records of launches and clicks, for a backtest", arguments: backends)
    func recorded(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let line = "ios; model=iPhone; screen=393x852; scale=3.0; timezone=Europe/Istanbul; languages=tr"
        var new = try click(Self.pro)
        new.evidence.canonicalText = line
        let click = new
        try await test.run { session in
            _ = try await session.record(click)
            _ = try await session.match(check(Self.pro))
            _ = try await session.match(check(.none, at: 660, caller: 2))
            let page = try await session.checks(CheckQuery())
            #expect(page.records.map(\.facts.signals) == [.none, Self.pro])
        }
        #expect(try test.count(.checksWithoutSignals) == 1)
        var history = try test.history()
        var matched: [SignalHashes] = []
        while let event = try history.next() {
            switch event {
            case .click(let click): matched.append(click.signals)
            case .launch(let launch): matched.append(launch.signals)
            }
        }
        #expect(matched == [Self.pro, Self.pro, .none])
    }

    @Test("signals that only the launch has do not change the probabilities of clicks", arguments: backends)
    func unknown(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { session in
            _ = try await session.record(click(.none, to: "one", address: Self.elsewhere))
            _ = try await session.record(click(.none, to: "other", at: 60))
        }
        let outcomes = try await test.run { session in
            [try await session.view(for: check(.none)), try await session.view(for: check(Self.pro))]
        }
        let verdicts = outcomes.map { view in
            view.evidence.map {
                Posterior($0, launch: check(Self.pro).traits, model: view.model ?? .fresh(at: TestStore.noon))
            }
        }
        let shares = verdicts.map { $0?.destinations.map(\.probability) }
        #expect(shares[0] == shares[1] && shares[0]?.count == 2)
    }
}
