#if PostgreSQL
public import Attribution
internal import PostgreSQL
public import Storage

/// Verifies that a database is consistent.
public struct PostgreSQLVerification {
    private typealias Check = VerificationReport.Check

    private let opening: DatabaseOpening
    private let connection: BlockingConnection
    private var reader: PostgreSQLReader { PostgreSQLReader(connection: connection) }

    /// A statement of a verification may read every row of a table.
    private static let timeLimit: Duration = .seconds(3600)

    /// Verifies one snapshot of the database, whether servers run or not, and changes nothing.
    ///
    /// - Parameters:
    ///   - configuration: the database.
    ///   - serverKeys: the server keys that should have made the database's hashes; empty to compare none.
    /// - Returns: the steps of the verification, each with its findings.
    /// - Throws: if the database cannot be reached.
    public static func run(
        _ configuration: PostgreSQLConfiguration,
        serverKeys: [ServerKey] = []
    ) throws(StoreError) -> VerificationReport {
        try StoreError.translating { () throws(PostgreSQLError) in
            let opening = DatabaseOpening(configuration)
            let connection = try opening.connect(timeLimit: Self.timeLimit)
            let verification = PostgreSQLVerification(opening: opening, connection: connection)
            return try connection.transaction(BlockingConnection.beginSnapshot) {
                () throws(PostgreSQLError) in
                try verification.report(serverKeys)
            }
        }
    }

    private func report(_ serverKeys: [ServerKey]) throws(PostgreSQLError) -> VerificationReport {
        var report = VerificationReport()
        report.checks = [try check("application", "the database's tables are Afterlink's", application)]
        // The other steps need Afterlink's tables, and the invariants need the tables of this version.
        if report.isWhole {
            report.checks += [
                try check(
                    "migrations",
                    "this program's migrations made the tables, and no migration has changed since",
                    migrations
                )
            ]
        }
        if report.isWhole {
            report.checks += [
                try check(
                    "integrity",
                    "every slot has its partitions, indexes are whole, and no page had a wrong checksum",
                    integrity
                ),
                try check("server_key", "the server key is the one that made the database's hashes") {
                    check throws(PostgreSQLError) in try compare(serverKeys, &check)
                },
            ]
            let slots = try reader.slots()
            let pending = try connection.pendingCounts()
            let now = opening.configuration.clock.now()
            for invariant in Invariant.all {
                report.checks.append(
                    try check(invariant.name, invariant.scope) { check throws(PostgreSQLError) in
                        try invariant.verify(connection, slots, pending, at: now, &check)
                    }
                )
            }
        }
        for index in report.checks.indices { report.checks[index].shorten() }
        return report
    }

    /// Runs a step of the verification, and reports a failure of a statement as a finding.
    private func check(
        _ name: String,
        _ scope: String,
        _ body: (inout Check) throws(PostgreSQLError) -> Void
    ) throws(PostgreSQLError) -> Check {
        var check = Check(name, scope)
        try connection.execute(Self.savepoint)
        do throws(PostgreSQLError) {
            try body(&check)
        } catch {
            // Without the connection, nothing can be verified.
            guard connection.isReady, !error.endsConnection else { throw error }
            try connection.execute(Self.rollBack)
            let text = String(error.message.map { $0.isNewline ? " " : $0 })
            check.add("cannot be read: \(text) (SQLSTATE \(error.code))")
        }
        return check
    }

    private static let savepoint = PreparedStatement("SAVEPOINT step")
    /// Leaves the savepoint in place.
    private static let rollBack = PreparedStatement("ROLLBACK TO step")

    private func application(_ check: inout Check) throws(PostgreSQLError) {
        let tables = try connection.execute(DatabaseOpening.tables)
        guard try !tables.value(0, 0, as: Bool.self) else { return }
        guard try tables.value(0, 1, as: Bool.self) else {
            check.add("the database is empty", "start the service once, or give another --database")
            return
        }
        check.add("this is the database of another program", "name Afterlink's database with --database")
    }

    private func migrations(_ check: inout Check) throws(PostgreSQLError) {
        let rows = try connection.execute(DatabaseOpening.appliedMigrations)
        check.compare(try AppliedMigrations(recordedIn: rows), with: opening.migrations)
    }

    private func compare(_ keys: [ServerKey], _ check: inout Check) throws(PostgreSQLError) {
        let stored = try reader.value(of: .serverKey).map(UInt64.init(bitPattern:))
        check.compare(keys, stored: stored, former: try reader.formerServerKeys().keys)
    }

    private func integrity(_ check: inout Check) throws(PostgreSQLError) {
        let attached = Set(try reader.all(Self.attached) { $0.get("name") as String })
        for slot in try reader.slots() {
            for table in Partitions.Table.allCases {
                let name = Partitions.name(of: table, slot).text
                guard !attached.contains(name) else { continue }
                check.add("the partition \(name) does not exist, or is not attached")
            }
        }
        for name in try reader.all(Self.invalidIndexes, read: { $0.get("name") as String }) {
            check.add("the index \(name) is not valid", "run REINDEX INDEX \(name) in the database")
        }
        let failures = try reader.first(Self.checksums) { $0.get("failures") as Int64 } ?? 0
        if failures > 0 { check.add("the database server has read \(failures) pages with a wrong checksum") }
    }

    private static let attached: PreparedStatement = """
        SELECT c.relname::text AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND NOT i.inhdetachpending
        """
    private static let invalidIndexes: PreparedStatement = """
        SELECT c.relname::text AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE c.relnamespace = current_schema()::regnamespace AND NOT i.indisvalid AND c.relkind = 'i'
        """
    private static let checksums: PreparedStatement = """
        SELECT coalesce(checksum_failures, 0) AS failures FROM pg_stat_database WHERE datname = current_database()
        """
}

extension BlockingConnection {
    /// Returns the counts that no job has added to the tables yet.
    fileprivate func pendingCounts() throws(PostgreSQLError) -> CountPayload {
        try execute(Self.deltas).sumOfCounts()
    }

    private static let deltas = PreparedStatement("SELECT payload FROM count_deltas")
}
#endif
