import Attribution
import Foundation
import SQLite
import SQLiteStorage
import Storage
import Support
import TestDatabases
import Testing

/// A stopped store with a history of some days.
private struct History {
    let test: TestStore
    let key = ServerKey(bytes: Array(repeating: 7, count: 32))

    var path: String { test.path }

    /// Records the history; with `isPurged`, retention then deletes a part of it.
    init(isPurged: Bool = false) async throws {
        let key = try #require(key)
        test = try await TestStore { $0.retentionSeconds = 50_000 }
        let clock = test.clock
        _ = try test.store.keys.confirm([key.checkValue], at: clock.now)
        _ = try await test.run { session in
            var model = CountingModel()
            var random = SeededGenerator(seed: 5)
            for step in 0..<300 {
                if random.next() % 3 > 0 { clock.advance(seconds: Int64(601 + random.next() % 1400)) }
                // The clicks of the last steps are live at the end.
                if step == 290 { clock.advance(seconds: 20_000) }
                try await model.step(session, at: clock.now, &random)
            }
            return true
        }
        if isPurged { _ = try test.store.runRetention() }
        test.stop()
    }

    var configuration: SQLiteConfiguration { SQLiteConfiguration(path: path, clock: .fixed(test.clock.now)) }

    func verify() throws -> VerificationReport {
        try DatabaseVerification.run(configuration, serverKeys: [key].compactMap(\.self))
    }
}

extension VerificationReport {
    var problems: [String] { checks.flatMap { check in check.findings.map { "\(check.name): \($0.text)" } } }

    func problems(of name: String) -> [String] {
        checks.first { $0.name == name }?.findings.map(\.text) ?? []
    }
}

@Suite("Verification of a database")
struct VerificationTests {
    @Test("`verify` finds nothing wrong in a history, before and after retention", arguments: [false, true])
    func findsNothing(isPurged: Bool) async throws {
        let history = try await History(isPurged: isPurged)
        let report = try history.verify()
        #expect(report.problems == [])
        #expect(report.isWhole)
    }

    struct Damage: Sendable, CustomTestStringConvertible {
        let check: String
        let says: String
        let script: String
        var testDescription: String { says }
    }

    /// Scripts that damage a database, by the verification step that finds the damage and a part of the step's message.
    private static let scripts: KeyValuePairs = [
        "counts: fewer clicks": """
        UPDATE counts SET count = count - 1
        WHERE dimension = \(Dimension.total) AND campaign = '' AND span = \(Granularity.hour) AND metric = 'clicks'
            AND period = (SELECT max(period) FROM counts WHERE span = \(Granularity.hour) AND metric = 'clicks')
        """,
        "counts: fewer clicks, or robots' clicks":
            "DELETE FROM counts WHERE dimension = \(Dimension.total) AND span = \(Granularity.hour) AND metric = 'robots'",
        "counts: fewer matches":
            "UPDATE counts SET count = 0 WHERE dimension = \(Dimension.total) AND span = \(Granularity.hour) AND metric = 'matches'",
        "counts: by the hour do not add up": """
        UPDATE counts SET count = count + 1
        WHERE dimension = \(Dimension.total) AND span = \(Granularity.day) AND metric = 'no_match_expired'
        """,
        "counts: by the day do not add up": """
        UPDATE counts SET count = count + 1
        WHERE dimension = \(Dimension.timeToInstall) AND span = \(Granularity.day) AND campaign = ''
        """,
        "counts: by the day do not add up":
            "DELETE FROM counts WHERE dimension = \(Dimension.source) AND span = \(Granularity.day) AND metric = 'clicks'",
        "counts: by the day do not add up to those of four weeks":
            "UPDATE counts SET count = count + 1 WHERE dimension = \(Dimension.hourOfDay) AND span = \(Granularity.fourWeeks)",
        "counts: by the day do not add up to those of all time": """
        UPDATE counts SET count = count + 1
        WHERE dimension = \(Dimension.platform) AND span = \(Granularity.all) AND campaign = 'c1' AND metric = 'clicks'
        """,
        "counts: records of checks": "DELETE FROM checks",
        "claims: claims have no click": "DELETE FROM clicks WHERE id = (SELECT min(click) FROM claims)",
        "foreign_keys: of claims":
            "UPDATE claims SET click = 1 WHERE click = (SELECT min(click) FROM claims)",
        "claims: another app's click":
            "UPDATE claims SET scope = scope + 1 WHERE click = (SELECT min(click) FROM claims)",
        "claims: after their click had expired":
            "UPDATE claims SET claimed_at = claimed_at + 100000000 WHERE click = (SELECT min(click) FROM claims)",
        "claims: an app that does not exist": "UPDATE clicks SET scope = 98",
        "fingerprints: open fingerprints differ from their click":
            "UPDATE clicks SET expires_at = expires_at + 1 WHERE id = (SELECT max(click) FROM click_index WHERE state = 0)",
        "fingerprints: closed fingerprints differ from their click, or have none":
            "UPDATE click_index SET click = 1 WHERE click = (SELECT max(click) FROM claims)",
        "fingerprints: as many fingerprints as they have":
            "DELETE FROM click_index WHERE click = (SELECT max(click) FROM click_index WHERE state = 0)",
        "open_and_closed: are claimed and can still be found": """
        UPDATE click_index SET state = 0, since = clicked_at, expires_at = 9000000000000
        WHERE click = (SELECT max(click) FROM claims)
        """,
        "open_and_closed: nothing happened to their click":
            "UPDATE click_index SET since = since + 1 WHERE state = 1",
        "open_and_closed: closed fingerprints are marked as a robot's":
            "UPDATE clicks SET is_robot = 1 WHERE id = (SELECT max(click) FROM claims)",
        "open_and_closed: robots' clicks can be found":
            "UPDATE clicks SET is_robot = 1 WHERE id = (SELECT max(click) FROM click_index WHERE state = 0)",
        "open_and_closed: although all clicks that expired at their time are closed":
            "INSERT INTO progress VALUES ('closed_before', 9000000000000)"
            + " ON CONFLICT DO UPDATE SET value = excluded.value",
        "migrations: its digest differs": "UPDATE migrations SET digest = zeroblob(32) WHERE number = 1",
        "migrations: not known to this program":
            "INSERT INTO migrations VALUES (9001, '9001_later.sql', zeroblob(32), 0)",
        "migrations: has no record of migration": "DELETE FROM migrations",
        "application: another program": "PRAGMA application_id = 4711",
        "server_key: another one": "UPDATE progress SET value = value + 1 WHERE name = 'server_key'",
    ]
    static let damages: [Damage] = scripts.map { key, script in
        let parts = key.split(separator: ": ", maxSplits: 1).map(String.init)
        return Damage(check: parts[0], says: parts[1], script: script)
    }

    @Test("`verify` finds damage, and reports what is damaged and what to do", arguments: damages)
    func findsDamage(damage: Damage) async throws {
        let history = try await History()
        try history.test.execute(damage.script)
        let report = try history.verify()
        #expect(!report.isWhole)
        let findings = try #require(report.checks.first { $0.name == damage.check }).findings
        #expect(findings.contains { $0.text.contains(damage.says) }, "\(report.problems)")
        #expect(findings.allSatisfy { !$0.advice.isEmpty && !$0.text.contains("\n") })
    }

    @Test("`verify` compares the clicks of links with the links' counts")
    func links() async throws {
        let test = try await TestStore()
        try await test.run { session in
            let link = try SampleLink.make(1)
            try await session.create(link)
            _ = try await session.record(.sample { $0.link = link.id })
            _ = try await session.match(.sample())
        }
        test.stop()
        func findings() throws -> Int { try test.verify().problems(of: "links").count }
        #expect(try findings() == 0)
        for damage in [
            "UPDATE link_counts SET clicks = 0", "UPDATE link_counts SET matches = 0",
            "UPDATE clicks SET link = 99", "DELETE FROM link_counts",
        ] {
            try test.execute("CREATE TABLE kept AS SELECT * FROM link_counts; \(damage)")
            #expect(try findings() > 0, "\(damage)")
            try test.execute(
                """
                UPDATE clicks SET link = 1; DELETE FROM link_counts; INSERT INTO link_counts SELECT * FROM kept;
                DROP TABLE kept
                """
            )
            #expect(try findings() == 0)
        }
    }

    @Test(
        "`verify` finds any wrong sum of probabilities",
        arguments: [
            "UPDATE counts SET count = count + 1 WHERE metric = 'conversions' AND span = \(Granularity.all)",
            "UPDATE counts SET count = count + 1 WHERE metric = 'variance' AND span = \(Granularity.day) AND campaign = ''",
            "UPDATE counts SET count = count + 1 WHERE metric = 'correct' AND span = \(Granularity.all)",
            "DELETE FROM checks",
            "UPDATE counts SET count = count + 1 WHERE dimension = \(Dimension.method) AND span = \(Granularity.day)",
        ]
    )
    func sums(damage: String) async throws {
        let test = try await TestStore()
        try await test.run { session in
            let click = try await session.record(.sample()).click
            var check = Check.sample()
            check.ladder = MatchingLadder([.signedToken(click.id)], fingerprints: [hash(1)])
            _ = try await session.match(check)
        }
        _ = try await test.run { try await $0.statistics(StatisticsQuery(), at: TestStore.noon) }
        test.stop()
        #expect(try test.verify().problems == [])
        try test.execute(damage)
        #expect(try test.verify().problems != [])
    }

    @Test("`verify` finds a damaged page anywhere in the file")
    func findsBrokenPage() async throws {
        let history = try await History()
        let content = try Data(contentsOf: URL(fileURLWithPath: history.path))
        let pages = content.count / 4096
        #expect(pages > 20)
        // The first two pages are left out, because opening refuses a database if one of them is damaged.
        for page in stride(from: 2, to: pages, by: max(1, pages / 12)) {
            var damaged = content
            damaged.replaceSubrange(page * 4096..<page * 4096 + 64, with: Data(repeating: 0xAA, count: 64))
            try damaged.write(to: URL(fileURLWithPath: history.path))
            let report = try? history.verify()
            #expect(report?.isWhole != true, "page \(page)")
        }
    }

    @Test("`verify` finds rows that are missing in an index")
    func findsIndex() async throws {
        let history = try await History()
        try history.test.execute(
            """
            PRAGMA writable_schema = ON;
            CREATE INDEX lost ON claims (claimed_at) WHERE claimed_at > 0;
            """
        )
        // Empty the index without SQLite: make its root page a leaf without cells.
        let connection = try SQLiteConnection(path: history.path, access: .readOnly, busyMilliseconds: 0)
        let root = try connection.integer("SELECT rootpage FROM sqlite_schema WHERE name = 'lost'")
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: history.path))
        try handle.seek(toOffset: UInt64((root - 1) * 4096))
        try handle.write(contentsOf: Data([0x0A, 0, 0, 0, 0, 0x10, 0, 0]))
        try handle.close()
        #expect(try history.verify().problems(of: "integrity").contains { $0.contains("lost") })
    }

    @Test("`verify` changes nothing, and leaves no file beside the database")
    func changesNothing() async throws {
        let history = try await History()
        let before = try Data(contentsOf: URL(fileURLWithPath: history.path))
        _ = try history.verify()
        #expect(try Data(contentsOf: URL(fileURLWithPath: history.path)) == before)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: history.test.folder.path) == ["afterlink.db"]
        )
    }

    @Test("`verify` reads one snapshot of a database that is written to meanwhile")
    func whileServing() async throws {
        let test = try await TestStore()
        async let reports = Task.detached {
            try (0..<5).map { _ in
                try test.verify()
            }
        }.value
        _ = try await test.run { session in
            for number in 0..<300 { _ = try await session.record(.sample(fingerprint: UInt64(number))) }
            return true
        }
        for report in try await reports { #expect(report.problems == []) }
    }
}
