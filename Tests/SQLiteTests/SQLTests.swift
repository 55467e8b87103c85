import SQLite
import Testing

@Suite("SQL")
struct SQLTests {
    private static let columns: SQL = "name, size"

    @Test("is composed of literals and other SQL")
    func isComposed() {
        let table: StaticString = "things"
        let sql: SQL = "SELECT \(Self.columns) FROM \(table)"
        #expect(sql.description == "SELECT name, size FROM things")
    }

    @Test("is compiled once for the same literal or composition")
    func isRemembered() throws {
        let connection = try SQLiteConnection.temporary()
        try connection.execute("CREATE TABLE things (name TEXT, size REAL)")
        func count() throws -> Statement { try connection.statement("SELECT \(Self.columns) FROM things") }
        #expect(try count() === count())
        func literal() throws -> Statement { try connection.statement("SELECT name FROM things") }
        #expect(try literal() === literal())
    }
}
