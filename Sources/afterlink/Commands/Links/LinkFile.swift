internal import Attribution
internal import Glibc
internal import Server

/// A file of links that is to be imported, read but not checked.
struct LinkFile {
    /// The content of one line, or of one object.
    struct Entry {
        /// The line that it begins on, from 1 on; of JSON, which object it is.
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
        /// Whether it is archived, without a known time.
        var isArchived = false
        var createdAt: Timestamp?
        /// Columns that say something for which a link has no field.
        var leftOut: [String] = []
    }

    let entries: [Entry]
    /// The unit that ``Entry/number`` counts.
    let unit: String

    private static let limit = 256 << 20

    /// - Parameters:
    ///   - path: where the file is.
    ///   - service: whose export it is; nil for our own, or a table with the same columns.
    /// - Throws: where it cannot be read at all.
    init(_ path: String, of service: LinkService?) throws {
        let bytes = try attempt {
            try OpenFile(path, O_RDONLY).readAll(limit: Self.limit)
        } orElse: { (error: SystemError) in
            CommandFailure(
                "The file could not be read: \(error.text).",
                advice:
                    "Name a CSV or JSON file of links, 256 MB at most, as `afterlink links export` writes it."
            )
        }
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
        let value = try attempt {
            try JSONValue(parsing: bytes)
        } orElse: { (error: JSONError) in
            CommandFailure("The file is no JSON: \(error.message).", advice: "Correct it; nothing was done.")
        }
        guard let values = value.array ?? value.object?["links"]?.array else {
            throw CommandFailure(
                "The file holds no list of links.",
                advice:
                    "Write {\"links\":[…]} or the list alone, as `afterlink links export --format json` does."
            )
        }
        return values.enumerated().map { index, value in
            var entry = Entry(number: index + 1)
            guard let object = value.object else {
                entry.problems = [FieldProblem("link", "It is no JSON object.")]
                return entry
            }
            (entry.fields, entry.problems) = LinkDraft.fields(object)
            for (name, place) in [
                ("slug", \Entry.slug), ("app", \Entry.app), ("archived_at", \Entry.archivedAt),
            ] {
                guard let member = object[name], !member.isNull else { continue }
                entry[keyPath: place] = member.string
                if member.string == nil {
                    entry.problems.append(FieldProblem(name, "\(name) must be a text."))
                }
            }
            return entry
        }
    }

    private static func lines(_ bytes: [UInt8], _ service: LinkService?) throws -> [Entry] {
        var reader = CSVReader(bytes)
        return try attempt {
            guard let header = try reader.next() else { return [] }
            let table = try LinkService.table(service, header)
            var entries: [Entry] = []
            while let record = try reader.next() { entries.append(entry(record, table, header.cells.count)) }
            return entries
        } orElse: { (error: CSVReader.Failure) in
            CommandFailure(
                "Line \(error.line) of the file: \(error.message).",
                advice: "Correct it; nothing was done."
            )
        }
    }

    private static func entry(
        _ record: CSVReader.Record,
        _ table: any ImportedTable,
        _ columnCount: Int
    ) -> Entry {
        var entry = Entry(number: record.line)
        guard record.cells.count == columnCount else {
            entry.problems = [
                FieldProblem(
                    "line",
                    "It has \(record.cells.count) cells, and the first line \(columnCount); put quotation marks around"
                        + " cells that hold commas."
                )
            ]
            return entry
        }
        table.read(record.cells, into: &entry)
        return entry
    }
}
