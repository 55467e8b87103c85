import Foundation
import SQLite

/// The content of a database, read with SQLite and without the server.
struct Inspection {
    /// `["ok"]` for a database that is whole (sqlite.org/pragma.html#pragma_integrity_check).
    let integrity: [String]
    let clicks: Set<Int64>
    /// The clicks that have been matched.
    let claims: Set<Int64>
    /// The click of each record of a match, once for each record.
    let matchRecords: [Int64]
    /// `counted` is the number of records that the table `progress` states; `stored` is the number of rows.
    let recordCounts: (counted: Int64, stored: Int64)

    init(_ database: URL) throws {
        let connection = try SQLiteConnection(path: database.path, access: .readWrite, busyMilliseconds: 5000)
        integrity = try connection.statement("PRAGMA integrity_check").all { $0.text(0) }
        clicks = Set(try connection.statement("SELECT id FROM clicks").all { $0.integer(0) })
        claims = Set(try connection.statement("SELECT click FROM claims").all { $0.integer(0) })
        matchRecords = try connection.statement("SELECT click FROM checks WHERE outcome = 'match'")
            .all { $0.integer(0) }
        recordCounts = (
            try connection.integer("SELECT ifnull(sum(value), 0) FROM progress WHERE name = 'kept_checks'"),
            try connection.integer("SELECT count(*) FROM checks")
        )
    }
}
