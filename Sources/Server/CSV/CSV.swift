internal import Attribution

/// Reads comma-separated values line by line (RFC 4180), in UTF-8.
///
/// Quotation marks must enclose a whole cell, or be doubled inside such a cell, as the standard requires. A line may
/// also end in LF. If the first line has semicolons and no comma, semicolons separate the cells, as in many countries.
public struct CSVReader {
    /// The line on which reading stopped, and the reason.
    public struct Failure: Error, Equatable {
        /// Counted from 1.
        public let line: Int
        /// What is wrong, and usually what to do; without a full stop.
        public let message: String

        public init(line: Int, message: String) {
            self.line = line
            self.message = message
        }
    }

    public struct Record: Equatable {
        /// The line on which the record starts.
        public let line: Int
        public let cells: [String]
    }

    private let bytes: [UInt8]
    private let separator: UInt8
    private var index: Int
    private var line = 1

    public init(_ bytes: [UInt8]) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        self.bytes = bytes
        index = bytes.starts(with: mark) ? mark.count : 0
        separator = Self.separator(of: bytes)
    }

    /// Returns the separator of the first line, ignoring text in quotation marks.
    private static func separator(of bytes: [UInt8]) -> UInt8 {
        var isQuoted = false
        var hasSemicolon = false
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted: return byte
            case UInt8(ascii: ";") where !isQuoted: hasSemicolon = true
            case UInt8(ascii: "\n") where !isQuoted: return UInt8(ascii: hasSemicolon ? ";" : ",")
            default: break
            }
        }
        return UInt8(ascii: hasSemicolon ? ";" : ",")
    }

    /// Returns the next record, skipping empty lines; nil at the end, and throws at a malformed cell.
    public mutating func next() throws(Failure) -> Record? {
        while index < bytes.count {
            let start = line
            var cells: [String] = []
            repeat { cells.append(try cell()) } while takeSeparator()
            if cells != [""] { return Record(line: start, cells: cells) }
        }
        return nil
    }

    /// Skips a separator or the end of the line, and returns whether another cell of the record follows.
    private mutating func takeSeparator() -> Bool {
        guard index < bytes.count else { return false }
        let isSeparator = bytes[index] == separator
        if !isSeparator {
            if bytes[index] == UInt8(ascii: "\r") { index += 1 }
            line += 1
        }
        index += 1
        return isSeparator
    }

    private mutating func cell() throws(Failure) -> String {
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return try plainCell() }
        let start = line
        index += 1
        var text: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            guard byte == UInt8(ascii: "\"") else {
                if byte == UInt8(ascii: "\n") { line += 1 }
                text.append(byte)
                continue
            }
            guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else {
                guard isAtEndOfCell else {
                    let message =
                        "something follows the closing quotation mark; write \"\" for a mark within a cell"
                    throw Failure(line: line, message: message)
                }
                return try decoded(text)
            }
            text.append(byte)
            index += 1
        }
        throw Failure(line: start, message: "a quotation mark is never closed")
    }

    private mutating func plainCell() throws(Failure) -> String {
        let start = index
        while !isAtEndOfCell {
            guard bytes[index] != UInt8(ascii: "\"") else {
                let message =
                    "a quotation mark within a cell; put marks around the whole cell, and write this one twice"
                throw Failure(line: line, message: message)
            }
            index += 1
        }
        return try decoded(Array(bytes[start..<index]))
    }

    private var isAtEndOfCell: Bool {
        guard index < bytes.count else { return true }
        let byte = bytes[index]
        let isLineEnd =
            byte == UInt8(ascii: "\n")
            || (byte == UInt8(ascii: "\r") && index + 1 < bytes.count
                && bytes[index + 1] == UInt8(ascii: "\n"))
        return byte == separator || isLineEnd
    }

    private func decoded(_ bytes: [UInt8]) throws(Failure) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(line: line, message: "the file is not in UTF-8; save it as \"CSV UTF-8\"")
        }
        return text
    }
}

/// Writes comma-separated values (RFC 4180) that spreadsheets read as texts and never as formulas.
public enum CSVText {
    /// Spreadsheets read a cell that starts with one of these characters as a formula; the last four are full-width.
    ///
    /// Source: OWASP, "CSV Injection".
    private static let formulaStarts = Set("=+-@\t\r\n＝＋－＠".unicodeScalars)
    /// The apostrophe that makes a spreadsheet read the cell as a text.
    private static let mark: Unicode.Scalar = "'"

    /// The content of a cell.
    public enum Cell: Equatable, Sendable {
        case text(String)
        /// A number as digits.
        ///
        /// It gets no apostrophe, because an apostrophe would make a negative number a text.
        case number(String)
    }

    /// Returns a line of texts, with the LF that ends it.
    public static func line(_ cells: [String]) -> String { line(cells.map { .text($0) }) }

    /// Returns a line of cells, with the LF that ends it.
    public static func line(_ cells: [Cell]) -> String {
        let texts = cells.map { cell in
            switch cell {
            case .text(let text): quoted(escaped(text))
            case .number(let digits): digits
            }
        }
        return texts.joined(separator: ",") + "\n"
    }

    /// Returns the text, with an apostrophe before it if it starts like a formula or with an apostrophe.
    public static func escaped(_ text: String) -> String {
        guard let first = text.unicodeScalars.first, formulaStarts.contains(first) || first == mark else {
            return text
        }
        return "'" + text
    }

    /// Returns the cell without the apostrophe that ``escaped(_:)`` puts before it.
    public static func unescaped(_ cell: String) -> String {
        guard cell.unicodeScalars.first == mark, let second = cell.unicodeScalars.dropFirst().first,
            formulaStarts.contains(second) || second == mark
        else { return cell }
        return String(cell.unicodeScalars.dropFirst())
    }

    private static func quoted(_ text: String) -> String {
        let needsMarks = text.utf8.contains { ",;\"\n\r".utf8.contains($0) }
        let isPadded = text.utf8.first == UInt8(ascii: " ") || text.utf8.last == UInt8(ascii: " ")
        // At the start of a file, U+FEFF would be read as the file's byte order mark.
        let beginsWithMark = text.unicodeScalars.first == "\u{FEFF}"
        guard needsMarks || isPadded || beginsWithMark else { return text }
        return "\"" + text.replacingASCII("\"", with: "\"\"") + "\""
    }
}
