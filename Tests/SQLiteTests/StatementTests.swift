import SQLite
import Support
import Testing

@Suite("Statements")
struct StatementTests {
    private let folder: TemporaryFolder
    private let connection: SQLiteConnection

    init() throws {
        folder = try TemporaryFolder()
        connection = try folder.makeDatabase()
        try connection.execute(
            "CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT UNIQUE, size REAL, bytes BLOB)"
        )
    }

    @Test("values are the same when read as when bound")
    func bindsAndReads() throws {
        let name = "Ünlü \u{0} 🙂"
        try connection.statement("INSERT INTO things VALUES (?1, ?2, ?3, ?4)").run(
            Int64.min,
            name,
            0.5,
            [0, 255] as [UInt8]
        )
        try connection.statement("INSERT INTO things VALUES (?1, ?2, ?3, ?4)")
            .run(UInt64.max, String?.none, Double?.none, [] as [UInt8])
        let select = try connection.statement("SELECT * FROM things ORDER BY id")
        let rows = try select.all { row in
            (row.integer(0), row.optionalText(1), row.optionalReal(2), row.bytes(3), row.isNull(3))
        }
        #expect(rows[0].0 == .min && rows[0].1 == name && rows[0].2 == 0.5 && rows[0].3 == [0, 255])
        #expect(rows[1].0 == -1 && rows[1].1 == nil && rows[1].2 == nil && rows[1].3 == [] && !rows[1].4)
    }

    @Test("values are never read as SQL", arguments: ["'; DROP TABLE things; --", "\" OR 1=1", "?1", "%00"])
    func bindsText(text: String) throws {
        try connection.statement("INSERT INTO things (name) VALUES (?1)").run(text)
        let found = try connection.statement("SELECT name FROM things WHERE name = ?1").first(text) {
            $0.text(0)
        }
        #expect(found == text)
        #expect(try connection.integer("SELECT count(*) FROM things") == 1)
    }

    @Test("a unique violation is distinguished from other errors, and its message omits the value")
    func reportsConstraint() throws {
        let insert = try connection.statement("INSERT INTO things (name) VALUES (?1)")
        try insert.run("secret")
        let error = #expect(throws: SQLiteError.self) { try insert.run("secret") }
        #expect(error?.code == .constraint)
        #expect(error?.isUniqueViolation == true)
        #expect(error?.message.contains("secret") == false)
        try insert.run("other")
        #expect(try connection.integer("SELECT count(*) FROM things") == 2, "the statement can be run again")
    }

    @Test("a statement is compiled once for all bound values, despite a partial index")
    func keepsPlan() throws {
        try connection.execute("CREATE INDEX empty_things ON things (name) WHERE size = 0")
        let select = try connection.statement("SELECT id FROM things WHERE name > ?1 AND size = ?2")
        for size in [0.0, 1, 2] { _ = try select.all("a", size) { $0.integer(0) } }
        #expect(select.recompilationCount == 0)
    }

    @Test("wrong SQL is an error, but no unique violation")
    func reportsWrongSQL() {
        let error = #expect(throws: SQLiteError.self) {
            try connection.prepare("SELECT nothing FROM nowhere")
        }
        #expect(error?.code == .error)
        #expect(error?.isUniqueViolation == false)
    }

    @Test("the same text is compiled once")
    func caches() throws {
        func statement() throws -> Statement { try connection.statement("SELECT 1") }
        #expect(try statement() === statement())
    }

    @Test("a plan names searches and scans")
    func readsPlan() throws {
        let search = try connection.queryPlan(of: "SELECT * FROM things WHERE id = ?1")
        #expect(search.first?.hasPrefix("SEARCH things") == true)
        #expect(try connection.queryPlan(of: "SELECT * FROM things WHERE size = ?1") == ["SCAN things"])
    }
}
