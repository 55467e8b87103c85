import Attribution
import SQLite
import SQLiteStorage
import Storage
import Support
import TestDatabases
import Testing

@Suite("The clock of the background jobs")
struct SettledClockTests {
    private static let day: Int64 = 86_400_000
    private static let hour: UInt64 = 3_600_000_000_000

    struct Step: Sendable {
        /// Days of the wall clock since the start.
        let days: Int64
        /// Hours of uptime since the start.
        let uptime: UInt64
        let isSettled: Bool
    }

    @Test(
        "the clock is trusted while it runs like the uptime, and again a day after a jump",
        arguments: [
            // The clock runs like the uptime, or jumps by at most a day at a time.
            [Step(days: 0, uptime: 0, isSettled: true), Step(days: 1, uptime: 24, isSettled: true)],
            [Step(days: 1, uptime: 0, isSettled: true), Step(days: 2, uptime: 1, isSettled: true)],
            // The clock jumps ahead or back, and returns.
            [Step(days: 5000, uptime: 1, isSettled: false), Step(days: 0, uptime: 2, isSettled: true)],
            [Step(days: -15_000, uptime: 1, isSettled: false), Step(days: 0, uptime: 2, isSettled: true)],
            // The clock jumps, and continues from there.
            [
                Step(days: 5000, uptime: 1, isSettled: false), Step(days: 5000, uptime: 24, isSettled: false),
                Step(days: 5001, uptime: 25, isSettled: true), Step(days: 5002, uptime: 49, isSettled: true),
            ],
            // The clock jumps again before a day has passed.
            [
                Step(days: 5000, uptime: 1, isSettled: false), Step(days: 9000, uptime: 24, isSettled: false),
                Step(days: 9000, uptime: 25, isSettled: false), Step(days: 9001, uptime: 48, isSettled: true),
            ],
            // The clock jumps to times outside any calendar.
            [
                Step(days: .max / day, uptime: 1, isSettled: false),
                Step(days: .min / day, uptime: 2, isSettled: false),
            ],
        ]
    )
    func settles(steps: [Step]) {
        let start = TestStore.noon
        var clock = SettledClock(lastSettled: start, isAccepted: false, now: start, monotonic: 7)
        for step in steps {
            let (days, overflows) = step.days.multipliedReportingOverflow(by: Self.day)
            let now = start.advanced(byMilliseconds: overflows ? .max : days)
            clock.update(now: now, monotonic: 7 + step.uptime * Self.hour)
            #expect((clock.state == .settled) == step.isSettled, "\(step): \(clock.sentence)")
        }
    }

    @Test(
        "the clock is compared at the start with its last trusted time, unless the operator accepts it",
        arguments: [
            (age: 0, isAccepted: false, isSettled: true),
            (age: 86_400_000, isAccepted: false, isSettled: true),
            (age: 86_400_001, isAccepted: false, isSettled: false),
            (age: -86_400_001, isAccepted: false, isSettled: false),
            (age: 86_400_001, isAccepted: true, isSettled: true),
            (age: nil, isAccepted: false, isSettled: true),
        ] as [(age: Int64?, isAccepted: Bool, isSettled: Bool)]
    )
    func start(expected: (age: Int64?, isAccepted: Bool, isSettled: Bool)) {
        let now = TestStore.noon
        var clock = SettledClock(
            lastSettled: expected.age.map { now.advanced(byMilliseconds: -$0) },
            isAccepted: expected.isAccepted,
            now: now,
            monotonic: 5
        )
        #expect(clock.update(now: now, monotonic: 5) != expected.isSettled)
        #expect((clock.state == .settled) == expected.isSettled)
    }

    private func store(in place: (any TestPlace)? = nil, at time: Timestamp? = nil, isAccepted: Bool = false)
        async throws -> TestStore
    {
        let test = try await TestStore(in: place) {
            $0.trustsClock = false
            $0.acceptsClock = isAccepted
            if let time { $0.clock = .fixed(time) }
        }
        if let time { test.clock.now = time }
        return test
    }

    private static let leapt = TestStore.noon.advanced(byMilliseconds: 2 * 365 * day)

    @Test("jobs wait while the clock is wrong, which is logged once")
    func leap() async throws {
        let test = try await store()
        try await test.run { _ = try await $0.record(.sample()) }
        #expect(try test.store.runRetention() == RetentionProgress())
        test.clock.now = Self.leapt
        for _ in 0..<3 { #expect(try test.store.runRetention() == RetentionProgress()) }
        try test.store.evaluateMatchRates()
        #expect(try test.integer("SELECT count(*) FROM clicks") == 1)
        #expect(try test.integer("SELECT count(*) FROM jobs WHERE name = 'drift'") == 0)
        #expect(test.log.lines.filter { $0.contains("--accept-clock") }.count == 1)

        test.clock.now = TestStore.noon.advanced(byMilliseconds: 60_000)
        #expect(try await test.run { try await $0.match(.sample(at: test.clock.now)) }.claim != nil)
        try test.store.runRetention()
        #expect(test.log.lines.last?.contains("trusted again") == true)
    }

    @Test("jobs wait after a restart, too, even if clicks were recorded after the clock's jump")
    func restart() async throws {
        let first = try await store()
        try await first.run { _ = try await $0.record(.sample()) }
        try first.store.runRetention()
        first.clock.now = Self.leapt
        let late = Self.leapt
        try await first.run { _ = try await $0.record(.sample(fingerprint: 2, at: late)) }
        try first.store.runRetention()
        first.stop()

        let second = try await store(in: first.place)
        second.clock.now = Self.leapt
        #expect(try second.store.runRetention() == RetentionProgress())
        // After a day of uptime, the clock is trusted.
        second.monotonic.advance(milliseconds: UInt64(Self.day))
        second.clock.advance(seconds: Self.day / 1000)
        #expect(try second.store.runRetention().deleted == 1)
        second.stop()
    }

    @Test("a clock that jumped is trusted if the operator accepts it at the start")
    func accepted() async throws {
        let first = try await store()
        try await first.run { _ = try await $0.record(.sample()) }
        first.stop()
        let waiting = try await store(in: first.place, at: Self.leapt)
        #expect(try waiting.store.runRetention() == RetentionProgress())
        waiting.stop()
        let accepted = try await store(in: first.place, at: Self.leapt, isAccepted: true)
        #expect(try accepted.store.runRetention().deleted == 1)
        accepted.stop()
        // From now on, the database contains the accepted time.
        let again = try await store(in: first.place, at: Self.leapt.advanced(byMilliseconds: 3_600_000))
        #expect(again.store.isClockSettled)
    }
}
