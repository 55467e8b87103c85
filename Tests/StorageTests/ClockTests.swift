import Attribution
import Storage
import TestDatabases
import Testing

@Suite("Wrong clocks")
struct ClockTests {
    /// Times in 1986, in 2041, at the start of 1970 and just before it, and far outside any calendar.
    static let moments: [Int64] = [
        511_000_000_000, 2_240_000_000_000, 0, -5_000_000, Int64.max / 4, .min / 4,
    ]

    @Test("a click is recorded and matched in any year", arguments: backends, moments)
    func worksInAnyYear(backend: Backend, milliseconds: Int64) async throws {
        let test = try await TestStore(backend)
        let moment = Timestamp(milliseconds: milliseconds)
        test.clock.now = moment
        let (click, outcome) = try await test.run { session in
            (
                try await session.record(.sample(at: moment)).click,
                try await session.match(.sample(at: moment))
            )
        }
        #expect(outcome.isMatch(of: click, at: moment))
        _ = try await test.run { try await $0.statistics(StatisticsQuery(interval: .hour), at: moment) }
        // Partitions have names with days of the calendar.
        if backend == .sqlite || milliseconds.magnitude < 1 << 57 { try test.database.runRetention() }
    }

    @Test("after a leap to 2041 and back, clicks are recorded, matched and closed", arguments: backends)
    func survivesLeap(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let far = Timestamp(milliseconds: 2_240_000_000_000)
        test.clock.now = far
        try await test.run { _ = try await $0.record(.sample(fingerprint: 1, at: far)) }
        test.clock.now = far.advanced(byMilliseconds: 10 * 86_400_000)
        try test.database.runRetention()

        test.clock.now = TestStore.noon
        let click = try await test.run { try await $0.record(.sample(fingerprint: 2)).click }
        if backend == .sqlite {
            #expect(click.id.high > UInt64(far.milliseconds) << 16, "identifiers always grow")
        } else {
            #expect(
                RowHome.day(of: Int64(bitPattern: click.id.high)) == TestStore.noon.milliseconds / 86_400_000,
                "other servers search for the click in its own day"
            )
        }
        let match = try await test.run { try await $0.match(.sample(fingerprint: 2)) }
        #expect(match.isMatch(of: click, at: TestStore.noon))

        try await test.run { _ = try await $0.record(.sample(fingerprint: 3)) }
        test.clock.advance(seconds: 2 * 86_400)
        #expect(try test.database.runRetention() == RetentionProgress(closed: backend.deletesEachRow ? 1 : 0))
    }

    @Test(
        "after a leap to 2041 and back, launches and events are listed and exported, if servers share the database",
        arguments: backends.filter { $0 != .sqlite }
    )
    func numbersLaunchesAndEvents(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let app = test.app
        let moments = [Timestamp(milliseconds: 2_240_000_000_000), TestStore.noon]
        for (index, moment) in moments.enumerated() {
            test.clock.now = moment
            let device = UInt64(index + 1)
            var event = AppEvent(id: "\(index)", name: try #require(EventName("open")), occurredAt: moment)
            event.installs = [hash(device)]
            let batch = EventBatch(
                app: app,
                isTest: false,
                isVerified: false,
                receivedAt: moment,
                events: [event]
            )
            try await test.run { session in
                _ = try await session.record(batch)
                _ = try await session.match(.sample(fingerprint: device, at: moment, caller: device))
            }
        }
        var query = CheckQuery()
        query.to = TestStore.noon.advanced(byMilliseconds: 60_000)
        let asked = query
        let page = try await test.run { try await $0.checks(asked) }
        #expect(page.records.map(\.facts.at) == [TestStore.noon])
        for table in [ExportTable.checks, .events] {
            let rows = try await test.run { try await ExportTests.rows(of: table, $0) }
            #expect(rows.count == 1, "\(table)")
        }
    }
}
