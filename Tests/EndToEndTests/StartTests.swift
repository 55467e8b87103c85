import Foundation
import SQLite
import Support
import Testing

@Suite("A start after a kill", .blocking(minutes: 20))
struct StartTests {
    private static let clickCount = isLong ? 1_000_000 : 20_000
    /// The size of the log at the start, in bytes; in the long tests nearly the largest size (`WriteAheadLog`).
    private static let logByteCount = isLong ? 60_000_000 : 8_000_000

    @Test("a start after a kill is ready with many clicks and a log of the largest size, which stays bounded")
    func startsOnMuch() throws {
        let installation = try Installation()
        let first = try AfterlinkProcess(installation)
        #expect(try first.connect().click(fingerprint(1)).status == 201)
        first.kill()
        try fill(installation.database)
        let log = installation.database.path + "-wal"
        #expect(try byteCount(log) > Self.logByteCount)

        let (second, connection) = try installation.serve()
        #expect(try connection.get("/readyz").status == 200)
        #expect(try connection.check(fingerprint(1)).isMatch)

        var load = ClickLoad(key: installation.keys.app, seed: 40)
        try load.run(on: second)
        #expect(try byteCount(log) < 72_000_000)
        let third = try AfterlinkProcess(installation)
        #expect(try third.connect().get("/readyz").status == 200)
        try load.verify(on: third, all: true)
        #expect(load.lost.isEmpty)
    }

    /// Multiplies the one click, and leaves the last writes in the log, as a kill does.
    private func fill(_ database: URL) throws {
        let connection = try SQLiteConnection(path: database.path, access: .readWrite, busyMilliseconds: 5000)
        try connection.setCheckpointOnClose(false)
        try connection.execute("PRAGMA synchronous = OFF")
        var (count, width) = (0, 20_000)
        while count < Self.clickCount {
            try multiply(from: count, to: count + width, connection)
            count += width
            _ = try connection.checkpoint(.truncate)
        }
        width = 2000
        while connection.logPageCount * 4096 < Self.logByteCount {
            try multiply(from: count, to: count + width, connection)
            count += width
        }
    }

    @Test("a start on a database of a development version is refused, with exit status 78 and advice")
    func developmentVersion() throws {
        let installation = try Installation()
        let connection = try installation.open()
        try connection.execute(
            "UPDATE migrations SET name = '0001_clicks_claims_counters.sql' WHERE number = 1"
        )
        let serve = "serve --listen 127.0.0.1:0"
        let refusals: [(String, Int32)] = [(serve, 78), ("apps list", 78), ("doctor", 1), ("verify", 1)]
        for (command, status) in refusals {
            let output = try installation.run(command.split(separator: " ").map(String.init))
            #expect(output.status == status, "\(command): \(output.errors)")
            let said = output.text + output.errors
            #expect(said.contains("made by a development version of Afterlink"), "\(command): \(said)")
        }
        let output = try installation.run(serve.split(separator: " ").map(String.init))
        #expect(output.errors.contains("afterlink links export"))
    }

    @Test("a database of a newer version is refused with exit status 78, because no restart helps")
    func newerVersion() throws {
        let installation = try Installation()
        let connection = try installation.open()
        try connection.execute("PRAGMA user_version = 9999")
        for command in [["serve", "--listen", "127.0.0.1:0"], ["stats"]] {
            let output = try installation.run(command)
            #expect(output.status == 78, "\(output.errors)")
            #expect(output.errors.contains("start a newer program"), "\(output.errors)")
        }
    }

    private func multiply(from first: Int, to end: Int, _ connection: SQLiteConnection) throws {
        try connection.execute(
            """
            BEGIN;
            WITH RECURSIVE numbers (n) AS (SELECT \(first + 1) UNION ALL SELECT n + 1 FROM numbers WHERE n < \(end))
            INSERT INTO clicks (
                id, id_low, scope, clicked_at, recorded_at, window_seconds, expires_at, destination, campaign_key,
                journey_id, source, raw_source, platform, os_version, metadata, is_robot, is_contradictory, visit,
                visit_rest, post, post_rest, fingerprints, browser, visitor
            ) SELECT id + n, id_low, scope, clicked_at, recorded_at, window_seconds, expires_at, destination,
                campaign_key, journey_id, source, raw_source, platform, os_version, metadata, is_robot,
                is_contradictory, random(), random(), random(), random(), randomblob(16), browser, random()
            FROM (SELECT * FROM clicks ORDER BY id LIMIT 1), numbers;
            WITH RECURSIVE numbers (n) AS (SELECT \(first + 1) UNION ALL SELECT n + 1 FROM numbers WHERE n < \(end))
            INSERT INTO click_index SELECT scope, random(), 0, since, click + n, random(), expires_at, random(), NULL, NULL,
                NULL, platform_form, weight, NULL, NULL, visitor, destination, campaign, NULL, NULL
            FROM (SELECT * FROM click_index ORDER BY click LIMIT 1), numbers;
            COMMIT
            """
        )
    }

    private func byteCount(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.size] as? NSNumber)?.intValue ?? 0
    }
}
