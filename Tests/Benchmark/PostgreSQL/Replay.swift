#if PostgreSQL
import Foundation
import Support

/// pgbench with the statements and the values that the server has sent.
///
/// A server on a copy of a database serves a load while PostgreSQL logs its statements. pgbench then executes
/// the same statements, prepared, on another copy of that database, so that each row has the state that the
/// statement expects. Before each unit, pgbench reads the values from a table; the time for this is measured
/// separately, and does not count.
final class Replay {
    /// What pgbench executes between two reads of values.
    enum Unit {
        /// A transaction, in two trips: up to the last statement that reads, and the rest.
        case transaction
        /// This many statements, which the server sent one by one, in one trip.
        case statements(Int)
    }

    private let postgreSQL: PostgreSQLBench
    private let database: ServedDatabase
    private let unit: Unit
    private var writes: Bool { if case .transaction = unit { true } else { false } }
    private let connections: Int
    private let folder: URL
    /// The number of units, and the number that one turn executes if the units write.
    private let count: Int
    private let countOfTurn: Int
    private var next = 0

    /// The settings of the server's connections that change how statements are planned.
    ///
    /// The first list applies to all connections, the second one only to connections of loops.
    private static let settings = ["jit", "enable_seqscan", "enable_hashjoin", "enable_mergejoin"].map {
        "-c \($0)=off"
    }
    private static let settingsOfLoops = ["-c enable_bitmapscan=off -c plan_cache_mode=force_generic_plan"]

    /// - Parameters:
    ///   - unit: the units of the load.
    ///   - statement: a pattern of LIKE for the statements whose elements are counted.
    ///   - connections: how many connections pgbench has.
    ///   - clicks: how many clicks the database has.
    ///   - bench: the workbench.
    ///   - load: sends requests to the server.
    /// - Throws: if the server has not sent such statements.
    init(
        _ unit: Unit,
        counting statement: String,
        connections: Int = 1,
        clicks: Int,
        _ bench: Workbench,
        load: (Server) throws -> Void
    ) throws {
        (postgreSQL, self.unit, self.connections) = (try bench.postgreSQL.get(), unit, connections)
        database = try postgreSQL.database(clicks)
        folder = bench.folder.makeFolder("pgbench")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let offset = Self.size(of: postgreSQL.log)
        let captured = try postgreSQL.database(clicks)
        try postgreSQL.cluster.execute("ALTER DATABASE \(captured.database.name) SET log_statement = 'all'")
        let server = try postgreSQL.server(captured)
        try load(server)
        server.stop()
        // PostgreSQL writes its log a moment later.
        sleep(1)
        let sql = Self.reading(postgreSQL.log, from: offset, of: captured.database.name, unit, statement)
        let found = try database.database.execute(sql)
        guard let shape = try? JSONDecoder().decode(Shape.self, from: Data(found.utf8)) else {
            throw BenchmarkError("The server has sent no statements like \(statement).")
        }
        count = shape.count
        countOfTurn = count / (bench.options.rounds + 1)
        bench.say("pgbench repeats \(count) of \(shape.all) units with \(shape.items) elements.")
        try write(shape)
    }

    /// Runs pgbench, and returns how many counted elements it processed a second.
    ///
    /// If the units write, a turn executes its share of the units, however long that takes.
    func turn(_ seconds: Double) throws -> Double {
        var (size, units) = (["-T", String(max(1, Int(seconds)))], 0..<count)
        if writes {
            guard count - next >= max(countOfTurn, 1) else {
                throw BenchmarkError("pgbench has too few captured transactions.")
            }
            (size, units) = (["-t", String(countOfTurn)], next..<next + countOfTurn)
            next += countOfTurn
        }
        let items = try database.database.execute(
            "SELECT avg(items) FROM replay WHERE n >= \(units.lowerBound) AND n < \(units.upperBound)"
        )
        let whole = try rate("unit.sql", size, units)
        let ofValues = try rate("values.sql", size, units)
        return (Double(items) ?? .nan) / (1 / whole - 1 / ofValues)
    }

    private func rate(_ script: String, _ size: [String], _ units: Range<Int>) throws -> Double {
        let output = try ChildProcess.run(
            PostgreSQLBench.pgbench,
            [
                "-n", "-M", "prepared", "-c", String(connections), "-f", folder.appending(path: script).path,
                "-D", "n=\(units.lowerBound)", "-D", "last=\(units.upperBound - 1)",
            ] + size + [database.database.name],
            environment: [
                "PGHOST": postgreSQL.cluster.folder.path, "PGPORT": String(postgreSQL.cluster.port),
                "PGUSER": PostgreSQLCluster.user,
                "PGOPTIONS": (Self.settings + (writes ? [] : Self.settingsOfLoops)).joined(separator: " "),
            ]
        )
        let line = output.text.split(separator: "\n").first { $0.hasPrefix("tps = ") }
        guard output.status == 0, let rate = line.flatMap({ Double($0.split(separator: " ")[2]) }) else {
            throw BenchmarkError("pgbench failed: \(output.errors.suffix(1000))")
        }
        return rate
    }

    private static func size(of file: URL) -> UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
        return (attributes?[.size] as? NSNumber)?.uint64Value ?? 0
    }
}

/// The statements of each unit.
private struct Shape: Decodable {
    let texts: [String]
    /// How many parameters each statement has.
    let parameters: [Int]
    /// The types of the parameters for columns, by table and column; the others are `bigint[]`.
    let types: [String: String]
    /// The number of units of this shape, and of all units.
    let count: Int
    let all: Int
    /// The number of counted elements.
    let items: Int
}

/// The log, and the scripts.
extension Replay {
    /// Returns SQL that reads the log into the table `replay`, and returns the most frequent ``Shape``.
    private static func reading(
        _ log: URL,
        from offset: UInt64,
        of database: String,
        _ unit: Unit,
        _ statement: String
    ) -> String {
        let (counted, number): (String, String)
        switch unit {
        case .transaction:
            counted = "true"
            number = "count(*) FILTER (WHERE text = 'BEGIN') OVER (PARTITION BY session ORDER BY i)"
        case .statements(let size):
            counted = "text LIKE '\(statement)'"
            number = "(row_number() OVER (PARTITION BY session ORDER BY i) - 1) / \(size)"
        }
        return """
            CREATE TEMP TABLE lines (i bigint GENERATED ALWAYS AS IDENTITY, line text);
            COPY lines (line) FROM PROGRAM 'tail -c +\(offset + 1) \(log.path)'
            WITH (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02');
            CREATE TEMP TABLE units AS SELECT array_agg(text ORDER BY i) AS texts, array_agg(values ORDER BY i) AS values,
            sum(items) AS items, min(i) AS i FROM (
            SELECT *, \(number) AS number FROM (
            SELECT i, line->>'session_id' AS session, regexp_replace(line->>'message', '^execute [^:]*: ', '') AS text,
            line->>'detail' AS values,
            CASE WHEN line->>'message' LIKE 'execute %: \(statement)'
            THEN cardinality(substring(line->>'detail' FROM '\\$1 = ''([^'']*)''')::text[]) END AS items
            FROM (SELECT i, line::jsonb FROM lines) l
            WHERE line->>'dbname' = '\(database)' AND line->>'message' LIKE 'execute %') e WHERE \(counted)) e
            GROUP BY session, number HAVING sum(items) > 0;
            CREATE TEMP TABLE shape AS SELECT texts FROM units GROUP BY texts ORDER BY sum(items) DESC LIMIT 1;
            CREATE TABLE replay AS SELECT row_number() OVER (ORDER BY i) - 1 AS n, items,
            (SELECT array_agg(coalesce(replace(m[2], '''''', ''''), '') ORDER BY s, p)
            FROM unnest(values) WITH ORDINALITY AS v (detail, s)
            CROSS JOIN regexp_matches(detail, '\\$\\d+ = (NULL|''((?:[^'']|'''')*)'')', 'g') WITH ORDINALITY AS r (m, p)
            ) AS p FROM units JOIN shape USING (texts);
            ALTER TABLE replay ADD PRIMARY KEY (n);
            SELECT json_build_object('texts', texts, 'count', (SELECT count(*) FROM replay),
            'all', (SELECT count(*) FROM units), 'items', (SELECT sum(items) FROM replay),
            'parameters', (SELECT json_agg(coalesce(regexp_count(detail, '\\$\\d+ = '), 0)) FROM (
            SELECT unnest(values) AS detail FROM units WHERE units.texts = shape.texts AND i = (
            SELECT min(i) FROM units u WHERE u.texts = shape.texts)) d),
            'types', (SELECT json_object_agg(table_name || '.' || column_name, data_type || '[]')
            FROM information_schema.columns WHERE table_schema = 'public'
            AND data_type IN ('text', 'double precision', 'bytea'))) FROM shape;
            """
    }

    /// Writes the scripts, and the values as a column for each parameter.
    private func write(_ shape: Shape) throws {
        let total = shape.parameters.reduce(0, +)
        let columns = (1...max(total, 1)).map { "p[\($0)] AS v\($0)" }.joined(separator: ", ")
        try database.database.execute(
            """
            CREATE TABLE units AS SELECT n, items, \(columns) FROM replay; DROP TABLE replay;
            ALTER TABLE units RENAME TO replay; ALTER TABLE replay ADD PRIMARY KEY (n);
            """
        )
        try database.database.execute("VACUUM (ANALYZE) replay")
        let names = (1...max(total, 1)).map { "v\($0)" }.joined(separator: ", ")
        var lines = ["SELECT \(names) FROM replay WHERE n = :n \\gset"]
        let step = writes ? "\\set n :n + 1" : "\\set n random(0, :last)"
        let values = lines + [step]
        let lastRead = writes ? shape.texts.lastIndex { $0.hasPrefix("SELECT") } : nil
        lines.append("\\startpipeline")
        var first = 0
        for (index, text) in shape.texts.enumerated() {
            lines.append(Self.statement(text, shape.parameters[index], after: first, shape.types) + ";")
            first += shape.parameters[index]
            if index == lastRead { lines += ["\\endpipeline", "\\startpipeline"] }
        }
        lines += ["\\endpipeline", step]
        for (name, lines) in [("unit.sql", lines), ("values.sql", values)] {
            let text = lines.joined(separator: "\n") + "\n"
            try text.write(to: folder.appending(path: name), atomically: false, encoding: .utf8)
        }
        guard writes, shape.texts.count > 1, shape.parameters[1] == 2 else { return }
        // The server's row, which each of its transactions locks and changes.
        try database.database.execute(
            """
            INSERT INTO servers (number, holder, batch, seen_at, version, key_checks)
            SELECT v1::int, v2::bigint, 0, now(), '', '' FROM replay WHERE n = 0 ON CONFLICT DO NOTHING
            """
        )
    }

    /// Returns a statement whose parameters are variables of pgbench, with the types that pgbench cannot state.
    private static func statement(
        _ text: String,
        _ count: Int,
        after first: Int,
        _ types: [String: String]
    ) -> String {
        var columns: [String] = []
        if let match = text.firstMatch(of: /AS [rk] \(([^)]*)\)/) {
            columns = match.1.split(separator: ",").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
        }
        let table = text.firstMatch(of: /(INSERT INTO|UPDATE) (\w+)/).map { String($0.2) } ?? ""
        var text = text
        for number in (0..<count).reversed() {
            var variable = ":v\(first + number + 1)"
            if columns.indices.contains(number) {
                variable += "::\(types["\(table).\(columns[number])"] ?? "bigint[]")"
            }
            text = text.replacingOccurrences(of: "$\(number + 1)", with: variable)
        }
        return text
    }
}
#endif
