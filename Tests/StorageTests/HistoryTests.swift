import Attribution
import Storage
import TestDatabases
import Testing

@Suite("The history of recorded clicks and checks")
struct HistoryTests {
    private func events(_ history: inout any TrafficHistory) throws -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        while let event = try history.next() { events.append(event) }
        return events
    }

    private func moment(_ seconds: Int64) -> Timestamp {
        TestStore.noon.advanced(byMilliseconds: seconds * 1000)
    }

    /// Matches a check, and writes its record to disk at once.
    private func check(_ test: TestStore, _ fingerprint: UInt64, _ seconds: Int64, isTest: Bool = false)
        async throws
    {
        let at = moment(seconds)
        try await test.run { session in
            _ = try await session.match(
                .sample(fingerprint: fingerprint, at: at, caller: UInt64(seconds + 1000), isTest: isTest)
            )
            _ = try await session.checks(CheckQuery())
        }
    }

    @Test("the history is in the order of time, for any order of writing", arguments: backends)
    func order(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { session in
            for second in [0, 20, 40] as [Int64] {
                _ = try await session.record(
                    .sample(
                        fingerprint: UInt64(second),
                        at: TestStore.noon.advanced(byMilliseconds: second * 1000)
                    )
                )
            }
        }
        for second in [30, 10, 50, 25] as [Int64] { try await check(test, 99, second) }
        try await check(test, 99, 35, isTest: true)
        var history = try test.history()
        #expect(history.span?.first == TestStore.noon)
        let events = try events(&history)
        #expect(
            events.map { ($0.at.milliseconds - TestStore.noon.milliseconds) / 1000 } == [
                0, 10, 20, 25, 30, 40, 50,
            ]
        )
        #expect(try history.next() == nil)
        // The open history does not block a later write.
        try await check(test, 99, 60)
    }

    @Test("the history contains a click as it was recorded, also after its match", arguments: backends)
    func closedClick(backend: Backend) async throws {
        let test = try await TestStore(backend)
        var click = try NewClick.sample(fingerprint: 5)
        click.evidence.address = AddressHashes(exact: 11, near: 1)
        click.evidence.visitor = 77
        let new = click
        let id = try await test.run { try await $0.record(new).click.id }
        try await check(test, 5, 60)
        var history = try test.history()
        let events = try events(&history)
        guard case .click(let recorded)? = events.first, case .launch(let launch)? = events.last else {
            Issue.record("a click or a launch is missing")
            return
        }
        #expect(recorded.name == id.high)
        #expect(recorded.visitor == 77)
        #expect(recorded.address == AddressHashes(exact: 11, near: 1))
        #expect(recorded.fingerprints.map(\.key) == [hash(5).index])
        #expect(recorded.fingerprints.first?.release == OSRelease(platform: .ios, major: 17, minor: 2))
        #expect(recorded.destination == CreditedDestination(click.facts))
        #expect(recorded.window == .standard)
        #expect(recorded.visit == click.visit.index)
        #expect(recorded.consumedAt == nil)
        #expect(launch.answer?.outcome == .match)
        #expect(launch.answer?.click == id.high)
        #expect(launch.caller == hash(1060).index)
        #expect(launch.token == nil)
        #expect((launch.answer?.probability ?? 0) > 0.95)
    }

    @Test(
        "the history is whole until retention has deleted, or may have deleted, a part",
        arguments: backends
    )
    func whole(backend: Backend) async throws {
        let test = try await TestStore(backend) {
            $0.learnsAtOnce = true
            $0.retentionSeconds = 86_400
        }
        try await test.run { _ = try await $0.record(.sample()) }
        try await check(test, 1, 60)
        try await check(test, 2, 120)
        #expect(try test.history().isWhole)
        #expect(try !test.history(retention: 60).isWhole, "older records may have been deleted")
        test.clock.advance(seconds: 3 * 86_400)
        _ = try test.database.runRetention()
        let after = try test.history()
        #expect(!after.isWhole)
        #expect(after.span == nil)
    }

    @Test(
        "the history contains the time of a claim from before the first recorded check",
        arguments: backends
    )
    func consumedBefore(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { _ = try await $0.record(.sample()) }
        try await check(test, 1, 60)
        try await check(test, 2, 120)
        try test.change(.deleteMatches)
        var history = try test.history()
        guard case .click(let click)? = try events(&history).first else {
            Issue.record("the click is missing")
            return
        }
        #expect(click.consumedAt == moment(60))
        #expect(history.gaps.clicksConsumedBefore == 1)
        #expect(history.gaps.matchesNotRecorded == 0)
    }

    @Test("the history contains a token's click as the truth about the launch", arguments: backends)
    func tokens(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let click = try await test.run { try await $0.record(.sample()).click }
        try await test.run { session in
            var check = Check.sample(fingerprint: 8)
            check.ladder = MatchingLadder([.signedToken(click.id)], fingerprints: [hash(8), hash(9)])
            _ = try await session.match(check)
            var again = Check.sample(caller: 2)
            again.ladder = MatchingLadder([.clickID(click.id)], fingerprints: [])
            _ = try await session.match(again)
            _ = try await session.checks(CheckQuery())
        }
        var history = try test.history()
        let launches = try events(&history).compactMap { event in
            if case .launch(let launch) = event { launch } else { nil }
        }
        #expect(launches.map(\.token) == [click.id.high, nil])
        #expect(launches.map(\.fingerprints) == [[hash(8).index, hash(9).index], []])
        #expect(history.gaps.launchesNamingOtherClick == 1)
        #expect(history.gaps.launchesWithoutFingerprint == 1)
    }
}
