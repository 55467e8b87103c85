#if PostgreSQL
public import Attribution
internal import PostgreSQL
public import Storage
internal import Synchronization

/// The keyring of a PostgreSQL database, on a connection of its own; any thread that may wait can use it.
public final class PostgreSQLKeyring: KeyringRows {
    /// The connection, which one call at a time uses.
    ///
    /// It is sendable, because only the thread that holds the lock uses it: a call runs the connection's loop on this
    /// thread, and returns when the database has answered.
    private struct Held: @unchecked Sendable {
        var connection: BlockingConnection?
    }

    private let opening: DatabaseOpening
    /// The random number of this process; nil for a command.
    ///
    /// While the process runs, its server number in the table `servers` may change, but this random number does not.
    private let holder: Int64?
    private let held = Mutex(Held())

    /// How long a read or a change may take; short, because the keys are read twice a second.
    ///
    /// A new connection may take longer: as long as the connection of a job.
    private static let timeLimit: Duration = .seconds(5)

    /// Connects at the first call.
    ///
    /// - Parameters:
    ///   - configuration: the database, which is up to date.
    ///   - holder: the random number of this process, as in its row in `servers`; nil for a command.
    init(_ configuration: PostgreSQLConfiguration, holder: Int64?) {
        (opening, self.holder) = (DatabaseOpening(configuration), holder)
    }

    /// Creates the keyring for a command, which is no server.
    public convenience init(_ configuration: PostgreSQLConfiguration) {
        self.init(configuration, holder: nil)
    }

    public func rows() throws(StoreError) -> [KeyringRow] {
        let rows = try use { connection throws(PostgreSQLError) in
            let rows = try connection.execute(Self.selectRows)
            return try rows.map { (row) throws(PostgreSQLError) -> KeyringRow? in
                guard let kind = KeyringRow.Kind(rawValue: try rows.value(row, 1)) else { return nil }
                return KeyringRow(
                    number: try rows.value(row, 0),
                    kind: kind,
                    wrapped: try rows.value(row, 2),
                    madeAt: Timestamp(milliseconds: try rows.value(row, 3))
                )
            }
        }
        // The table's constraint allows no other kind, but a later version may.
        return rows.compactMap(\.self)
    }

    public func insert(_ row: KeyringRow) throws(StoreError) -> Bool {
        try use { connection throws(PostgreSQLError) in
            let (kind, time) = (row.kind.rawValue, row.madeAt.milliseconds)
            return try connection.execute(Self.insertRow, row.number, kind, row.wrapped, time).count > 0
        }
    }

    public func delete(number: Int64) throws(StoreError) {
        try use { connection throws(PostgreSQLError) in _ = try connection.execute(Self.deleteRow, number) }
    }

    public func servers() throws(StoreError) -> [KeyHolder] {
        try use { connection throws(PostgreSQLError) in
            let rows = try connection.execute(Self.selectServers)
            return try rows.map { (row) throws(PostgreSQLError) in
                KeyHolder(
                    number: try rows.value(row, 0),
                    isThisServer: try rows.value(row, 1, as: Int64.self) == holder,
                    keys: HeldKeys(bytes: try rows.value(row, 2))
                )
            }
        }
    }

    public func report(_ keys: HeldKeys) throws(StoreError) {
        guard let holder else { return }
        try use { connection throws(PostgreSQLError) in
            _ = try connection.execute(Self.updateServer, holder, keys.bytes)
        }
    }

    private func use<Result>(_ body: (BlockingConnection) throws(PostgreSQLError) -> Result)
        throws(StoreError) -> Result
    {
        try held.withLock { held throws(StoreError) in
            do throws(PostgreSQLError) {
                if let connection = held.connection { return try body(connection) }
                let connection = try opening.connect(timeLimit: Self.timeLimit)
                held.connection = connection
                return try body(connection)
            } catch {
                if error.endsConnection { held.connection = nil }
                throw StoreError(error)
            }
        }
    }

    private static let selectRows = PreparedStatement("SELECT number, kind, wrapped, made_at FROM keyring")
    /// Inserts a row only if its number is larger than all numbers in the table.
    ///
    /// A server that read the table before another server's change therefore inserts nothing. If two servers insert the
    /// same number at the same time, the unique index refuses one of them.
    private static let insertRow: PreparedStatement = """
        INSERT INTO keyring (number, kind, wrapped, made_at) SELECT $1, $2, $3, $4 \
        WHERE NOT EXISTS (SELECT FROM keyring WHERE number >= $1) ON CONFLICT (number) DO NOTHING RETURNING number
        """
    private static let deleteRow = PreparedStatement("DELETE FROM keyring WHERE number = $1")
    private static let selectServers: PreparedStatement = """
        SELECT number::int8, holder, key_checks FROM servers \
        WHERE seen_at > clock_timestamp() - interval '\(ServerRow.silentSeconds) seconds'
        """
    private static let updateServer: PreparedStatement =
        "UPDATE servers SET key_checks = $2 WHERE holder = $1"
}

#endif
