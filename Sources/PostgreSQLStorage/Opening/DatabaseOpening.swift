#if PostgreSQL
internal import Attribution
internal import Crypto
internal import PostgreSQL
internal import Storage

/// Opens a database; refuses one that is not Afterlink's, or whose migrations this program does not know.
struct DatabaseOpening: Sendable {
    let configuration: PostgreSQLConfiguration
    /// The migrations of this program, in ascending order.
    let migrations: [Migration]

    init(_ configuration: PostgreSQLConfiguration) {
        self.configuration = configuration
        migrations = Migration.read(configuration.migrations) { SHA256.digest(of: $0).bytes }
    }

    /// Connects and blocks.
    ///
    /// - Parameters:
    ///   - timeLimit: how long a batch of statements may take; nil for the configuration's limit.
    ///   - patience: the kind of caller, which decides how soon this function gives up; nil means a server if the
    ///     configuration has background work, and otherwise a command.
    ///   - report: called with the failure of the first attempt, if another one follows.
    /// - Returns: the connection.
    /// - Throws: the failure of the last attempt.
    func connect(
        timeLimit: Duration? = nil,
        _ patience: Patience? = nil,
        report: @escaping (PostgreSQLError) -> Void = { _ in }
    ) throws(PostgreSQLError) -> BlockingConnection {
        let limit = configuration.longTimeLimit
        let patience = patience ?? (configuration.store.hasBackgroundWork ? .server : .command)
        var settings = configuration.settings
        settings.silenceLimit = patience == .request ? .seconds(1) : .seconds(3)
        settings.probeTimeout = min(settings.connectTimeout, patience == .request ? .seconds(1) : .seconds(2))
        return try BlockingConnection(
            settings,
            timeLimit: timeLimit ?? limit,
            connectTimeLimit: patience.connectTimeLimit.map { min($0, limit) } ?? limit,
            report: report
        )
    }

    /// Connects, and refuses a pooler that shares sessions.
    func connectToOwnSession(
        timeLimit: Duration? = nil,
        report: @escaping (PostgreSQLError) -> Void = { _ in }
    ) throws(StoreError) -> BlockingConnection {
        try StoreError.translating { () throws(PostgreSQLError) in
            let connection = try connect(timeLimit: timeLimit, report: report)
            guard connection.isPooled else { return connection }
            try connection.requireOwnSession()
            return try connect(timeLimit: timeLimit)
        }
    }

    /// The kind of caller that waits for a connection.
    enum Patience {
        /// A server that starts, or one of its jobs.
        case server
        /// The operator who runs a command.
        case command
        /// The caller of a request.
        case request

        /// How long all attempts to connect may take; nil for the configuration's limit.
        fileprivate var connectTimeLimit: Duration? {
            switch self {
            case .server: nil
            case .command: .seconds(5)
            case .request: .seconds(2)
            }
        }
    }

    /// Connects at the start of a server, and logs why that takes longer than one attempt.
    private func connectAtStart() throws(StoreError) -> BlockingConnection {
        let (log, limit) = (configuration.store.log, configuration.longTimeLimit)
        return try connectToOwnSession { error in
            let reason = StoreError(error).explanation
            log.write(
                .warning,
                "database: the start tries again for \(limit.components.seconds) s: \(reason)"
            )
        }
    }

    /// Connects to a database that is up to date.
    func openAccepted() throws(StoreError) -> BlockingConnection {
        let connection = try StoreError.translating { () throws(PostgreSQLError) in try connect() }
        guard try inspect(connection).pending(of: migrations).isEmpty else {
            throw StoreError(
                .incompatible,
                "\(configuration.name) is of an older version; start the service once"
            )
        }
        try requireAllRows(connection)
        return connection
    }

    /// Refuses a database into which a move from another one has not ended.
    func requireAllRows(_ connection: BlockingConnection) throws(StoreError) {
        let source = try StoreError.translating { () throws(PostgreSQLError) in
            try PostgreSQLReader(connection: connection).value(of: .moveSource)
        }
        guard source != nil else { return }
        throw StoreError(
            .locked,
            "\(configuration.name) lacks rows, because `afterlink migrate --from` has not ended; if it was stopped, run it again"
        )
    }

    /// Returns the migrations that ``open()`` would apply, and changes nothing.
    func plan() throws(StoreError) -> MigrationPlan {
        let connection = try StoreError.translating { () throws(PostgreSQLError) in try connect() }
        let applied = try inspect(connection)
        return MigrationPlan(
            applied: migrations.filter { $0.number <= applied.version }.map(\.name),
            pending: applied.pending(of: migrations).map(\.name),
            backupPath: nil
        )
    }

    /// Connects, creates the tables if there are none, and brings them up to date.
    ///
    /// - Returns: the connection, and whether this call has created the tables.
    func open() throws(StoreError) -> (connection: BlockingConnection, isNew: Bool) {
        let connection = try connectAtStart()
        let pending = try inspect(connection).pending(of: migrations)
        var isNew = false
        for migration in pending {
            let hasApplied = try apply(migration, on: connection)
            if hasApplied, migration.number == migrations.first?.number { isNew = true }
        }
        // Another server may have applied further migrations meanwhile.
        let missing = pending.isEmpty ? pending : try inspect(connection).pending(of: migrations)
        guard missing.isEmpty else {
            throw StoreError(.incompatible, "the migrations of \(configuration.name) were not recorded")
        }
        try CitusTables(connection: connection, name: configuration.name).distribute()
        return (connection, isNew)
    }

    /// Returns the migrations of a database.
    ///
    /// - Throws: for a database of another program, for an empty one with another encoding than UTF-8, or for one with
    ///   unknown, missing or changed migrations.
    func inspect(_ connection: BlockingConnection) throws(StoreError) -> AppliedMigrations {
        // A database that has the tables already is not refused, whatever its encoding; `doctor` reports it.
        var encoding = "UTF8"
        let applied = try StoreError.translating { () throws(PostgreSQLError) -> AppliedMigrations? in
            let tables = try connection.execute(Self.tables)
            guard try tables.value(0, 0, as: Bool.self) else {
                encoding = try tables.value(0, 2)
                return try tables.value(0, 1, as: Bool.self) ? nil : AppliedMigrations(version: 0, rows: [])
            }
            return try AppliedMigrations(recordedIn: connection.execute(Self.appliedMigrations))
        }
        guard let applied else {
            throw StoreError(.unsupported, "\(configuration.name) has tables of another program")
        }
        guard encoding == "UTF8" else {
            throw StoreError(
                .unsupported,
                "\(configuration.name) has the encoding \(encoding), which may refuse some texts; create the database"
                    + " again with `createdb --encoding UTF8 --locale C --template template0`"
            )
        }
        try applied.requireFitting(migrations, of: configuration.name)
        return applied
    }

    /// Applies a migration in a transaction, unless another server does so first.
    ///
    /// - Returns: whether this call has applied it.
    private func apply(_ migration: Migration, on connection: BlockingConnection) throws(StoreError) -> Bool {
        var attempts = 0
        while true {
            do throws(PostgreSQLError) {
                return try connection.transaction { () throws(PostgreSQLError) in
                    try applyAlone(migration, on: connection)
                }
            } catch {
                attempts += 1
                // Running servers finish their transactions within seconds.
                guard error.kind == .lockTimeout || error.kind == .deadlock, attempts < 10 else {
                    throw StoreError(error)
                }
            }
        }
    }

    private func applyAlone(_ migration: Migration, on connection: BlockingConnection) throws(PostgreSQLError)
        -> Bool
    {
        // A migration that waits for a lock blocks every transaction that comes after it.
        try connection.execute("SET LOCAL lock_timeout = '2s'")
        // The lock ends with the transaction, also behind a pooler.
        try connection.execute(Self.lock)
        try connection.execute(Self.migrationTable)
        let applied = try AppliedMigrations(recordedIn: connection.execute(Self.appliedMigrations))
        guard applied.version < migration.number else { return false }
        for statement in Self.statements(of: migration.text) {
            try connection.execute(PreparedStatement(SQLText(ofMigration: statement)))
        }
        if migration.number == migrations.first?.number {
            try connection.execute(Self.insertForm, Int64(configuration.shortDays))
        }
        let now = configuration.store.clock.now().milliseconds
        try connection.execute(Self.insertMigration, migration.number, migration.name, migration.digest, now)
        return true
    }

    /// Returns the statements of a migration, which has no semicolon in a text or a name.
    static func statements(of text: String) -> [String] {
        let lines = text.split(separator: "\n").map { (line: Substring) -> Substring in
            line.firstRange(of: "--").map { line[..<$0.lowerBound] } ?? line
        }
        let parts = lines.joined(separator: "\n").split(separator: ";")
        return parts.filter { part in part.contains { !$0.isWhitespace } }.map { String($0) }
    }

    /// Returns the parameters with which the identifiers and the partitions of the database are made.
    func form(_ connection: BlockingConnection) throws(StoreError) -> DatabaseForm {
        try StoreError.translating { () throws(PostgreSQLError) -> DatabaseForm in
            let shortDays: Int64 = try connection.execute(Self.readForm).value(0, 0)
            var form = DatabaseForm(shortDays: shortDays)
            if try connection.isCitus() {
                let rows = try connection.execute(Self.readShards)
                form.shards = BucketShards(
                    try rows.map { (row) throws(PostgreSQLError) in try rows.value(row, 0) }
                )
            }
            return form
        }
    }

    /// Whether Afterlink's tables exist, whether any table exists, and the encoding of the database.
    static let tables: PreparedStatement = """
        SELECT EXISTS (SELECT FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relname = 'form') \
        AND EXISTS (SELECT FROM pg_class WHERE relnamespace = current_schema()::regnamespace \
        AND relname = 'migrations'), \
        EXISTS (SELECT FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')), \
        current_setting('server_encoding')
        """
    private static let lock: PreparedStatement =
        "SELECT pg_advisory_xact_lock(\(AdvisoryLock.migrations.rawValue))"
    private static let migrationTable: PreparedStatement = """
        CREATE TABLE IF NOT EXISTS migrations (number bigint PRIMARY KEY, name text NOT NULL, digest bytea NOT NULL, \
        applied_at bigint NOT NULL)
        """
    static let appliedMigrations: PreparedStatement =
        "SELECT number, name, digest FROM migrations ORDER BY number"
    private static let insertMigration = PreparedStatement("INSERT INTO migrations VALUES ($1, $2, $3, $4)")
    private static let insertForm = PreparedStatement("UPDATE form SET short_days = $1")
    private static let readForm = PreparedStatement("SELECT short_days::int8 FROM form")
    /// The shard of each bucket; no rows if the tables are not distributed.
    private static let readShards = PreparedStatement(
        """
        SELECT get_shard_id_for_distribution_column(logicalrelid, n::int2) \
        FROM pg_dist_partition, generate_series(0, 63) n WHERE logicalrelid = to_regclass('buckets') ORDER BY n
        """
    )
}

/// The parameters with which the identifiers and the partitions of a database are made; they never change.
struct DatabaseForm: Equatable, Sendable {
    /// Clicks with windows of at most this many days are stored in the partitions of their days.
    let shortDays: Int64
    /// How Citus distributes the large tables.
    var shards = BucketShards()

    var shortSeconds: Int64 { shortDays * 86_400 }
}

/// The locks of `pg_advisory_xact_lock`: "AFLK" and a number.
enum AdvisoryLock: Int64 {
    case migrations = 0x4146_4C4B_0001
    case partitions = 0x4146_4C4B_0002
    case servers = 0x4146_4C4B_0003
    case slugs = 0x4146_4C4B_0004
    case directory = 0x4146_4C4B_0005
    /// The first of ``EventLocks``.
    case events = 0x4146_4C4B_1000
}

extension AppliedMigrations {
    init(recordedIn rows: ResultRows) throws(PostgreSQLError) {
        let rows = try rows.map { (index) throws(PostgreSQLError) in
            Row(
                number: try rows.value(index, 0),
                name: try rows.value(index, 1),
                digest: try rows.value(index, 2)
            )
        }
        self.init(version: rows.last?.number ?? 0, rows: rows)
    }
}

#endif
