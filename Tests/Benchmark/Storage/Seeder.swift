import Attribution
import Crypto
import Foundation
import Glibc
import SQLite
import Support

/// How many clicks a seeded database contains: a year of clicks, of which the newest are live.
///
/// All other clicks have expired, the newest of these three days ago. Up to one in ten expired clicks was claimed.
struct SeedPlan {
    let stored: Int
    let live: Int

    /// Returns a plan whose clicks are all live, for a month.
    static func live(_ count: Int) -> SeedPlan { SeedPlan(stored: count, live: count) }

    var name: String { "\(stored)-\(live)" }

    /// The number of live clicks that the server records, with known fingerprints; the others are copies of their rows.
    var recorded: Int { live / copiesOfLive }
    var copiesOfLive: Int { live > 500_000 ? 2 : 1 }
    var copiesOfExpired: Int { stored - live >= 100_000 ? 100 : 1 }

    /// The version of this code's rows; raise it so that a run does not use databases of earlier versions.
    static let version = 5
    /// The maximum age in seconds of a database that a run uses: its live clicks expire much later.
    static let shelfLife = 14 * day
    static let window = 30 * day
    static let day = 86_400.0

    /// The first eight digits of the fingerprints of stored clicks, as a number.
    static let series: UInt32 = 0x5eed_5eed
    /// The first 48 digits of the fingerprints of stored clicks; the last 16 digits are the click's number.
    static let fingerprintPrefix = SampleRequests.hexadecimal(series) + String(repeating: "0", count: 40)
}

/// Stores a plan's clicks.
///
/// The server records a part of the clicks; expired and claimed clicks get their times in the past. The rest are copies
/// of the recorded rows, with other fingerprints, addresses and identifiers. So this code depends on few columns, and
/// the database has the rows that its server writes. Counts stay those of the recorded clicks, because the cost of a
/// report depends on the number of rows with counts, not on the counts.
struct Seeder {
    let plan: SeedPlan
    let installation: Installation
    let bench: Workbench

    func run() throws {
        let seconds = String(Int(SeedPlan.window))
        try installation.configure(["apps", "set", "--attribution-window", seconds])
        if plan.stored > plan.live { try storeExpired(plan.stored - plan.live) }
        let last = try installation.open().integer("SELECT ifnull(max(id), 0) FROM clicks")
        let server = try Server(installation, bench, isDurable: false)
        try record(plan.recorded, on: server)
        server.stop()
        try multiply(plan.copiesOfLive, after: last)
    }

    /// Stores clicks whose windows have ended.
    private func storeExpired(_ count: Int) throws {
        let now = Date().timeIntervalSince1970
        let end = now - SeedPlan.window - 3 * SeedPlan.day
        let history = Int64(end - 333 * SeedPlan.day) * 1000...Int64(end) * 1000
        let server = try Server(installation, bench, isDurable: false, extra: ["--unsafe-test-clock"])
        try record(count / plan.copiesOfExpired, on: server, during: history)
        // This request sets the server's clock to the current time, at which the windows have ended.
        let time = Timestamp(milliseconds: Int64(now) * 1000)
        let request = SampleRequests.check(SampleRequests.unknown, key: installation.keys.app, time: time)
        _ = try server.response(to: request)
        // The server deletes a click's addresses once the click has expired.
        let watch = Stopwatch()
        while try installation.open().integer("SELECT count(*) FROM click_addresses") > 0 {
            guard watch.seconds < 1800 else {
                throw BenchmarkError("The server does not close expired clicks.")
            }
            sleep(1)
        }
        server.stop()
        try multiply(plan.copiesOfExpired, after: 0)
    }

    /// Lets the server record clicks as fast as it can; clicks of the past come with checks that claim some of them.
    func record(
        _ count: Int,
        on server: Server,
        during history: ClosedRange<Int64>? = nil,
        connections: Int = 256
    ) throws {
        var plan =
            history == nil
            ? server.plan(.clicks, rate: Double(count), seconds: 1, connections: connections)
            : server.plan(.clicksOfThePast, rate: Double(count * 11 / 10), seconds: 1, connections: 32)
        plan.series = SeedPlan.series + (history == nil ? 0 : 1)
        (plan.history, plan.patience) = (history, 3600)
        let result = try plan.run()
        guard result.failures <= result.intended / 1000 else {
            throw BenchmarkError("The server refused \(result.failures) of \(result.intended) stored clicks.")
        }
    }

    /// Copies each click whose number is above `last`, with all its rows, until there are `copies` of the click.
    private func multiply(_ copies: Int, after last: Int64) throws {
        guard copies > 1 else { return }
        let database = try installation.open()
        // The copies need no journal on disk: a database whose creation fails is deleted.
        try database.execute(
            """
            PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -500000;
            PRAGMA foreign_keys = OFF; BEGIN;
            CREATE TEMP TABLE copies (number INTEGER PRIMARY KEY, byte BLOB);
            """
        )
        for number in 1..<copies {
            try database.statement("INSERT INTO copies VALUES (?1, ?2)").run(number, [UInt8(number)])
        }
        for table in try TableOfClicks.all(in: database) where table.hasRowsOfClicks {
            let names = table.columns.joined(separator: ", ")
            let values = table.columns.map { table.copied($0) }.joined(separator: ", ")
            try database.execute(
                """
                CREATE TEMP TABLE recorded AS SELECT * FROM main.\(table.name) WHERE \(table.click) > \(last);
                INSERT INTO main.\(table.name) (\(names)) SELECT \(values) FROM recorded CROSS JOIN copies;
                DROP TABLE recorded;
                """
            )
        }
        try database.execute(
            """
            UPDATE live_clicks SET count = count * \(copies);
            COMMIT; PRAGMA journal_mode = WAL;
            """
        )
    }
}

/// A table of the database, with the names of its columns.
struct TableOfClicks {
    let name: String
    let columns: [String]

    static func all(in database: SQLiteConnection) throws -> [TableOfClicks] {
        let names = try database.statement(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
        ).all { $0.text(0) }
        return try names.map { try TableOfClicks($0, in: database) }
    }

    init(_ name: String, in database: SQLiteConnection) throws {
        self.name = name
        let statement = try database.prepare("SELECT name FROM pragma_table_info(?1) ORDER BY cid")
        columns = try statement.all(name) { $0.text(0) }
    }

    /// The column with the click's number.
    var click: String { name == "clicks" ? "id" : "click" }

    /// Whether each row belongs to one click; rows of tables with an identifier of their own may mention one.
    var hasRowsOfClicks: Bool {
        name == "clicks" || columns.contains("click") && !columns.contains { ["id", "number"].contains($0) }
    }

    /// Returns all rows of the table, with their values as SQL literals.
    func rows(in database: SQLiteConnection) throws -> [[String]] {
        let quoted = columns.map { "quote(\($0))" }.joined(separator: ", ")
        return try database.prepare(text: "SELECT \(quoted) FROM \(name)").all { row in
            columns.indices.map { row.text(Int32($0)) }
        }
    }

    /// Returns a column's value in a copy, as SQL: click numbers differ by multiples of 512, and hashes in one byte.
    func copied(_ column: String) -> String {
        switch ClickColumn(column, of: name) {
        case .click: "\(column) + number * 512"
        case .hash, .exactAddress, .nearAddress: "(\(column) & ~255) | number"
        case .hashes, .marks: "CAST(byte || substr(\(column), 2) AS BLOB)"
        default: column
        }
    }

    /// Returns a column's value in a new click's row, as SQL: `?1` is the click's number, `hash` its indexed fingerprint.
    func varied(_ column: String, _ value: String, hash: String, window: Int64) -> String {
        switch ClickColumn(column, of: name) {
        case _ where value == "NULL": value
        case .click: "?1"
        case .clickedAt: "?1 >> 16"
        case .expiresAt: "(?1 >> 16) + \(window)"
        case .hash: hash
        case .random, .exactAddress: "random()"
        // A number among the networks that clicks come from.
        case .nearAddress: "(random() & 1073741823) % 100000 << 47"
        // A list of several hashes stays unchanged, because no statement of the loop uses the list.
        case .hashes where value.utf8.count == 35: "randomblob(16)"
        case .marks where value.utf8.count == 11: "randomblob(4)"
        default: value
        }
    }
}

/// The kinds of columns in the rows of a click, in the current schema and in earlier ones.
enum ClickColumn {
    case click, clickedAt, expiresAt, random, hash, exactAddress, nearAddress
    /// `hashes` are all hashes of the click, 16 bytes each; `marks` are the first four bytes of each hash.
    case hashes, marks

    init?(_ column: String, of table: String) {
        switch column {
        case "id" where table == "clicks", "click": self = .click
        case "clicked_at", "recorded_at", "moment", "since": self = .clickedAt
        case "expires_at", "other_moment": self = .expiresAt
        case "visit", "party", "id_low", "visit_rest", "post", "post_rest", "visitor", "fingerprint_rest",
            "hash_rest":
            self = .random
        case "fingerprint", "hash": self = .hash
        case "exact_address": self = .exactAddress
        case "near_address": self = .nearAddress
        case "fingerprints", "hashes": self = .hashes
        case "marks": self = .marks
        default: return nil
        }
    }
}

/// Databases with many clicks, created once for each schema and plan, and kept between runs.
struct SeedCache {
    private let folder: String

    init(folder: String) throws {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try removeOld()
    }

    /// Returns the database of a plan, and creates it unless the cache has a recent one.
    func installation(_ plan: SeedPlan, _ bench: Workbench) throws -> Installation {
        let new = try bench.emptyInstallation()
        let path = "\(folder)/clicks-\(try Self.schema(of: new))-\(plan.name)"
        let keysFile = URL(filePath: path + "/keys.json")
        if !FileManager.default.fileExists(atPath: path) {
            bench.say("storing \(plan.stored) clicks, \(plan.live) of them live …")
            try Seeder(plan: plan, installation: new, bench: bench).run()
            try JSONEncoder().encode(new.keys).write(to: new.folder.appending(path: "keys.json"))
            try FileManager.default.moveItem(atPath: new.folder.path, toPath: path)
        }
        let keys = try JSONDecoder().decode(Installation.Keys.self, from: Data(contentsOf: keysFile))
        let binary = bench.binary.file
        return try Installation(in: URL(filePath: path), binary: binary, keys: keys, isTemporary: false)
    }

    /// Returns a short hash of the tables that a binary creates.
    private static func schema(of installation: Installation) throws -> String {
        let database = try installation.open()
        let tables = try database.statement("SELECT sql FROM sqlite_schema ORDER BY rowid").all { $0.text(0) }
        let text = "\(SeedPlan.version)\n\(tables.joined(separator: "\n"))"
        return SHA256.digest(of: Array(text.utf8)).bytes.prefix(6).map { String($0, radix: 16) }.joined()
    }

    private func removeOld() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder)
        where name.hasPrefix("clicks-") {
            let path = "\(folder)/\(name)"
            let date = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
            guard let date, -date.timeIntervalSinceNow > SeedPlan.shelfLife else { continue }
            try FileManager.default.removeItem(atPath: path)
        }
    }
}
