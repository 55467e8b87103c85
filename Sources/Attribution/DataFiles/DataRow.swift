/// A row of a data file: its kind and the columns after it.
///
/// `Data/README.md`, in the folder of the embedded files, describes the format.
public struct DataRow: Equatable, Sendable {
    /// The first column, which names the meaning of the others: `ios-release`.
    public let kind: String
    /// The columns after the first; none is empty.
    public let columns: [String]
    /// The file's name, for error messages.
    public let file: String
    /// The line's number, counted from 1.
    public let line: Int

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - bytes: the whole file, UTF-8.
    ///   - file: its name, for error messages.
    ///   - kinds: the kinds of rows that the file may contain; any other kind is an error.
    /// - Returns: its rows in their order, without comments and empty lines.
    /// - Throws: an error for a row of another kind, an empty column, misplaced blanks or control characters,
    ///   or text that is not UTF-8.
    public static func rows(
        of bytes: [UInt8],
        file: String,
        kinds: [String]
    ) throws(DataFileError) -> [DataRow] {
        var rows: [DataRow] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            guard let first = text.first, first != UInt8(ascii: "#") else { continue }
            rows.append(try row(of: text, file: file, line: index + 1, kinds: kinds))
        }
        return rows
    }

    private static func row(
        of text: ArraySlice<UInt8>,
        file: String,
        line: Int,
        kinds: [String]
    ) throws(DataFileError) -> DataRow {
        var columns: [String] = []
        for bytes in text.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false) {
            let column = columns.count + 1
            guard let value = String(validating: bytes, as: UTF8.self)
            else { throw DataFileError(file, line, column, "is not UTF-8", "Save the file as UTF-8 text") }
            let isClean = !bytes.contains { $0 < 0x20 || $0 == 0x7f } && bytes.trimmed.count == bytes.count
            guard !bytes.isEmpty, isClean else {
                throw DataFileError(
                    file,
                    line,
                    column,
                    "is empty, starts or ends with a blank, or contains a control character",
                    "Separate columns by exactly one tab, and leave none empty"
                )
            }
            columns.append(value)
        }
        guard let kind = columns.first, kinds.contains(kind) else {
            throw DataFileError(
                file,
                line,
                1,
                "names a kind of row that this file does not have",
                "Start the line with \(kinds.joined(separator: ", ")), or with # to make it a comment"
            )
        }
        return DataRow(kind: kind, columns: Array(columns.dropFirst()), file: file, line: line)
    }

    /// Returns an error about the column at `index` of ``columns``.
    ///
    /// `problem` continues a message after "column 2"; `remedy` is a sentence without its full stop.
    public func error(at index: Int, _ problem: String, _ remedy: String) -> DataFileError {
        DataFileError(file, line, index + 2, problem, remedy)
    }

    /// - Throws: if the number of ``columns`` is not in `allowed`.
    public func require(columns allowed: ClosedRange<Int>, named names: String) throws(DataFileError) {
        guard !allowed.contains(columns.count) else { return }
        throw error(
            at: min(columns.count, allowed.upperBound),
            columns.count < allowed.lowerBound ? "is missing" : "is one too many",
            "Write \(kind), then \(names), separated by tabs"
        )
    }
}

extension DataRow {
    func version(at index: Int) throws(DataFileError) -> OSVersion {
        guard let version = OSVersion(columns[index])
        else { throw error(at: index, "is not a version", "Write it as in 17.2 or 17.2.1") }
        return version
    }

    func integer(at index: Int, in allowed: ClosedRange<Int>) throws(DataFileError) -> Int {
        try number(Int(columns[index]), at: index, in: allowed, called: "whole number")
    }

    func number(at index: Int, in allowed: ClosedRange<Double>) throws(DataFileError) -> Double {
        try number(Double(columns[index]), at: index, in: allowed, called: "number")
    }

    private func number<Number: Comparable>(
        _ number: Number?,
        at index: Int,
        in allowed: ClosedRange<Number>,
        called name: String
    ) throws(DataFileError) -> Number {
        guard let number, allowed.contains(number) else {
            throw error(
                at: index,
                "is not a \(name) that belongs here",
                "Write a \(name) from \(allowed.lowerBound) to \(allowed.upperBound)"
            )
        }
        return number
    }

    /// Returns the error for a column at `index` whose value occurs in an earlier row of the kind.
    func repeated(at index: Int) -> DataFileError {
        error(at: index, "is in an earlier row of \(kind) already", "Remove one of the two")
    }
}

/// The reason why a data file cannot be read, with its position and the remedy.
public struct DataFileError: Error, Equatable, Sendable {
    /// The file's name as the caller named it.
    public let file: String
    /// The line's number, counted from 1; 0 for the file as a whole.
    public let line: Int
    /// The column's number, counted from 1, where column 1 is the kind of the row; 0 for the row or the file as a whole.
    public let column: Int
    /// The problem as the end of a sentence that starts with the position: "is missing".
    public let problem: String
    /// What to do, as a sentence without its full stop.
    public let remedy: String

    public init(_ file: String, _ line: Int, _ column: Int, _ problem: String, _ remedy: String) {
        (self.file, self.line, self.column) = (file, line, column)
        (self.problem, self.remedy) = (problem, remedy)
    }

    /// The error as one line: `devices.tsv, line 12, column 3 is missing. Write …`.
    public var message: String {
        let place = line > 0 ? ", line \(line)" + (column > 0 ? ", column \(column)" : "") : ""
        return "\(file)\(place) \(problem). \(remedy)."
    }
}
