#if PostgreSQL
import Attribution
@testable import PostgreSQL
@testable import PostgreSQLStorage
@testable import Storage
import Support
import Testing

@Suite("Verification of a PostgreSQL database", .blocking, .onPostgreSQL)
struct PostgreSQLVerificationTests {
    private let harness: ReaderHarness
    private let scope = ReaderHarness.scope
    private let noon = ReaderHarness.noon

    init() throws { harness = try ReaderHarness() }

    private func problems(_ keys: [ServerKey] = []) throws -> [String] {
        let report = try PostgreSQLVerification.run(harness.configuration, serverKeys: keys)
        return report.checks.flatMap { check in check.findings.map { "\(check.name): \($0.text)" } }
    }

    /// Writes clicks of a link in several slots with their counts, some claimed, and records of checks; the counts of the
    /// second half are not added to the tables.
    private func fill() throws -> [ClickRecord] {
        try harness.database.execute(
            """
            INSERT INTO links (number, id_high, id_low, app, slug, search_text, created_at, updated_at)
            VALUES (5, 8, 5, 3, 'spring', 'spring', 1, 1)
            """
        )
        var clicks: [ClickRecord] = []
        for step in 0..<12 as Range<Int64> {
            let at = ReaderHarness.time(-8000 * step)
            var click = try NewClick.sample(fingerprint: UInt64(step), at: at, visit: UInt64(step))
            click.evidence.address = AddressHashes(exact: UInt64(step), near: UInt64(step / 3))
            let record = try harness.add(click, isLong: step % 4 == 0, link: 5)
            clicks.append(record)
            var payload = CountPayload()
            payload.counts.add(1, .clicks, to: [CounterLabel(.total)], of: scope, at: at)
            payload.links[.init(link: 5, variant: "")] = LinkCounts(clicks: 1)
            if step % 3 == 0 {
                try harness.claim(record, after: 90, install: step % 2 == 0 ? hash(UInt64(900 + step)) : nil)
                let claimedAt = at.advanced(byMilliseconds: 90_000)
                payload.counts.add(1, .matches, to: [CounterLabel(.total)], of: scope, at: claimedAt)
                payload.links[.init(link: 5, variant: "")]?.matches = 1
                try harness.addCheck(claimedAt, server: step % 2) { $0.outcome = .match }
                payload.values[.keptChecks] = 1
            }
            try harness.store(payload)
            if step == 6 { try harness.connection.foldAll() }
        }
        return clicks
    }

    @Test("finds nothing wrong while some counts are not yet added to their tables")
    func findsNothing() throws {
        #expect(try problems() == [])
        _ = try fill()
        #expect(try problems() == [])
        #expect(
            try harness.database.execute("SELECT count(*) FROM count_deltas") == "5",
            "nothing is changed"
        )
        try harness.connection.foldAll()
        #expect(try problems() == [])
    }

    /// Damages, each with a finding that it leads to.
    @Test(
        "finds damage",
        arguments: [
            ("claims: were made after", "UPDATE clicks SET claimed_at = expires_at + 1 WHERE id = CLAIMED"),
            ("claims: lack some", "UPDATE clicks SET method = NULL WHERE id = CLAIMED"),
            ("claims: an app that does not exist", "UPDATE clicks SET scope = 98 WHERE id = OPEN"),
            ("claims: installations point", "UPDATE installs SET install_rest = install_rest + 1"),
            ("claims: installations point", "DELETE FROM clicks WHERE id = CLAIMED"),
            ("claims: no row of their installation", "DELETE FROM installs"),
            ("homes: clicks are stored", "UPDATE clicks SET b = (b + 1) % 64 WHERE id = OPEN"),
            ("homes: fingerprints are stored", "UPDATE click_index SET b = (b + 1) % 64 WHERE click = OPEN"),
            (
                "fingerprints: open fingerprints differ",
                "UPDATE clicks SET expires_at = expires_at + 1 WHERE id = OPEN"
            ),
            (
                "fingerprints: closed fingerprints differ",
                "UPDATE click_index SET since = since + 1 WHERE click = CLAIMED"
            ),
            ("fingerprints: as many fingerprints", "DELETE FROM click_index WHERE click = OPEN"),
            ("fingerprints: no row of addresses", "DELETE FROM click_addresses WHERE click = OPEN"),
            (
                "fingerprints: rows of addresses differ",
                "UPDATE click_addresses SET exact_address = 99 WHERE click = OPEN"
            ),
            (
                "open_and_closed: can still be found",
                "UPDATE click_index SET closed_at = NULL, closed_as = NULL WHERE click = CLAIMED"
            ),
            ("open_and_closed: robots' clicks", "UPDATE clicks SET is_robot = 1 WHERE id = OPEN"),
            (
                "open_and_closed: marked as a robot's",
                "UPDATE click_index SET closed_as = 'robot_click' WHERE click = CLAIMED"
            ),
            (
                "open_and_closed: nothing happened",
                "UPDATE click_index SET closed_at = closed_at + 1 WHERE click = CLAIMED"
            ),
            ("links: does not exist", "UPDATE clicks SET link = 77 WHERE id = OPEN"),
            ("links: fewer clicks than they have", "UPDATE link_counts SET clicks = clicks - 1"),
            ("links: fewer matches", "UPDATE link_counts SET matches = matches - 1"),
            ("links: their variants", "INSERT INTO link_counts VALUES (5, 'b', 99, 0, 0, 0)"),
            (
                "counts: hours count fewer clicks",
                "UPDATE counts SET count = 0 WHERE span = 2 AND metric = 'clicks'"
            ),
            ("counts: fewer matches", "UPDATE counts SET count = 0 WHERE metric = 'matches'"),
            (
                "counts: by the hour do not add up",
                "UPDATE counts SET count = 99 WHERE span = 1 AND metric = 'clicks'"
            ),
            ("counts: of four weeks", "UPDATE counts SET count = 99 WHERE span = 4 AND metric = 'clicks'"),
            ("counts: of all time", "UPDATE counts SET count = 99 WHERE span = 0 AND metric = 'clicks'"),
            ("counts: of records of checks", "DELETE FROM checks"),
            ("integrity: partition", "ALTER TABLE checks DETACH PARTITION checks_l"),
            (
                "migrations: its digest differs",
                "UPDATE migrations SET digest = decode(repeat('00', 32), 'hex')"
            ),
        ]
    )
    func damage(finding: String, script: String) throws {
        let clicks = try fill()
        let sql = script.replacing("CLAIMED", with: "\(clicks[6].number)")
            .replacing("OPEN", with: "\(clicks[1].number)")
        try harness.database.execute(sql)
        let parts = finding.split(separator: ": ", maxSplits: 1)
        let found = try problems()
        #expect(found.contains { $0.hasPrefix("\(parts[0]): ") && $0.contains(parts[1]) }, "\(found)")
    }

    @Test("the row of a caller may outlive its deleted click by the time in which the answer is repeated")
    func callerOfDeletedClick() throws {
        let click = try fill()[1]
        let end = click.expiresAt.milliseconds
        // No click has this number; the latest deleted click expired at `end`.
        try harness.database.execute(
            """
            INSERT INTO progress VALUES ('deleted_up_to', \(end));
            INSERT INTO installs VALUES (7, \(scope.number), 7, 7, \(click.number + 4096), \(end + 3_600_000))
            """
        )
        #expect(try problems() == [])
        try harness.database.execute("UPDATE installs SET until = until + 1 WHERE install = 7")
        #expect(try problems().count == 1)
    }

    @Test("compares the server keys, and reports another program's database and an empty one")
    func keysAndOthers() throws {
        let key = try #require(ServerKey(bytes: Array(repeating: 7, count: 32)))
        let other = try #require(ServerKey(bytes: Array(repeating: 8, count: 32)))
        try harness.database.execute(
            """
            INSERT INTO progress VALUES ('server_key', \(Int64(bitPattern: key.checkValue.index)));
            INSERT INTO former_server_keys VALUES (\(Int64(bitPattern: other.checkValue.index)), 7)
            """
        )
        #expect(try problems() == [])
        #expect(try problems([key, other]) == [])
        #expect(try problems([other]).count == 1)
        #expect(
            try problems([key]).first?.hasPrefix("server_key: former server keys are missing (1)") == true
        )
        try harness.database.execute("DROP TABLE migrations")
        #expect(try problems() == ["application: this is the database of another program"])
        try harness.database.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        #expect(try problems() == ["application: the database is empty"])
    }

    @Test("a survey has the database's numbers")
    func survey() throws {
        let clicks = try fill()
        try harness.connection.foldAll()
        let report = try PostgreSQLSurvey.report(harness.configuration)
        #expect(report.path == "the test's database" && report.summary.pendingMigrations.isEmpty)
        #expect(report.summary.apps == 2 && report.summary.clicks == 12 && report.summary.claims == 4)
        #expect(report.summary.newestClickAt == clicks[0].facts.recordedAt)
        #expect(report.summary.byteCount > 1_000_000)
        #expect(report.directory.apps.count == 2)
        #expect(report.clicksOfLastDay == 11, "the click of 24 hours and 26 minutes ago does not count")
        #expect(report.firstDay == Granularity.day.start(of: clicks[11].facts.recordedAt))
    }
}
#endif
