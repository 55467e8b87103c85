import Server
import Testing

@Suite("Comma-separated values")
struct CSVTests {
    private func read(_ text: String) throws(CSVReader.Failure) -> [[String]] {
        var reader = CSVReader(Array(text.utf8))
        var records: [[String]] = []
        while let record = try reader.next() { records.append(record.cells) }
        return records
    }

    @Test(
        "CSV is read as spreadsheets write it",
        arguments: [
            ("a,b\n1,2\n", [["a", "b"], ["1", "2"]]), ("a,b\r\n1,2", [["a", "b"], ["1", "2"]]),
            ("\u{feff}a;b\n1,5;2\n", [["a", "b"], ["1,5", "2"]]),
            ("a,b;c\n", [["a", "b;c"]]), ("\"a;b\",c\nx;y,z\n", [["a;b", "c"], ["x;y", "z"]]),
            ("\"a \"\"b\"\"\",\"c\nd\"\n\n\n,\n", [["a \"b\"", "c\nd"], ["", ""]]), ("", []), ("a", [["a"]]),
        ]
    )
    func reads(_ text: String, records: [[String]]) throws { #expect(try read(text) == records) }

    @Test(
        "malformed CSV is refused with the number of the wrong line",
        arguments: [("a\nb\"c\n", 2), ("a\n\"b\n\nc", 2), ("\"a\"b\n", 1), ("\"a\nb\"x", 2)]
    )
    func refuses(_ text: String, line: Int) {
        let error = #expect(throws: CSVReader.Failure.self) { try read(text) }
        #expect(error?.line == line)
    }

    @Test("CSV in an encoding other than UTF-8 is refused")
    func encoding() {
        var reader = CSVReader([0x61, 0xE9, 0x0A])
        #expect(throws: CSVReader.Failure.self) { try reader.next() }
    }

    @Test(
        "a written cell is no formula, and is read back unchanged",
        arguments: [
            "=1+1", "+49", "-1", "@SUM(A1)", "\tx", "\rx", "'quoted", "'=1", "plain", "", "a,b", "a\"b",
            "a\nb", " a ", "=HYPERLINK(\"http://evil.example\",\"x\")", "é",
            "＝1+1", "＠SUM(A1)", "'＋1", "'\u{301}x", "a\"\u{301},=1+1", "\"\u{301}\"", "\u{600}\",=1+1",
        ]
    )
    func writes(_ cell: String) throws {
        let line = CSVText.line(["first", cell, "last"])
        let written = try #require(try read(line).first)
        #expect(written.count == 3)
        #expect(written[1].first.map { !"=+-@\t\r\n＝＋－＠".contains($0) } ?? true)
        #expect(written.map(CSVText.unescaped) == ["first", cell, "last"])
    }

    @Test("a number is written as it is, also a negative one")
    func numbers() throws {
        let line = CSVText.line([.number("-12"), .text("-12"), .number("1e-7"), .number("")])
        #expect(line == "-12,'-12,1e-7,\n")
    }

    @Test("a first cell that starts with a byte order mark is read back unchanged")
    func byteOrderMark() throws {
        let cells = ["\u{FEFF}first", "\u{FEFF}"]
        #expect(try read(CSVText.line(cells)) == [cells])
    }
}
