import Attribution
import Simulation
import Storage
import Support
import TestDatabases
import Testing

@Suite("Records of checks")
struct CheckRecordTests {
    private static let key = ServerKey(bytes: Array(repeating: 7, count: ServerKey.byteCount))

    private func explainer() throws -> Explainer {
        Explainer(keys: [try #require(Self.key)], signals: { _ in nil })
    }

    private func check(
        _ fingerprint: UInt64,
        at moment: Timestamp = TestStore.noon,
        request: String? = nil,
        caller: UInt64 = 1,
        isTest: Bool = false
    ) -> Check {
        var check = Check.sample(fingerprint: fingerprint, at: moment, caller: caller, isTest: isTest)
        check.set(details: LaunchDetails(sdkVersion: "ios 1.8.9", requestID: request))
        return check
    }

    private func page(_ test: TestStore, set: (inout CheckQuery) -> Void = { _ in }) async throws -> CheckPage
    {
        var query = CheckQuery()
        set(&query)
        let asked = query
        return try await test.run { try await $0.checks(asked) }
    }

    @Test("records contain the outcome of each check, newest first, and can be filtered", arguments: backends)
    func lists(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let later = TestStore.noon.advanced(byMilliseconds: 5000)
        let click = try await test.run { session in
            let click = try await session.record(.sample()).click
            _ = try await session.match(check(1, request: "req_a"))
            _ = try await session.match(check(1, at: later, request: "req_b", caller: 2))
            _ = try await session.match(check(2, at: later, request: "req_c"))
            _ = try await session.match(check(2, isTest: true))
            return click
        }
        let records = try await page(test).records
        #expect(records.map(\.facts.requestID) == ["req_c", "req_b", "req_a"])
        #expect(records.map(\.facts.reason) == [.noClick, .alreadyClaimed, nil])
        let match = try #require(records.last)
        #expect(match.facts.click == click.id)
        #expect(match.campaign?.text == "SUMMER25")
        #expect(match.facts.method == .fingerprint)
        #expect(match.facts.sdkVersion == "ios 1.8.9")
        #expect(match.facts.fingerprint == hash(1))
        #expect(match.facts.platform == .ios)
        #expect(match.facts.candidates == 1)
        #expect(match.facts.shares.map(\.click.high) == [click.id.high])
        #expect(match.id.text.hasPrefix("chk_"))

        func ids(_ set: (inout CheckQuery) -> Void) async throws -> [String?] {
            try await page(test, set: set).records.map(\.facts.requestID)
        }
        #expect(try await ids { $0.outcome = .match } == ["req_a"])
        #expect(try await ids { $0.reason = .noClick } == ["req_c"])
        #expect(try await ids { $0.campaign = CampaignKey("SUMMER25") } == ["req_a"])
        #expect(try await ids { $0.from = later } == ["req_c", "req_b"])
        #expect(try await ids { $0.to = later } == ["req_a"])
        #expect(try await ids { $0.fingerprints = [hash(2)] } == ["req_c"])
        #expect(try await ids { $0.app = AppID(high: 9, low: 9) } == [])
        #expect(try await ids { $0.isTest = true }.count == 1)
    }

    @Test("the records of matches are on disk as soon as their claims, each once", arguments: backends)
    func withClaim(backend: Backend) async throws {
        let test = try await TestStore(backend)
        for number in 1...20 as ClosedRange<UInt64> {
            _ = try await test.run { try await $0.record(.sample(fingerprint: number)) }
        }
        let outcomes = try await test.runConcurrently(40) { session, number in
            try await session.match(check(number / 2 + 1, caller: number))
        }
        #expect(outcomes.count { $0.claim != nil } == 20)
        // The records of the other checks may still wait in memory; a crash would lose them.
        #expect(try test.count(.matches) == 20)
        #expect(try test.count(.claimsWithCheck) == 20)
        _ = try await page(test)
        #expect(try test.count(.miscountedChecks) == 0)
        #expect(try test.count(.matches) == 20)
        #expect(try test.count(.checks) == 40)
        #expect(try test.count(.keptChecks) == 40)
    }

    @Test("a claim and the record of its check are stored both or not at all", arguments: backends)
    func withClaimOrNone(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let click = try await test.run { try await $0.record(.sample()).click }
        try test.change(.failMatches)
        let check = check(1)
        let failed = await code { _ = try await test.run { try await $0.match(check) } }
        #expect(failed != nil)
        #expect(try test.count(.claims) == 0)
        try test.change(.failNothing)
        #expect(try await test.run { try await $0.match(check) }.isMatch(of: click, at: TestStore.noon))
        #expect(try test.count(.keptChecks) == 1)
        let totals = try await test.run { try await $0.statistics(StatisticsQuery(), at: TestStore.noon) }
        #expect(totals.totals[.matches] == 1)
    }

    @Test("the record of a match that was too late for its caller is on disk once", arguments: backends)
    func ofLateClaim(backend: Backend) async throws {
        let database = try await StoredClaims(backend)
        let processes = try await TwoProcesses(database)
        let click = try await processes.record(.sample())
        #expect(try await processes.claimLate(click, for: check(1)) == .timedOut)
        // A process that stops writes everything to disk.
        try await processes.restart()
        #expect(try database.place.count(.matches) == 1)
        guard case .replayed = try await processes.claim(click, for: check(1, caller: 2), by: 1) else {
            Issue.record("the next check does not get the answer")
            return
        }
        #expect(try database.place.count(.matches) == 1)
    }

    @Test("records contain the values that a backtest needs, and NULL for usual values", arguments: backends)
    func forReplay(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let installed = TestStore.noon.advanced(byMilliseconds: -5000)
        try await test.run { session in
            _ = try await session.record(.sample())
            var check = check(1, request: "req_a")
            check.ladder = MatchingLadder([], fingerprints: [hash(1), hash(2), hash(3)])
            check.set(
                details: LaunchDetails(
                    release: OSRelease(platform: .ios, major: 18, minor: 6, isAtLeast: true),
                    requestID: "req_a",
                    firstInstalledAt: installed
                )
            )
            _ = try await session.match(check)
            var asked = Check.sample(fingerprint: 9, caller: 8, install: 4)
            asked.set(details: LaunchDetails(requestID: "req_b"))
            _ = try await session.match(asked)
        }
        let records = try await page(test).records
        let (match, other) = (try #require(records.last), try #require(records.first))
        #expect(match.facts.otherFingerprints == [hash(2).index, hash(3).index])
        #expect(match.facts.firstInstalledAt == installed)
        #expect(match.facts.caller == hash(1).index)
        #expect(match.facts.release?.minor == 6)
        #expect(match.facts.release?.isAtLeast == true, "the agent reports the kernel of iOS")
        let probability = try #require(match.facts.probability)
        #expect(probability > Verdict.highestConfidence, "callers get at most the highest confidence")
        #expect(match.facts.confidence == Verdict.highestConfidence)
        #expect(match.facts.weight == 1)
        #expect(other.facts.caller == hash(4).index)
        #expect(other.facts.probability == nil)
        #expect(try test.count(.checksWithoutWeight) == 2)
        #expect(try test.count(.checksWithOneFingerprint) == 1)
        #expect(try test.count(.clicksWithVisitor) == 1)
    }

    @Test("records are listed page by page, each once", arguments: backends)
    func pages(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { session in
            for number in 0..<25 {
                _ = try await session.match(check(UInt64(number), request: "req_\(number)"))
            }
        }
        var (seen, before) = ([String](), nil as CheckID?)
        repeat {
            let page = try await page(test) { query in
                query = CheckQuery(limit: 10)
                query.before = before
            }
            seen += page.records.compactMap(\.facts.requestID)
            before = page.next
        } while before != nil
        #expect(seen == (0..<25).reversed().map { "req_\($0)" })
    }

    @Test("a record is found by its check's id, request, click and fingerprint", arguments: backends)
    func finds(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let click = try await test.run { session in
            let click = try await session.record(.sample()).click
            _ = try await session.match(check(1, request: "req_a"))
            _ = try await session.match(check(1, request: "req_b", caller: 2))
            return click
        }
        let match = try #require(try await page(test).records.last)
        let explainer = try explainer()
        func found(_ reference: CheckReference) async throws -> Explanation? {
            try await test.run { try await $0.explanation(of: reference, by: explainer) }
        }
        #expect(try await found(.check(match.id))?.record == match)
        #expect(try await found(.check(CheckID(high: match.id.high, low: match.id.low &+ 1))) == nil)
        #expect(try await found(.request("req_b"))?.record.facts.reason == .alreadyClaimed)
        #expect(try await found(.request("req_x")) == nil)
        #expect(try await found(.click(click.id))?.record == match)
        #expect(try await found(.click(ClickID(high: 1, low: 1))) == nil)
        #expect(try await found(.fingerprint([hash(7), hash(1)]))?.record.facts.requestID == "req_b")
        let explanation = try #require(try await found(.request("req_b")))
        let listed = try #require(explanation.clicks.first)
        #expect(listed.click.id == click.id)
        #expect(listed.state == .claimed)
        #expect(listed.hasSameFingerprint)
        #expect(listed.click.claimedBy == .fingerprint)
    }

    @Test("the explanation of a check without a match says how a click's signals differ", arguments: backends)
    func explains(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let key = try #require(Self.key)
        var click = try NewClick.sample(fingerprint: 1)
        click.evidence.canonicalText = "Europe/Istanbul"
        let recorded = click
        // None of these can be a click whose signals differ from those of the launch.
        var others = [NewClick](repeating: click, count: 4)
        // Each is another visit, and so another post.
        for index in others.indices {
            others[index].visit = hash(UInt64(index) + 20)
            others[index].post = hash(UInt64(index) + 30)
        }
        others[0].facts.isRobot = true
        others[1].facts.isTest = true
        others[2].evidence.canonicalText = nil
        others[3].facts.clickedAt = TestStore.noon.advanced(byMilliseconds: 60_000)
        others[3].facts.recordedAt = others[3].facts.clickedAt
        let unfit = others
        let launch = key.keyed(Fingerprint(of: "iPhone|Asia/Dubai|tr"))
        let explainer = Explainer(keys: [key]) { zone in
            var signals = CanonicalSignals(platform: .ios)
            signals.model = "iPhone"
            (signals.timezone, signals.givenTimezone) = (zone, zone)
            signals.languages = ["tr"]
            return signals
        }
        let explanation = try await test.run { session in
            let id = try await session.record(recorded).click.id
            for other in unfit { _ = try await session.record(other) }
            var check = check(2, request: "req_a")
            check.ladder = MatchingLadder(fingerprint: launch)
            _ = try await session.match(check)
            return (id, try await session.explanation(of: .request("req_a"), by: explainer))
        }
        #expect(explanation.1?.clicks.map(\.click.id) == [explanation.0])
        let listed = try #require(explanation.1?.clicks.first)
        #expect(listed.differences == [.init(.timezone, click: "Europe/Istanbul", launch: "Asia/Dubai")])
    }

    @Test(
        "at most 2,000 checks a second are recorded besides matches; the statistics count all",
        arguments: backends
    )
    func bounded(backend: Backend) async throws {
        let test = try await TestStore(backend) { $0.durability = .relaxed }
        let report = try await test.run { session in
            for number in 0..<2100 { _ = try await session.match(check(UInt64(number) + 100)) }
            _ = try await session.record(.sample())
            _ = try await session.match(check(1, request: "req_match"))
            return try await session.statistics(StatisticsQuery(), at: TestStore.noon)
        }
        #expect(report.unrecordedChecks == 100)
        #expect(report.totals[.checks] == 2101)
        let matches = try await page(test) { $0.outcome = .match }.records
        #expect(matches.map(\.facts.requestID) == ["req_match"])
        #expect(try test.count(.checks) == 2001)
        test.monotonic.advance(milliseconds: 1000)
        try await test.run { _ = try await $0.match(check(9, request: "req_next")) }
        #expect(try await page(test).records.first?.facts.requestID == "req_next")
        #expect(try await page(test).records.first?.facts.weight == 101, "the check and 100 others")
        #expect(try test.count(.sumOfWeights) == 2102)
    }

    @Test(
        "records of checks are retained as long as clicks, and the oldest are deleted first",
        arguments: backends.filter(\.deletesEachRow)
    )
    func retention(backend: Backend) async throws {
        let test = try await TestStore(backend) { $0.retentionSeconds = 1000 }
        try await test.run { session in
            for number in 0..<1900 { _ = try await session.match(check(UInt64(number))) }
        }
        test.clock.advance(seconds: 999)
        let late = test.clock.now
        try await test.run { _ = try await $0.match(check(1, at: late, request: "req_late")) }
        _ = try await page(test)
        _ = try test.database.runRetention()
        #expect(try test.count(.checks) == 1901)
        test.clock.advance(seconds: 2)
        _ = try test.database.runRetention()
        #expect(try await page(test).records.map(\.facts.requestID) == ["req_late"])
        test.stop()
        #expect(try test.verify().problems(of: "probability_sums").isEmpty)
    }

    @Test("a session that has read records also finds the records of another process", arguments: backends)
    func laterReads(backend: Backend) async throws {
        let service = try await TestStore(backend)
        let command = try await TestStore(backend, in: service.place)
        // The list of checks contains the record only when the record is on disk.
        let record: @Sendable (UInt64) async throws -> Void = { [self] fingerprint in
            try await service.run { session in
                _ = try await session.match(check(fingerprint))
                _ = try await session.checks(CheckQuery())
            }
        }
        try await record(1)
        try await command.run { session in
            #expect(try await session.checks(CheckQuery()).records.count == 1)
            try await record(2)
            #expect(try await session.checks(CheckQuery()).records.count == 2)
        }
    }
}
