import Foundation
import SQLite
import Support

/// The statements that write what the server writes for one click, learnt by letting it.
struct ClickTemplate {
    /// A statement, as SQL, and what its parameters are.
    struct Insert {
        let sql: String
        let parameters: [ClickColumn]
    }

    /// One for each row that a click adds.
    private(set) var rowsOfClick: [Insert] = []
    /// One for each count that a commit moves.
    private(set) var rowsOfCommit: [Insert] = []
    /// How many rows of the index a click has.
    private(set) var fingerprintCount = 0
    let windowMilliseconds: Int64

    /// Tables that a click leaves as they are, or that the server changes now and then whatever the number of clicks.
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
        let answer = try server.answer(SampleRequests.click(body: body, key: server.key, agent: agent))
        guard answer.status == 201 else { throw BenchmarkError("The server records no click.") }
        server.stop()
        let database = try installation.open()
        windowMilliseconds = try database.integer("SELECT window_seconds * 1000 FROM clicks")
        for table in try TableOfClicks.all(in: database) where !Self.others.contains(table.name) {
            for insert in try Self.inserts(into: table, database) {
                guard table.hasRowsOfClicks else {
                    rowsOfCommit.append(insert)
                    continue
                }
                if insert.parameters.contains(.hash) { fingerprintCount += 1 }
                rowsOfClick.append(insert)
            }
        }
        guard fingerprintCount > 0, !rowsOfCommit.isEmpty else {
            throw BenchmarkError("The rows of a click are not what the benchmark's ClickColumn knows.")
        }
    }

    /// Statements that write a table's rows once more: with parameters for what differs from click to click, and with
    /// the value as it is for everything else.
    private static func inserts(into table: TableOfClicks, _ database: SQLiteConnection) throws -> [Insert] {
        let isOfClick = table.hasRowsOfClicks
        let kinds = table.columns.map { isOfClick ? ClickColumn($0, of: table.name) : nil }
        let quoted = table.columns.map { "quote(\($0))" }.joined(separator: ", ")
        let count = ["count", "clicks"].first(where: table.columns.contains)
        let update = count.map { "UPDATE SET \($0) = \($0) + 1" } ?? "NOTHING"
        let conflict = isOfClick ? "" : " ON CONFLICT DO \(update)"
        return try database.prepare(text: "SELECT \(quoted) FROM \(table.name)").all { row in
            var used: [ClickColumn] = []
            let values = kinds.enumerated().map { index, kind in
                let value = row.text(Int32(index))
                // Several hashes stay as they are: the click's own row leads to none of the loop's.
                let isVaried =
                    kind != nil && value != "NULL" && (kind != .hashes || value.utf8.count == 35)
                    && (kind != .marks || value.utf8.count == 11)
                guard isVaried, let kind else { return value }
                if !used.contains(kind) { used.append(kind) }
                return "?\(kind.parameter)"
            }
            return Insert(
                sql: "INSERT INTO \(table.name) VALUES (\(values.joined(separator: ", ")))\(conflict)",
                parameters: used
            )
        }
    }
}

/// The yardstick for clicks: one thread that writes the same rows to the same schema, and commits with a sync to disk
/// after a given number of them.
final class PlainLoop {
    private typealias Insert = (statement: Statement, parameters: [ClickColumn])

    private let rowsOfClick: [Insert]
    private let rowsOfCommit: [Insert]
    private let begin: Statement
    private let commit: Statement
    private let fingerprintCount: Int
    private let windowMilliseconds: Int64
    private var random: SeededGenerator
    private var lastID: Int64
    /// By the number of the column's kind.
    private var numbers = [Int64](repeating: 0, count: ClickColumn.allCases.count)

    /// Opens a database that nobody else has open, to write to it.
    init(_ installation: Installation, _ template: ClickTemplate) throws {
        let database = try installation.open()
        // As the server sets it. It copies the log beside its commits and bounds it at as many pages; one thread can
        // only do so in between.
        try database.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
            PRAGMA journal_size_limit = 67108864; PRAGMA secure_delete = FAST; PRAGMA cache_size = -4096;
            PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 8192;
            """
        )
        rowsOfClick = try template.rowsOfClick.map { (try database.prepare(text: $0.sql), $0.parameters) }
        rowsOfCommit = try template.rowsOfCommit.map { (try database.prepare(text: $0.sql), $0.parameters) }
        begin = try database.prepare("BEGIN IMMEDIATE")
        commit = try database.prepare("COMMIT")
        fingerprintCount = template.fingerprintCount
        windowMilliseconds = template.windowMilliseconds
        lastID = try database.integer("SELECT ifnull(max(id), 0) FROM clicks")
        random = SeededGenerator(seed: UInt64(bitPattern: lastID))
    }

    /// Writes for about the given number of seconds, and returns the rate of clicks.
    func run(clicksPerCommit: Int, seconds: Double) throws -> Double {
        let watch = Stopwatch()
        var clicks = 0
        while watch.seconds < seconds {
            try begin.run()
            let now = Int64(Date().timeIntervalSince1970 * 1000)
            for _ in 0..<clicksPerCommit { try insert(at: now) }
            for count in rowsOfCommit { try count.statement.run() }
            try commit.run()
            clicks += clicksPerCommit
        }
        return Double(clicks) / watch.seconds
    }

    private func insert(at now: Int64) throws {
        lastID = max(lastID + 1, now << 16)
        set(.click, lastID)
        set(.clickedAt, now)
        set(.expiresAt, now + windowMilliseconds)
        for column in [ClickColumn.visit, .random, .hash, .hashRest, .exactAddress] { set(column, number()) }
        // One of the networks that clicks come from.
        set(.nearAddress, spread(random.next() % Self.networkCount + 1))
        for (index, insert) in rowsOfClick.enumerated() {
            if fingerprintCount > 1, insert.parameters.contains(.hash) {
                // One of those that many devices have; a single fingerprint is nobody else's.
                let kind = random.next() % Self.commonFingerprintCount * UInt64(rowsOfClick.count)
                set(.hash, spread(kind + UInt64(index)))
            }
            for column in insert.parameters { try bind(column, to: insert.statement) }
            while try insert.statement.step() {}
            insert.statement.reset()
        }
    }

    private func bind(_ column: ClickColumn, to statement: Statement) throws {
        let index = column.parameter
        switch column {
        case .hashes:
            let words = [ClickColumn.hash, .hashRest].map { numbers[$0.rawValue] }
            try statement.bindBlob(words.flatMap { Self.bytes($0, count: 8) }, at: index)
        case .marks:
            try statement.bindBlob(Self.bytes(numbers[ClickColumn.hash.rawValue], count: 4), at: index)
        default: try statement.bindInteger(numbers[column.rawValue], at: index)
        }
    }

    /// The lowest bytes of a word, the lowest first.
    private static func bytes(_ word: Int64, count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: word >> Int64(8 * $0)) }
    }

    private func set(_ column: ClickColumn, _ value: Int64) { numbers[column.rawValue] = value }
    private func spread(_ number: UInt64) -> Int64 { Int64(bitPattern: number &* 0x9e37_79b9_7f4a_7c15) }
    private func number() -> Int64 { Int64(bitPattern: random.next()) }

    private static let commonFingerprintCount: UInt64 = 16_384
    private static let networkCount: UInt64 = 100_000
}
