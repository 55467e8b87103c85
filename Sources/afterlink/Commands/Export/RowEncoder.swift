internal import Attribution
internal import Server

/// The format of a file of `afterlink export`; the raw value is the end of its name.
package enum ExportFileFormat: String, CaseIterable, Sendable {
    case csv
    case ndjson
    case parquet

    func encoder(of table: ExportTable) -> any RowEncoder {
        switch self {
        case .csv: LineEncoder(.csv, table)
        case .ndjson: LineEncoder(.ndjson, table)
        case .parquet: ParquetEncoder(table)
        }
    }
}

/// Makes the bytes of a file with rows, from its start to its end.
protocol RowEncoder {
    mutating func start(_ buffer: inout [UInt8])
    mutating func add(_ row: ExportRow, to buffer: inout [UInt8]) throws
    mutating func end(_ buffer: inout [UInt8])
}

/// Encodes each row as a line, as the API does.
private struct LineEncoder: RowEncoder {
    private let format: ExportFormat
    private let table: ExportTable

    init(_ format: ExportFormat, _ table: ExportTable) { (self.format, self.table) = (format, table) }

    func start(_ buffer: inout [UInt8]) { buffer += format.start(table.columnsWithCursor).utf8 }
    func add(_ row: ExportRow, to buffer: inout [UInt8]) { buffer += format.line(row, of: table).utf8 }
    func end(_: inout [UInt8]) {}
}
