internal import JSON

/// A table of text; programs read JSON instead.
package struct Table {
    package enum Alignment: Sendable { case left, right }

    private let headings: [String]
    private let alignments: [Alignment]
    private var rows: [[String]] = []

    /// - Parameter columns: the heading and the alignment of each column; numbers are aligned to the right.
    package init(_ columns: [(heading: String, alignment: Alignment)]) {
        headings = columns.map(\.heading)
        alignments = columns.map(\.alignment)
    }

    package mutating func add(_ cells: [String]) {
        precondition(cells.count == headings.count, "a row has as many cells as the table has columns")
        rows.append(cells.map(Self.printable))
    }

    package var text: String {
        let all = [headings] + rows
        let widths = headings.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            let cells = row.indices.map { column in
                let blanks = String(repeating: " ", count: widths[column] - row[column].count)
                return alignments[column] == .right ? blanks + row[column] : row[column] + blanks
            }
            var line = cells.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }.joined(separator: "\n")
    }

    /// A column of a table with a row for each value: its heading, its alignment, and a function for its cells.
    struct Column<Row> {
        let heading: String
        let alignment: Alignment
        let cell: (Row) -> String

        static func left(_ heading: String, _ cell: @escaping (Row) -> String) -> Column {
            Column(heading: heading, alignment: .left, cell: cell)
        }

        static func right(_ heading: String, _ cell: @escaping (Row) -> String) -> Column {
            Column(heading: heading, alignment: .right, cell: cell)
        }
    }

    /// Returns a table of names and values; leaves out names without a value.
    static func text(facts: [(name: String, value: String?)], _ headings: (String, String)) -> String {
        var table = Table([(headings.0, .left), (headings.1, .left)])
        for fact in facts { if let value = fact.value { table.add([fact.name, value]) } }
        return table.text
    }

    /// Returns a share as a cell: `12.5 %`, or a dash for nil.
    package static func percent(_ share: Double?) -> String {
        guard let share else { return "–" }
        let tenths = Int((share * 1000).rounded())
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// Returns the text with `?` for control characters; names come from outside the program.
    static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar in
            scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) ? "?" : scalar
        }
        return String(String.UnicodeScalarView(scalars))
    }
}

extension Sequence {
    /// Returns a table with a row for each value.
    func table(_ columns: [Table.Column<Element>]) -> String {
        var table = Table(columns.map { ($0.heading, $0.alignment) })
        for value in self { table.add(columns.map { $0.cell(value) }) }
        return table.text
    }
}

/// JSON for people: a line for each member.
enum JSONLayout {
    /// Returns the JSON with a prefix before each line; a text that is not JSON keeps its lines.
    static func indented(_ text: String, by prefix: String) -> String {
        let value = try? JSONValue(parsing: Array(text.utf8))
        let lines = (value.map(Self.text) ?? text).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { prefix + $0 }.joined(separator: "\n")
    }

    static func text(_ value: JSONValue) -> String {
        var json = JSONWriter(isPretty: true)
        json.value(value)
        return json.text
    }
}

extension JSONWriter {
    /// Returns the text of one object.
    static func text(isPretty: Bool = false, _ writeMembers: (inout JSONWriter) -> Void) -> String {
        object(isPretty: isPretty, writeMembers).text
    }
}
