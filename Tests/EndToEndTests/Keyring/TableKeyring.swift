import Attribution
import Foundation
import SQLite
import Storage
import Synchronization

/// The tables of a keyring and of its servers in SQLite, with the columns and rules of the tables in PostgreSQL.
final class KeyringTables: Sendable {
    private let path: String
    /// The database's clock, in milliseconds.
    let now = Mutex<Int64>(0)

    init(path: String) throws {
        self.path = path
        try Data().write(to: URL(fileURLWithPath: path))
        try use { connection throws(SQLiteError) in
            try connection.execute(
                """
                CREATE TABLE keyring (
                    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, wrapped BLOB NOT NULL, made_at INTEGER NOT NULL
                ) STRICT;
                CREATE TABLE servers (
                    number INTEGER PRIMARY KEY, key_checks BLOB NOT NULL, seen_at INTEGER NOT NULL
                ) STRICT;
                """
            )
        }
    }

    /// Runs statements on a connection of the calling thread.
    func use<Result>(_ body: (SQLiteConnection) throws(SQLiteError) -> Result) throws(StoreError) -> Result {
        do throws(SQLiteError) {
            return try body(SQLiteConnection(path: path, access: .readWrite, busyMilliseconds: 10_000))
        } catch {
            throw StoreError(.inputOutput, "\(error)")
        }
    }

    /// Adds a server that has reported nothing, as the opening of a database does.
    func start(_ server: Int64) throws {
        let time = now.withLock { $0 }
        try use { connection throws(SQLiteError) in
            try connection.statement("INSERT OR REPLACE INTO servers VALUES (?1, x'', ?2)").run(server, time)
        }
    }

    /// Removes a server.
    func stop(_ server: Int64) throws {
        try use { connection throws(SQLiteError) in
            try connection.statement("DELETE FROM servers WHERE number = ?1").run(server)
        }
    }

    /// Records that the server still runs.
    func touch(_ server: Int64) throws {
        let time = now.withLock { $0 }
        try use { connection throws(SQLiteError) in
            try connection.statement("UPDATE servers SET seen_at = ?2 WHERE number = ?1").run(server, time)
        }
    }

    /// Deletes every row of the keyring.
    func clear() throws {
        try use { connection throws(SQLiteError) in try connection.execute("DELETE FROM keyring") }
    }
}

/// The keyring as one process uses it, from any thread.
struct TableKeyring: KeyringRows {
    let tables: KeyringTables
    /// The server's number; nil if the process is a command.
    let server: Int64?

    func rows() throws(StoreError) -> [KeyringRow] {
        let rows = try tables.use { connection throws(SQLiteError) in
            try connection.statement("SELECT number, kind, wrapped, made_at FROM keyring").all { row in
                KeyringRow.Kind(rawValue: row.text(1)).map { kind in
                    KeyringRow(
                        number: row.integer(0),
                        kind: kind,
                        wrapped: row.bytes(2),
                        madeAt: Timestamp(milliseconds: row.integer(3))
                    )
                }
            }
        }
        return rows.compactMap(\.self)
    }

    func insert(_ row: KeyringRow) throws(StoreError) -> Bool {
        try tables.use { connection throws(SQLiteError) in
            try connection.transaction(.immediate) { () throws(SQLiteError) in
                let later = try connection.statement("SELECT 1 FROM keyring WHERE number >= ?1").first(
                    row.number
                ) { _ in
                    true
                }
                guard later == nil else { return false }
                try connection.statement("INSERT INTO keyring VALUES (?1, ?2, ?3, ?4)").run(
                    row.number,
                    row.kind.rawValue,
                    row.wrapped,
                    row.madeAt.milliseconds
                )
                return true
            }
        }
    }

    func delete(number: Int64) throws(StoreError) {
        try tables.use { connection throws(SQLiteError) in
            try connection.statement("DELETE FROM keyring WHERE number = ?1").run(number)
        }
    }

    func servers() throws(StoreError) -> [KeyHolder] {
        let time = tables.now.withLock { $0 }
        return try tables.use { connection throws(SQLiteError) in
            try connection.statement("SELECT number, key_checks FROM servers WHERE seen_at > ?1 - 30000").all(
                time
            ) {
                let number = $0.integer(0)
                return KeyHolder(
                    number: number,
                    isThisServer: number == server,
                    keys: HeldKeys(bytes: $0.bytes(1))
                )
            }
        }
    }

    func report(_ keys: HeldKeys) throws(StoreError) {
        guard let server else { return }
        let time = tables.now.withLock { $0 }
        try tables.use { connection throws(SQLiteError) in
            try connection.statement("UPDATE servers SET key_checks = ?2, seen_at = ?3 WHERE number = ?1")
                .run(server, keys.bytes, time)
        }
    }
}
