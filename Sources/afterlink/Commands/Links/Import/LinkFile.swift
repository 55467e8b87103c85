internal import Attribution
internal import Glibc
internal import JSON
internal import Server

/// A file of links for an import, read but not validated.
struct LinkFile {
    /// The content of one line of CSV, or of one object of JSON.
    struct Entry {
        /// The number of the entry's first line, or of the object, counted from 1.
        let number: Int
        var slug: String?
        var app: String?
        var fields = LinkFields()
        var archivedAt: String?
        var problems: [FieldProblem] = []
        /// The host of the short link, in another service's export.
        var host: String?
        /// Other parameters of a Firebase export, whose meaning depends on the app's settings.
        var firebase: FirebaseLink?
        /// Whether the link is archived in an export that does not contain the time.
        var isArchived = false
        var createdAt: Timestamp?
        /// Columns whose values a link has no field for.
        var leftOut: [String] = []
        /// Columns of times whose values are not times.
        var malformedTimes: [String] = []
    }

    let entries: [Entry]
    /// The unit that ``Entry/number`` counts.
    let unit: String

    private static let limit = 256 << 20

    /// - Parameters:
    ///   - path: the file's path.
    ///   - service: the service that exported it; nil for Afterlink, or a table with the same columns.
    /// - Throws: if the file cannot be read, is not JSON or CSV, or has wrong columns.
    init(_ path: String, of service: LinkService?) throws {
        let bytes = try attempt(
            "The file could not be read",
            advice: "Name a CSV or JSON file of links, 256 MB at most, as `afterlink links export` writes it."
        ) { try OpenFile(path, O_RDONLY).readAll(limit: Self.limit) }
        let first = bytes.first { ![0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D].contains($0) }
        if service == nil, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            unit = "link"
            entries = try Self.objects(bytes)
        } else {
            unit = "line"
            entries = try Self.lines(bytes, service)
        }
    }

    private static func objects(_ bytes: [UInt8]) throws -> [Entry] {
        let value: JSONValue
        do { value = try JSONValue(parsing: bytes) } catch {
            throw refusal("The file is not JSON: \(error.message).")
        }
        guard let values = value.array ?? value.object?["links"]?.array else {
            throw CommandFailure.because("The file has no list of links.")
                .advising(
                    "Write {\"links\":[…]} or the list alone, as `afterlink links export --format json` does."
                )
        }
        return values.enumerated().map { index, value in
            var entry = Entry(number: index + 1)
            guard let object = value.object else {
                entry.problems = [FieldProblem("link", "The link is not a JSON object.")]
                return entry
            }
            (entry.fields, entry.problems) = LinkDraft.fields(object)
            for name in ["slug", "app", "archived_at"] {
                guard let member = object[name], !member.isNull else { continue }
                if let text = member.string {
                    LinkColumns.named(name)?.read?(text, &entry)
                } else {
                    entry.problems.append(FieldProblem(name, "\(name) must be a text."))
                }
            }
            return entry
        }
    }

    private static func lines(_ bytes: [UInt8], _ service: LinkService?) throws -> [Entry] {
        var reader = CSVReader(bytes)
        do throws(CSVReader.Failure) {
            guard let header = try reader.next() else { return [] }
            let table = try LinkService.table(service, header)
            var entries: [Entry] = []
            while let record = try reader.next() { entries.append(entry(record, table, header.cells.count)) }
            return entries
        } catch { throw refusal("Line \(error.line) of the file: \(error.message).") }
    }

    private static func refusal(_ explanation: String) -> CommandFailure {
        CommandFailure(explanation, advice: "Nothing was done. Correct the file.")
    }

    private static func entry(_ record: CSVReader.Record, _ table: any ImportedTable, _ count: Int) -> Entry {
        var entry = Entry(number: record.line)
        guard record.cells.count == count else {
            entry.problems = [
                FieldProblem(
                    "line",
                    "The line has \(record.cells.count) cells, and the first line \(count); put quotation marks around"
                        + " cells with commas."
                )
            ]
            return entry
        }
        table.read(record.cells, into: &entry)
        return entry
    }
}

/// The service that exported a table of links.
enum LinkService: String, CaseIterable {
    case firebase
    case branch

    /// Returns the reader of the lines below the first one.
    ///
    /// - Throws: if the first line does not have this service's columns.
    static func table(_ service: LinkService?, _ header: CSVReader.Record) throws(CSVReader.Failure)
        -> any ImportedTable
    {
        switch service {
        case nil: try AfterlinkTable(header)
        case .firebase: try FirebaseTable(header)
        case .branch: try BranchTable(header)
        }
    }
}

/// Reads the lines of one service's table of links.
protocol ImportedTable {
    /// Reads a line with as many cells as the first line has.
    func read(_ cells: [String], into entry: inout LinkFile.Entry)
}

/// Reads texts of other services' exports that are not fields of a link.
enum ImportedText {
    /// Returns the host and the path of a short link, as in `https://example.page.link/m9Mm`.
    static func parts(ofShortLink text: String) -> (host: String, slug: String)? {
        let rest =
            ["https://", "http://"].first(where: text.hasPrefix).map { text.dropFirst($0.count) } ?? text[...]
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        let path = rest[rest.index(after: slash)...].prefix { $0 != "?" && $0 != "#" }
        guard slash > rest.startIndex, !path.isEmpty else { return nil }
        return (String(rest[..<slash]).lowercased(), String(path))
    }

    /// Reads a time: ISO 8601, also with a blank for its `T` and `UTC` for its `Z`, or seconds, milliseconds or
    /// microseconds since 1970.
    static func moment(_ text: String) -> Timestamp? {
        if let moment = TimeArgument.moment(text) { return moment }
        if let number = Int64(text), number > 0 {
            switch text.utf8.count {
            case 9...10: return Timestamp(milliseconds: number * 1000)
            case 12...13: return Timestamp(milliseconds: number)
            case 15...16: return Timestamp(milliseconds: number / 1000)
            default: return nil
            }
        }
        let plain = text.replacing(" UTC", with: "").replacing("Z", with: "")
        return Timestamp(iso8601: plain.replacing(" ", with: "T") + "Z")
    }
}

/// A table that `afterlink links export` wrote, or that an operator made with the same columns.
struct AfterlinkTable: ImportedTable {
    private let columns: [LinkColumns.Column]

    init(_ header: CSVReader.Record) throws(CSVReader.Failure) {
        let names = header.cells.map { $0.lowercased() }
        columns = names.compactMap(LinkColumns.named)
        if let unknown = names.first(where: { LinkColumns.named($0) == nil }) {
            throw CSVReader.Failure(line: header.line, message: Self.message(unknown))
        }
        if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
            throw CSVReader.Failure(line: header.line, message: "the column \"\(twice)\" occurs twice")
        }
    }

    private static func message(_ unknown: String) -> String {
        let advice =
            FirebaseTable.shortLinkNames.contains(unknown)
            ? "for an export of Firebase's Dynamic Links give --from firebase"
            : "the columns are " + LinkColumns.all.map(\.name).joined(separator: ", ")
        return "there is no column \"\(unknown)\"; \(advice)"
    }

    func read(_ cells: [String], into entry: inout LinkFile.Entry) {
        for (column, cell) in zip(columns, cells.map(CSVText.unescaped)) where !cell.isEmpty {
            column.read?(cell, &entry)
        }
    }
}
