public import Attribution
internal import SQLite
public import Storage

/// Verifies that a database is consistent; also reads a damaged database.
public struct DatabaseVerification {
    private typealias Check = VerificationReport.Check

    private let snapshot: DatabaseSnapshot
    private var connection: SQLiteConnection { snapshot.connection }

    /// Verifies one snapshot of the database, whether a server runs or not, and changes nothing.
    ///
    /// - Parameters:
    ///   - configuration: the database.
    ///   - serverKeys: the server keys that should have made the database's hashes; empty to compare none.
    /// - Returns: the steps of the verification, each with its findings.
    /// - Throws: if the file does not exist, or is not a database.
    public static func run(
        _ configuration: SQLiteConfiguration,
        serverKeys: [ServerKey] = []
    ) throws(StoreError) -> VerificationReport {
        let verification = DatabaseVerification(snapshot: try DatabaseSnapshot(configuration))
        return try verification.snapshot.atOneMoment { () throws(StoreError) in
            verification.report(serverKeys)
        }
    }

    private func report(_ serverKeys: [ServerKey]) -> VerificationReport {
        var report = VerificationReport()
        report.checks = [
            check(
                "integrity",
                "all pages, rows and indexes agree with each other (SQLite's integrity_check)",
                integrity
            ),
            check(
                "foreign_keys",
                "every row that refers to another row refers to one that exists (SQLite's foreign_key_check)",
                foreignKeys
            ),
            check("application", "the file's application id is Afterlink's", application),
            check(
                "migrations",
                "this program's migrations made the tables, and no migration has changed since",
                migrations
            ),
            check("server_key", "the server key is the one that made the database's hashes") {
                check throws(SQLiteError) in try compare(serverKeys, &check)
            },
        ]
        // The invariants' queries need Afterlink's tables.
        if report.checks.dropFirst(2).prefix(2).allSatisfy(\.findings.isEmpty) {
            report.checks += Invariant.all.map { check($0.name, $0.scope, verifier(of: $0)) }
        }
        for index in report.checks.indices { report.checks[index].shorten() }
        return report
    }

    private func verifier(of invariant: Invariant) -> (inout Check) throws(SQLiteError) -> Void {
        { check throws(SQLiteError) in try invariant.verify(connection, &check) }
    }

    /// Runs a step of the verification, and reports an error of SQLite as a finding.
    private func check(
        _ name: String,
        _ scope: String,
        _ body: (inout Check) throws(SQLiteError) -> Void
    ) -> Check {
        var check = Check(name, scope)
        do throws(SQLiteError) {
            try body(&check)
        } catch {
            check.add("cannot be read: \(Self.oneLine(error.message)) (SQLite \(error.extendedCode))")
        }
        return check
    }

    private static func oneLine(_ text: String) -> String { String(text.map { $0.isNewline ? " " : $0 }) }

    private func integrity(_ check: inout Check) throws(SQLiteError) {
        for line in try connection.integrityProblems(isThorough: true) { check.add(Self.oneLine(line)) }
    }

    private func foreignKeys(_ check: inout Check) throws(SQLiteError) {
        try connection.prepare("PRAGMA foreign_key_check").forEach { row in
            check.add("row \(row.integer(1)) of \(row.text(0)) refers to a missing row of \(row.text(2))")
        }
    }

    private func application(_ check: inout Check) throws(SQLiteError) {
        do throws(SQLiteError) {
            guard try connection.integer("PRAGMA application_id") != DatabaseOpening.applicationID else {
                return
            }
            check.add(
                "this is the database of another program",
                "give the path of Afterlink's database with --database"
            )
        } catch { check.add("the file's header cannot be read: \(error.message)") }
    }

    private func migrations(_ check: inout Check) throws(SQLiteError) {
        let applied = try AppliedMigrations(of: connection)
        guard !DatabaseOpening.isOfDevelopmentVersion(applied) else {
            check.add(
                "the database was made by a development version of Afterlink, and no release can read it",
                "export its links with that version (`afterlink links export`), and start with a new database"
            )
            return
        }
        check.compare(applied, with: snapshot.opening.migrations)
    }

    private func compare(_ keys: [ServerKey], _ check: inout Check) throws(SQLiteError) {
        let reader = SQLiteReader(connection: connection)
        let stored = try keys.isEmpty ? nil : reader.value(of: .serverKey)
        let former = try stored == nil ? [:] : reader.formerServerKeys()
        check.compare(keys, stored: stored.map(UInt64.init(bitPattern:)), former: former.keys)
    }
}
