import Attribution
import Simulation
import Storage
import Support
import TestDatabases
import Testing

@Suite("The stored model")
struct LearningStorageTests {
    private static let address = AddressHashes(exact: 11, near: 1)

    /// Plays a click, its launch and an organic launch in each minute.
    private func play(_ test: TestStore, from start: Timestamp, count: Int64 = 60) async throws {
        try await test.run { session in
            for number in 0..<count {
                let moment = start.advanced(byMilliseconds: number * 60_000)
                let address = AddressHashes(exact: UInt64(1000 + number), near: UInt64(number))
                var click = try NewClick.sample(fingerprint: UInt64(number), at: moment)
                click.evidence.address = address
                _ = try await session.record(click)
                var check = Check.sample(
                    fingerprint: UInt64(number),
                    at: moment.advanced(byMilliseconds: 30_000),
                    caller: UInt64(5000 + number)
                )
                check.set(details: LaunchDetails(address: LaunchAddress(address)))
                _ = try await session.match(check)
                let organic = Check.sample(
                    fingerprint: UInt64(10_000 + number),
                    at: check.at,
                    caller: UInt64(7000 + number)
                )
                _ = try await session.match(organic)
            }
        }
    }

    private func model(_ test: TestStore, at moment: Timestamp) async throws -> MatchingModel {
        let app = test.app
        return try await test.run { session in
            try await session.matchingModel(of: app, isTest: false, at: moment)
        }
    }

    private let hourLater = TestStore.noon.advanced(byMilliseconds: 3_600_000)

    @Test("the model is stored, and outlives the process", arguments: backends)
    func outlives(backend: Backend) async throws {
        let test = try await TestStore(backend) { $0.learnsAtOnce = true }
        try await play(test, from: TestStore.noon)
        test.stop()
        let again = try await TestStore(backend, in: test.place)
        let model = try await model(again, at: hourLater)
        #expect(abs(model.launches - 120) < 2)
        #expect(model.epoch.began <= TestStore.noon.advanced(byMilliseconds: 60_000))
        #expect(model.launchesWithAddress > 55)
    }

    @Test("the model learns nothing while the clock is a year ahead or behind", arguments: backends)
    func ignoresLeap(backend: Backend) async throws {
        let test = try await TestStore(backend) { ($0.learnsAtOnce, $0.trustsClock) = (true, false) }
        try await play(test, from: TestStore.noon)
        for days: Int64 in [365, -365] {
            test.clock.now = TestStore.noon.advanced(byMilliseconds: days * 86_400_000)
            try await play(test, from: test.clock.now, count: 3)
        }
        test.clock.now = hourLater
        #expect(abs(try await model(test, at: hourLater).launches - 120) < 2)
    }

    @Test("the model adds up the traffic of two servers on one database", arguments: backends)
    func addsUp(backend: Backend) async throws {
        let here = try await TestStore(backend) { $0.learnsAtOnce = true }
        let other = try await TestStore(backend, in: here.place) { $0.learnsAtOnce = true }
        defer { other.stop() }
        try await play(here, from: TestStore.noon)
        try await play(other, from: TestStore.noon.advanced(byMilliseconds: 600_000))
        here.stop()
        other.stop()
        let again = try await TestStore(backend, in: here.place)
        let model = try await model(again, at: hourLater)
        #expect(abs(model.launches - 240) < 5)
    }

    @Test(
        "with a moved clock, another server learns of a launch as soon as this one records a click",
        arguments: backends.filter { $0 != .sqlite }
    )
    func reachesOtherServers(backend: Backend) async throws {
        let here = try await TestStore(backend) { $0.learnsAtOnce = true }
        let other = try await TestStore(backend, in: here.place) { $0.learnsAtOnce = true }
        defer { other.stop() }
        // The server finds out that there is another one.
        try here.database.catchUp()
        try await here.run { session in
            _ = try await session.match(.sample(fingerprint: 1, at: TestStore.noon))
            _ = try await session.record(.sample(fingerprint: 2))
        }
        let model = try await model(other, at: TestStore.noon)
        #expect(abs(model.launches - 1) < 0.01)
    }

    @Test("the model counts a launch once, even if it repeats its check within seconds", arguments: backends)
    func countsOnce(backend: Backend) async throws {
        let test = try await TestStore(backend) { $0.learnsAtOnce = true }
        try await test.run { session in
            for second in 0..<5 as Range<Int64> {
                let moment = TestStore.noon.advanced(byMilliseconds: second * 1000)
                _ = try await session.match(.sample(fingerprint: 1, at: moment, caller: 1, grace: 60_000))
            }
        }
        test.stop()
        let again = try await TestStore(backend, in: test.place)
        let model = try await model(again, at: TestStore.noon)
        #expect(abs(model.launches - 1) < 0.01)
    }

    @Test("launches after quiet days count once until ten have ended the plain rule", arguments: backends)
    func quietDays(backend: Backend) async throws {
        let test = try await TestStore(backend) { $0.learnsAtOnce = true }
        try await test.run { _ = try await $0.match(.sample(at: TestStore.noon)) }
        test.clock.advance(seconds: 30 * 86_400)
        for number in 2...11 as ClosedRange<UInt64> {
            test.clock.advance(seconds: 60)
            let check = Check.sample(fingerprint: number, at: test.clock.now, caller: number)
            // The check first stores what the model has learnt from earlier checks.
            try await test.run { _ = try await $0.match(check) }
            let isFresh = try await model(test, at: check.at).isFresh
            #expect(isFresh == (number < 11), "\(number - 1) launches")
        }
    }

    @Test("the model learns nothing from the clicks of robots", arguments: backends)
    func robots(backend: Backend) async throws {
        let test = try await TestStore(backend) { $0.learnsAtOnce = true }
        for (number, isRobot) in [false, true, true, true].enumerated() {
            var click = try NewClick.sample(fingerprint: UInt64(number)) { $0.isRobot = isRobot }
            click.evidence.address = isRobot ? Self.address : nil
            let recorded = click
            try await test.run { _ = try await $0.record(recorded) }
        }
        try await test.run { _ = try await $0.match(.sample(fingerprint: 9, at: hourLater)) }
        // The one counted click has no address. With the robots' clicks, three of four would have one.
        let share = try await model(test, at: hourLater).clickAddressShare
        #expect(share > 0.4 && share < 0.5, "\(share)")
    }

    @Test("the model can be reset", arguments: backends)
    func resets(backend: Backend) async throws {
        let test = try await TestStore(backend) { $0.learnsAtOnce = true }
        try await play(test, from: TestStore.noon)
        let app = test.app
        try await test.run { session in
            try await session.resetLearning(of: app, isTest: false)
        }
        #expect(try await model(test, at: hourLater).launches == 0)
        #expect(try test.count(.learntCounters) == 0)
    }

    @Test(
        "after a reset by another process, earlier traffic does not return to the model",
        arguments: backends
    )
    func resetsElsewhere(backend: Backend) async throws {
        let here = try await TestStore(backend) { $0.learnsAtOnce = true }
        try await play(here, from: TestStore.noon)
        let later = TestStore.noon.advanced(byMilliseconds: 7_200_000)
        // By now, the process has the model in memory, like a server that has run for long.
        try await play(here, from: later, count: 2)
        let elsewhere = try await TestStore(backend, in: here.place)
        defer { elsewhere.stop() }
        let app = here.app
        try await elsewhere.run { session in
            try await session.resetLearning(of: app, isTest: false)
        }
        let reset = later.advanced(byMilliseconds: 600_000)
        try await play(here, from: reset, count: 5)
        let model = try await model(elsewhere, at: reset.advanced(byMilliseconds: 600_000))
        #expect(model.epoch.began > later, "the model began after the reset")
        #expect(model.launches < 11)
    }

    @Test(
        "faded counters, a model from a clock 500 days ahead, and all but 1,000 systems are deleted",
        arguments: backends
    )
    func fades(backend: Backend) async throws {
        let empty = try await TestStore(backend)
        empty.stop()
        try empty.change(.addModels(at: TestStore.noon))
        let test = try await TestStore(backend, in: empty.place) { $0.hasBackgroundWork = true }
        defer { test.stop() }
        let isDone = try await Polling.eventually {
            try test.count(.learntCounters) == 1000
        }
        #expect(isDone)
        #expect(try test.count(.smallestSystemCounter) == 2001)
        #expect(try test.count(.modelsOfScope98) == 0)
    }

    @Test(
        "a start of the model in the future, from a clock that was ahead, is corrected",
        arguments: backends
    )
    func beganAhead(backend: Backend) async throws {
        let before = try await TestStore(backend) { $0.learnsAtOnce = true }
        try await play(before, from: TestStore.noon, count: 5)
        before.stop()
        try before.change(.delayModels)
        let test = try await TestStore(backend, in: before.place) { $0.hasBackgroundWork = true }
        defer { test.stop() }
        test.clock.now = hourLater
        try await play(test, from: hourLater, count: 1)
        let isMended = try await Polling.eventually {
            try test.count(.modelStart) == hourLater.milliseconds
        }
        #expect(isMended)
    }

    @Test("the start of the model stays while the clock is years behind", arguments: backends)
    func staysBehind(backend: Backend) async throws {
        let before = try await TestStore(backend) { $0.learnsAtOnce = true }
        try await play(before, from: TestStore.noon, count: 5)
        before.stop()
        let began = try before.count(.modelStart)
        let test = try await TestStore(backend, in: before.place) { $0.trustsClock = false }
        test.clock.now = TestStore.noon.advanced(byMilliseconds: -20 * 365 * 86_400_000)
        try await play(test, from: test.clock.now, count: 1)
        // The first slice starts a round, and the second one computes the model.
        try test.database.beginStoringLearnt(slices: 2)
        #expect(try test.count(.modelStart) == began)
    }

    @Test(
        "the model starts when its first click is recorded, not when that click happened",
        arguments: backends
    )
    func beginsAtRecording(backend: Backend) async throws {
        let test = try await TestStore(backend) { $0.learnsAtOnce = true }
        try await test.run { session in
            let before = TestStore.noon.advanced(byMilliseconds: -20 * 86_400_000)
            _ = try await session.record(.sample(at: before) { $0.recordedAt = TestStore.noon })
            _ = try await session.match(.sample(fingerprint: 9, at: TestStore.noon))
        }
        test.stop()
        let again = try await TestStore(backend, in: test.place)
        #expect(try await model(again, at: hourLater).epoch.began == TestStore.noon)
    }

    @Test("the counters of a full scope are counted at most once a minute")
    func countsFullScope() {
        let (second, maximum): (UInt64, Int) = (1_000_000_000, CounterTally.maximum)
        var tally = CounterTally()
        #expect(!tally.hasRoom && tally.mustCount(at: 5 * second))
        tally.set(maximum - 10, at: 5 * second)
        tally.add(9)
        #expect(tally.hasRoom && !tally.mustCount(at: 600 * second))
        tally.add(1)
        #expect(!tally.hasRoom && tally.mustCount(at: 600 * second))
        tally.set(maximum, at: 600 * second)
        tally.add(3)
        #expect(!tally.hasRoom && !tally.mustCount(at: 605 * second) && !tally.mustCount(at: 659 * second))
        #expect(tally.mustCount(at: 660 * second))
        tally.set(maximum - 1, at: 660 * second)
        #expect(tally.hasRoom)
    }

    @Test("background threads also update the model", arguments: backends)
    func learnsInBackground(backend: Backend) async throws {
        let test = try await TestStore(backend) { $0.hasBackgroundWork = true }
        try await play(test, from: TestStore.noon, count: 10)
        test.stop()
        let again = try await TestStore(backend, in: test.place)
        #expect(try await model(again, at: TestStore.noon).launches > 15)
    }

    // One slice takes the increments of the loops, one splits them, and each further one writes a part.
    @Test(
        "a store that stops while a job stores model updates writes the remaining updates",
        arguments: backends,
        [1, 2, 3]
    )
    func stopsWithinRound(backend: Backend, slices: Int) async throws {
        let test = try await TestStore(backend) { $0.learntSumsAtOnce = 5 }
        try await play(test, from: TestStore.noon, count: 10)
        try test.database.beginStoringLearnt(slices: slices)
        test.stop()
        let again = try await TestStore(backend, in: test.place)
        #expect(try await model(again, at: TestStore.noon).launches > 15)
    }
}
