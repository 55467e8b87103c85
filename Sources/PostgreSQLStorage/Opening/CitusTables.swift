#if PostgreSQL
internal import Attribution
internal import PostgreSQL

/// Distributes the large tables over the workers, in a database with the extension Citus.
///
/// One worker stores all rows of a bucket, in one shard of each table, so a statement of one shard runs on one worker.
/// Each node has a copy of `partitions`, because statements of every bucket join this table. All other tables are
/// small, or few transactions write them. They stay on the coordinator, to which all servers connect. `form` is on
/// the coordinator too, but Citus has metadata of it: see ``commitInTwoPhases``.
struct CitusTables {
    let connection: BlockingConnection
    /// The name of the database in messages.
    let name: String

    /// Distributes the tables if the database has Citus and they are not distributed yet.
    func distribute() throws(StoreError) {
        let state = try StoreError.translating { () throws(PostgreSQLError) -> State? in
            guard try connection.isCitus() else { return nil }
            return try connection.transaction { () throws(PostgreSQLError) in
                try connection.execute(Self.lock)
                let state = try readState()
                guard state == .undistributed else { return state }
                for statement in Self.statements { try connection.execute(PreparedStatement(statement)) }
                return .distributed
            }
        }
        switch state {
        case nil, .distributed: return
        case .withoutWorkers, .undistributed:
            throw StoreError(
                .incompatible,
                """
                \(name) has the extension citus, but no workers; add them with citus_set_coordinator_host and \
                citus_add_node, or drop the extension
                """
            )
        case .worker: throw StoreError(.incompatible, "\(name) is a worker of Citus; name the coordinator")
        }
    }

    /// Makes Citus commit the open transaction in two phases; changes nothing.
    ///
    /// Citus does not know of changes of the coordinator's own tables. If a transaction also changes rows of one
    /// worker, Citus commits these rows on the worker before the coordinator commits. So a fault between both commits
    /// would lose half of the transaction. This statement counts as a change of a second node.
    static let commitInTwoPhases: PreparedStatement =
        "UPDATE form SET short_days = short_days WHERE buckets = 0"

    private enum State {
        case distributed
        case undistributed
        case withoutWorkers
        /// The database server is not the coordinator.
        case worker
    }

    private func readState() throws(PostgreSQLError) -> State {
        let rows = try connection.execute(Self.readState)
        if try rows.value(0, 0, as: Bool.self) { return .distributed }
        guard try rows.value(0, 1, as: Bool.self) else { return .worker }
        return try rows.value(0, 2, as: Bool.self) ? .undistributed : .withoutWorkers
    }

    private static let lock: PreparedStatement =
        "SELECT pg_advisory_xact_lock(\(AdvisoryLock.migrations.rawValue))"
    private static let readState: PreparedStatement = """
        SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass('buckets')), \
        citus_is_coordinator(), EXISTS (SELECT FROM pg_dist_node WHERE isactive AND shouldhaveshards)
        """
    /// The statements run one after the other on each worker, because the transaction also changes a reference table.
    private static let statements: [SQLText] = [
        "SET LOCAL citus.multi_shard_modify_mode TO 'sequential'",
        "SELECT citus_add_local_table_to_metadata('form')",
        "SELECT create_reference_table('partitions')",
        "SELECT create_distributed_table('buckets', 'b', colocate_with => 'none')",
        "SELECT create_distributed_table('clicks', 'b', colocate_with => 'buckets')",
        "SELECT create_distributed_table('click_index', 'b', colocate_with => 'buckets')",
        "SELECT create_distributed_table('click_addresses', 'b', colocate_with => 'buckets')",
        "SELECT create_distributed_table('checks', 'b', colocate_with => 'buckets')",
        "SELECT create_distributed_table('installs', 'b', colocate_with => 'buckets')",
        "SELECT create_distributed_table('idempotencies', 'b', colocate_with => 'buckets')",
    ]
}
#endif
