import Attribution
import SQLite
import SQLiteStorage
import Storage
import Support
import TestDatabases
import Testing

@Suite("Checks that need no read of the database")
struct FingerprintFilterTests {
    /// A turn of the loop reads the database for fewer checks than this before it uses the filter.
    private static let strangerCount = 50

    /// Matches checks of strangers and one more check in one turn of a loop.
    ///
    /// - Returns: the outcome of the last check, and how many reads the filter made unnecessary.
    private func checkInOneTurn(_ test: TestStore, _ last: Check = .sample(fingerprint: 999_999)) async throws
        -> (outcome: MatchOutcome, skipped: Int)
    {
        try await onLoop { [store = test.store] in
            let session = store.makeSession()
            defer { session.endTurn() }
            for number in 0..<Self.strangerCount {
                let stranger = try await session.match(.sample(fingerprint: 500_000 + UInt64(number)))
                #expect(stranger == .noMatch(.noClick))
            }
            return (try await session.match(last), session.skippedReadCount)
        }
    }

    private func isMatch(_ outcome: MatchOutcome) -> Bool { if case .match = outcome { true } else { false } }

    @Test("a turn with many checks of strangers reads the database only for the first few")
    func skipsReads() async throws {
        let test = try await TestStore()
        #expect(try await checkInOneTurn(test).skipped == 0, "there is no filter before it is built")
        try test.store.buildFilter()
        #expect(try await checkInOneTurn(test).skipped > Self.strangerCount / 2)
        for _ in 0..<3 {
            let skipped = try await onLoop { [store = test.store] in
                let session = store.makeSession()
                defer { session.endTurn() }
                _ = try await session.match(.sample(fingerprint: 700_000))
                return session.skippedReadCount
            }
            #expect(skipped == 0, "a single check reads the database")
        }
    }

    @Test("a turn with many connections skips its first read, too; a later turn with few does not")
    func skipsReadsOfBusyTurns() async throws {
        let test = try await TestStore()
        try test.store.buildFilter()
        let skipped = try await onLoop { [store = test.store] in
            let session = store.makeSession()
            var skipped: [Int] = []
            for (number, connections) in [1, 3, 4, 64, 1].enumerated() {
                session.beginTurn(with: connections)
                let before = session.skippedReadCount
                _ = try await session.match(.sample(fingerprint: 700_000 + UInt64(number)))
                skipped.append(session.skippedReadCount - before)
                session.endTurn()
            }
            return skipped
        }
        #expect(skipped == [0, 0, 1, 1, 0])
    }

    @Test("an unknown advertising id causes no read, but the advertising id of a click causes a read")
    func skipsReadsOfAdvertisingIDs() async throws {
        let test = try await TestStore()
        let marked = try await test.run { session in
            var marked = try NewClick.sample(fingerprint: 1)
            marked.evidence.advertisingIDs = [AdvertisingIDEntry(.idfa, key: hash(900))]
            return try await session.record(marked).click
        }
        try test.store.buildFilter()
        func check(id: UInt64) -> Check {
            var check = Check.sample(fingerprint: 999_999)
            check.ladder = MatchingLadder([.advertisingID(.idfa, hash(id))], fingerprints: [hash(999_999)])
            return check
        }
        let before = try await checkInOneTurn(test).skipped
        let stranger = try await checkInOneTurn(test, check(id: 901))
        #expect(stranger.outcome == .noMatch(.noClick))
        #expect(stranger.skipped == before)
        let known = try await checkInOneTurn(test, check(id: 900))
        #expect(known.outcome.claim?.click == marked)
        #expect(known.skipped == before - 1)
    }

    @Test("a click that a token names is found, whatever fingerprint the launch has")
    func findsNamedClicks() async throws {
        let test = try await TestStore()
        let recorded = try await test.run { try await $0.record(.sample(fingerprint: 1)).click }
        try test.store.buildFilter()
        var asked = Check.sample(fingerprint: 999_999)
        asked.ladder = MatchingLadder([.signedToken(recorded.id)], fingerprints: [hash(999_999)])
        #expect(try await checkInOneTurn(test, asked).outcome.claim?.click == recorded)
    }

    @Test(
        "a full filter forgets nothing, and passes fewer than 1 in 50 strangers",
        arguments: [1, 1000, 100_000]
    )
    func fillsUp(capacity: Int) {
        var random = SeededGenerator(seed: 7)
        let filter = FingerprintFilter(capacity: capacity)
        let numbers = (0..<capacity).map { _ in UInt64.random(in: .min ... .max, using: &random) }
        for number in numbers { filter.add(number) }
        #expect(numbers.allSatisfy { filter.mayHold($0) })
        let strangers = (0..<10_000).count { _ in
            filter.mayHold(.random(in: .min ... .max, using: &random))
        }
        #expect(strangers < 200)
    }

    @Test("clicks from before and after the build of the filter are found, closed clicks with their reason")
    func finds() async throws {
        let test = try await TestStore()
        try await test.run { session in
            for number in 0..<100 { _ = try await session.record(.sample(fingerprint: UInt64(number))) }
            _ = try await session.match(.sample(fingerprint: 1))
            _ = try await session.record(.sample(fingerprint: 2000) { $0.isRobot = true })
        }
        try test.store.buildFilter()
        try await test.run { session in
            for number in 100..<200 { _ = try await session.record(.sample(fingerprint: UInt64(number))) }
        }
        for number in [0, 99, 100, 199] as [UInt64] {
            let (outcome, skipped) = try await checkInOneTurn(test, .sample(fingerprint: number))
            #expect(isMatch(outcome), "\(number): \(outcome)")
            #expect(skipped > 0)
        }
        #expect(try await checkInOneTurn(test, .sample(fingerprint: 1)).outcome == .noMatch(.alreadyClaimed))
        #expect(try await checkInOneTurn(test, .sample(fingerprint: 2000)).outcome == .noMatch(.robotClick))
    }

    @Test("a click that is recorded between the checks of a turn is found in the same turn")
    func findsWithinTurn() async throws {
        let test = try await TestStore()
        try test.store.buildFilter()
        try await onLoop { [store = test.store] in
            let session = store.makeSession()
            defer { session.endTurn() }
            for number in 0..<Self.strangerCount {
                #expect(try await session.match(.sample(fingerprint: 7)) == .noMatch(.noClick), "\(number)")
            }
            _ = try await session.record(.sample(fingerprint: 7))
            #expect(
                isMatch(try await session.match(.sample(fingerprint: 7))),
                "a click that was acknowledged is not found"
            )
        }
    }

    @Test("an installation gets its answer again, with any fingerprint")
    func repeatsToInstallation() async throws {
        let test = try await TestStore()
        try test.store.buildFilter()
        try await test.run { _ = try await $0.record(.sample(fingerprint: 1)) }
        let first = try await checkInOneTurn(test, .sample(fingerprint: 1, install: 5)).outcome
        let again = try await checkInOneTurn(test, .sample(fingerprint: 888_888, install: 5)).outcome
        guard case .match(let claim) = first else {
            Issue.record("\(first)")
            return
        }
        #expect(again == .replay(claim))
    }

    @Test("clicks that another process records are found at once, and are in the filter after a write")
    func followsOtherProcess() async throws {
        let here = try await TestStore()
        let other = try await TestStore(in: here.place)
        defer { other.stop() }
        try here.store.buildFilter()
        try await other.run { _ = try await $0.record(.sample(fingerprint: 1)) }
        let (outcome, skipped) = try await checkInOneTurn(here, .sample(fingerprint: 1))
        #expect(isMatch(outcome), "\(outcome)")
        #expect(skipped == 0)

        try await other.run { _ = try await $0.record(.sample(fingerprint: 2)) }
        try await here.run { _ = try await $0.record(.sample(fingerprint: 3)) }
        for number in [2, 3] as [UInt64] {
            let (outcome, skipped) = try await checkInOneTurn(here, .sample(fingerprint: number))
            #expect(isMatch(outcome), "\(number): \(outcome)")
            #expect(skipped > 0)
        }
    }

    @Test("the filter follows another process's clicks even if its own process only matches checks")
    func catchesUpWithoutWrites() async throws {
        let here = try await TestStore()
        let other = try await TestStore(in: here.place)
        defer { other.stop() }
        try here.store.buildFilter()
        try await other.run { _ = try await $0.record(.sample(fingerprint: 1)) }
        while try await checkInOneTurn(here).skipped == 0 { await Task.yield() }
        #expect(
            isMatch(try await checkInOneTurn(here, .sample(fingerprint: 1)).outcome),
            "a click of another process is not found"
        )
    }

    @Test("a click whose number was used by a deleted click before is found")
    func survivesReusedNumbers() async throws {
        let here = try await TestStore { $0.retentionSeconds = 0 }
        let other = try await TestStore(in: here.place) { $0.retentionSeconds = 0 }
        defer { other.stop() }
        // The first click's time is ahead. The other process deletes this click, and then records at the right time.
        let ahead = TestStore.noon.advanced(byMilliseconds: 1_000_000)
        try await here.run { _ = try await $0.record(.sample(fingerprint: 1, at: ahead)) }
        try here.store.buildFilter()
        try other.execute("DELETE FROM click_index; DELETE FROM clicks")
        try await other.run { session in
            for number in [2, 4] as [UInt64] { _ = try await session.record(.sample(fingerprint: number)) }
        }
        // The first round comes before the next write, the second round after it.
        for number in [2, 4] as [UInt64] {
            #expect(
                isMatch(try await checkInOneTurn(here, .sample(fingerprint: number)).outcome),
                "click \(number) of another process is not found"
            )
            try await here.run { _ = try await $0.record(.sample(fingerprint: 3)) }
        }
        try here.store.buildFilter()
        #expect(try await checkInOneTurn(here).skipped > 0)
    }

    @Test("a click that another process records between two turns of a loop is found in the second turn")
    func readsAgainEachTurn() async throws {
        let here = try await TestStore()
        let other = try await TestStore(in: here.place)
        defer { other.stop() }
        try here.store.buildFilter()
        let outcome = try await onLoop { [store = here.store] in
            let session = store.makeSession()
            defer { session.endTurn() }
            for turn in 0..<2 {
                for number in 0..<Self.strangerCount {
                    _ = try await session.match(.sample(fingerprint: 500_000 + UInt64(number)))
                }
                guard turn == 0 else { continue }
                #expect(session.skippedReadCount > 0)
                session.endTurn()
                try await other.run { _ = try await $0.record(.sample(fingerprint: 1)) }
            }
            return try await session.match(.sample(fingerprint: 1))
        }
        #expect(isMatch(outcome), "\(outcome)")
    }

    @Test("no click is missed if another process has recorded too many for the filter to catch up with")
    func isOutrun() async throws {
        let here = try await TestStore()
        let other = try await TestStore(in: here.place)
        defer { other.stop() }
        try await here.run { _ = try await $0.record(.sample(fingerprint: 1)) }
        try here.store.buildFilter()
        try other.execute(Self.copyNewestClick)
        try await other.run { _ = try await $0.record(.sample(fingerprint: 2)) }
        // With this write, the filter catches up or is given up.
        try await here.run { _ = try await $0.record(.sample(fingerprint: 3)) }
        for number in [2, 3] as [UInt64] {
            #expect(
                isMatch(try await checkInOneTurn(here, .sample(fingerprint: number)).outcome),
                "click \(number) is not found"
            )
        }
        try here.store.buildFilter()
        #expect(try await checkInOneTurn(here).skipped > 0)
    }

    /// Inserts more clicks than the writer reads to catch up.
    private static let copyNewestClick = """
        WITH RECURSIVE number(step) AS (VALUES (1) UNION ALL SELECT step + 1 FROM number WHERE step < 10100)
        INSERT INTO clicks (
            id, id_low, scope, clicked_at, recorded_at, window_seconds, expires_at, destination, journey_id, source,
            platform, is_robot, is_contradictory, visit, visit_rest, post, post_rest, fingerprints
        )
        SELECT id + step, id_low, scope, clicked_at, recorded_at, window_seconds, expires_at, destination, journey_id,
            source, platform, is_robot, is_contradictory, visit + step, visit_rest, post + step, post_rest, fingerprints
        FROM clicks, number
        """

    /// Returns a store with an open click 1 and a matched click 2.
    ///
    /// In the order of reading, more rows precede each of the two clicks than are read at once.
    private func storeFilledBefore() async throws -> TestStore {
        let test = try await TestStore()
        try await test.run { session in
            for number in [1, 2] as [UInt64] { _ = try await session.record(.sample(fingerprint: number)) }
            _ = try await session.match(.sample(fingerprint: 2))
        }
        for state in 0...1 { try test.execute(Self.fill(state: state)) }
        return test
    }

    @Test("clicks that are recorded or matched while the filter is rebuilt are found afterwards")
    func buildsUnderLoad() async throws {
        // With this many rows, building takes a while.
        let test = try await storeFilledBefore()
        try test.store.buildFilter()
        for round in 1...6 as ClosedRange<UInt64> {
            let numbers = round * 1000..<round * 1000 + 200
            async let isDone = test.run { session in
                for number in numbers {
                    _ = try await session.record(.sample(fingerprint: number))
                    // The match changes the click's row while the rows are read.
                    if round > 1 { _ = try await session.match(.sample(fingerprint: number - 1000)) }
                }
                return true
            }
            try test.store.buildFilter()
            #expect(try await isDone)
            let missed = try await test.run { session in
                var missed: [UInt64] = []
                for number in numbers {
                    let view = try await session.view(for: .sample(fingerprint: number))
                    if view.live.isEmpty { missed.append(number) }
                    guard round > 1 else { continue }
                    let earlier = try await session.view(for: .sample(fingerprint: number - 1000))
                    if earlier.reason != .alreadyClaimed { missed.append(number - 1000) }
                }
                return missed
            }
            #expect(missed == [])
        }
    }

    @Test(
        "a turn during which the filter is replaced or given up finds a new click",
        arguments: [false, true]
    )
    func isReplacedWithinTurn(isGivenUp: Bool) async throws {
        let test = try await TestStore()
        _ = try await test.run { try await $0.record(.sample(fingerprint: 1)) }
        try test.store.buildFilter()
        let outcome = try await onLoop {
            let session = test.store.makeSession()
            defer { session.endTurn() }
            for number in 0..<Self.strangerCount {
                _ = try await session.match(.sample(fingerprint: 500_000 + UInt64(number)))
            }
            #expect(session.skippedReadCount > 0)
            if isGivenUp {
                try test.execute("DELETE FROM click_index; DELETE FROM clicks")
            } else {
                try test.store.buildFilter()
            }
            _ = try await session.record(.sample(fingerprint: 7))
            return try await session.match(.sample(fingerprint: 7))
        }
        #expect(isMatch(outcome), "a click that was acknowledged is not found: \(outcome)")
    }

    @Test("clicks are found however many rows the filter's build reads before them")
    func readsAll() async throws {
        let test = try await storeFilledBefore()
        try test.store.buildFilter()
        let (found, skipped) = try await checkInOneTurn(test, .sample(fingerprint: 1))
        #expect(isMatch(found), "\(found)")
        #expect(skipped > 0)
        #expect(try await checkInOneTurn(test, .sample(fingerprint: 2)).outcome == .noMatch(.alreadyClaimed))
    }

    private static func fill(state: Int) -> String {
        let rest = "hash_rest, state, since, click, expires_at, visit, clicked_at, caller, closed_as, weight"
        return """
            WITH RECURSIVE number(step) AS (VALUES (1) UNION ALL SELECT step + 1 FROM number WHERE step < 10100)
            INSERT INTO click_index (scope, hash, \(rest))
            SELECT scope, -9223372036854775807 + step, \(rest)
            FROM (SELECT * FROM click_index WHERE state = \(state) LIMIT 1), number
            """
    }

    @Test("a store with background jobs builds the filter, and can stop before the filter is built")
    func buildsByItself() async throws {
        let test = try await TestStore { $0.hasBackgroundWork = true }
        #expect(try await Polling.eventually { try await checkInOneTurn(test).skipped > 0 })
        test.stop()
        let again = try await TestStore(in: test.place) { $0.hasBackgroundWork = true }
        again.stop()
    }
}
