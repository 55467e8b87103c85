public import Attribution

/// One numbered change of a database's schema, as SQL.
public struct Migration: Sendable {
    public let number: Int64
    public let name: String
    public let text: String
    /// The digest of the text, which reveals that an applied migration was changed.
    public let digest: [UInt8]

    /// Returns the migrations in the order of the numbers that their file names start with.
    ///
    /// A file without a number is left out.
    public static func read(
        _ files: [(name: String, text: String)],
        digest: ([UInt8]) -> [UInt8]
    ) -> [Migration] {
        files
            .compactMap { file in
                Int64(file.name.prefix { $0 != "_" }).map {
                    let bytes = digest(Array(file.text.utf8))
                    return Migration(number: $0, name: file.name, text: file.text, digest: bytes)
                }
            }
            .sorted { $0.number < $1.number }
    }
}

/// The migrations that a database records as applied.
public struct AppliedMigrations: Sendable {
    public struct Row: Sendable {
        public let number: Int64
        public let name: String
        public let digest: [UInt8]

        public init(number: Int64, name: String, digest: [UInt8]) {
            (self.number, self.name, self.digest) = (number, name, digest)
        }
    }

    /// The number of the last migration; 0 for an empty database.
    public let version: Int64
    /// The rows in ascending order.
    public let rows: [Row]

    public init(version: Int64, rows: [Row]) { (self.version, self.rows) = (version, rows) }

    /// Returns the migrations of `known` after the database's version.
    public func pending(of known: [Migration]) -> [Migration] { known.filter { $0.number > version } }

    /// Returns the rows of migrations that `known` does not contain.
    public func unknown(to known: [Migration]) -> [Row] {
        rows.filter { row in !known.contains { $0.number == row.number } }
    }

    /// Returns the migrations of `known` that no row records, although the database's version includes them.
    public func unrecorded(of known: [Migration]) -> [Migration] {
        known.filter { migration in
            migration.number <= version && !rows.contains { $0.number == migration.number }
        }
    }

    /// Returns the migrations of `known` whose row has another digest.
    public func changed(of known: [Migration]) -> [Migration] {
        known.filter { migration in
            rows.contains { $0.number == migration.number && $0.digest != migration.digest }
        }
    }

    /// Refuses a database with unknown, missing or changed migrations: the program's statements may not fit its tables.
    ///
    /// - Parameters:
    ///   - known: the migrations of this program.
    ///   - name: the database's name, for the message.
    /// - Throws: `incompatible`, or `corrupted` if a migration is not recorded, with advice.
    public func requireFitting(_ known: [Migration], of name: String) throws(StoreError) {
        let newest = known.last?.number ?? 0
        guard version <= newest else {
            throw StoreError(
                .incompatible,
                "\(name) has schema \(version), and this program knows schemas up to \(newest); start a newer program"
            )
        }
        if let unknown = unknown(to: known).last {
            throw StoreError(
                .incompatible,
                "\(name) has migration \(unknown.number), which this program does not know: start the program that"
                    + " applied it"
            )
        }
        if let migration = unrecorded(of: known).first {
            throw StoreError(
                .corrupted,
                "\(name) has no record of its migration \(migration.name); restore a backup"
            )
        }
        if let migration = changed(of: known).first {
            throw StoreError(
                .incompatible,
                "migration \(migration.name) is not the one that was applied to \(name); start the"
                    + " version of Afterlink that made the database"
            )
        }
    }
}
