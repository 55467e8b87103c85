internal import Attribution
internal import Server

/// The export of Firebase's Dynamic Links: a file for each domain, with 29 columns.
///
/// Source: Firebase's documentation, "Export Dynamic Links metadata". The documentation names the columns in words,
/// with the parameter's name in brackets, as in `Android package name (apn)`. The files have the short names. The
/// import reads both.
struct FirebaseTable: ImportedTable {
    private enum Column {
        case shortLink
        case parameter(FirebaseLink.Parameter)
        case archived
        case name
        case createdAt
        case unknown(String)
    }

    static let shortLinkNames = ["short_link", "short link"]
    private static let others: [String: Column] = [
        "archived": .archived, "archived?": .archived, "name": .name, "link name": .name,
        "creation_timestamp": .createdAt, "creation timestamp": .createdAt,
        "itunes connect at": .parameter(.affiliate), "itunes connect ct": .parameter(.storeCampaign),
        "itunes connect mt": .parameter(.mediaType), "itunes connect pt": .parameter(.provider),
    ]

    private let columns: [Column]

    init(_ header: CSVReader.Record) throws(CSVReader.Failure) {
        let names = header.cells.map(Self.shortName)
        guard names.contains(where: Self.shortLinkNames.contains), names.contains("link") else {
            throw CSVReader.Failure(
                line: header.line,
                message:
                    "an export of Firebase's Dynamic Links has the columns short_link and link among others"
            )
        }
        columns = names.map(Self.column)
    }

    /// Returns `apn` for `Android package name (apn)`.
    private static func shortName(_ cell: String) -> String {
        let text = cell.lowercased()
        guard let open = text.lastIndex(of: "("), text.last == ")" else { return text }
        return String(text[text.index(after: open)...].dropLast())
    }

    private static func column(_ name: String) -> Column {
        if shortLinkNames.contains(name) { return .shortLink }
        return FirebaseLink.Parameter(rawValue: name).map(Column.parameter) ?? others[name] ?? .unknown(name)
    }

    func read(_ cells: [String], into entry: inout LinkFile.Entry) {
        var link = FirebaseLink()
        for (column, cell) in zip(columns, cells) where !cell.isEmpty {
            switch column {
            case .shortLink: entry.setShortLink(cell, of: "short_link")
            case .parameter(let parameter): link[parameter] = cell
            case .archived: entry.isArchived = cell.lowercased() == "true"
            case .name: entry.fields.set(.title, cell)
            case .createdAt: entry.setCreatedAt(cell, of: "creation_timestamp")
            case .unknown(let name): entry.leftOut.append(name)
            }
        }
        if entry.slug == nil, entry.problems.isEmpty {
            entry.problems = [FieldProblem("short_link", "The line has no short link, and so no slug.")]
        }
        entry.firebase = link
    }
}

extension LinkFile.Entry {
    /// Sets slug and host from a short link of another service.
    mutating func setShortLink(_ text: String, of column: String) {
        guard let parts = ImportedText.parts(ofShortLink: text) else {
            problems.append(
                FieldProblem(column, "\(column) must be an address such as https://example.page.link/summer.")
            )
            return
        }
        (host, slug) = (parts.host, parts.slug)
    }

    /// Sets the time of creation; reports a text that is not a time, and the link is still imported.
    mutating func setCreatedAt(_ text: String, of column: String) {
        createdAt = ImportedText.moment(text)
        if createdAt == nil { malformedTimes.append(column) }
    }
}
