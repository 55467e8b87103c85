#if PostgreSQL
import Attribution
import Support
import Testing

@testable import PostgreSQL
@testable import PostgreSQLStorage
@testable import Storage

@Suite("Records in rows of PostgreSQL", .onPostgreSQL)
struct RecordColumnTests {
    /// A record with a column of each type; only numbers and texts may be NULL.
    private struct Sample: Record, Equatable {
        static let columns: Columns = ["number", "share", "word", "data", "flag"]

        var number: Int64?
        var share: Double?
        var word: String?
        var data: [UInt8] = []
        var flag = false

        init(_ number: Int64?, _ share: Double?, word: String?, data: [UInt8], flag: Bool) {
            (self.number, self.share, self.word, self.data, self.flag) = (number, share, word, data, flag)
        }

        init?(_ row: inout some RowReader) {
            number = row.get("number")
            share = row.get("share")
            word = row.get("word")
            data = row.get("data")
            flag = row.get("flag")
        }

        func write(to row: inout some RowWriter) {
            row.put("number", number)
            row.put("share", share)
            row.put("word", word)
            row.put("data", data)
            row.put("flag", flag)
        }
    }

    @Test("rows are sent as arrays, and come back unchanged")
    func roundTrip() throws {
        let database = try PostgreSQLTestDatabase()
        let connection = try BlockingConnection(
            PostgreSQLConfiguration(
                url: database.socketURL,
                name: "",
                clock: WallClock { Timestamp(milliseconds: 0) }
            ).settings,
            timeLimit: .seconds(Polling.seconds)
        )
        try connection.execute(
            "CREATE TABLE samples (number bigint, share double precision, word text, data bytea, flag smallint)"
        )
        let samples = [
            Sample(nil, nil, word: nil, data: [], flag: false),
            Sample(.min, -0.5, word: "", data: [0, 255], flag: true),
            Sample(
                .max,
                .greatestFiniteMagnitude,
                word: "ığ€🙂'\"\\",
                data: [UInt8](repeating: 7, count: 70_000),
                flag: false
            ),
        ]
        var arrays = ColumnArrays(Sample.columns)
        for sample in samples { arrays.append(sample) }
        let insert = PreparedStatement(
            "INSERT INTO samples (\(Sample.columns)) SELECT \(Sample.columns) FROM \(rowsWith: Sample.columns)"
        )
        var batch = StatementBatch()
        batch.append(insert, arrays.parameters)
        #expect(try connection.rows(of: batch).first?.affectedCount == 3)
        let rows = try connection.execute("SELECT \(Sample.columns) FROM samples ORDER BY number NULLS FIRST")
        #expect(try rows.records(of: Sample.self) == samples)
        arrays.removeAll()
        #expect(arrays.isEmpty)
    }
}
#endif
