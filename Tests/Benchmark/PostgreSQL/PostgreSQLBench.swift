#if PostgreSQL
import Foundation
import Support

/// The PostgreSQL server of a run, on the disk of the run's folder, with databases for the server under measurement and
/// for pgbench.
final class PostgreSQLBench {
    let cluster: PostgreSQLCluster
    private unowned let bench: Workbench
    private let secret: String
    private var seeds: [Int: (database: PostgreSQLTestDatabase, keys: Installation.Keys)] = [:]

    /// The log of statements, as PostgreSQL writes it.
    let log: URL

    init(_ bench: Workbench) throws {
        self.bench = bench
        let data = bench.folder.makeFolder("postgresql")
        log = data.appending(path: "log/afterlink.json")
        cluster = try PostgreSQLCluster(
            [
                "shared_buffers = 1GB", "max_wal_size = 8GB",
                "shared_preload_libraries = 'pg_stat_statements'",
                "logging_collector = on", "log_destination = 'jsonlog'", "log_filename = 'afterlink'",
                "log_rotation_age = 0", "log_rotation_size = 0",
            ],
            dataFolder: data
        )
        try cluster.execute("CREATE EXTENSION pg_stat_statements")
        secret = bench.folder.path + "/secret"
        let digits = (0..<4).map { _ in String(UInt64.random(in: 1 << 60 ... .max), radix: 16) }.joined()
        let attributes = [FileAttributeKey.posixPermissions: 0o600]
        _ = FileManager.default.createFile(
            atPath: secret,
            contents: Data(digits.utf8),
            attributes: attributes
        )
    }

    /// The output of `pgbench --version`: the program's name and version.
    static func version() throws -> String {
        let output = try ExternalProgram.run(try pgbench.path, ["--version"])
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    static var pgbench: URL {
        get throws {
            guard let programs = PostgreSQLCluster.programs else {
                throw NotMeasurable(reason: PostgreSQLCluster.missing)
            }
            return programs.appending(path: "pgbench")
        }
    }

    /// Returns a copy of a database whose clicks are all live; the copy is deleted with the returned value.
    func database(_ clicks: Int) throws -> ServedDatabase {
        let seed = try seeds[clicks] ?? store(clicks)
        seeds[clicks] = seed
        return ServedDatabase(try PostgreSQLTestDatabase(in: cluster, copying: seed.database), seed.keys)
    }

    /// Creates the tables in a new database, by default one of ``cluster``.
    func emptyDatabase(_ database: (any SQLTestDatabase)? = nil) throws -> ServedDatabase {
        let database = try database ?? PostgreSQLTestDatabase(in: cluster)
        let installation = try Installation(
            in: bench.folder.makeFolder("init"),
            binary: bench.binary.file,
            databaseURL: database.socketURL,
            settings: ["--secret-file", secret]
        )
        return ServedDatabase(database, installation.keys)
    }

    /// Moves everything of an SQLite file into a new database.
    func moved(from source: Installation) throws -> ServedDatabase {
        let database = try PostgreSQLTestDatabase(in: cluster)
        let ends = ["--from", "sqlite:" + source.database.path, "--to", database.socketURL]
        _ = try ExternalProgram.run(bench.binary.file.path, ["migrate"] + ends + ["--secret-file", secret])
        return ServedDatabase(database, source.keys)
    }

    /// Starts a server on a database, through a port of a ``DelayProxy`` or else directly.
    func server(
        _ database: ServedDatabase,
        through port: UInt16? = nil,
        isDurable: Bool = true,
        extra: [String] = []
    ) throws -> Server {
        var (name, settings) = (database.database.socketURL, ["--secret-file", secret])
        if let port {
            let password = bench.folder.path + "/password"
            try cluster.password.write(toFile: password, atomically: false, encoding: .utf8)
            settings += ["--database-password-file", password]
            let user = PostgreSQLCluster.user
            name = "postgres://\(user)@127.0.0.1:\(port)/\(database.database.name)?sslmode=disable"
        }
        let installation = try Installation(
            in: bench.folder.makeFolder("server"),
            binary: bench.binary.file,
            keys: database.keys,
            databaseURL: name,
            settings: settings
        )
        return try Server(installation, bench, isDurable: isDurable, extra: extra, on: database.database)
    }

    /// Returns how many statements that match a pattern of LIKE the database has executed.
    func statements(_ database: ServedDatabase, like pattern: String) throws -> Double {
        let count = try cluster.execute(
            """
            SELECT coalesce(sum(calls), 0) FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
            WHERE datname = '\(database.database.name)' AND query LIKE '\(pattern)'
            """
        )
        return Double(count) ?? .nan
    }
}

/// A database with the keys of its app.
struct ServedDatabase {
    let database: any SQLTestDatabase
    let keys: Installation.Keys

    init(_ database: any SQLTestDatabase, _ keys: Installation.Keys) {
        (self.database, self.keys) = (database, keys)
    }

    /// How many write transactions the running servers have committed.
    func commits() throws -> Double {
        Double(try database.execute("SELECT sum(batch) FROM servers")) ?? .nan
    }

    /// How many connections the running servers have, also those of their jobs.
    func connections() throws -> Double {
        let count = try database.execute(
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
            """
        )
        return Double(count) ?? .nan
    }

    /// Whether counts wait to be added to the tables of counts.
    func hasSeparateCounts() throws -> Bool {
        try database.execute("SELECT count(*) FROM count_deltas") != "0"
    }
}

/// Stored clicks.
extension PostgreSQLBench {
    /// Lets a server record live clicks in a new database.
    func record(_ clicks: Int, in database: any SQLTestDatabase, connections: Int = 256) throws
        -> ServedDatabase
    {
        bench.say("recording \(clicks) clicks in PostgreSQL …")
        let served = try emptyDatabase(database)
        let server = try server(served, isDurable: false)
        let seeder = Seeder(plan: .live(clicks), installation: server.installation, bench: bench)
        try seeder.record(clicks, on: server, connections: connections)
        server.stop()
        return served
    }

    /// Lets a server record a part of the clicks, and copies their rows, as ``Seeder`` does.
    private func store(_ clicks: Int) throws -> (database: PostgreSQLTestDatabase, keys: Installation.Keys) {
        let copies = max(clicks / bench.scale.recordedOnPostgreSQL, 1)
        let database = try PostgreSQLTestDatabase(in: cluster)
        let served = try record(clicks / copies, in: database)
        // A click's number has 5 bits for the server that assigned it. This server's number is 0.
        guard copies <= 32 else { throw BenchmarkError("A database has at most 32 copies of a click.") }
        for table in ["clicks", "click_index", "click_addresses"] where copies > 1 {
            let columns = try database.execute(
                """
                SELECT column_name FROM information_schema.columns WHERE table_name = '\(table)' ORDER BY ordinal_position
                """
            ).split(separator: "\n").map(String.init)
            let values = columns.map { Self.copied($0, of: table) }.joined(separator: ", ")
            try database.execute(
                """
                INSERT INTO \(table) (\(columns.joined(separator: ", ")))
                SELECT \(values) FROM \(table) CROSS JOIN generate_series(1, \(copies - 1)) AS copy
                """
            )
        }
        try database.execute("UPDATE live_clicks SET count = count * \(copies)")
        try database.execute("VACUUM (ANALYZE)")
        try cluster.execute("CHECKPOINT")
        return (database, served.keys)
    }

    /// Returns a column's value in a copy: another server's number, and hashes that differ in their second byte, because
    /// the first one contains the bucket.
    private static func copied(_ column: String, of table: String) -> String {
        switch column {
        case "id" where table == "clicks", "click": "\(column) + (copy << 7)"
        case "hash", "visit", "post", "visitor", "near_address", "exact_address":
            "\(column) # (copy << 8)"
        case "fingerprints", "marks": "set_byte(\(column), 1, get_byte(\(column), 1) # copy)"
        default: column
        }
    }
}
#endif
