import Attribution
import SQLite
import SQLiteStorage
import Storage
import Testing

@Suite("Records")
struct RecordColumnTests {
    private static let insert = SQL.insert("things", Thing.columns)
    private static let select: SQL = "SELECT \(Thing.columns, of: "things"), 1 AS more FROM things"

    private static func makeDatabase() throws -> SQLiteConnection {
        let connection = try SQLiteConnection.temporary()
        try connection.execute(
            "CREATE TABLE things (id INTEGER, kind TEXT, hash INTEGER, hash_rest INTEGER, size REAL, bytes BLOB)"
        )
        return connection
    }

    @Test("records name their columns in the statements that write and read records")
    func nameColumns() {
        #expect(
            Self.insert.description
                == "INSERT INTO things (id, kind, hash, hash_rest, size, bytes) VALUES (?, ?, ?, ?, ?, ?)"
        )
        #expect(
            Self.select.description
                == "SELECT things.id, things.kind, things.hash, things.hash_rest, things.size, things.bytes, 1 AS more "
                + "FROM things"
        )
    }

    @Test(
        "records are read as they were written",
        arguments: [
            Thing(
                id: .max,
                kind: .android,
                hash: KeyedHash(index: .max, rest: 1),
                size: 0.5,
                bytes: [0, 255]
            ),
            Thing(id: 0, kind: .unknown, hash: nil, size: nil, bytes: []),
        ]
    )
    func comeBack(thing: Thing) throws {
        let connection = try Self.makeDatabase()
        try connection.statement(Self.insert).run(thing)
        #expect(try connection.statement(Self.select).first(Thing.self) == thing)
    }

    @Test("a record with an unknown word is reported as damaged")
    func reportDamage() throws {
        let connection = try Self.makeDatabase()
        try connection.statement("INSERT INTO things (id, kind) VALUES (1, 'sundial')").run()
        let error = #expect(throws: SQLiteError.self) {
            try connection.statement(Self.select).first(Thing.self)
        }
        #expect(error?.code == .corrupt)
    }

    #if DEBUG
    @Test("a debug build stops when a record writes columns in the wrong order")
    func stopWriting() async {
        await #expect(processExitsWith: .failure) {
            let connection = try RecordColumnTests.makeDatabase()
            try connection.statement("INSERT INTO things (id, size) VALUES (?, ?)").run(Swapped())
        }
    }

    @Test("a debug build stops when a record leaves a column out")
    func stopShort() async {
        await #expect(processExitsWith: .failure) {
            let connection = try RecordColumnTests.makeDatabase()
            try connection.statement("INSERT INTO things (id, size) VALUES (?, ?)").run(Short())
        }
    }

    @Test("a debug build stops when a record reads columns in the wrong order")
    func stopReading() async {
        await #expect(processExitsWith: .failure) {
            let connection = try RecordColumnTests.makeDatabase()
            try connection.execute("INSERT INTO things (id, size) VALUES (1, 2)")
            _ = try connection.statement("SELECT size, id FROM things").first(Swapped.self)
        }
    }
    #endif
}

struct Thing: Record, Equatable {
    let id: UInt64
    let kind: Platform
    let hash: KeyedHash?
    let size: Double?
    let bytes: [UInt8]

    static let columns: Columns = ["id", "kind", "hash", "hash_rest", "size", "bytes"]

    func write(to row: inout some RowWriter) {
        row.put("id", id)
        row.put("kind", kind)
        row.put("hash", "hash_rest", hash)
        row.put("size", size)
        row.put("bytes", bytes)
    }
}

extension Thing {
    init?(_ row: inout some RowReader) {
        id = row.get("id")
        guard let kind: Platform = row.get("kind") else { return nil }
        self.kind = kind
        hash = row.get("hash", "hash_rest")
        size = row.get("size")
        bytes = row.get("bytes")
    }
}

/// A record that writes and reads its columns in another order than it lists them.
private struct Swapped: Record {
    static let columns: Columns = ["id", "size"]

    init() {}

    init?(_ row: inout some RowReader) {
        let _: Int = row.get("id")
        let _: Int = row.get("size")
    }

    func write(to row: inout some RowWriter) {
        row.put("size", 1)
        row.put("id", 2)
    }
}

/// A record that does not write its last column.
private struct Short: Record {
    static let columns: Columns = ["id", "size"]

    init() {}
    init?(_ row: inout some RowReader) {}
    func write(to row: inout some RowWriter) { row.put("id", 2) }
}
