public import Attribution
internal import HTTPServer
internal import JSON

/// The format of an exported file; the raw value is its file name extension.
public enum ExportFormat: String, CaseIterable, Sendable {
    /// Comma-separated values with the columns' names in the first line.
    case csv
    /// A JSON object in each line.
    case ndjson

    var contentType: ContentType { self == .csv ? .csv : ContentType("application/x-ndjson") }

    /// Returns the start of a file: the line of column names for CSV, nothing for NDJSON.
    public func start(_ columns: [String]) -> String { self == .csv ? CSVText.line(columns) : "" }

    /// Returns a line with values in the order of the columns.
    public func line(_ values: [ExportValue], _ columns: [String]) -> String {
        switch self {
        case .csv: return CSVText.line(values.map(\.cell))
        case .ndjson:
            let json = JSONWriter.object { json in
                for (name, value) in zip(columns, values) { value.write(name, to: &json) }
            }
            return json.text + "\n"
        }
    }

    /// Returns the line of a row of a table, whose first column is the row's cursor.
    public func line(_ row: ExportRow, of table: ExportTable) -> String {
        line([.text(row.cursor.text)] + row.values, ["cursor"] + table.columns)
    }
}

extension ExportTable {
    /// The names of all columns, the cursor's first.
    public var columnsWithCursor: [String] { ["cursor"] + columns }
}

extension ExportValue {
    fileprivate var cell: CSVText.Cell {
        switch self {
        case .none: .text("")
        case .text(let text): .text(text)
        case .time(let time): .text(time.iso8601)
        case .integer(let number): .number(String(number))
        case .real(let number): .number(number.isFinite ? String(number) : "")
        case .decimal(let digits): .number(digits)
        case .flag(let flag): .text(flag ? "true" : "false")
        }
    }

    fileprivate func write(_ name: String, to json: inout JSONWriter) {
        json.name(name)
        switch self {
        case .none: json.null()
        case .text(let text), .decimal(let text): json.value(text)
        case .time(let time): json.value(time.iso8601)
        case .integer(let number): json.value(number)
        case .real(let number): json.value(number)
        case .flag(let flag): json.value(flag)
        }
    }
}

/// A response body that is created page by page, as fast as the client reads it.
final class PagedBody: ResponseStream {
    private var start = 0
    private var page: [UInt8]
    /// Returns the next page; nil at the end.
    private let nextPage: () async throws -> String?

    init(startingWith start: String, _ nextPage: @escaping () async throws -> String?) {
        page = Array(start.utf8)
        self.nextPage = nextPage
    }

    /// Returns an empty piece for an empty page, so that the server can notice between two pages that it must stop.
    func next(atMost count: Int) async throws -> [UInt8]? {
        if start == page.count {
            guard let next = try await nextPage() else { return nil }
            (page, start) = (Array(next.utf8), 0)
        }
        let piece = page[start..<min(start + count, page.count)]
        start += piece.count
        return Array(piece)
    }
}

extension Response {
    /// Creates the response with a file that the caller saves under a name.
    init(_ body: PagedBody, _ type: ContentType, named name: String, fields: [FieldLine] = [.noStore]) {
        let disposition = FieldLine(name: "Content-Disposition", value: "attachment; filename=\"\(name)\"")
        self.init(.ok, fields: fields + [disposition], contentType: type)
        stream = body
    }
}
