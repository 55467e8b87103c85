/// A row of a table that others are made from: all its columns, whichever the schema has.
struct RowTemplate {
    let table: String
    let columns: [String]
    let values: [PlainValue]

    /// Rows of a table, as templates.
    static func read(_ table: String, _ condition: String, in database: PlainDatabase) throws -> [RowTemplate]
    {
        let names = try database.rows("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid")
        let columns = names.compactMap { row in
            if case .text(let name) = row.first { name } else { nil }
        }
        return try database.rows("SELECT * FROM \(table) WHERE \(condition)").map {
            RowTemplate(table: table, columns: columns, values: $0)
        }
    }

    /// A statement that writes such rows, with the template's values bound; `conflict` is what it does where the row
    /// is there already.
    func inserting(into database: PlainDatabase, orElse conflict: String = "") throws -> PlainStatement {
        let parameters = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let names = columns.joined(separator: ", ")
        let statement = try database.prepare(
            "INSERT INTO \(table) (\(names)) VALUES (\(parameters)) \(conflict)"
        )
        for (index, value) in values.enumerated() { statement.bind(value, at: Int32(index + 1)) }
        return statement
    }

    /// The parameter of a column that differs from row to row.
    func parameter(_ column: String) throws -> Int32 {
        guard let index = columns.firstIndex(of: column) else {
            throw BenchmarkError(
                "The table \(table) has no column \(column) any more: tell the benchmark's Storage."
            )
        }
        return Int32(index + 1)
    }
}
