import Attribution
import Foundation
import SQLite
import SQLiteStorage
import Support
import Testing

/// A store with a history of some days, and its files afterwards.
private struct History {
    let test: TestStore
    let key = ServerKey(bytes: Array(repeating: 7, count: 32))

    var path: String { test.path }

    /// With `isPurged`, retention has deleted a part of it.
    init(isPurged: Bool = false) async throws {
        let key = try #require(key)
        test = try await TestStore { $0.retentionSeconds = 50_000 }
        let clock = test.clock
        _ = try test.store.confirm(serverKeys: [key.checkValue], at: clock.now)
        _ = try await test.run { session in
            var model = CountingModel()
            var random = SplitMix(seed: 5)
            for step in 0..<300 {
                if random.next() % 3 > 0 { clock.advance(seconds: Int64(601 + random.next() % 1400)) }
                // The last ones are live at the end.
                if step == 290 { clock.advance(seconds: 20_000) }
                try await model.step(session, at: clock.now, &random)
            }
            return true
        }
        if isPurged { _ = try test.store.runRetention() }
        test.stop()
    }

    var configuration: SQLiteConfiguration {
        SQLiteConfiguration(path: path, clock: .fixed(test.clock.now))
    }

    func verify() throws -> VerificationReport {
        try DatabaseVerification.run(configuration, serverKeys: [key].compactMap(\.self))
    }

    func content(counters: Bool) throws -> [String] { try test.content(counters: counters) }
}

extension TestStore {
    /// All rows of the tables named, as text.
    func content(counters: Bool) throws -> [String] {
        let connection = try SQLiteConnection(path: path, access: .readWrite, busyMilliseconds: 0)
        let statements: [StaticString] =
            counters
            ? [
                "SELECT * FROM counters ORDER BY 1, 2, 3, 4, 5, 6",
                "SELECT * FROM install_delays ORDER BY 1, 2, 3, 4, 5",
                "SELECT * FROM live_clicks ORDER BY 1, 2, 3",
            ]
            : [
                "SELECT * FROM clicks ORDER BY 1", "SELECT * FROM click_index ORDER BY 1, 2, 3, 4, 5",
                "SELECT * FROM claims ORDER BY 1",
                "SELECT * FROM apps",
                "SELECT * FROM keys", "SELECT * FROM progress", "SELECT * FROM migrations",
                "SELECT * FROM sqlite_schema",
            ]
        return try statements.flatMap { sql in
            try connection.prepare(sql).all { row in (0..<24).map { row.text($0) }.joined(separator: "|") }
        }
    }
}

extension VerificationReport {
    var problems: [String] {
        checks.flatMap { check in check.findings.map { "\(check.name): \($0.text)" } }
    }

    func problems(of name: String) -> [String] {
        checks.first { $0.name == name }?.findings.map(\.text) ?? []
    }
}

@Suite("Verification of a database")
struct VerificationTests {
    @Test(
        "finds nothing in what this program has written, before and after retention",
        arguments: [false, true]
    )
    func findsNothing(isPurged: Bool) async throws {
        let history = try await History(isPurged: isPurged)
        let report = try history.verify()
        #expect(report.problems == [])
        #expect(report.isWhole)
        let scope = try #require(report.checks.first { $0.name == "counters" }?.scope)
        #expect(scope.contains(isPurged ? "hours and days that begin after" : "no click was deleted yet"))
    }

    struct Damage: Sendable, CustomTestStringConvertible {
        let check: String
        let says: String
        let script: String
        var testDescription: String { says }
    }

    private static let hour =
        "granularity = 'hour' AND period = (SELECT max(period) FROM counters WHERE clicks > 0)"

    static let damages = [
        Damage(
            check: "counters",
            says: "total, hour of",
            script:
                "UPDATE counters SET clicks = clicks + 1 WHERE dimension = 'total' AND campaign = '' AND \(hour)"
        ),
        Damage(
            check: "counters",
            says: "matches",
            script: """
                UPDATE counters SET matches = matches - 1
                WHERE dimension = 'platform' AND campaign = '' AND granularity = 'all' AND matches > 0
                """
        ),
        Damage(
            check: "counters",
            says: "times to install",
            script: "UPDATE install_delays SET count = count + 1 WHERE granularity = 'day' AND campaign = ''"
        ),
        Damage(
            check: "counters",
            says: "0 instead of",
            script: "DELETE FROM counters WHERE dimension = 'source' AND granularity = 'day' AND clicks > 0"
        ),
        Damage(
            check: "counter_sums",
            says: "in the hours",
            script: """
                UPDATE counters SET no_match_expired = no_match_expired + 1
                WHERE dimension = 'total' AND granularity = 'day'
                """
        ),
        Damage(
            check: "counter_sums",
            says: "by platform",
            script:
                "UPDATE counters SET duplicates = duplicates + 1 WHERE dimension = 'total' AND granularity = 'all'"
                + "; UPDATE counters SET duplicates = duplicates + 1 WHERE (scope, campaign, period) IN"
                + " (SELECT scope, campaign, max(period) FROM counters WHERE dimension = 'total' AND granularity = 'day'"
                + " GROUP BY 1, 2) AND dimension = 'total' AND granularity = 'day'"
                + "; UPDATE counters SET duplicates = duplicates + 1 WHERE (scope, campaign, period) IN"
                + " (SELECT scope, campaign, max(period) FROM counters WHERE dimension = 'total' AND granularity = 'hour'"
                + " GROUP BY 1, 2) AND dimension = 'total' AND granularity = 'hour'"
        ),
        Damage(
            check: "live_clicks",
            says: "expire in the hour",
            script: "UPDATE live_clicks SET count = count + 1 WHERE span = 'hour'"
                + " AND expires_in = (SELECT max(expires_in) FROM live_clicks WHERE span = 'hour')"
        ),
        Damage(
            check: "claims",
            says: "claims have no click",
            script: "DELETE FROM clicks WHERE id = (SELECT min(click) FROM claims)"
        ),
        Damage(
            check: "foreign_keys",
            says: "of claims",
            script: "UPDATE claims SET click = 1 WHERE click = (SELECT min(click) FROM claims)"
        ),
        Damage(
            check: "claims",
            says: "another app's click",
            script: "UPDATE claims SET scope = scope + 1 WHERE click = (SELECT min(click) FROM claims)"
        ),
        Damage(
            check: "claims",
            says: "after their click had expired",
            script:
                "UPDATE claims SET claimed_at = claimed_at + 100000000 WHERE click = (SELECT min(click) FROM claims)"
        ),
        Damage(check: "claims", says: "an app that does not exist", script: "UPDATE clicks SET scope = 98"),
        Damage(
            check: "fingerprints",
            says: "open fingerprints differ from their click",
            script:
                "UPDATE clicks SET expires_at = expires_at + 1 WHERE id = (SELECT max(click) FROM click_index WHERE state = 0)"
        ),
        Damage(
            check: "fingerprints",
            says: "closed fingerprints differ from their click, or have none",
            script: "UPDATE click_index SET click = 1 WHERE click = (SELECT max(click) FROM claims)"
        ),
        Damage(
            check: "fingerprints",
            says: "as many fingerprints as they have",
            script:
                "DELETE FROM click_index WHERE click = (SELECT max(click) FROM click_index WHERE state = 0)"
        ),
        Damage(
            check: "open_and_closed",
            says: "are claimed and can still be found",
            script: """
                UPDATE click_index SET state = 0, since = clicked_at, expires_at = 9000000000000
                WHERE click = (SELECT max(click) FROM claims)
                """
        ),
        Damage(
            check: "open_and_closed",
            says: "nothing happened to their click",
            script: "UPDATE click_index SET since = since + 1 WHERE state = 1"
        ),
        Damage(
            check: "open_and_closed",
            says: "fingerprints of robots",
            script: "UPDATE clicks SET is_robot = 1 WHERE id = (SELECT max(click) FROM claims)"
        ),
        Damage(
            check: "open_and_closed",
            says: "robots' clicks can be found",
            script:
                "UPDATE clicks SET is_robot = 1 WHERE id = (SELECT max(click) FROM click_index WHERE state = 0)"
        ),
        Damage(
            check: "open_and_closed",
            says: "up to a later moment",
            script: "INSERT INTO progress VALUES ('closed_before', 9000000000000)"
                + " ON CONFLICT DO UPDATE SET value = excluded.value"
        ),
        Damage(
            check: "migrations",
            says: "its digest differs",
            script: "UPDATE migrations SET digest = zeroblob(32) WHERE number = 1"
        ),
        Damage(
            check: "migrations",
            says: "not known to this program",
            script: "INSERT INTO migrations VALUES (9001, '9001_later.sql', zeroblob(32), 0)"
        ),
        Damage(check: "migrations", says: "not listed", script: "DELETE FROM migrations"),
        Damage(check: "application", says: "another program", script: "PRAGMA application_id = 4711"),
        Damage(
            check: "server_key",
            says: "another one",
            script: "UPDATE progress SET value = value + 1 WHERE name = 'server_key'"
        ),
    ]

    @Test("finds planted damage and says what it is and what to do", arguments: damages)
    func findsDamage(damage: Damage) async throws {
        let history = try await History()
        try history.test.execute(damage.script)
        let report = try history.verify()
        #expect(!report.isWhole)
        let findings = try #require(report.checks.first { $0.name == damage.check }).findings
        #expect(findings.contains { $0.text.contains(damage.says) }, "\(report.problems)")
        #expect(findings.allSatisfy { !$0.advice.isEmpty && !$0.text.contains("\n") })
    }

    @Test("finds a broken page, wherever it is, and goes on")
    func findsBrokenPage() async throws {
        let history = try await History()
        let content = try Data(contentsOf: URL(fileURLWithPath: history.path))
        let pages = content.count / 4096
        #expect(pages > 20)
        // Not the first page, whose damage is refused on opening.
        for page in stride(from: 2, to: pages, by: max(1, pages / 12)) {
            var damaged = content
            damaged.replaceSubrange(page * 4096..<page * 4096 + 64, with: Data(repeating: 0xAA, count: 64))
            try damaged.write(to: URL(fileURLWithPath: history.path))
            let report = try? history.verify()
            #expect(report?.isWhole != true, "page \(page)")
        }
    }

    @Test("a row that an index lost is found")
    func findsIndex() async throws {
        let history = try await History()
        try history.test.execute(
            """
            PRAGMA writable_schema = ON;
            CREATE INDEX lost ON claims (claimed_at) WHERE claimed_at > 0;
            """
        )
        // The index is emptied behind SQLite's back: its root page becomes a leaf without cells.
        let connection = try SQLiteConnection(path: history.path, access: .readOnly, busyMilliseconds: 0)
        let root = try connection.integer("SELECT rootpage FROM sqlite_schema WHERE name = 'lost'")
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: history.path))
        try handle.seek(toOffset: UInt64((root - 1) * 4096))
        try handle.write(contentsOf: Data([0x0A, 0, 0, 0, 0, 0x10, 0, 0]))
        try handle.close()
        #expect(try history.verify().problems(of: "integrity").contains { $0.contains("lost") })
    }

    @Test("looking changes nothing and leaves nothing beside the database")
    func changesNothing() async throws {
        let history = try await History()
        let before = try Data(contentsOf: URL(fileURLWithPath: history.path))
        _ = try history.verify()
        #expect(try Data(contentsOf: URL(fileURLWithPath: history.path)) == before)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: history.test.folder.path) == ["afterlink.db"]
        )
    }

    @Test("sees one moment of a database that is written to meanwhile")
    func whileServing() async throws {
        let test = try await TestStore()
        let path = test.path
        async let reports = Task.detached {
            try (0..<5).map { _ in
                try DatabaseVerification.run(
                    SQLiteConfiguration(path: path, clock: .fixed(TestStore.noon))
                )
            }
        }.value
        _ = try await test.run { session in
            for number in 0..<300 { _ = try await session.record(.sample(fingerprint: UInt64(number))) }
            return true
        }
        for report in try await reports { #expect(report.problems == []) }
    }
}

@Suite("Repair of counters")
struct CounterRepairTests {
    private static let damages =
        VerificationTests.damages.prefix(5).map(\.script) + [
            VerificationTests.damages[6].script,
            "DELETE FROM live_clicks WHERE span = 'hour' AND expires_in = (SELECT max(expires_in) FROM live_clicks"
                + " WHERE span = 'hour')",
            "UPDATE counters SET matches = matches + 3 WHERE granularity = 'all'",
            "UPDATE install_delays SET count = count + 2 WHERE granularity = 'all'",
        ]

    @Test(
        "brings back exactly what was counted, touches nothing else, and says what it changed",
        arguments: damages
    )
    func repairs(damage: String) async throws {
        let history = try await History()
        let (counters, facts) = (try history.content(counters: true), try history.content(counters: false))
        try history.test.execute(damage)
        #expect(try history.content(counters: true) != counters)
        let repair = try CounterRepair.run(history.configuration)
        #expect(repair.count > 0 && repair.lines.count == min(repair.count, 100))
        #expect(try history.content(counters: true) == counters)
        #expect(try history.content(counters: false) == facts)
        #expect(try history.verify().problems == [])
    }

    @Test("has nothing to do where all is well")
    func nothingToDo() async throws {
        let history = try await History(isPurged: true)
        let before = try history.content(counters: true)
        #expect(try CounterRepair.run(history.configuration).count == 0)
        #expect(try history.content(counters: true) == before)
    }

    @Test("leaves as it is what nobody can tell any more, and says so")
    func undecidable() async throws {
        let history = try await History(isPurged: true)
        try history.test.execute(
            "UPDATE counters SET duplicates = duplicates + 1 WHERE dimension = 'total' AND campaign = ''"
                + " AND granularity = 'hour' AND period = (SELECT min(period) FROM counters WHERE granularity = 'hour')"
        )
        let before = try history.content(counters: true)
        #expect(try CounterRepair.run(history.configuration).count == 0)
        #expect(try history.content(counters: true) == before)
        let findings = try #require(history.verify().checks.first { $0.name == "counter_sums" }).findings
        #expect(findings.first?.advice.contains("stays as it is") == true)
    }

    @Test("is refused while another process has the database open")
    func refusedWhileServing() async throws {
        // Another process is played by the end-to-end tests; here, the database of a missing folder.
        let folder = try TemporaryFolder()
        let configuration = SQLiteConfiguration(path: folder.file("a.db"), clock: .fixed(TestStore.noon))
        #expect(throws: StoreError.self) { try CounterRepair.run(configuration) }
    }
}
