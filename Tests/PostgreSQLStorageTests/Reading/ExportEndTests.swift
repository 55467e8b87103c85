#if PostgreSQL
import Attribution
@testable import PostgreSQL
@testable import PostgreSQLStorage
@testable import Storage
import Support
import Testing

@Suite("The end of an export on PostgreSQL", .blocking)
struct ExportEndTests {
    /// The session with the open transaction, and whether the reader's role may see when the transaction
    /// began.
    enum Writer: CaseIterable {
        case visible
        case hidden
        /// Another server of Afterlink, with another role.
        case hiddenServer
    }

    @Test(
        "is before a row that an open transaction commits late, and behind the row after the commit",
        arguments: Writer.allCases
    )
    func openTransaction(writer: Writer) throws {
        let harness = try ReaderHarness()
        let other = try DatabaseOpening(harness.configuration).connect()
        try other.execute("INSERT INTO servers VALUES (5, 1, 0, now() - interval '200 seconds', '', '')")
        try other.execute("BEGIN")
        if writer == .hiddenServer { try other.execute("UPDATE servers SET batch = 1") }
        // The transaction has written, so it counts, however long it is open.
        let began = try other.execute(
            "SELECT (extract(epoch FROM now()) * 1000)::int8 FROM (SELECT pg_current_xact_id()) t"
        )
        let start = Timestamp(milliseconds: try began.value(0, 0))
        // A click's number is made before its transaction begins, but less than 30 seconds before. Hidden sessions, which
        // stay connected, keep the end a further minute back.
        let margin: Int64 = writer == .visible ? 30_000 : 90_000
        let time = start.advanced(byMilliseconds: 2000 - margin)
        let click = try NewClick.sample(fingerprint: 1, at: time)
        let committed = try harness.add(click, isLong: true).number
        try other.execute("CREATE TEMP TABLE late AS SELECT * FROM clicks")
        try other.execute("UPDATE late SET id = id - (1000 << 16), turn = turn - 1")
        try other.execute("INSERT INTO clicks SELECT * FROM late")
        let late = committed - 1000 << 16
        let now = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8 - \(margin)"
        func passed() throws -> Bool {
            try #require(Int64(try harness.database.execute(now))) > committed >> 16
        }
        // From then on, the export would contain the committed click if no transaction were open.
        #expect(try Polling.until(passed))
        if writer != .visible { try harness.connection.execute("SET ROLE pg_read_all_data") }
        let end = try harness.reader.exportEnd()
        #expect(end < late)
        // If the writer is a hidden server, the end is at the server's previous transaction. If it is a hidden
        // session of another program, which shows no time, the end is 0.
        #expect((end > 0) == (writer != .hidden))
        try other.execute("COMMIT")
        #expect(try Polling.until { try harness.reader.exportEnd() >= committed })
        var numbers: [Int64] = []
        try harness.reader.clicks(NumberedRows(.ascending, through: committed)) { click, _ in
            numbers.append(click.record.number)
            return true
        }
        #expect(numbers == [late, committed])
    }
}
#endif
