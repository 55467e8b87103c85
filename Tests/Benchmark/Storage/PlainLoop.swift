import Foundation
import HTTPServer
import Support
import Threads

/// The yardstick for clicks: one thread that writes the same rows to the same schema by the C API, and commits
/// with a sync to disk after so many.
final class PlainLoop {
    private let database: PlainDatabase
    private let click: PlainStatement
    private let fingerprints: [PlainStatement]
    private let address: PlainStatement
    private let counts: [PlainStatement]
    private let begin: PlainStatement
    private let commit: PlainStatement
    private let clickColumns: ClickColumns
    private let fingerprintColumns: [FingerprintColumns]
    private let addressColumns: AddressColumns
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
        fingerprints = try template.fingerprints.map { try $0.inserting(into: database) }
        address = try template.address.inserting(into: database)
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
        fingerprintColumns = try template.fingerprints.map(FingerprintColumns.init)
        addressColumns = try AddressColumns(template.address)
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
        let (visit, exact, near) = (number(), number(), nearAddress())
        let columns = clickColumns
        click.bind(lastID, at: columns.id)
        click.bind(number(), at: columns.idLow)
        click.bind(now, at: columns.clickedAt)
        click.bind(now, at: columns.recordedAt)
        click.bind(now + windowMilliseconds, at: columns.expiresAt)
        click.bind(visit, at: columns.visit)
        click.bind(number(), at: columns.visitRest)
        click.bind(exact, at: columns.exactAddress)
        click.bind(near, at: columns.nearAddress)
        // Of several fingerprints, those of the template stay in the click's own row.
        var key = number()
        if fingerprints.count == 1 { click.bind(key, number(), at: columns.fingerprints) }
        try click.run()
        let visitor = number()
        for (index, (fingerprint, columns)) in zip(fingerprints, fingerprintColumns).enumerated() {
            key = fingerprintKey(key, index)
            fingerprint.bind(lastID, at: columns.click)
            fingerprint.bind(key, at: columns.fingerprint)
            fingerprint.bind(number(), at: columns.fingerprintRest)
            fingerprint.bind(now, at: columns.clickedAt)
            fingerprint.bind(now + windowMilliseconds, at: columns.expiresAt)
            fingerprint.bind(visit, at: columns.visit)
            fingerprint.bind(exact, at: columns.exactAddress)
            fingerprint.bind(near, at: columns.nearAddress)
            fingerprint.bind(visitor, at: columns.visitor)
            try fingerprint.run()
        }
        address.bind(lastID, at: addressColumns.click)
        address.bind(now, at: addressColumns.clickedAt)
        address.bind(exact, at: addressColumns.exactAddress)
        address.bind(near, at: addressColumns.nearAddress)
        if fingerprints.count == 1 { address.bindMark(key, at: addressColumns.marks) }
        try address.run()
    }

    /// The only fingerprint is nobody else's; of several each is another of those that many devices have.
    private func fingerprintKey(_ key: Int64, _ index: Int) -> Int64 {
        guard fingerprints.count > 1 else { return key }
        let kind = random.next() % Self.commonFingerprints * UInt64(fingerprints.count) + UInt64(index)
        return Int64(bitPattern: kind &* 0x9e37_79b9_7f4a_7c15)
    }

    /// One of the networks that clicks come from.
    private func nearAddress() -> Int64 {
        Int64(bitPattern: (random.next() % Self.networks + 1) &* 0x9e37_79b9_7f4a_7c15)
    }

    private static let commonFingerprints: UInt64 = 16_384
    private static let networks: UInt64 = 100_000

    private func number() -> Int64 { Int64(bitPattern: random.next()) }
}
