internal import Attribution
internal import Glibc
internal import JSON
internal import Server

/// The command `afterlink links export`.
enum ExportLinksCommand {
    static let description = CommandDescription(
        name: "links export",
        summary: "Write all links as CSV or JSON",
        discussion: [
            "Writes every link, the newest first and archived ones too, with all fields and counts. `afterlink links import`"
                + " reads both forms.",
            "In CSV, a cell that a spreadsheet would read as a formula has an apostrophe before it, which an import removes.",
        ],
        options: CommandOption.table([
            "app APP": "Only links of this app, by id or name.",
            "format csv|json": "The form. Default: csv.",
            "output FILE": "Write to this new file instead of standard output.",
        ]),
        settings: CommandDatabase.settings,
        examples: [
            "afterlink links export --output links.csv": "Write a file for a spreadsheet or another server."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        let isCSV =
            try arguments.read("format", "must be csv or json") { ["csv": true, "json": false][$0] } ?? true
        let database = try CommandDatabase.open(invocation, for: .reading)
        defer { database.close() }
        let directory = try database.directory()
        var query = LinkQuery(isArchived: nil, limit: LinkQuery.limits.upperBound)
        query.app = try AppChoice.named(arguments, in: directory)?.id
        let output = try ExportOutput(arguments.value("output"))
        try output.write(isCSV ? CSVText.line(LinkColumns.all.map(\.name)) : "{\"links\":[")
        var isFirst = true
        repeat {
            let page = try await database.links.links(query)
            for listing in page.links {
                let app = directory.app(listing.link.app)
                if isCSV {
                    try output.write(CSVText.line(LinkColumns.all.map { $0.cell(listing, app) }))
                } else {
                    let now = WallClock.system.now()
                    let json = JSONWriter.object { LinkBody.write(listing, in: directory, at: now, to: &$0) }
                    try output.write((isFirst ? "\n" : ",\n") + json.text)
                }
                isFirst = false
            }
            query.before = page.next
        } while query.before != nil
        if !isCSV { try output.write("\n]}\n") }
    }
}

/// The destination of an export; control characters are not replaced, so that an import reads the same texts.
private struct ExportOutput {
    private let file: NewFile?

    /// - Throws: if the file exists or cannot be created.
    init(_ path: String?) throws { file = try path.map { path in try NewFile(path) } }

    func write(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard let file else {
            guard Console.write(bytes, to: STDOUT_FILENO) else {
                throw CommandFailure.lostOutput("standard output is closed or full")
            }
            return
        }
        try file.write(bytes)
    }
}

/// The columns of a table of links, for exports and imports.
enum LinkColumns {
    struct Column: Sendable {
        let name: String
        /// Returns the cell that an export writes.
        let cell: @Sendable (_ listing: LinkListing, _ app: App?) -> String
        /// Reads the cell of an import; nil for a column that imports ignore.
        var read: (@Sendable (_ cell: String, _ entry: inout LinkFile.Entry) -> Void)?
    }

    static let all: [Column] = identity + LinkField.allCases.map(column) + history

    static func named(_ name: String) -> Column? { all.first { $0.name == name } }

    private static let identity: [Column] = [
        Column(name: "id") { listing, _ in listing.link.id.text },
        Column(name: "app", cell: { listing, _ in listing.link.app.text }, read: { $1.app = $0 }),
        Column(name: "slug", cell: { listing, _ in listing.link.slug.text }, read: { $1.slug = $0 }),
        Column(name: "url") { listing, app in app.flatMap(listing.link.url(of:)) ?? "" },
    ]

    private static let history: [Column] = [
        Column(name: "clicks") { listing, _ in String(listing.clicks) },
        Column(name: "robots") { listing, _ in String(listing.robots) },
        Column(name: "matches") { listing, _ in String(listing.matches) },
        Column(name: "created_at") { listing, _ in listing.link.createdAt.iso8601 },
        Column(name: "updated_at") { listing, _ in listing.link.updatedAt.iso8601 },
        Column(
            name: "archived_at",
            cell: { listing, _ in listing.link.archivedAt?.iso8601 ?? "" },
            read: { $1.archivedAt = $0 }
        ),
    ]

    private static func column(_ field: LinkField) -> Column {
        Column(
            name: field.rawValue,
            cell: { listing, _ in listing.link.settings.fields[field].joined(separator: field.separator) },
            read: { $1.fields[field] = texts($0, of: field) }
        )
    }

    /// Returns the texts of a cell with a list; for a field that is no list, the whole cell as one text.
    static func texts(_ cell: String, of field: LinkField) -> [String] {
        guard field.isList, let separator = field.separator.first(where: { $0 != " " }) else { return [cell] }
        return cell.split(separator: separator).map { String($0).trimmed }
    }
}

extension LinkField {
    /// The separator between the texts of a list in one cell; none of the texts can contain it.
    fileprivate var separator: String { self == .variants ? " | " : ", " }
}
