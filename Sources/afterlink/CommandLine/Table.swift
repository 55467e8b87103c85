/// Rows of text in columns, for people; programs take JSON.
package struct Table {
    package enum Alignment: Sendable { case left, right }

    private let headings: [String]
    private let alignments: [Alignment]
    private var rows: [[String]] = []

    /// - Parameter columns: a heading and a side for each; numbers stand on the right.
    package init(_ columns: [(heading: String, alignment: Alignment)]) {
        headings = columns.map(\.heading)
        alignments = columns.map(\.alignment)
    }

    package mutating func add(_ cells: [String]) {
        precondition(cells.count == headings.count, "a row has as many cells as the table has columns")
        rows.append(cells.map(Self.printable))
    }

    package var isEmpty: Bool { rows.isEmpty }

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

    /// A share as a cell: `12.5 %`, or a dash where there is none.
    package static func percent(_ share: Double?) -> String {
        guard let share else { return "–" }
        let tenths = Int((share * 1000).rounded())
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// Names come from outside: what could move a terminal's cursor is shown as `?`.
    static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar in
            scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) ? "?" : scalar
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
