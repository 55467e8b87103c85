#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Makes and drops the partitions of the large tables; each slot has one partition of each table.
///
/// A partition is first created as a separate table, and then attached to its parent. Attaching it does not wait for
/// transactions that use the parent. `CREATE TABLE … PARTITION OF` would wait for each such transaction, and stop the
/// transactions that come after it.
struct Partitions {
    let connection: BlockingConnection

    /// A slot with partitions.
    struct Slot: Equatable, Sendable {
        let number: Int64
        /// The last expiry of its clicks; nil until its day has ended.
        let neededUntil: Timestamp?
    }

    /// Returns the slots with partitions, in ascending order.
    func slots() throws(PostgreSQLError) -> [Slot] {
        let rows = try connection.execute(Self.list)
        return try rows.map { (row) throws(PostgreSQLError) in
            Slot(
                number: try rows.value(row, 0),
                neededUntil: try rows.value(row, 1, as: Int64?.self).map(Timestamp.init(milliseconds:))
            )
        }
    }

    /// Returns the last expiry of each slot, as ``SlotTable`` has it.
    func table() throws(PostgreSQLError) -> [Int64: Timestamp?] {
        try slots().reduce(into: [:]) { $0.updateValue($1.neededUntil, forKey: $1.number) }
    }

    /// Returns the partitions that are missing, except those of days whose clicks have expired, because these days may
    /// be partly dropped.
    func missing(at now: Timestamp) throws(PostgreSQLError) -> [(slot: Int64, name: String)] {
        let rows = try connection.execute(Self.attached)
        let names = Set(try rows.map { (row) throws(PostgreSQLError) -> String in try rows.value(row, 0) })
        return try slots().filter { $0.neededUntil.map { $0 > now } ?? true }.flatMap { slot in
            Table.allCases.map { (slot: slot.number, name: Self.name(of: $0, slot.number).text) }
        }.filter { !names.contains($0.name) }
    }

    /// Returns the number of blocks of a partition; 0 if it does not exist.
    func blockCount(of table: Table, _ slot: Int64) throws(PostgreSQLError) -> Int64 {
        try connection.execute(Self.blockCount, Self.name(of: table, slot).text).value(0, 0)
    }

    /// Makes those partitions of a slot that do not exist.
    ///
    /// - Returns: whether there were any.
    @discardableResult
    func make(_ slot: Int64) throws(PostgreSQLError) -> Bool {
        try connection.transaction { () throws(PostgreSQLError) in
            try connection.execute(Self.lock)
            var lacking: [Table] = []
            for table in Table.allCases {
                let state = try connection.execute(Self.attachment, Self.name(of: table, slot).text)
                if state.count == 0 { lacking.append(table) }
            }
            guard !lacking.isEmpty else { return false }
            if try connection.isCitus() { try connection.execute(Self.sequential) }
            for table in lacking {
                for statement in table.creation(slot) { try connection.execute(PreparedStatement(statement)) }
            }
            try connection.execute(Self.insert, slot)
            return true
        }
    }

    /// Drops the partitions of a slot with everything in them.
    ///
    /// Statements that name the slot as a constant find no rows afterwards.
    func drop(_ slot: Int64) throws(PostgreSQLError) {
        for table in Table.allCases {
            let name = Self.name(of: table, slot)
            let state = try connection.execute(Self.attachment, name.text)
            guard state.count > 0 else { continue }
            // `CONCURRENTLY` takes two transactions. A former attempt may have been stopped between them; `FINALIZE`
            // then completes it.
            if try connection.isCitus() {
                // Do not detach: on Citus that would wait until nothing uses the parent, as DROP TABLE does anyway.
            } else if try state.value(0, 0, as: Bool.self) {
                try connection.execute("ALTER TABLE \(table.name) DETACH PARTITION \(name) FINALIZE")
            } else if try state.value(0, 1, as: Bool.self) {
                try connection.execute("ALTER TABLE \(table.name) DETACH PARTITION \(name) CONCURRENTLY")
            }
            try connection.execute("DROP TABLE \(name)")
        }
        try connection.execute(Self.delete, slot)
    }

    /// The name of a partition, such as `clicks_d20780`; `clicks_l` for long windows.
    static func name(of table: Table, _ slot: Int64) -> SQLText {
        slot == RowHome.longSlot ? "\(table.name)_l" : "\(table.name)_d\(slot)"
    }

    /// The tables with partitions.
    enum Table: CaseIterable {
        case clicks
        case clickIndex
        case clickAddresses
        case checks

        var name: StaticString {
            switch self {
            case .clicks: "clicks"
            case .clickIndex: "click_index"
            case .clickAddresses: "click_addresses"
            case .checks: "checks"
            }
        }

        /// The percentage of a page that inserts fill; the rest is for claims, which update in place.
        private var fillfactor: Int {
            switch self {
            case .clicks: 85
            case .clickIndex: 80
            case .clickAddresses, .checks: 100
            }
        }

        /// The columns of the primary key, without which Citus cannot move shards while servers write.
        private var primaryKey: StaticString {
            switch self {
            case .clicks, .checks: "b, id"
            case .clickIndex: "b, scope, hash, since, click"
            case .clickAddresses: "b, scope, near_address, clicked_at, click"
            }
        }

        /// The unique indexes of `clicks`, which decide between servers that record the same post.
        ///
        /// Each of them divides time into intervals (turns) of twenty seconds, and the intervals of one
        /// start in the middle of the other's. So two times less than ten seconds apart share an interval in
        /// at least one of the two indexes.
        private static let postIndexes: [(suffix: StaticString, columns: StaticString)] = [
            ("post", "b, scope, visit, post, turn"),
            (
                "shifted",
                "b, scope, post, (CASE WHEN turn < 0 THEN turn ELSE (recorded_at + 10000) / 20000 END)"
            ),
        ]

        func creation(_ slot: Int64) -> [SQLText] {
            let name = Partitions.name(of: self, slot)
            var statements: [SQLText] = [
                """
                CREATE TABLE \(name) (LIKE \(self.name) INCLUDING CONSTRAINTS, CHECK (slot = \(slot)), \
                PRIMARY KEY (\(primaryKey))) WITH (fillfactor = \(fillfactor))
                """
            ]
            for index in self == .clicks ? Self.postIndexes : [] {
                statements.append("CREATE UNIQUE INDEX \(name)_\(index.suffix) ON \(name) (\(index.columns))")
            }
            if self == .clicks, slot == RowHome.longSlot {
                statements.append("CREATE INDEX \(name)_expiry ON \(name) (expires_at)")
            }
            statements.append("ALTER TABLE \(self.name) ATTACH PARTITION \(name) FOR VALUES IN (\(slot))")
            return statements
        }
    }

    private static let blockCount: PreparedStatement =
        "SELECT coalesce(pg_relation_size(to_regclass($1)), 0) / current_setting('block_size')::int8"
    private static let list: PreparedStatement =
        "SELECT slot::int8, needed_until FROM partitions ORDER BY slot"
    private static let insert: PreparedStatement =
        "INSERT INTO partitions (slot) VALUES ($1) ON CONFLICT (slot) DO NOTHING"
    private static let delete = PreparedStatement("DELETE FROM partitions WHERE slot = $1")
    /// Set because the transaction also changes a reference table.
    private static let sequential: PreparedStatement =
        "SET LOCAL citus.multi_shard_modify_mode TO 'sequential'"
    private static let lock: PreparedStatement =
        "SELECT pg_advisory_xact_lock(\(AdvisoryLock.partitions.rawValue))"
    private static let attached: PreparedStatement = """
        SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
        """
    /// Whether a partition is being detached, and whether it is attached.
    private static let attachment: PreparedStatement = """
        SELECT coalesce(i.inhdetachpending, false), i.inhrelid IS NOT NULL \
        FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid \
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = $1
        """
}

#endif
