internal import Attribution
internal import Server

/// An export of Branch's quick links.
///
/// Branch documents no columns of it, but the labels and the link data that its links are made of. So a column is known
/// by the name that Branch's API has for it, with or without its `$` or `~`, or by what the dashboard calls it; a
/// column `data` may hold all link data as a JSON object, as the API returns it. Unknown columns are reported.
///
/// Source: Branch's documentation, "Quick Links API" and "Configuring Links".
struct BranchTable: ImportedTable {
    private let names: [String]

    init(_ header: CSVReader.Record) throws(CSVReader.Failure) {
        names = header.cells
        let columns = Set(names.compactMap { BranchLink.Label(named: $0) })
        guard columns.contains(.url) || columns.contains(.alias) else {
            throw CSVReader.Failure(
                line: header.line,
                message:
                    "an export of Branch's links has a column url or alias, and columns such as $deeplink_path,"
                    + " $desktop_url, campaign, channel, tags or data"
            )
        }
    }

    func read(_ cells: [String], into entry: inout LinkFile.Entry) {
        var link = BranchLink()
        for (name, cell) in zip(names, cells) where !cell.isEmpty {
            if ["data", "link_data", "link data"].contains(name.lowercased()) {
                link.setData(cell)
            } else {
                link.set(name, cell, isData: false)
            }
        }
        link.write(to: &entry)
    }
}
