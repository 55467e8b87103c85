import Attribution
import Testing

@Suite("Rows of data files")
struct DataRowTests {
    private func rows(_ text: String) throws(DataFileError) -> [DataRow] {
        try DataRow.rows(of: Array(text.utf8), file: "try.tsv", kinds: ["fruit", "nut"])
    }

    private func refusal(_ bytes: [UInt8]) -> DataFileError? {
        do {
            _ = try DataRow.rows(of: bytes, file: "try.tsv", kinds: ["fruit", "nut"])
            return nil
        } catch { return error }
    }

    @Test("are read in order with their line numbers, between comments, after each kind of line end")
    func reads() throws {
        let rows = try rows("# what grows\n\nfruit\tapple\tsweet and sour\r\n#nut\tx\nnut\twalnut")
        #expect(rows.map(\.kind) == ["fruit", "nut"])
        #expect(rows.map(\.columns) == [["apple", "sweet and sour"], ["walnut"]])
        #expect(rows.map(\.line) == [3, 5])
        #expect(rows.allSatisfy { $0.file == "try.tsv" })
        #expect(try self.rows("").isEmpty)
    }

    @Test(
        "are refused with line, column and remedy",
        arguments: [
            ("fruit\tapple\nveg\tleek", 2, 1), (" fruit\tapple", 1, 1), ("fruit\t\tapple", 1, 2),
            ("fruit\tapple\t", 1, 3), ("fruit\tapple ", 1, 2), ("fruit\tap\u{7}ple", 1, 2), ("\tapple", 1, 1),
            (" ", 1, 1),
        ]
    )
    func refuses(_ text: String, line: Int, column: Int) throws {
        let error = try #require(refusal(Array(text.utf8)))
        #expect(error.line == line)
        #expect(error.column == column)
        #expect(error.message.hasPrefix("try.tsv, line \(line), column \(column) "))
        #expect(error.message.hasSuffix("."))
    }

    @Test("are refused when they are not UTF-8")
    func refusesOtherEncodings() { #expect(refusal([0x66, 0xff])?.remedy == "Save the file as UTF-8 text") }

    @Test("report which column is missing or superfluous")
    func columnCount() throws {
        let row = try #require(rows("fruit\tapple").first)
        try row.require(columns: 1...1, named: "name")
        #expect { try row.require(columns: 2...3, named: "name and taste") } throws: { error in
            (error as? DataFileError)?.message
                == "try.tsv, line 1, column 3 is missing. Write fruit, then name and taste, separated by tabs."
        }
        #expect { try row.require(columns: 0...0, named: "nothing") } throws: { error in
            (error as? DataFileError)?.problem == "is one too many"
        }
    }
}
