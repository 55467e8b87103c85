import Foundation
import SQLite
import Support

/// The statements that write what the server writes for one click, derived from rows that the server recorded.
struct ClickTemplate {
    /// A statement for each row that a click adds; its parameter is the click's number, whose upper bits are the time.
    private(set) var rowsOfClick: [String] = []
    /// A statement for each count that a commit changes.
    private(set) var rowsOfCommit: [String] = []
    /// The number of a click's rows in the index of fingerprints.
    private(set) var fingerprintCount = 0

    /// Tables that a click does not change, or whose changes do not depend on the number of clicks.
    private static let others: Set = [
        "apps", "app_fields", "keys", "directory", "migrations", "progress", "learning", "learnt_counters",
        "address_days", "jobs",
    ]

    /// Lets a server on a new database record a click, and reads its rows.
    ///
    /// The click has a ready-made fingerprint, or the signals of a browser on a device.
    init(_ bench: Workbench, from device: SampleDevice? = nil) throws {
        let installation = try bench.emptyInstallation()
        let body = device?.example ?? SampleRequests.clickBody(fingerprint: String(repeating: "a", count: 64))
        let agent = device?.userAgent ?? SampleRequests.userAgent
        let server = try Server(installation, bench)
        let request = SampleRequests.click(body: body, key: server.key, agent: agent)
        _ = try server.response(to: request, status: 201)
        server.stop()
        let database = try installation.open()
        let window = try database.integer("SELECT window_seconds * 1000 FROM clicks")
        for table in try TableOfClicks.all(in: database) where !Self.others.contains(table.name) {
            let rows = try table.rows(in: database)
            for (number, row) in rows.enumerated() {
                let insert = "INSERT INTO \(table.name) VALUES "
                if table.hasRowsOfClicks {
                    let values = zip(table.columns, row).map { column, value in
                        // If a click has several hashes, many devices share each; a single hash belongs to
                        // one click.
                        let bits = 14 + Int.bitWidth - rows.count.leadingZeroBitCount
                        let common = "((random() & 16383) * \(rows.count) + \(number)) << \(64 - bits)"
                        let hash = rows.count > 1 ? common : "random()"
                        return table.varied(column, value, hash: hash, window: window)
                    }
                    rowsOfClick.append(insert + "(\(values.joined(separator: ", ")))")
                    if table.columns.contains(where: { ClickColumn($0, of: table.name) == .hash }) {
                        fingerprintCount += 1
                    }
                } else {
                    let count = ["count", "clicks"].first(where: table.columns.contains)
                    let update = count.map { "UPDATE SET \($0) = \($0) + 1" } ?? "NOTHING"
                    rowsOfCommit.append(insert + "(\(row.joined(separator: ", "))) ON CONFLICT DO \(update)")
                }
            }
        }
        guard fingerprintCount > 0, !rowsOfCommit.isEmpty else {
            throw BenchmarkError("The benchmark's ClickColumn does not know the columns of a click's rows.")
        }
    }
}

/// The reference for clicks: one thread that writes the same rows to the same schema, and commits with a sync to disk
/// after a given number of clicks.
final class PlainLoop {
    private let rowsOfClick: [Statement]
    private let rowsOfCommit: [Statement]
    private let begin: Statement
    private let commit: Statement
    private var lastID: Int64
    /// The installation of the database, which must not be deleted before the loop is released.
    private let installation: Installation

    /// Opens a copy of the database with live clicks, which no other process has open.
    init(_ bench: Workbench, _ template: ClickTemplate) throws {
        installation = try bench.installation(.live(bench.scale.liveClicks))
        let database = try installation.open()
        // The server's settings. The server checkpoints on another thread, at the same number of pages; one thread can
        // only do so between its commits.
        try database.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
            PRAGMA journal_size_limit = 67108864; PRAGMA secure_delete = FAST; PRAGMA cache_size = -4096;
            PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 8192;
            """
        )
        rowsOfClick = try template.rowsOfClick.map { try database.prepare(text: $0) }
        rowsOfCommit = try template.rowsOfCommit.map { try database.prepare(text: $0) }
        begin = try database.prepare("BEGIN IMMEDIATE")
        commit = try database.prepare("COMMIT")
        lastID = try database.integer("SELECT ifnull(max(id), 0) FROM clicks")
    }

    /// Writes for about the given number of seconds, and returns the clicks written a second.
    func run(clicksPerCommit: Int, seconds: Double) throws -> Double {
        let watch = Stopwatch()
        var clicks = 0
        while watch.seconds < seconds {
            try begin.run()
            let now = Int64(Date().timeIntervalSince1970 * 1000)
            for _ in 0..<clicksPerCommit {
                lastID = max(lastID + 1, now << 16)
                for insert in rowsOfClick { try insert.run(lastID) }
            }
            for count in rowsOfCommit { try count.run() }
            try commit.run()
            clicks += clicksPerCommit
        }
        return Double(clicks) / watch.seconds
    }
}
