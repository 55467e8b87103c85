internal import Attribution
internal import Server

/// The table that an export writes, and tables of people's own with the same columns.
struct AfterlinkTable: ImportedTable {
    private let names: [String]

    init(_ header: CSVReader.Record) throws(CSVReader.Failure) {
        names = header.cells.map { $0.lowercased() }
        let known = LinkColumns.header
        if let unknown = names.first(where: { !known.contains($0) }) {
            throw CSVReader.Failure(line: header.line, message: Self.message(unknown, known))
        }
        if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
            throw CSVReader.Failure(line: header.line, message: "the column \"\(twice)\" is there twice")
        }
    }

    private static func message(_ unknown: String, _ known: [String]) -> String {
        if FirebaseTable.shortLinkNames.contains(unknown) {
            return
                "there is no column \"\(unknown)\"; for an export of Firebase's Dynamic Links give --from firebase"
        }
        return "there is no column \"\(unknown)\"; the columns are " + known.joined(separator: ", ")
    }

    func read(_ cells: [String], into entry: inout LinkFile.Entry) {
        for (name, cell) in zip(names, cells.map(CSVText.unescaped)) where !cell.isEmpty {
            switch name {
            case "slug": entry.slug = cell
            case "app": entry.app = cell
            case "archived_at": entry.archivedAt = cell
            default:
                guard let field = LinkField(rawValue: name) else { continue }
                entry.fields[field] = LinkColumns.texts(cell, of: field)
            }
        }
    }
}
