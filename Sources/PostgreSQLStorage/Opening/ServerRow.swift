#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// This process's row in the table `servers`: its number, which no other running server has.
struct ServerRow: Equatable, Sendable {
    /// 0…31; a part of the numbers of its clicks and checks.
    let number: Int64
    /// The random number of the process.
    let holder: Int64

    /// The number of seconds without a sign of life after which a server loses its number.
    static let silentSeconds = 30

    /// Takes the smallest number that no running server has.
    ///
    /// - Parameters:
    ///   - connection: a connection of the calling thread.
    ///   - holder: a random number.
    ///   - version: the version of this program.
    /// - Returns: the row of this server.
    /// - Throws: `overloaded` if 32 servers run or ended abruptly less than 30 seconds ago.
    static func take(_ connection: BlockingConnection, holder: Int64, version: String) throws(StoreError)
        -> ServerRow
    {
        // A silent server may run again while the statement waits for its row; then another number may be free.
        for _ in 0..<maximumAttempts {
            let number = try StoreError.translating { () throws(PostgreSQLError) -> Int64? in
                try connection.transaction { () throws(PostgreSQLError) in
                    try connection.execute(lock)
                    let rows = try connection.execute(insert, holder, version)
                    return rows.count > 0 ? try rows.value(0, 0) : nil
                }
            }
            if let number { return ServerRow(number: number, holder: holder) }
        }
        throw StoreError(
            .overloaded,
            "\(RowHome.maximumServer + 1) servers use the database already, which is the limit; stop one"
        )
    }

    private static let maximumAttempts = 4

    /// Gives the number back at a stop.
    func release(_ connection: BlockingConnection) throws(PostgreSQLError) {
        try connection.execute(Self.delete, number, holder)
    }

    private static let lock: PreparedStatement =
        "SELECT pg_advisory_xact_lock(\(AdvisoryLock.servers.rawValue))"
    private static let insert: PreparedStatement = """
        INSERT INTO servers AS s (number, holder, batch, seen_at, version, key_checks) \
        SELECT n, $1, 0, clock_timestamp(), $2, '' FROM generate_series(0, \(RowHome.maximumServer)) AS n \
        WHERE NOT EXISTS (SELECT FROM servers o WHERE o.number = n \
        AND o.seen_at > clock_timestamp() - interval '\(silentSeconds) seconds') ORDER BY n LIMIT 1 \
        ON CONFLICT (number) DO UPDATE SET holder = excluded.holder, batch = 0, seen_at = excluded.seen_at, \
        version = excluded.version, key_checks = '', dashboard = '' \
        WHERE s.seen_at <= excluded.seen_at - interval '\(silentSeconds) seconds' RETURNING number::int8
        """
    static let setDashboard: PreparedStatement =
        "UPDATE servers SET dashboard = $3 WHERE number = $1 AND holder = $2"
    private static let delete = PreparedStatement("DELETE FROM servers WHERE number = $1 AND holder = $2")
}

#endif
