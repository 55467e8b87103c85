import Attribution
import Testing

@Suite("Hashes of signals beyond a fingerprint")
struct SignalHashesTests {
    private static let pro = TestValues.screen(393, 852)
    private static let max = TestValues.screen(430, 932)
    /// A screen that is 375 points wide may have 1125 pixels or another number, so the hashes contain only
    /// the points.
    private static let mini = TestValues.screen(375, 812)
    /// The hashes of a client that knows only the pixels.
    private static let proWidth = SignalHashes(CanonicalSignals(platform: .ios, panelWidth: 1179).evidence())

    @Test("are equal for equal screens, differ for others, and fit into 32 bits")
    func hashes() {
        #expect(Self.pro == TestValues.screen(852, 393))
        #expect(Self.pro.components == [.width, .screen])
        #expect(Self.mini.components == [.screen] && Self.mini[.width] == nil)
        #expect(Self.proWidth.components == [.width])
        #expect(Self.proWidth[.width] == Self.pro[.width] && Self.proWidth[.width] != Self.max[.width])
        #expect(SignalHashes(word: Self.pro.word) == Self.pro)
        #expect([Self.pro, Self.max, Self.mini].allSatisfy { $0.word < 1 << 32 })
        #expect(SignalHashes.none.isEmpty && SignalHashes.none.components.isEmpty)
    }

    @Test("stay the same in all versions, because they are stored")
    func isStored() {
        #expect(Self.proWidth.word == Self.pro.word & 0xffff)
        #expect(Self.pro.word == 15_332 << 16 | 60_679)
    }

    @Test("differ for all known screens")
    func distinct() {
        let widths = [
            640, 750, 828, 960, 1080, 1125, 1170, 1179, 1206, 1242, 1260, 1284, 1290, 1320, 1488, 1536, 1620,
            1640, 1668, 2048, 2064,
        ]
        let hashes = widths.map {
            SignalHashes(CanonicalSignals(platform: .ios, panelWidth: $0).evidence()).word
        }
        #expect(Set(hashes).count == widths.count)
        let sides: [(Double, Double)] = [
            (320, 480), (320, 568), (320, 693), (375, 667), (375, 812), (414, 736), (414, 896), (390, 844),
            (393, 852), (402, 874), (420, 912), (428, 926), (430, 932), (440, 956), (744, 1133), (768, 1024),
            (810, 1080), (820, 1180), (834, 1112), (834, 1194), (834, 1210), (1024, 1366), (1032, 1376),
        ]
        #expect(Set(sides.map { TestValues.screen($0.0, $0.1)[.screen] }).count == sides.count)
    }

    @Test(
        "leave out the components that the fingerprint contains",
        arguments: [
            (FingerprintForm.a, []), (.b, []), (.c, []), (.d, [.width, .screen]), (nil, []),
        ] as [(FingerprintForm?, [SignalComponent])]
    )
    func beside(form: FingerprintForm?, components: [SignalComponent]) {
        #expect(Self.pro.excludingComponents(of: form).components == components)
    }

    // Computed by hand: without earlier clicks, a value has the prior share of 2 in 5. A click without an address
    // that is five minutes old has n = 1.441e-4 and L = 1.604e-5 (see `PosteriorTests`). A device agrees with itself
    // on a value with a probability of 0.97. So n becomes n · 0.97 / 0.4 if the values agree, and n · 0.03 / 0.6 if
    // they differ.
    @Test(
        "count as in the calculation by hand, and only if click and launch have them",
        arguments: [
            (click: pro, launch: pro, probability: 0.9561), (pro, proWidth, 0.9561), (pro, max, 0.3100),
            (max, proWidth, 0.3100), (mini, mini, 0.9561), (mini, max, 0.3100),
            (mini, proWidth, 0.8999), (pro, .none, 0.8999), (.none, pro, 0.8999), (.none, .none, 0.8999),
        ]
    )
    func byHand(example: (click: SignalHashes, launch: SignalHashes, probability: Double)) throws {
        let signals = example.click
        let click = Scenario.candidate(1, secondsAgo: 300, address: .missing, form: .d, signals: signals)
        let posterior = Scenario.posterior([click], organic: 2, signals: example.launch)
        let share = try #require(posterior.destinations.first)
        #expect(abs(share.probability - example.probability) < 2e-4)
        let isCompared = abs(example.probability - 0.8999) > 1e-9
        #expect(share.evidence == (isCompared ? .probabilistic : .fingerprint))
    }

    @Test("prefer the click that agrees, even if another click is much newer")
    func prefers() throws {
        let clicks = [
            Scenario.candidate(1, secondsAgo: 900, url: 1, form: .d, signals: Self.pro),
            Scenario.candidate(2, secondsAgo: 60, url: 2, form: .d, signals: Self.max),
        ]
        let known = Scenario.posterior(clicks, signals: Self.pro)
        #expect(known.destinations.first?.click == ClickID(high: 1, low: 0))
        #expect(try #require(known.destinations.first).probability > 0.85)
        let unknown = Scenario.posterior(clicks)
        #expect(unknown.destinations.first?.click == ClickID(high: 2, low: 0))
    }

    @Test("count little if nearly all clicks have them, and much if few clicks do")
    func frequency() throws {
        let began = Scenario.noon.advanced(byMilliseconds: -2 * 86_400_000)
        let epoch = LearningEpoch(began: began)
        var increments = LearntIncrements(epoch: epoch)
        increments.add(1000, to: CounterKey(AppTotal.launches), at: Scenario.noon)
        for number in 0..<100 {
            ModelUpdates.addClick(
                at: Scenario.noon,
                platform: .ios,
                forms: [.d],
                hasAddress: false,
                signals: number < 95 ? Self.pro : Self.max,
                to: &increments
            )
        }
        let model = MatchingModel(sums: increments.sums, epoch: epoch, at: Scenario.noon)
        func odds(_ signals: SignalHashes, _ launch: SignalHashes) throws -> Double {
            let click = Scenario.candidate(1, secondsAgo: 300, address: .missing, form: .d, signals: signals)
            let posterior = Scenario.posterior([click], organic: 9, signals: launch, model: model)
            return posterior.conversion / posterior.organic
        }
        let unknown = try odds(.none, Self.pro)
        // With the prior of 2 in 5 clicks, `pro` belongs to 95 + 2 of 100 + 5 clicks, and `max` to 5 + 2.
        #expect(abs(try odds(Self.pro, Self.pro) / unknown - 0.97 * 105 / 97) < 1e-6)
        #expect(abs(try odds(Self.max, Self.max) / unknown - 0.97 * 105 / 7) < 1e-6)
        #expect(abs(try odds(Self.max, Self.pro) / unknown - 0.03 * 105 / 8) < 1e-6)
        #expect(abs(try odds(Self.pro, Self.max) / unknown - 0.03 * 105 / 98) < 1e-6)
    }
}
