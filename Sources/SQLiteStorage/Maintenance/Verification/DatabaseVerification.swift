public import Attribution
internal import SQLite
internal import Storage

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
                checked(SchemaChecks.application) { SchemaChecks.compareApplication(look.connection, &$0) },
                checked(SchemaChecks.migrations) { check throws(SQLiteError) in
                    try SchemaChecks.compareMigrations(look.opening.migrations, look.connection, &check)
                },
                checked(SchemaChecks.serverKey) { check throws(SQLiteError) in
                    try SchemaChecks.compare(serverKeys, look.connection, &check)
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
                check.add(Self.oneLine(line), Advice.restore)
            }
        }
    }

    private func foreignKeys() -> VerificationReport.Check {
        let scope = "every row that names another one names one that there is (SQLite's foreign_key_check)"
        return checked(.init("foreign_keys", scope)) { check throws(SQLiteError) in
            let statement = try look.connection.prepare("PRAGMA foreign_key_check")
            try statement.forEach { row in
                check.add(
                    "row \(row.integer(1)) of \(row.text(0)) names a row of \(row.text(2)) that is gone",
                    Advice.restore
                )
            }
        }
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
                "cannot be read: \(Self.oneLine(error.message)) (SQLite \(error.extendedCode))",
                Advice.restore
            )
        }
        return check
    }

    private static func oneLine(_ text: String) -> String {
        String(text.map { $0.isNewline ? " " : $0 })
    }
}
