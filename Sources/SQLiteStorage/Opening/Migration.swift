internal import Attribution
internal import Crypto
internal import SQLite

/// One numbered step of the schema, as it was built in.
struct Migration: Sendable {
    let number: Int64
    let name: String
    let text: String
    /// SHA-256 of the text: an applied migration must not be changed afterwards.
    let digest: [UInt8]

    init(number: Int64, name: String, text: String) {
        self.number = number
        self.name = name
        self.text = text
        digest = SHA256.digest(of: Array(text.utf8)).bytes
    }

    /// Those of this program, ascending.
    static let embedded = read(EmbeddedMigrations.files)

    /// Migrations by the number that their file name begins with, ascending.
    static func read(_ files: [(name: String, text: String)]) -> [Migration] {
        files
            .compactMap { file in
                let digits = file.name.prefix { $0 != "_" }
                return Int64(digits).map { Migration(number: $0, name: file.name, text: file.text) }
            }
            .sorted { $0.number < $1.number }
    }
}

/// The schema of one open database.
struct SchemaState {
    /// Number of the last migration; 0 for a new database.
    let version: Int64
    let pending: [Migration]
    let applied: [Migration]

    /// Reads what is there, and refuses what this program does not know.
    init(of connection: SQLiteConnection, path: String, migrations: [Migration]) throws(StoreError) {
        let (version, names, digests) = try Self.read(connection, path)
        self.version = version
        guard names[1] != Self.developmentMigration else {
            throw StoreError(
                .unsupported,
                "\(path) was made by a development version of Afterlink, whose databases no release can read"
            )
        }
        let known = migrations.last?.number ?? 0
        guard version <= known else {
            throw StoreError(
                .incompatible,
                "\(path) has schema \(version), this program knows \(known): start a newer program"
            )
        }
        // Whatever the version says: the tables may be others than this program's statements are for.
        if let unknown = digests.keys.filter({ number in !migrations.contains { $0.number == number } }).max()
        {
            throw StoreError(
                .incompatible,
                "\(path) has migration \(unknown), which this program does not know: start the program that applied it"
            )
        }
        applied = migrations.filter { $0.number <= version }
        pending = migrations.filter { $0.number > version }
        for migration in applied where digests[migration.number] == nil {
            throw StoreError(
                .corrupted,
                "\(path) does not know its migration \(migration.name); restore a backup"
            )
        }
        for migration in applied where digests[migration.number] != migration.digest {
            throw StoreError(
                .incompatible,
                "migration \(migration.name) is not the one that was applied to \(path); start the program that made it"
            )
        }
    }

    private static func read(_ connection: SQLiteConnection, _ path: String) throws(StoreError) -> (
        Int64, [Int64: String], [Int64: [UInt8]]
    ) {
        do throws(SQLiteError) {
            let version = try connection.integer("PRAGMA user_version")
            guard version > 0 else { return (version, [:], [:]) }
            let rows = try connection.statement("SELECT number, name, digest FROM migrations").all {
                (number: $0.integer(0), name: $0.text(1), digest: $0.bytes(2))
            }
            let names = Dictionary(rows.map { ($0.number, $0.name) }) { first, _ in first }
            return (version, names, Dictionary(rows.map { ($0.number, $0.digest) }) { first, _ in first })
        } catch {
            let cause = StoreError(error)
            throw StoreError(cause.code, "\(path): \(cause.explanation)")
        }
    }

    /// Applies what pends, each migration in a transaction of its own.
    func applyPending(on connection: SQLiteConnection, at now: Timestamp) throws(SQLiteError) {
        for migration in pending {
            try connection.transaction(.immediate) { () throws(SQLiteError) in
                // Another process that starts at the same moment may have been faster.
                guard try connection.integer("PRAGMA user_version") < migration.number else { return }
                if migration.number == pending.first?.number, version == 0 {
                    try connection.execute(Self.bookkeeping)
                    try connection.execute("PRAGMA application_id = \(DatabaseOpening.applicationID)")
                }
                try connection.execute(migration.text)
                let (number, name) = (migration.number, migration.name)
                try connection.prepare("INSERT INTO migrations VALUES (?1, ?2, ?3, ?4)")
                    .run(number, name, migration.digest, now.milliseconds)
                try connection.execute("PRAGMA user_version = \(number)")
            }
        }
    }

    /// The first of ten migrations that were never released, and that one replaced.
    private static let developmentMigration = "0001_clicks_claims_counters.sql"

    private static let bookkeeping = """
        -- Which migrations made this schema, so that none is changed afterwards.
        CREATE TABLE migrations (
            number INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            digest BLOB NOT NULL,
            applied_at INTEGER NOT NULL
        ) STRICT
        """
}
