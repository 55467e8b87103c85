internal import Attribution
internal import SQLite
internal import Storage

/// Whose database it is, which tables it has, and which key its hashes were made with.
enum SchemaChecks {
    typealias Check = VerificationReport.Check

    static let application = Check("application", "the file says that it is a database of Afterlink")
    static let migrations = Check(
        "migrations",
        "the tables were made by this program's migrations, each unchanged"
    )
    static let serverKey = Check("server_key", "the server key is the one that the database was made with")

    static func compareApplication(_ connection: SQLiteConnection, _ check: inout Check) {
        do throws(SQLiteError) {
            guard try connection.integer("PRAGMA application_id") != DatabaseOpening.applicationID else {
                return
            }
            check.add(
                "this is the database of another program",
                "give the path of Afterlink's with --database"
            )
        } catch {
            check.add("the file's header cannot be read: \(error.message)", Advice.restore)
        }
    }

    static func compareMigrations(_ known: [Migration], _ connection: SQLiteConnection, _ check: inout Check)
        throws(SQLiteError)
    {
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
            check.add(
                "migration \(migration.name) should have been applied and is not listed",
                Advice.restore
            )
        }
        for migration in known where migration.number > version {
            check.add(
                "migration \(migration.name) is not applied yet",
                "run `afterlink migrate`, or start the service"
            )
        }
        guard let last = rows.last, last.number != version else { return }
        check.add("the version is \(version), and the last migration \(last.number)", Advice.restore)
    }

    static func compare(_ keys: [ServerKey], _ connection: SQLiteConnection, _ check: inout Check)
        throws(SQLiteError)
    {
        guard !keys.isEmpty else {
            check.scope = "not compared: there is no server key at hand"
            return
        }
        let stored = try connection.statement(KeySQL.present).first { $0.integer(0) }
        guard let stored else {
            check.scope = "not compared: the database does not say which key it was made with"
            return
        }
        let words = keys.map { Int64(bitPattern: $0.checkValue.index) }
        guard !words.contains(stored) else {
            try compareFormer(words, connection, &check)
            return
        }
        check.add(
            "the server key is another one, so that no click in the database can be found",
            "put the database's own key back from the backup, or name it with --server-key-file"
        )
    }

    private static func compareFormer(_ words: [Int64], _ connection: SQLiteConnection, _ check: inout Check)
        throws(SQLiteError)
    {
        let missing = try connection.statement(KeySQL.former).all { $0.integer(0) }.count {
            !words.contains($0)
        }
        guard missing > 0 else { return }
        check.add(
            "former server keys are missing (\(missing)), so that clicks from before the rotation cannot be found",
            "put them back from the backup, as further lines of the key file"
        )
    }
}
