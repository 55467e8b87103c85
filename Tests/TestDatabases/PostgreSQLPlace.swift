#if PostgreSQL
package import Attribution
package import PostgreSQLStorage
package import Storage
package import Support
internal import Synchronization

/// A test's database on the PostgreSQL server or the Citus cluster that all tests of a process share.
package final class PostgreSQLPlace: TestPlace {
    package let backend: Backend
    private let database: any SQLTestDatabase
    private let permit: TestPermit
    private let wasOpened = Mutex(false)

    package var isFreshCopy: Bool { wasOpened.withLock { !$0 } }

    private init(_ backend: Backend, _ permit: TestPermit, at start: Timestamp) throws {
        (self.backend, self.permit) = (backend, permit)
        database =
            backend == .citus
            ? try CitusTemplates.makeDatabase(at: start)
            : try Self.cluster.get().makeDatabase(at: start.milliseconds)
    }

    /// Waits for a ``TestPermit``, and creates a database for a test whose clock starts at `start`.
    package static func make(_ backend: Backend = .postgreSQL, at start: Timestamp) async throws
        -> PostgreSQLPlace
    {
        let permit = await TestPermit.take()
        // The call waits for the server, so it must not block the threads that run all tests.
        return try await onLoop { try PostgreSQLPlace(backend, permit, at: start) }
    }

    /// Starts the server if this machine has its programs; if not, returns what is missing.
    ///
    /// Tests are listed before they run, and the server starts then, so that no test waits for it.
    static func start() -> String? {
        guard PostgreSQLCluster.isInstalled else { return PostgreSQLCluster.missing }
        // If the server does not start, each test fails with its error.
        _ = cluster
        return nil
    }

    /// A template has all tables, and the partitions of the first days of its tests, and no others, because
    /// PostgreSQL plans each statement of a new connection for all partitions.
    private static let cluster = Result {
        try TestCluster { template, time in try fill(template, at: Timestamp(milliseconds: time)) }
    }

    fileprivate static func fill(_ template: any SQLTestDatabase, at time: Timestamp) throws {
        let configuration = try settings(of: template, StoreConfiguration(clock: .fixed(time)))
        let store = try PostgreSQLStore.open(configuration)
        store.stop(within: 60_000)
        // A test's store must be the first store of its database, so delete the rows that the template's jobs wrote.
        try template.execute("DELETE FROM jobs")
    }

    private static func settings(of database: any SQLTestDatabase, _ store: StoreConfiguration)
        throws(StoreError) -> PostgreSQLConfiguration
    {
        try PostgreSQLConfiguration(
            // The machine may be busy.
            url: database.socketURL + "&connect_timeout=60",
            name: "the test's database",
            store: store
        )
    }

    package func open(_ configuration: StoreConfiguration) throws(StoreError) -> any TestDatabase {
        wasOpened.withLock { $0 = true }
        return try PostgreSQLStore.open(Self.settings(of: database, configuration))
    }

    package func count(_ what: TestCount) throws -> Int64 {
        if what.dependsOnFold { try fold() }
        return try integer(what.postgreSQL)
    }

    package func change(_ change: TestChange) throws { try database.execute(change.postgreSQL) }

    private func integer(_ sql: String) throws -> Int64 { Int64(try database.execute(sql)) ?? 0 }

    /// Merges the counts that transactions have left behind into the tables of counts, as a report does first.
    private func fold() throws {
        try PostgreSQLStore.foldCounts(
            Self.settings(of: database, StoreConfiguration(clock: .fixed(Timestamp(milliseconds: 0))))
        )
    }

    package func traces(of texts: [String], _ words: [UInt64]) throws -> (found: [String], missing: [String])
    {
        try database.execute("VACUUM")
        let tables = try database.execute(
            "SELECT string_agg(tablename, ',') FROM pg_tables WHERE schemaname = 'public'"
        ).split(separator: ",")
        let rows = try tables.map { try database.execute("SELECT string_agg(t::text, ' ') FROM \($0) t") }
        let wanted =
            texts.map { (name: $0, forms: [$0]) }
            + words.map { word in
                let bytes = (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
                let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
                return (name: String(word, radix: 16), forms: [String(Int64(bitPattern: word)), hex])
            }
        var (found, missing): ([String], [String]) = ([], [])
        for (name, forms) in wanted {
            let isFound = rows.contains { row in forms.contains { row.contains($0) } }
            if isFound { found.append(name) } else { missing.append(name) }
        }
        return (found, missing)
    }

    package func roundTrip<Kept: Record>(_ record: Kept, in table: StaticString) throws -> Kept? {
        var literals = LiteralRow()
        record.write(to: &literals)
        let tableName = table.description
        try database.execute(Self.insertion(of: literals.values, into: tableName))
        let columns = Kept.columns.names.map { name in
            Self.reading(of: name.description, from: tableName)
        }
        let separator = #"E'\x1F'"#
        let values = columns.map { "coalesce('=' || (\($0))::text, '')" }.joined(separator: ", ")
        let stored = tableName == "claims" ? "clicks" : tableName
        let text = try database.execute("SELECT concat_ws(\(separator), \(values)) FROM \(stored)")
        var row = TextRow(
            text.split(separator: "\u{1F}", omittingEmptySubsequences: false).map { String($0) }
        )
        return Kept(&row)
    }

    /// Returns the statement that inserts a record, with the columns that only PostgreSQL has.
    private static func insertion(of values: [(column: String, literal: String)], into table: String)
        -> String
    {
        var (table, values) = (table, values + [("b", "0"), ("slot", "-1")])
        switch table {
        case "clicks": values.append(("turn", "0"))
        case "click_index": values.removeAll { $0.column == "state" }
        case "claims":
            // A claim is a part of its click.
            table = "clicks"
            values = values.map { $0.column == "click" ? ("id", $0.literal) : $0 }
            for column in [
                "id_low", "clicked_at", "recorded_at", "expires_at", "visit", "visit_rest", "post",
                "post_rest",
                "turn", "window_seconds", "is_robot", "is_contradictory",
            ] { values.append((column, "0")) }
            for column in ["destination", "journey_id", "source", "platform", "fingerprints"] {
                values.append((column, "''"))
            }
        default: break
        }
        let (columns, literals) = (values.map(\.column), values.map(\.literal))
        return """
            INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(literals.joined(separator: ", ")))
            """
    }

    private static func reading(of column: String, from table: String) -> String {
        switch (table, column) {
        case ("click_index", "state"): "CASE WHEN closed_at IS NULL THEN 0 ELSE 1 END"
        case ("claims", "click"): "id"
        default: column
        }
    }

    /// Moves the rows of another database into this one, which no store has open.
    package func fill(from source: any MoveSource) throws(StoreError) -> MoveReport {
        wasOpened.withLock { $0 = true }
        let settings = try Self.settings(
            of: database,
            StoreConfiguration(clock: .fixed(Timestamp(milliseconds: 0)))
        )
        let report = try PostgreSQLMove.run(from: source, to: settings, note: { _ in })
        if report.differences.isEmpty { try PostgreSQLMove.finish(settings) }
        return report
    }

    /// Runs SQL as another program does.
    @discardableResult
    package func execute(_ sql: String) throws -> String { try database.execute(sql) }

    /// Executes SQL on each node of a Citus cluster, and returns the rows of all.
    package func executeEverywhere(_ sql: String) throws -> [String] {
        try (database as? CitusTestDatabase)?.executeEverywhere(sql) ?? [database.execute(sql)]
    }

    package func verify(at now: Timestamp) throws(StoreError) -> VerificationReport {
        try PostgreSQLVerification.run(Self.settings(of: database, StoreConfiguration(clock: .fixed(now))))
    }

    package func history(of app: AppID, _ configuration: StoreConfiguration, keys: [ServerKey])
        throws(StoreError) -> any TrafficHistory
    {
        try PostgreSQLHistory.open(
            Self.settings(of: database, configuration),
            of: app,
            isTest: false,
            remaking: FingerprintReconstruction(keys: keys, data: .embedded, localization: .unknown)
        )
    }
}

/// The templates for tests on Citus; ``TestCluster`` has those for PostgreSQL.
private enum CitusTemplates {
    private static let cluster = Result { try CitusCluster() }
    private static let templates = Mutex<[Timestamp: CitusTestDatabase]>([:])

    static func makeDatabase(at time: Timestamp) throws -> CitusTestDatabase {
        let cluster = try cluster.get()
        let template = try templates.withLock { templates in
            if let known = templates[time] { return known }
            let template = try CitusTestDatabase(in: cluster)
            try PostgreSQLPlace.fill(template, at: time)
            try template.close()
            templates[time] = template
            return template
        }
        return try CitusTestDatabase(copying: template)
    }
}

extension PostgreSQLStore: TestDatabase {
    package func openSession(on loop: LoopThread) -> any LoopSession {
        let session = makeSession(port: loop.sockets.port)
        loop.sockets.turnDidEnd = { session.endTurn() }
        return session
    }

    package func catchUp() throws(StoreError) {
        try run(makeOwnJobs().filter { [.directory, .fold, .partitions].contains($0.name) })
    }

    private func run(_ jobs: [any Job]) throws(StoreError) { for var job in jobs { try job.runToEnd() } }

    /// Runs the jobs of PostgreSQL, which make and drop partitions and delete old rows, and compacts counts.
    @discardableResult
    package func runRetention() throws(StoreError) -> RetentionProgress {
        try run(makeOwnJobs())
        var compaction = CompactionJob(makeJobContext())
        try compaction.runToEnd()
        // The store learns which partitions are gone.
        try catchUp()
        return RetentionProgress()
    }
}

/// The values of a record as literals of SQL.
package struct LiteralRow: RowWriter {
    package private(set) var values: [(column: String, literal: String)]

    package init(_ given: [(column: String, literal: String)] = []) { values = given }

    package mutating func putInteger(_ column: StaticString, _ value: Int64?) {
        add(column, value.map { "\($0)" })
    }
    package mutating func putReal(_ column: StaticString, _ value: Double?) {
        add(column, value.map { "\($0)" })
    }

    package mutating func putText(_ column: StaticString, _ value: String?) {
        add(column, value.map { "'\($0.replacing("'", with: "''"))'" })
    }

    package mutating func putBytes(_ column: StaticString, _ value: [UInt8]?) {
        add(
            column,
            value.map { bytes in
                let digits = bytes.map { String(Int($0) + 0x100, radix: 16).dropFirst() }.joined()
                return #"'\x"# + digits + "'"
            }
        )
    }

    private mutating func add(_ column: StaticString, _ literal: String?) {
        values.append((column.description, literal ?? "NULL"))
    }
}

/// The values of a row as texts: `=` and the value, or an empty text for NULL.
private struct TextRow: RowReader {
    private var values: ArraySlice<String>

    init(_ values: [String]) { self.values = values[...] }

    private mutating func next() -> String? {
        let text = values.popFirst() ?? ""
        return text.isEmpty ? nil : String(text.dropFirst())
    }

    mutating func getInteger(_ column: StaticString) -> Int64 { getOptionalInteger(column) ?? 0 }
    mutating func getReal(_ column: StaticString) -> Double { getOptionalReal(column) ?? 0 }
    mutating func getText(_ column: StaticString) -> String { next() ?? "" }

    mutating func getBytes(_ column: StaticString) -> [UInt8] {
        let digits = Array((next() ?? "").dropFirst(2))
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
    }

    mutating func getOptionalInteger(_ column: StaticString) -> Int64? { next().flatMap { Int64($0) } }
    mutating func getOptionalReal(_ column: StaticString) -> Double? { next().flatMap { Double($0) } }
    mutating func getOptionalText(_ column: StaticString) -> String? { next() }
}
#endif
