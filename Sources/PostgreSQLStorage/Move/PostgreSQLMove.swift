#if PostgreSQL
public import Attribution
internal import PostgreSQL
public import Storage

/// Fills an empty database with the rows of another one.
///
/// Each part is a transaction, which also stores how far the move is. So a move that was killed continues after its last
/// part, and no server starts on a database that lacks rows.
///
/// Clicks and checks keep their numbers. A number from elsewhere has a home like any other: its bits name a
/// bucket, and its time a day. So tokens, shares of checks and identifiers in other systems need no table of
/// former numbers. But this bucket is not the bucket of the click's visit; see ``VisitHome``.
public struct PostgreSQLMove {
    private let configuration: PostgreSQLConfiguration
    private let connection: BlockingConnection
    private let source: any MoveSource
    private let note: (String) -> Void

    /// A statement may read or write every row of a table.
    private static let timeLimit = Duration.seconds(3600)
    private static let pageLength = 1000
    /// The number of rows of small tables that one statement writes.
    private static let rowsAtOnce = 5000

    /// Moves all rows, or continues a move that was interrupted; servers start only after ``finish(_:)``.
    ///
    /// - Parameters:
    ///   - source: the other database.
    ///   - configuration: this database, whose tables are created if there are none.
    ///   - note: called with the progress.
    /// - Returns: the numbers of rows in both databases; if they differ, the move must not be finished.
    /// - Throws: `conflict` if the database has other data.
    public static func run(
        from source: any MoveSource,
        to configuration: PostgreSQLConfiguration,
        note: @escaping (String) -> Void
    ) throws(StoreError) -> MoveReport {
        let opening = DatabaseOpening(configuration)
        _ = try opening.open()
        let connection = try StoreError.translating { () throws(PostgreSQLError) in
            try opening.connect(timeLimit: timeLimit)
        }
        guard try !opening.form(connection).shards.isCitus else {
            throw StoreError(
                .incompatible,
                "rows cannot be moved to \(configuration.name), which Citus distributes; name a database without it"
            )
        }
        return try PostgreSQLMove(
            configuration: configuration,
            connection: connection,
            source: source,
            note: note
        ).run()
    }

    private func run() throws(StoreError) -> MoveReport {
        // A process of this move that was killed may still hold its last locks, and reading the source takes a while.
        try execute("SET lock_timeout = '10s'")
        try execute("SET idle_in_transaction_session_timeout = 0")
        try begin()
        note("apps, links and counts")
        try moveTables()
        try movePages(.clicks) { number throws(StoreError) in
            let page = try source.clicks(after: number, atMost: Self.pageLength)
            return Page(page.map(\.click.number)) { () throws(StoreError) in try insert(page) }
        }
        try movePages(.checks) { number throws(StoreError) in
            let page = try source.checks(after: number, atMost: Self.pageLength)
            let numbers = page.map { Int64(bitPattern: $0.id.high) }
            return Page(numbers) { () throws(StoreError) in
                var records = ColumnArrays(CheckRecord.columns)
                for record in page { records.append(record) }
                try execute(Self.insertChecks, records.parameters)
            }
        }
        note("installations and idempotency keys")
        try transaction { () throws(StoreError) in
            for statement in Self.derivations { try execute(PreparedStatement(statement)) }
        }
        note("counting rows")
        let report = try counted()
        // PostgreSQL plans statements by the numbers of rows. One transaction analyses all tables, because
        // ANALYZE would otherwise commit after each table.
        try transaction { () throws(StoreError) in
            for table in Self.filledTables { try execute("ANALYZE \(table)") }
        }
        return report
    }
}

/// How far a move is, in the table `progress`.
extension PostgreSQLMove {
    /// The parts with a position: 0 or 1 for the small tables, else the last number that was moved.
    private enum Part: String {
        case tables = "move_tables"
        case clicks = "move_clicks"
        case checks = "move_checks"
    }

    private func begin() throws(StoreError) {
        let mark = try source.mark
        let state = try execute(Self.readState)
        let (former, completed) = try StoreError.translating { () throws(PostgreSQLError) in
            (try state.value(0, 0, as: Int64?.self), try state.value(0, 1, as: Bool.self))
        }
        let hasData = try StoreError.translating { () throws(PostgreSQLError) in
            try state.value(0, 2, as: Bool.self)
        }
        let name = configuration.name
        if let former {
            guard former == mark else {
                throw StoreError(
                    .conflict,
                    "an unfinished move into \(name) started from another file, or the file has changed since"
                )
            }
            return
        }
        guard !completed else { throw StoreError(.conflict, "a move into \(name) is complete") }
        guard !hasData else { throw StoreError(.conflict, "\(name) has data of its own") }
        try execute(Self.beginMove, Parameters(mark))
    }

    private static let readState: PreparedStatement = """
        SELECT (SELECT value FROM progress WHERE name = '\(word(.moveSource))'),
        EXISTS (SELECT FROM progress WHERE name = '\(word(.movedUpTo))'),
        EXISTS (SELECT FROM apps) OR EXISTS (SELECT FROM keys) OR EXISTS (SELECT FROM clicks)
        OR EXISTS (SELECT FROM checks) OR EXISTS (SELECT FROM counts) OR EXISTS (SELECT FROM count_deltas)
        OR EXISTS (SELECT FROM keyring) OR EXISTS (SELECT FROM progress WHERE name = 'server_key')
        """
    private static let beginMove: PreparedStatement = """
        INSERT INTO progress (name, value) VALUES ('\(word(.moveSource))', $1), ('move_tables', 0),
        ('move_clicks', -1), ('move_checks', -1)
        """

    private static func word(_ value: StoredValue) -> SQLText { SQLText(ofMigration: value.rawValue) }

    private func position(of part: Part) throws(StoreError) -> Int64 {
        let rows = try execute(Self.readPosition, Parameters(part.rawValue))
        return try StoreError.translating { () throws(PostgreSQLError) in try rows.value(0, 0) }
    }

    private static let readPosition = PreparedStatement("SELECT value FROM progress WHERE name = $1")

    /// Stores the new position of a part; first waits for another process that moves the same rows.
    ///
    /// - Returns: false if that process has stored another position.
    private func advance(_ part: Part, from old: Int64, to new: Int64) throws(StoreError) -> Bool {
        try execute(Self.storePosition, Parameters(part.rawValue, old, new)).affectedCount > 0
    }

    private static let storePosition: PreparedStatement =
        "UPDATE progress SET value = $3 WHERE name = $1 AND value = $2"

    /// Lets servers start on a database into which ``run(from:to:note:)`` has moved all rows.
    public static func finish(_ configuration: PostgreSQLConfiguration) throws(StoreError) {
        try StoreError.translating { () throws(PostgreSQLError) in
            let connection = try DatabaseOpening(configuration).connect()
            try connection.transaction { () throws(PostgreSQLError) in
                try connection.execute(storeEnd)
                try connection.execute(deletePositions)
            }
        }
    }

    private static let storeEnd: PreparedStatement = """
        INSERT INTO progress (name, value) SELECT '\(word(.movedUpTo))', value FROM progress WHERE name = 'move_clicks'
        """
    private static let deletePositions: PreparedStatement = """
        DELETE FROM progress
        WHERE name IN ('\(word(.moveSource))', 'move_tables', 'move_clicks', 'move_checks')
        """
}

/// Copies rows.
extension PostgreSQLMove {
    /// The next rows of a table whose rows have numbers, and the statement that inserts them.
    private struct Page {
        let numbers: [Int64]
        let insert: () throws(StoreError) -> Void

        init(_ numbers: [Int64], _ insert: @escaping () throws(StoreError) -> Void) {
            (self.numbers, self.insert) = (numbers, insert)
        }
    }

    private func movePages(_ part: Part, _ next: (Int64) throws(StoreError) -> Page) throws(StoreError) {
        var count = 0
        while true {
            let position = try position(of: part)
            let page = try next(position)
            guard let last = page.numbers.last else { return }
            // A record of a check is stored with its day, and a click in the slot that its number contains.
            let slots = page.numbers.map { part == .checks ? RowHome.day(of: $0) : RowHome(of: $0).slot }
            try makePartitions(Set(slots))
            try transaction { () throws(StoreError) in
                guard try advance(part, from: position, to: last) else { return }
                try page.insert()
            }
            count += page.numbers.count
            note("\(count) \(part == .clicks ? "clicks" : "records of checks")")
        }
    }

    private func makePartitions(_ slots: Set<Int64>) throws(StoreError) {
        try StoreError.translating { () throws(PostgreSQLError) in
            let partitions = Partitions(connection: connection)
            let existing = try partitions.table()
            for slot in slots.sorted() where existing[slot] == nil { try partitions.make(slot) }
        }
    }

    private func insert(_ page: [MovedClick]) throws(StoreError) {
        var clicks = ColumnArrays(MovedClick.columns)
        var entries = ColumnArrays(MovedEntry.columns)
        var addresses = ColumnArrays(RowChange.address.columns)
        for moved in page {
            clicks.append { moved.write(to: &$0) }
            for entry in moved.entries { entries.append { entry.write(of: moved, to: &$0) } }
            if let address = moved.address { addresses.append { $0.put(address, of: moved.click) } }
        }
        try execute(Self.insertClicks, clicks.parameters)
        if !entries.isEmpty { try execute(Self.insertEntries, entries.parameters) }
        if !addresses.isEmpty { try execute(Self.insertAddresses, addresses.parameters) }
    }

    /// The column `turn` of a moved click contains the click's number, negated, because SQLite may have
    /// stored several clicks of one post in one interval.
    private static let insertClicks: PreparedStatement = """
        INSERT INTO clicks (b, slot, turn, \(MovedClick.columns))
        SELECT id & 63, \(RowChange.slot(of: "id")), -id, \(MovedClick.columns)
        FROM \(rowsWith: MovedClick.columns)
        """
    private static let insertEntries: PreparedStatement = """
        INSERT INTO click_index (b, slot, \(MovedEntry.columns))
        SELECT hash & 63, \(RowChange.slot(of: "click")), \(MovedEntry.columns)
        FROM \(rowsWith: MovedEntry.columns)
        """
    private static let insertAddresses = PreparedStatement(RowChange.address.text(onCitus: false))
    private static let insertChecks = PreparedStatement(RowChange.check.text(onCitus: false))

    private func moveTables() throws(StoreError) {
        guard try position(of: .tables) == 0 else { return }
        try transaction { () throws(StoreError) in
            guard try advance(.tables, from: 0, to: 1) else { return }
            for table in MovedTable.all.reversed() {
                try execute("DELETE FROM \(table.name) WHERE \(table.condition)")
            }
            for table in MovedTable.all { try move(table) }
            for statement in Self.afterTables { try execute(PreparedStatement(statement)) }
        }
    }

    private func move(_ table: MovedTable) throws(StoreError) {
        let insert: PreparedStatement = """
            INSERT INTO \(table.name) (\(table.columns)) SELECT \(table.columns) FROM \(rowsWith: table.columns)
            """
        var rows = ColumnArrays(table.columns)
        try source.forEachRow(of: table) { row throws(StoreError) in
            var row = row
            rows.append { table.copy(&row, to: &$0) }
            guard rows.rowCount == Self.rowsAtOnce else { return }
            try execute(insert, rows.parameters)
            rows.removeAll()
        }
        if !rows.isEmpty { try execute(insert, rows.parameters) }
    }

    /// The tables that a move fills.
    private static let filledTables: [SQLText] =
        MovedTable.all.map { "\($0.name)" } + [
            "clicks", "click_index", "click_addresses", "checks", "installs", "idempotencies", "link_limits",
        ]

    /// Makes new rows get larger numbers than the copied rows.
    private static let afterTables: [SQLText] =
        (["apps", "keys", "links"] as [StaticString]).map { table -> SQLText in
            """
            SELECT setval(pg_get_serial_sequence('\(table)', 'number'), coalesce(max(number), 0) + 1, false)
            FROM \(table)
            """
        } + ["UPDATE directory SET version = version + 1"]

    /// Fills the tables that only PostgreSQL has.
    private static let derivations: [SQLText] = [
        "DELETE FROM installs",
        """
        INSERT INTO installs (b, scope, install, install_rest, click, until)
        SELECT DISTINCT ON (scope, install, install_rest) install & 63, scope, install, install_rest, id, expires_at
        FROM clicks WHERE install IS NOT NULL ORDER BY scope, install, install_rest, claimed_at DESC, id DESC
        """,
        "DELETE FROM idempotencies",
        """
        INSERT INTO idempotencies (b, scope, idempotency, idempotency_rest, click)
        SELECT idempotency & 63, scope, idempotency, idempotency_rest, max(id)
        FROM clicks WHERE idempotency IS NOT NULL GROUP BY scope, idempotency, idempotency_rest
        """,
        "DELETE FROM link_limits",
        """
        INSERT INTO link_limits (link, clicks) SELECT number, coalesce(c.clicks, 0)
        FROM links LEFT JOIN link_counts c ON c.link = number AND c.variant = '' WHERE maximum_clicks IS NOT NULL
        """,
    ]

    /// Counts the rows of both databases.
    private func counted() throws(StoreError) -> MoveReport {
        var counts: [MoveReport.Count] = []
        for rows in MovedRows.all {
            let query: SQLText =
                switch rows {
                case .table(let table): "SELECT count(*) FROM \(table.name) WHERE \(table.condition)"
                case .clicks: "SELECT count(*) FROM clicks"
                case .claims: "SELECT count(claimed_at) FROM clicks"
                case .clickIndex: "SELECT count(*) FROM click_index"
                case .clickAddresses: "SELECT count(*) FROM click_addresses"
                case .checks: "SELECT count(*) FROM checks"
                case .installs: "SELECT count(*) FROM installs"
                case .idempotencies: "SELECT count(*) FROM idempotencies"
                case .linkLimits: "SELECT count(*) FROM link_limits"
                }
            let found = try execute(PreparedStatement(query))
            let count: Int64 = try StoreError.translating { () throws(PostgreSQLError) in
                try found.value(0, 0)
            }
            let expected = try source.rowCount(of: rows)
            counts.append(MoveReport.Count(name: rows.name, expected: expected, found: count))
        }
        return MoveReport(counts: counts)
    }
}

/// Runs statements.
extension PostgreSQLMove {
    private func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try execute(BlockingConnection.begin)
        do throws(StoreError) {
            try body()
        } catch {
            // If the connection is lost, PostgreSQL rolls back.
            _ = try? connection.execute(BlockingConnection.rollback)
            throw error
        }
        try execute(BlockingConnection.commit)
    }

    @discardableResult
    private func execute(_ statement: PreparedStatement, _ parameters: Parameters = Parameters())
        throws(StoreError) -> ResultRows
    {
        try StoreError.translating { () throws(PostgreSQLError) in
            try connection.execute(statement, parameters)
        }
    }
}
#endif
