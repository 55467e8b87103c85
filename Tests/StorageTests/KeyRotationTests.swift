import Attribution
import SQLite
import SQLiteStorage
import Simulation
import Storage
import Support
import TestDatabases
import Testing

@Suite("The server keys of a store")
struct KeyStandingTests {
    private let first = hash(1)
    private let second = hash(2)
    private let third = hash(3)
    private let noon = TestStore.noon

    @Test(
        "the first key is recognised, an unknown key is not, and a key listed before the first replaces it",
        arguments: backends
    )
    func standing(backend: Backend) async throws {
        let test = try await TestStore(backend)
        func confirm(_ keys: KeyedHash...) throws -> ServerKeyRecognition {
            try test.database.keys.confirm(keys, at: noon)
        }
        #expect(try confirm(first) == .own(missing: 0))
        #expect(try confirm(second) == .foreign)
        // A key that is listed after the current key is not used yet.
        #expect(try confirm(first, second) == .own(missing: 0))
        #expect(try test.database.keys.needs().replaced.isEmpty)
        #expect(try confirm(second, first) == .own(missing: 0))
        #expect(try test.database.keys.needs().replaced == [first.index: noon])
        // Without the first key, its records cannot be found. The first or the third key alone is not recognised.
        #expect(try confirm(second) == .own(missing: 1))
        #expect(try confirm(first) == .foreign)
        #expect(try confirm(third) == .foreign)
        #expect(try confirm(third, second, first) == .own(missing: 0))
        #expect(try Set(test.database.keys.needs().replaced.keys) == [first.index, second.index])
        try test.database.keys.forget(first.index)
        #expect(try confirm(third, second) == .own(missing: 0))
        // The previous key becomes the current one again.
        #expect(try confirm(second, third) == .own(missing: 0))
        #expect(try Set(test.database.keys.needs().replaced.keys) == [third.index])
    }

    @Test(
        "a key counts as replaced at the time of the newest record if that is later than the clock",
        arguments: backends
    )
    func replacedAt(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let late = noon.advanced(byMilliseconds: 90_000_000)
        _ = try test.database.keys.confirm([first], at: noon)
        try await test.run { _ = try await $0.record(.sample(at: late)) }
        _ = try test.database.keys.confirm([second, first], at: noon)
        #expect(try test.database.keys.needs().replaced == [first.index: late])
    }

    @Test(
        "a key is needed until retention has deleted all records that may be stored under it",
        arguments: backends
    )
    func needed(backend: Backend) async throws {
        let test = try await TestStore(backend) { $0.retentionSeconds = 3600 }
        _ = try test.database.keys.confirm([first], at: noon)
        try await test.run { _ = try await $0.record(.sample(at: noon)) }
        _ = try test.database.keys.confirm([second, first], at: noon)
        func isNeeded() throws -> Bool {
            let needs = try test.database.keys.needs()
            let replacedAt = try #require(needs.replaced[first.index])
            return needs.needsKey(replacedAt: replacedAt, at: test.clock.now)
        }
        #expect(try isNeeded())
        test.clock.advance(seconds: 86_400 + 3599)
        try test.database.runRetention()
        #expect(try isNeeded())
        let now = test.clock.now
        try await test.run { _ = try await $0.record(.sample(fingerprint: 2, at: now)) }
        test.clock.advance(seconds: 2)
        try test.database.runRetention()
        #expect(try !isNeeded())
    }

    @Test(
        "the address key of a day is needed as long as a click of the day with an address can be matched",
        arguments: backends
    )
    func addressDays(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let day = AddressKeys.day(of: noon)
        #expect(try test.database.keys.needs().firstAddressDay == nil)
        func record(_ moment: Timestamp, window: Int64 = 86_400, hasAddress: Bool = true) async throws {
            var click = try NewClick.sample(at: moment) {
                $0.window = AttributionWindow(seconds: window) ?? $0.window
            }
            if hasAddress { click.evidence.address = AddressHashes(exact: 1, near: 1) }
            let recorded = click
            try await test.run { _ = try await $0.record(recorded) }
        }
        try await record(noon, hasAddress: false)
        var robot = try NewClick.sample(at: noon) { $0.isRobot = true }
        robot.evidence.address = AddressHashes(exact: 1, near: 1)
        let recorded = robot
        try await test.run { _ = try await $0.record(recorded) }
        #expect(try test.database.keys.needs().firstAddressDay == nil)
        try await record(noon)
        try await record(noon.advanced(byMilliseconds: 60_000))
        try await record(noon.advanced(byMilliseconds: AddressKeys.period), window: 7 * 86_400)
        // A click with a shorter window does not shorten the need.
        try await record(noon.advanced(byMilliseconds: AddressKeys.period + 60_000))
        #expect(try test.count(.addressDays) == 2)
        #expect(try test.database.keys.needs().firstAddressDay == day)
        // The end of the need is rounded up to a whole hour.
        test.clock.advance(seconds: 86_400 + 3600 + 60)
        #expect(try test.database.keys.needs().firstAddressDay == day + 1)
        test.clock.advance(seconds: 3 * 86_400)
        #expect(try test.database.keys.needs().firstAddressDay == day + 1)
        test.clock.advance(seconds: 4 * 86_400)
        #expect(try test.database.keys.needs().firstAddressDay == nil)
        #expect(try test.count(.addressDays) == 0)
    }

    @Test("if a click's transaction is undone, the next click records the need for the day's key")
    func undone() async throws {
        let test = try await TestStore()
        var click = try NewClick.sample(at: noon)
        click.evidence.address = AddressHashes(exact: 1, near: 1)
        let recorded = click
        // SQLite finds this violation only at the commit.
        try test.execute(
            """
            CREATE TABLE defect (a INTEGER REFERENCES clicks (id) DEFERRABLE INITIALLY DEFERRED) STRICT;
            CREATE TRIGGER defect AFTER INSERT ON clicks BEGIN INSERT INTO defect VALUES (-1); END
            """
        )
        await #expect(throws: StoreError.self) { try await test.run { _ = try await $0.record(recorded) } }
        #expect(try test.count(.addressDays) == 0)
        try test.execute("DROP TRIGGER defect")
        try await test.run { _ = try await $0.record(recorded) }
        #expect(try test.count(.addressDays) == 1)
    }
}

@Suite("A launch with hashes under several keys")
struct EvidenceOfOtherDaysTests {
    private let address = NetworkAddress(high: 0, low: 0xFFFF_CB00_7109)
    private let noon = TestStore.noon

    private func keys() throws -> AddressKeys {
        let day = AddressKeys.day(of: noon) - 3
        let link = try #require(AddressKeys.Seed(day: day, bytes: Array(repeating: 1, count: 32)))
        return try #require(AddressKeys([link], readyUntil: noon))
    }

    private func click(at moment: Timestamp, fingerprint: UInt64 = 1) throws -> NewClick {
        var click = try NewClick.sample(fingerprint: fingerprint, at: moment) {
            $0.window = AttributionWindow(seconds: 7 * 86_400) ?? $0.window
        }
        click.evidence.address = try keys().key(at: moment).addressHashes(of: address)
        click.evidence.visitor = click.visit.index
        return click
    }

    private func check(at moment: Timestamp, fingerprint: UInt64 = 1) throws -> Check {
        var check = Check.sample(fingerprint: fingerprint, at: moment)
        check.set(details: LaunchDetails(address: try keys().address(address, at: moment)))
        return check
    }

    @Test("an address agrees with its clicks of earlier days, whose clicks and launches count as its traffic")
    func otherDays() async throws {
        let test = try await TestStore { $0.learnsAtOnce = true }
        let day = AddressKeys.period
        for days in Int64(0)..<3 {
            let moment = noon.advanced(byMilliseconds: -days * day)
            let (click, launch) = (try click(at: moment), try check(at: moment, fingerprint: 9))
            try await test.run { session in
                _ = try await session.record(click)
                _ = try await session.match(launch)
            }
        }
        let check = try check(at: noon)
        let view = try await test.run { try await $0.view(for: check) }
        let evidence = try #require(view.evidence)
        #expect(evidence.candidates.map(\.address) == [.exact, .exact, .exact])
        #expect(evidence.addressTraffic.clicksExact == 3 && evidence.addressTraffic.clicksNear == 3)
        // The launches of the earlier days have faded, with a half-life of two days.
        #expect(abs(evidence.addressTraffic.launchesExact - (1 + 0.707 + 0.5)) < 0.01)
        #expect(abs(evidence.addressTraffic.launchesNear - evidence.addressTraffic.launchesExact) < 0.001)
        #expect(evidence.addressTraffic.coverage == 1)
    }

    @Test("organic launches count under a former server key and under the current key")
    func formerServerKey() async throws {
        let test = try await TestStore { $0.learnsAtOnce = true }
        let (former, current) = (UInt64(8), UInt64(9))
        func check(_ fingerprints: UInt64..., minute: Int64) -> Check {
            let moment = noon.advanced(byMilliseconds: minute * 60_000)
            var check = Check.sample(at: moment, caller: UInt64(1000 + minute))
            check.ladder = MatchingLadder(fingerprintUnderEachKey: fingerprints.map(hash))
            return check
        }
        for minute in Int64(0)..<3 {
            let launch = check(former, minute: minute)
            _ = try await test.run { try await $0.match(launch) }
        }
        // The server key is rotated: the next launches are stored under the new key.
        for minute in Int64(3)..<5 {
            let launch = check(current, former, minute: minute)
            _ = try await test.run { try await $0.match(launch) }
        }
        let click = try click(at: noon.advanced(byMilliseconds: 300_000), fingerprint: current)
        let launch = check(current, former, minute: 6)
        let view = try await test.run { session in
            _ = try await session.record(click)
            return try await session.view(for: launch)
        }
        let evidence = try #require(view.evidence)
        #expect(evidence.candidates.count == 1)
        #expect(abs(evidence.organic - 5) < 0.05)
    }
}
