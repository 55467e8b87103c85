public import Attribution
internal import SQLite
public import Storage

/// Compares a database with itself; works on what is damaged.
public struct DatabaseVerification {
    private let look: DatabaseSnapshot

    private init(_ configuration: SQLiteConfiguration, _ files: [(name: String, text: String)]?)
        throws(StoreError)
    {
        look = try DatabaseSnapshot(
            configuration,
            migrations: files.map(Migration.read) ?? Migration.embedded
        )
    }

    /// Looks at one moment of the database, beside a server or alone, and changes nothing.
    ///
    /// - Parameters:
    ///   - configuration: the database.
    ///   - serverKeys: the keys that its hashes should be made with; empty where there is none to compare.
    /// - Returns: what was looked at, and what was found.
    /// - Throws: when there is no database, or a file that is none.
    public static func run(
        _ configuration: SQLiteConfiguration,
        serverKeys: [ServerKey] = []
    ) throws(StoreError) -> VerificationReport {
        try DatabaseVerification(configuration, nil).report(serverKeys)
    }

    /// As above, with other migrations than those of this program.
    package static func run(
        _ configuration: SQLiteConfiguration,
        serverKeys: [ServerKey] = [],
        migrations: [(name: String, text: String)]
    ) throws(StoreError) -> VerificationReport {
        try DatabaseVerification(configuration, migrations).report(serverKeys)
    }

    private func report(_ serverKeys: [ServerKey]) throws(StoreError) -> VerificationReport {
        var report = VerificationReport()
        try look.atOneMoment { () throws(StoreError) in
            report.checks = [
                integrity(), foreignKeys(),
                application(),
                checked(
                    .init("migrations", "the tables were made by this program's migrations, each unchanged")
                ) {
                    check throws(SQLiteError) in
                    try compareMigrations(look.opening.migrations, &check)
                },
                checked(.init("server_key", "the server key is the one that the database was made with")) {
                    check throws(SQLiteError) in
                    try compare(serverKeys, &check)
                },
            ]
            // Of other tables than ours, nothing can be said.
            let isOurs = report.checks.dropFirst(2).prefix(2).allSatisfy(\.findings.isEmpty)
            guard isOurs else { return }
            report.checks += InvariantQuery.all.map { fact in
                checked(.init(fact.name, fact.scope)) { check throws(SQLiteError) in
                    try fact.run(look.connection, &check)
                }
            }
        }
        for index in report.checks.indices { report.checks[index].shorten() }
        return report
    }

    private func integrity() -> VerificationReport.Check {
        let scope = "every page, row and index agree with each other (SQLite's integrity_check)"
        return checked(.init("integrity", scope)) { check throws(SQLiteError) in
            for line in try SQLiteReader(connection: look.connection).integrityProblems(isThorough: true) {
                check.add(Self.oneLine(line))
            }
        }
    }

    private func foreignKeys() -> VerificationReport.Check {
        let scope = "every row that names another one names one that there is (SQLite's foreign_key_check)"
        return checked(.init("foreign_keys", scope)) { check throws(SQLiteError) in
            let statement = try look.connection.prepare("PRAGMA foreign_key_check")
            try statement.forEach { row in
                check.add(
                    "row \(row.integer(1)) of \(row.text(0)) names a row of \(row.text(2)) that is gone"
                )
            }
        }
    }

    private func application() -> VerificationReport.Check {
        var check = VerificationReport.Check(
            "application",
            "the file says that it is a database of Afterlink"
        )
        do throws(SQLiteError) {
            if try look.connection.integer("PRAGMA application_id") != DatabaseOpening.applicationID {
                check.add(
                    "this is the database of another program",
                    "give the path of Afterlink's with --database"
                )
            }
        } catch {
            check.add("the file's header cannot be read: \(error.message)")
        }
        return check
    }

    private func compareMigrations(_ known: [Migration], _ check: inout VerificationReport.Check)
        throws(SQLiteError)
    {
        let connection = look.connection
        let version = try connection.integer("PRAGMA user_version")
        let rows = try connection.statement("SELECT number, name, digest FROM migrations ORDER BY number").all
        {
            (number: $0.integer(0), name: $0.text(1), digest: $0.bytes(2))
        }
        for row in rows {
            guard let migration = known.first(where: { $0.number == row.number }) else {
                check.add(
                    "migration \(row.name) is not known to this program",
                    "use a newer version of Afterlink"
                )
                continue
            }
            guard migration.digest != row.digest else { continue }
            check.add(
                "migration \(row.name) is not the one that was applied: its digest differs",
                "use the version of Afterlink that made the database, or restore a backup"
            )
        }
        for migration in known where migration.number <= version {
            guard !rows.contains(where: { $0.number == migration.number }) else { continue }
            check.add("migration \(migration.name) should have been applied and is not listed")
        }
        for migration in known where migration.number > version {
            check.add(
                "migration \(migration.name) is not applied yet",
                "run `afterlink migrate`, or start the service"
            )
        }
        guard let last = rows.last, last.number != version else { return }
        check.add("the version is \(version), and the last migration \(last.number)")
    }

    private func compare(_ keys: [ServerKey], _ check: inout VerificationReport.Check) throws(SQLiteError) {
        guard !keys.isEmpty else {
            check.scope = "not compared: there is no server key at hand"
            return
        }
        let reader = SQLiteReader(connection: look.connection)
        guard let stored = try reader.value(of: .serverKey) else {
            check.scope = "not compared: the database does not say which key it was made with"
            return
        }
        let words = keys.map { Int64(bitPattern: $0.checkValue.index) }
        guard !words.contains(stored) else {
            let missing = try reader.formerServerKeys().keys.count { !words.contains(Int64(bitPattern: $0)) }
            guard missing > 0 else { return }
            check.add(
                "former server keys are missing (\(missing)), so that clicks from before the rotation cannot be found",
                "put them back from the backup, as further lines of the key file"
            )
            return
        }
        check.add(
            "the server key is another one, so that no click in the database can be found",
            "put the database's own key back from the backup, or name it with --server-key-file"
        )
    }

    /// Where a check cannot even be made, that is the finding.
    private func checked(
        _ check: VerificationReport.Check,
        _ body: (inout VerificationReport.Check) throws(SQLiteError) -> Void
    ) -> VerificationReport.Check {
        var check = check
        do throws(SQLiteError) {
            try body(&check)
        } catch {
            check.add(
                "cannot be read: \(Self.oneLine(error.message)) (SQLite \(error.extendedCode))"
            )
        }
        return check
    }

    private static func oneLine(_ text: String) -> String {
        String(text.map { $0.isNewline ? " " : $0 })
    }
}

/// SQLite's own comparison of a database with itself (sqlite.org/pragma.html#pragma_integrity_check).
extension SQLiteReader {
    /// What it found, in SQLite's words and at most a hundred; empty when all is well.
    func integrityProblems(isThorough: Bool) throws(SQLiteError) -> [String] {
        try connection.execute("PRAGMA cell_size_check = ON")
        let statement = try connection.prepare(isThorough ? "PRAGMA integrity_check" : "PRAGMA quick_check")
        var lines: [String] = []
        do throws(SQLiteError) {
            while try statement.step() { lines.append(statement.text(0)) }
        } catch {
            // Where it cannot even go on, that is the finding.
            guard error.code == .corrupt || error.code == .notADatabase else { throw error }
            lines.append(error.message)
        }
        statement.reset()
        return lines == ["ok"] ? [] : lines.filter { $0 != "ok" }
    }
}
