import Attribution
import Simulation
import Testing
import Storage

private let noon = Script.noon
private let hour = Script.hour

@Suite("Replay")
struct ReplayTests {
    @Test("matches the newest click until the last millisecond of its window")
    func window() {
        var script = Script()
        script.click(1, at: 0, link: 1)
        script.click(2, at: 1000, link: 2)
        script.launch(at: 1000 + 24 * hour)
        script.launch(at: 1001 + 24 * hour)
        #expect(script.links(ReplayPlan(policy: MatchPolicy(rule: .newest), warmUpDays: 0)) == [2, nil])
    }

    @Test("uses the plan's window for all clicks, else the click's window, else the standard window")
    func windows() {
        var script = Script()
        script.click(1, at: 0, link: 1, window: 7200)
        script.click(2, at: 1000, link: 2, window: 60)
        script.click(3, at: 2000, key: 3, link: 3)
        // The newer click's window has ended, the older one's has not.
        script.launch(at: 120_000)
        script.launch(at: 2 * hour, keys: [3])
        #expect(script.links() == [1, 3])
        let short = AttributionWindow(seconds: 60)
        #expect(script.links(ReplayPlan(window: short, warmUpDays: 0)) == [nil, nil])
        #expect(script.links(ReplayPlan(standardWindow: short ?? .standard, warmUpDays: 0)) == [1, nil])
    }

    @Test("matches each click with one launch, the newest click first")
    func once() {
        var script = Script()
        script.click(1, at: 0, link: 1)
        script.click(2, at: 1000, link: 2)
        for second in 2...4 { script.launch(at: Int64(second) * 1000) }
        #expect(script.links() == [2, 1, nil])
        #expect(script.played().score.clicksUsedTwice == 0)
    }

    @Test("repeats a match within the replay grace, or until the window ends if the launch has an install id")
    func again() {
        var script = Script()
        script.click(1, at: 0, window: 600)
        script.click(2, at: 0, key: 2, window: 600)
        script.launch(at: 1000, caller: 7)
        script.launch(at: 61_000, caller: 7)
        script.launch(at: 61_001, caller: 7)
        script.launch(at: 62_000, keys: [2], caller: 8, hasInstallID: true)
        script.launch(at: 600_000, keys: [2], caller: 8, hasInstallID: true)
        script.launch(at: 600_001, keys: [2], caller: 8, hasInstallID: true)
        let (answers, score) = script.played()
        // A repeated match does not count as a launch.
        #expect(answers.map { $0 == nil } == [false, true, false, false, true, false])
        #expect(answers.map { $0?.destination == nil } == [false, true, true, false, true, true])
        #expect(score.launches == 4)
        #expect(score.matches == 2)
        #expect(score.replays == 2)
    }

    @Test("retires one visitor's clicks on the same link together, and no other visitor's")
    func duplicates() {
        let home = AddressHashes(exact: 5, near: 50)
        var script = Script()
        script.click(1, at: 0, visitor: 3, address: home)
        script.click(2, at: 1000, visitor: 4, address: home)
        script.click(3, at: 2000, link: 2, visitor: 3, address: home)
        script.click(4, at: 5000, visitor: 3, address: home)
        for second in 10...13 { script.launch(at: Int64(second) * 1000, address: home) }
        #expect(script.links() == [1, 2, 1, nil])
    }

    @Test("matches the click whose page reported the launch's screen, if the fingerprint lacks the screen")
    func signals() {
        let (pro, max) = (TestValues.screen(393, 852), TestValues.screen(430, 932))
        func links(_ launch: SignalHashes, form: FingerprintForm) -> [UInt64?] {
            var script = Script()
            script.click(1, at: 0, link: 1, signals: pro, form: form)
            script.click(2, at: 60_000, link: 2, signals: max, form: form)
            script.launch(at: 600_000, signals: launch)
            return script.links()
        }
        #expect(links(pro, form: .d) == [1] && links(max, form: .d) == [2])
        #expect(links(.none, form: .d) == [2], "while the model has learnt little, the newer click matches")
        #expect(
            links(pro, form: .c) == [2],
            "the fingerprint contains the width, so the screen counts no second time"
        )
    }

    @Test("never matches a robot's click, nor a click without a fingerprint")
    func robots() {
        var script = Script()
        script.click(1, at: 0, isRobot: true)
        script.click(2, at: 0, key: 0)
        script.launch(at: 1000)
        #expect(script.links() == [nil])
    }

    @Test("matches a token's click with any fingerprint, but only once and within the click's window")
    func tokens() {
        var script = Script()
        script.click(1, at: 0, key: 5, link: 1, window: 600)
        script.click(2, at: 0, key: 6, link: 2, window: 600)
        script.launch(at: 1000, token: 1)
        script.launch(at: 2000, token: 1)
        script.launch(at: 600_001, token: 2)
        script.launch(at: 600_002, token: 99)
        let (answers, score) = script.played()
        #expect(answers.map { $0?.destination?.url } == [1, nil, nil, nil])
        #expect(score.tokenMatches == 1)
        #expect(score.expectedConversions >= 1)
    }

    @Test("scores what the fingerprint alone would find for launches with a token")
    func besideTokens() {
        var script = Script()
        script.click(1, at: 0, link: 1)
        script.click(2, at: 1000, link: 2)
        script.launch(at: 2000, token: 1)
        script.launch(at: 3000, token: 2)
        script.click(3, at: 4000, key: 5)
        script.launch(at: 5000, keys: [7], token: 3)
        let score = script.played(ReplayPlan(policy: MatchPolicy(rule: .newest), warmUpDays: 0)).score
        #expect(score.tokenMatches == 3)
        #expect(score.knownLaunches == 0, "the events contain no truth")
        // The newest click is not the one of the first token; the third launch's fingerprint finds no click.
        #expect(score.besideTokens.launches == 3)
        #expect(score.besideTokens.matches == 2)
        #expect(score.besideTokens.right == 1)
        #expect(score.besideTokens.precision == 0.5)
        #expect(score.besideTokens.found == 1.0 / 3)
    }

    @Test("decides again for a caller without install id who has clicked since the match")
    func clickedAgain() {
        var script = Script()
        script.click(1, at: 0, link: 1)
        script.launch(at: 1000, caller: 7)
        script.launch(at: 2000, caller: 7)
        script.click(2, at: 3000, link: 2)
        script.launch(at: 4000, caller: 7)
        #expect(script.links() == [1, nil, 2])
        #expect(script.played().score.replays == 1)
    }

    @Test("repeats the match for a caller when only visitors elsewhere have clicked since the match")
    func strangerClicked() {
        let (here, nextDoor) = (AddressHashes(exact: 11, near: 1), AddressHashes(exact: 12, near: 1))
        let elsewhere = AddressHashes(exact: 21, near: 2)
        var script = Script()
        script.click(1, at: 0, address: here)
        script.launch(at: 1000, caller: 7, address: here)
        script.click(2, at: 2000, address: elsewhere)
        script.click(4, at: 2500, address: nextDoor)
        script.click(5, at: 2600)
        script.launch(at: 3000, caller: 7, address: here)
        #expect(script.played().score.replays == 1)
        script.click(3, at: 4000, address: here)
        script.launch(at: 5000, caller: 7, address: here)
        #expect(script.played().score.replays == 1)
    }

    @Test("weighs each click from a launch's address, however many newer clicks came from other addresses")
    func crowd() {
        let (here, nextDoor) = (AddressHashes(exact: 11, near: 1), AddressHashes(exact: 12, near: 1))
        var script = Script()
        // The model learns the traffic from launches without a click; before that, the newest click matches.
        for minute in 0..<90 as Range<UInt64> {
            let home = AddressHashes(exact: minute + 1000, near: minute + 1000)
            script.launch(at: Int64(minute) * 60_000, keys: [minute + 100], address: home)
        }
        let start = 2 * hour
        for number in 0..<500 as Range<Int64> {
            let isOwn = number < 200
            // These clicks are older than the newest clicks, which are listed one by one for any address.
            let isHere = number < 60 && number % 15 == 5
            script.click(
                UInt64(number),
                at: start + number * 1000,
                key: isOwn ? 1 : 2,
                link: isHere ? 77 : UInt64(number) + 100,
                address: isHere ? here : isOwn ? AddressHashes(exact: 21, near: 2) : nextDoor
            )
        }
        script.launch(at: start + 500_000, address: here)
        #expect(script.links().last == 77)
    }

    @Test("does not match a click that a launch outside the replay consumed")
    func consumedBefore() {
        var script = Script()
        script.click(1, at: 0, link: 1)
        if case .click(var click) = script.events[0] {
            click.consumedAt = noon.advanced(byMilliseconds: 500)
            script.events[0] = .click(click)
        }
        script.launch(at: 1000)
        #expect(script.links() == [nil])
    }

    @Test("learns from a launch of weight N as much as from N launches")
    func weights() {
        func launches(_ weight: Int) -> Double {
            var script = Script()
            script.launch(at: 0, keys: [5])
            if case .launch(var launch) = script.events[0] {
                launch.weight = weight
                script.events[0] = .launch(launch)
            }
            script.launch(at: 60_000, keys: [6])
            var replay = Replay(ReplayPlan(warmUpDays: 0), began: noon)
            script.events.forEach { replay.play($0) }
            return replay.learntModel.launches
        }
        #expect(abs(launches(1) - 1) < 0.01)
        #expect(abs(launches(64) - 64) < 0.1)
    }

    @Test("finds clicks by each of a launch's fingerprints, also when its token's click is consumed")
    func severalFingerprints() {
        var script = Script()
        script.click(1, at: 0, key: 7, link: 1)
        script.click(2, at: 0, key: 8, link: 2)
        script.launch(at: 1000, keys: [6, 8, 7])
        script.launch(at: 2000, keys: [6, 8, 7], token: 2)
        script.launch(at: 3000, keys: [6, 8, 7])
        #expect(script.links() == [2, 1, nil])
    }

    @Test("counts right and wrong matches, found conversions, and false attributions")
    func truth() {
        var script = Script()
        for name in 1...4 { script.click(UInt64(name), at: 0, key: UInt64(name), link: UInt64(name)) }
        script.launch(at: 1000, keys: [1], truth: .click(1))
        script.launch(at: 2000, keys: [2], truth: .click(1))
        script.launch(at: 3000, keys: [3], truth: .organic)
        script.launch(at: 4000, keys: [9], truth: .organic)
        script.launch(at: 5000, keys: [4], truth: .reinstall)
        script.launch(at: 6000, keys: [9], truth: .click(2))
        script.launch(at: 7000, keys: [9], truth: .click(77))
        script.launch(at: 8000, keys: [9], truth: .retry)
        script.launch(at: 9000, keys: [9])
        let score = script.played().score
        #expect(score.launches == 8)
        #expect(score.knownLaunches == 7)
        #expect(score.knownMatches == 4)
        #expect(score.conversions == 3)
        #expect(score.precision == 0.25)
        #expect(score.found == 1.0 / 3)
        #expect(score.falseAttribution == 0.5)
        #expect(score.rematched == 1)
    }

    @Test("does not count the launches of the warm-up days")
    func warmUp() {
        var script = Script()
        script.click(1, at: 0, link: 1)
        script.launch(at: 1000)
        script.click(2, at: 24 * hour, link: 2)
        script.launch(at: 24 * hour)
        let played = script.played(ReplayPlan(policy: MatchPolicy(rule: .newest)))
        #expect(played.answers.map { $0?.destination?.url } == [nil, 2])
        #expect(played.score.launches == 1)
    }

    @Test("credits only a campaign if the policy says so, and counts the right campaign as right")
    func campaignOnly() {
        var script = Script()
        // The model learns the traffic from launches without a click; then two personal links compete.
        for minute in 0..<90 { script.launch(at: Int64(minute) * 60_000, keys: [UInt64(minute) + 100]) }
        let start = 2 * hour
        script.click(1, at: start, link: 1)
        script.click(2, at: start + 1, link: 2)
        script.launch(at: start + 240_000, truth: .click(1))
        var plan = ReplayPlan(policy: MatchPolicy(minimumConfidence: 0.6), warmUpDays: 0)
        #expect(script.played(plan).score.matches == 0)
        plan.policy.onAmbiguity = .campaignOnly
        let score = script.played(plan).score
        #expect(score.campaignMatches == 1)
        #expect(score.rightLink == 1)
    }
}
