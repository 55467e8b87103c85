import Attribution
import Testing

@Suite("Learning from traffic")
struct LearningTests {
    private let noon = TestValues.noon
    private let epoch = LearningEpoch(began: TestValues.noon)

    private func learnt(
        _ candidates: [Candidate],
        hasAddress: Bool = true,
        traffic: AddressTraffic = AddressTraffic(clicksExact: 1, clicksNear: 1, liveClicks: 1000),
        model: MatchingModel = Scenario.learnt()
    ) -> LearntIncrements {
        var increments = LearntIncrements(epoch: epoch)
        ModelUpdates.addLaunch(
            LaunchTraits(at: noon, hasAddress: hasAddress),
            CandidateEvidence(candidates: candidates, addressTraffic: traffic),
            fingerprint: 5,
            address: hasAddress ? AddressHashes(exact: 6, near: 7) : nil,
            model: model,
            to: &increments
        )
        return increments
    }

    @Test("counts a launch without a click as organic in nine counters, or in six without an address")
    func organicLaunch() {
        let increments = learnt([])
        #expect(increments.sums[CounterKey(.organic, 5)] == 1)
        #expect(increments.sums[CounterKey(.launchesAtAddress, 6)] == 1)
        #expect(increments.sums[CounterKey(.launchesNearAddress, 7)] == 1)
        #expect(increments.sums.count == 9)
        #expect(learnt([], hasAddress: false).sums.count == 6)
    }

    @Test(
        "counts a pair at one address as up to 1 / 0.70 conversions, because 30 % of pairs have two addresses"
    )
    func pairAtOneAddress() {
        let sums = learnt([Scenario.candidate(1, secondsAgo: 300, address: .exact)]).sums
        let form = CounterKey(.conversions, PlatformForm(platform: .ios, form: .a).code)
        let converted = sums[form] ?? 0
        #expect((1.1...1.43).contains(converted))
        #expect(abs((sums[CounterKey(.organic, 5)] ?? 0) + converted - 1) < 1e-9)
        #expect(abs((sums[CounterKey(.delays, 17)] ?? 0) - converted) < 1e-9)
    }

    @Test("counts a click and a launch at one address as more conversions if fewer clicks have an address")
    func clicksWithoutAddress() {
        let began = Scenario.noon.advanced(byMilliseconds: -2 * 86_400_000)
        var seen = LearntIncrements(epoch: LearningEpoch(began: began))
        for (total, count) in [
            (AppTotal.clicks, 1000.0), (.clicksWithAddress, 500), (.launchesWithAddress, 1000),
        ] { seen.add(count, to: CounterKey(total), at: noon) }
        let model = MatchingModel(sums: seen.sums, epoch: seen.epoch, at: noon)
        let pair = [Scenario.candidate(1, secondsAgo: 300, address: .exact)]
        let form = CounterKey(.conversions, PlatformForm(platform: .ios, form: .a).code)
        // Addresses agree in 0.70 of the pairs, and 0.5 of the clicks have an address. So the count is at most
        // 1 / 0.70 / 0.5 = 2.86 conversions; it is less, because the launch may be organic.
        #expect((2...2.86).contains(learnt(pair, model: model).sums[form] ?? 0))
    }

    @Test("counts a launch with only a fingerprint by its odds, raised to the power of 0.6")
    func fingerprintAlone() {
        let click = Scenario.candidate(1, secondsAgo: 300, address: .missing)
        let sums = learnt([click], hasAddress: false).sums
        // The click's rate n is 1.441e-4 a second (see `PosteriorTests`). The model has 1,000 clicks, no organic
        // launch, and a prior of 75 organic launches in 500 clicks. So it expects 75 / 1,500 organic launches per
        // click; with one click a day, that is 1 / 1,728,000 a second. The observed time is 124,649 s: two days with
        // a half-life of two days. So the organic rate L is 1 / (124,649 + 1,728,000) a second, and
        // (n / L) ^ 0.6 = 28.57.
        let odds = 28.57
        let learnt = sums[CounterKey(.conversions, PlatformForm(platform: .ios, form: .a).code)] ?? 0
        #expect(abs(learnt - odds / (1 + odds)) < 5e-4, "\(learnt)")
    }

    @Test("learns how often addresses agree if one click is likely, and subtracts agreement by chance")
    func habitsOfLikelyPairs() {
        let traffic = AddressTraffic(clicksExact: 501, clicksNear: 501, liveClicks: 1000)
        let click = Scenario.candidate(1, secondsAgo: 300)
        let pairs = CounterKey(.agreements, AgreementCount.pairs(.tenMinutes))
        let exact = CounterKey(.agreements, AgreementCount.agreeing(.exact, .tenMinutes))
        let sums = learnt([click], traffic: traffic).sums
        let certainty = sums[pairs] ?? 0
        #expect(certainty > 0.9 && certainty < 1)
        let agreeing = (1 - certainty) * (500.0 / 2001 + 0.05 / 1001)
        #expect(abs((sums[exact] ?? 0) + agreeing) < 1e-9)
        // The clicks of two visitors are equally likely, so no single click is likely enough.
        let other = Scenario.candidate(2, secondsAgo: 300, visitor: 2)
        #expect(learnt([click, other]).sums[pairs] == nil)
        // A visitor who launched here before may have returned without a click.
        let claimed = Scenario.candidate(3, secondsAgo: 500, address: .exact, claimedSecondsAgo: 400)
        #expect(learnt([click, claimed]).sums[pairs] == nil)
    }

    @Test("counts a launch as mostly organic if no click comes from its address")
    func launchElsewhere() {
        let strangers = (1...40).map { Scenario.candidate($0, secondsAgo: 7200, visitor: $0) }
        let sums = learnt(strangers).sums
        #expect((sums[CounterKey(.organic, 5)] ?? 0) > 0.7)
    }

    @Test("learns how often addresses agree from certain pairs")
    func addressHabits() throws {
        var increments = LearntIncrements(epoch: epoch)
        for index in 0..<600 {
            let agreement: AddressAgreement = index.isMultiple(of: 4) ? .exact : .differs
            ModelUpdates.addCertainPair(agreement: agreement, delaySeconds: 60, at: noon, to: &increments)
        }
        #expect(increments.sums[CounterKey(.delays, UInt64(DelayBins.bin(forSeconds: 60)))] == 600)
        let model = MatchingModel(sums: increments.sums, epoch: epoch, at: noon)
        // In the prior, the addresses of 56 of 80 pairs agree (0.70). After 600 more pairs, of which 150 agree, the
        // share is 0.303. So a click from another address becomes more likely.
        let click = [Scenario.candidate(1, secondsAgo: 300)]
        let before = Scenario.posterior(click, organic: 9, model: Scenario.model)
        let after = Scenario.posterior(click, organic: 9, model: model)
        let agreement = try #require(model.figures.first { $0.name == "same_address_10_minutes" })
        #expect((0.30..<0.31).contains(agreement.value))
        #expect(after.conversion >= before.conversion)
    }

    @Test("counts a click for the app, not for the click's fingerprints")
    func clicks() {
        var increments = LearntIncrements(epoch: epoch)
        ModelUpdates.addClick(
            at: noon,
            platform: .ios,
            forms: [.a, nil],
            hasAddress: true,
            release: OSRelease(platform: .ios, major: 18, minor: 1),
            signals: TestValues.screen(390, 844),
            to: &increments
        )
        let areTheApps = increments.sums.keys.allSatisfy { $0.family.belongsToModel }
        #expect(areTheApps)
        #expect(increments.sums.count == 12)
        #expect(increments.sums[CounterKey(AppTotal.clicksWithAddress)] == 1)
        ModelUpdates.addClick(at: noon, platform: .ios, forms: [.a], hasAddress: false, to: &increments)
        #expect(increments.sums[CounterKey(AppTotal.clicks)] == 2)
        #expect(increments.sums[CounterKey(AppTotal.clicksWithAddress)] == 1)
    }

    @Test("replaces the newest-click rule after ten launches in two hours, not in one", arguments: [9.0, 10])
    func freshness(launches: Double) {
        func model(after seconds: Int64) -> MatchingModel {
            let now = noon.advanced(byMilliseconds: seconds * 1000)
            var increments = LearntIncrements(epoch: epoch)
            increments.add(launches, to: CounterKey(AppTotal.launches), at: now)
            return MatchingModel(sums: increments.sums, epoch: epoch, at: now)
        }
        #expect(model(after: 7200).isFresh == (launches < 10))
        #expect(model(after: 3599).isFresh)
    }

    @Test("replaces the newest-click rule at few launches a day, until weeks pass without a launch")
    func fewLaunches() {
        var increments = LearntIncrements(epoch: epoch)
        func now(_ hours: Int64) -> Timestamp { noon.advanced(byMilliseconds: hours * 3_600_000) }
        for number in 0..<90 as Range<Int64> {
            for key in [CounterKey(AppTotal.launches), CounterKey(.allLaunches, 0)] {
                increments.add(to: key, at: now(number * 8))
            }
        }
        func isFresh(at moment: Timestamp) -> Bool {
            MatchingModel(sums: increments.sums, epoch: epoch, at: moment).isFresh
        }
        #expect(!isFresh(at: now(90 * 8)))
        #expect(!isFresh(at: now(90 * 8 + 4 * 24)))
        #expect(isFresh(at: now(90 * 8 + 30 * 24)), "weeks without a launch make the model fresh again")
    }

    @Test("counts all clicks, but only a bounded number of invented systems")
    func inventedSystems() throws {
        var increments = LearntIncrements(epoch: epoch)
        for number in 0..<2000 as Range<Int> {
            ModelUpdates.addClick(
                at: noon,
                platform: .ios,
                forms: [.a],
                hasAddress: true,
                release: OSRelease(platform: .ios, major: number / 50, minor: number % 50),
                to: &increments
            )
        }
        #expect(increments.sums.keys.count { $0.family == .releases } == 512)
        #expect(increments.sums[CounterKey(AppTotal.clicks)] == 2000)
    }

    @Test("keeps sums right on average in bounded memory during a flood of launches")
    func flood() {
        var total = 0.0
        for turn in 0..<8 {
            var increments = LearntIncrements(epoch: epoch, keyLimit: 100, turn: UInt64(turn))
            for key in 0..<5000 { increments.add(to: CounterKey(.organic, UInt64(key)), at: noon) }
            #expect(increments.sums.count <= 100)
            #expect(increments.keptOneOf > 16)
            total += increments.sums.values.reduce(0, +)
            increments.removeAll()
            increments.add(to: CounterKey(.organic, 1), at: noon)
            #expect(increments.keptOneOf == 1 && increments.sums == [CounterKey(.organic, 1): 1])
        }
        // The 40,000 launches are estimated from some 600 keys. The tolerance is over five standard deviations.
        #expect(abs(total / 40_000 - 1) < 0.25)
    }

    @Test("counts one launch an hour from a device that repeats its check")
    func sightings() {
        var sightings = RecentLaunches(limit: 10)
        func isNew(_ launch: UInt64, after minutes: Int64) -> Bool {
            sightings.isNew(launch, at: noon.advanced(byMilliseconds: minutes * 60_000))
        }
        let checks: [(launch: UInt64, minutes: Int64, isNew: Bool)] = [
            (1, 0, true), (1, 1, false), (1, 59, false), (2, 59, true), (1, 61, false), (2, 300, true),
        ]
        for (launch, minutes, expected) in checks {
            let answer = isNew(launch, after: minutes)
            #expect(answer == expected, "launch \(launch) after \(minutes) min")
        }
        let flood = (100..<200).filter { isNew($0, after: 301) }
        #expect(flood.count == 100)
        let forgotten = isNew(2, after: 302)
        #expect(forgotten)
        // After a clock was set back by more than an hour, launches count as new again.
        let back = [isNew(2, after: 230), isNew(2, after: 231)]
        #expect(back == [true, false])
    }
}
