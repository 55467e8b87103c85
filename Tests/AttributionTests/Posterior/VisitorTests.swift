import Attribution
import Testing

@Suite("Clicks with one visitor hash")
struct VisitorTests {
    @Test("do not compete: two taps on one link count like one")
    func doubleTap() {
        let one = [Scenario.candidate(1, secondsAgo: 300, address: .exact, visitor: 9)]
        let two = one + [Scenario.candidate(2, secondsAgo: 297, address: .exact, visitor: 9)]
        let traffic = AddressTraffic(clicksExact: 2, clicksNear: 2, liveClicks: 1000)
        let single = Scenario.posterior(one, organic: 20)
        let double = Scenario.posterior(two, organic: 20, traffic: traffic)
        #expect(double.destinations.count == 1)
        #expect(abs(single.conversion - double.conversion) < 1e-6)
        #expect(double.destinations.first?.click == ClickID(high: 2, low: 0))
    }

    @Test("give the credit to the last click, whatever its destination")
    func lastCounts() {
        let verdict = Scenario.verdict([
            Scenario.candidate(1, secondsAgo: 300, url: 1, address: .exact, visitor: 9),
            Scenario.candidate(2, secondsAgo: 2, url: 2, address: .exact, visitor: 9),
        ])
        let last = CreditedDestination(url: 2, campaign: 1)
        #expect(verdict.outcome == .match(ClickID(high: 2, low: 0), last))
        // The visitor installed within five minutes of the first click; another tap does not make that less likely.
        #expect(verdict.confidence == Verdict.highestConfidence)
    }

    @Test("compete if many visitors share the address")
    func crowd() {
        let clicks = (1...3).map {
            Scenario.candidate($0, secondsAgo: 300, url: $0, address: .exact, visitor: 9)
        }
        let alone = Scenario.posterior(clicks)
        let traffic = AddressTraffic(clicksExact: 60, clicksNear: 60, liveClicks: 1000)
        let crowded = Scenario.posterior(clicks, traffic: traffic)
        #expect(alone.destinations.count == 1)
        #expect(crowded.destinations.count == 3)
    }

    @Test("belong to two visitors if their screens differ, and to one if a screen is unknown")
    func screens() {
        let (pro, max) = (TestValues.screen(393, 852), TestValues.screen(430, 932))
        func links(_ screens: [SignalHashes]) -> [UInt64] {
            let clicks = screens.enumerated().map { number, screen in
                Scenario.candidate(
                    UInt64(number),
                    secondsAgo: 300 - Double(number),
                    url: UInt64(number),
                    address: .exact,
                    visitor: 9,
                    form: .d,
                    signals: screen
                )
            }
            return Scenario.posterior(clicks).destinations.map(\.destination.url).sorted()
        }
        #expect(links([pro, pro]) == [1])
        #expect(links([pro, max]) == [0, 1])
        #expect(links([pro, .none]) == [1] && links([.none, pro]) == [1])
        #expect(links([pro, max, pro, .none]) == [1, 3])
    }

    @Test("that have no address belong to one visitor if they are few, else to as many visitors as clicks")
    func withoutAddress() {
        func clicks(_ count: UInt64) -> [Candidate] {
            (1...count).map {
                Scenario.candidate($0, secondsAgo: 300, url: $0, address: .missing, visitor: 9)
            }
        }
        #expect(Scenario.posterior(clicks(2)).destinations.count == 1)
        #expect(Scenario.posterior(clicks(9)).destinations.count == 9)
    }

    @Test("do not explain a second launch after the first consumed one of them, but a later click does")
    func reinstall() {
        let older = Scenario.candidate(1, secondsAgo: 9000, url: 1, address: .exact, visitor: 9)
        var claimed = Scenario.candidate(2, secondsAgo: 8000, url: 2, address: .exact, visitor: 9)
        claimed.claimedAt = Scenario.noon.advanced(byMilliseconds: -7_600_000)
        let later = Scenario.candidate(3, secondsAgo: 200, url: 3, address: .exact, visitor: 9)
        #expect(Scenario.verdict([older]).confidence > 0.9)
        #expect(Scenario.verdict([older, claimed]).outcome == .noMatch(.belowThreshold))
        #expect(Scenario.verdict([later, older, claimed]).confidence > 0.9)
    }
}
