/// Writes comma-separated values (RFC 4180) that a spreadsheet takes for texts and never for formulas.
public enum CSVText {
    /// What makes a formula of a cell where it stands first, and the mark that is put before it.
    ///
    /// Source: OWASP, "CSV Injection".
    private static let formulaStarts: Set<UInt8> = [
        UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"), UInt8(ascii: "\t"),
        UInt8(ascii: "\r"), UInt8(ascii: "\n"),
    ]
    private static let mark = UInt8(ascii: "'")

    /// A line with its end.
    public static func line(_ cells: [String]) -> String {
        cells.map { quoted(escaped($0)) }.joined(separator: ",") + "\n"
    }

    /// With a mark before what a spreadsheet would take for a formula, and before what begins as such a cell does.
    public static func escaped(_ text: String) -> String {
        guard let first = text.utf8.first, formulaStarts.contains(first) || first == mark else { return text }
        return "'" + text
    }

    /// Without the mark that ``escaped(_:)`` has put before it.
    public static func unescaped(_ cell: String) -> String {
        guard cell.utf8.first == mark, let second = cell.utf8.dropFirst().first,
            formulaStarts.contains(second) || second == mark
        else { return cell }
        return String(cell.dropFirst())
    }

    private static func quoted(_ text: String) -> String {
        let needsMarks = text.utf8.contains {
            $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "\"")
                || $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r")
        }
        let isPadded = text.utf8.first == UInt8(ascii: " ") || text.utf8.last == UInt8(ascii: " ")
        // At the beginning of a file it would be taken for the file's own byte order mark.
        let beginsWithMark = text.unicodeScalars.first == "\u{FEFF}"
        guard needsMarks || isPadded || beginsWithMark else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }
}
