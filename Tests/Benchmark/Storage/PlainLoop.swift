import Foundation
import HTTPServer
import Support

/// The yardstick for clicks: one thread that writes the same rows to the same schema by the C API, and commits
/// with a sync to disk after so many.
final class PlainLoop {
    private let database: PlainDatabase
    private let click: PlainStatement
    private let fingerprint: PlainStatement
    private let counts: [PlainStatement]
    private let begin: PlainStatement
    private let commit: PlainStatement
    private let clickColumns: ClickColumns
    private let fingerprintColumns: FingerprintColumns
    private let windowMilliseconds: Int64
    private var random: SeededGenerator
    private var lastID: Int64

    /// Opens a database that nobody else has open, to write to it.
    init(_ path: String, _ template: ClickTemplate) throws {
        let database = try PlainDatabase(path)
        self.database = database
        // As the server sets it. It copies the log beside its commits and bounds it at as many pages; one thread can
        // only do so in between.
        try database.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
            PRAGMA journal_size_limit = 67108864; PRAGMA secure_delete = FAST; PRAGMA cache_size = -4096;
            PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 8192;
            """
        )
        click = try template.click.inserting(into: database)
        fingerprint = try template.fingerprint.inserting(into: database)
        counts =
            try template.counters.map {
                try $0.inserting(
                    into: database,
                    orElse: "ON CONFLICT DO UPDATE SET clicks = clicks + excluded.clicks"
                )
            }
            + template.live.map {
                try $0.inserting(
                    into: database,
                    orElse: "ON CONFLICT DO UPDATE SET count = count + excluded.count"
                )
            }
        begin = try database.prepare("BEGIN IMMEDIATE")
        commit = try database.prepare("COMMIT")
        clickColumns = try ClickColumns(template.click)
        fingerprintColumns = try FingerprintColumns(template.fingerprint)
        windowMilliseconds = try template.click.windowMilliseconds()
        lastID = try database.integer("SELECT ifnull(max(id), 0) FROM clicks")
        random = SeededGenerator(seed: UInt64(bitPattern: lastID))
    }

    /// Writes for so long, and gives the rows a second.
    func run(rowsPerCommit: Int, seconds: Double) throws -> Double {
        let start = MonotonicTime.now()
        var rows = 0
        var elapsed = 0.0
        while elapsed < seconds {
            try begin.run()
            let now = Int64(Date().timeIntervalSince1970 * 1000)
            for _ in 0..<rowsPerCommit { try insert(at: now) }
            for count in counts { try count.run() }
            try commit.run()
            rows += rowsPerCommit
            elapsed = Double(MonotonicTime.now().nanoseconds(since: start)) / 1e9
        }
        return Double(rows) / elapsed
    }

    private func insert(at now: Int64) throws {
        lastID = max(lastID + 1, now << 16)
        let (visit, key, keyRest) = (number(), number(), number())
        let columns = clickColumns
        click.bind(lastID, at: columns.id)
        click.bind(number(), at: columns.idLow)
        click.bind(now, at: columns.clickedAt)
        click.bind(now, at: columns.recordedAt)
        click.bind(now + windowMilliseconds, at: columns.expiresAt)
        click.bind(visit, at: columns.visit)
        click.bind(number(), at: columns.visitRest)
        click.bind(key, keyRest, at: columns.fingerprints)
        try click.run()
        fingerprint.bind(lastID, at: fingerprintColumns.click)
        fingerprint.bind(key, at: fingerprintColumns.fingerprint)
        fingerprint.bind(keyRest, at: fingerprintColumns.fingerprintRest)
        fingerprint.bind(now, at: fingerprintColumns.clickedAt)
        fingerprint.bind(now + windowMilliseconds, at: fingerprintColumns.expiresAt)
        fingerprint.bind(visit, at: fingerprintColumns.visit)
        try fingerprint.run()
    }

    private func number() -> Int64 { Int64(bitPattern: random.next()) }
}
