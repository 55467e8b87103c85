internal import Attribution
internal import Storage

/// Encodes rows as an Apache Parquet file: plain values without compression, in row groups that fit into memory.
///
/// The format is <https://github.com/apache/parquet-format>. Every column but the cursor may have unknown values.
struct ParquetEncoder: RowEncoder {
    private var columns: [ParquetColumn]
    /// The number of rows in the columns.
    private var rowCount = 0
    private var groups: [Group] = []
    /// The number of bytes of the file so far.
    private var offset = 0

    /// The part of a file that readers read as a whole, with a chunk of each column.
    private struct Group {
        struct Chunk {
            let start: Int
            let size: Int
        }

        let rowCount: Int
        let chunks: [Chunk]
    }

    private static let mark = Array("PAR1".utf8)
    /// The writer of the file, as the format specifies it: an application, the word `version`, and its version.
    ///
    /// It is this encoder's version, so that an update of the program does not change the file of an equal snapshot.
    private static let writer = "afterlink version 1.0.0"
    /// The bounds of a row group, because a reader and this writer keep a whole row group in memory.
    private static let (maximumRows, maximumBytes) = (122_880, 16 << 20)

    init(_ table: ExportTable) {
        columns =
            [ParquetColumn("cursor", .text, isOptional: false)]
            + table.columns.map { ParquetColumn($0, table.kind(of: $0), isOptional: true) }
    }

    mutating func start(_ buffer: inout [UInt8]) { write(Self.mark, to: &buffer) }

    mutating func add(_ row: ExportRow, to buffer: inout [UInt8]) throws {
        columns[0].add(.text(row.cursor.text))
        for (index, value) in row.values.enumerated() where !columns[index + 1].add(value) {
            throw CommandFailure.because("The column \(columns[index + 1].name) has a value of another kind.")
                .advising("This is a defect of Afterlink; write csv or ndjson until it is fixed.")
        }
        rowCount += 1
        let size = columns.reduce(0) { $0 + $1.values.count }
        if rowCount == Self.maximumRows || size >= Self.maximumBytes { endGroup(&buffer) }
    }

    mutating func end(_ buffer: inout [UInt8]) {
        if rowCount > 0 { endGroup(&buffer) }
        let footer = footer
        write(footer, to: &buffer)
        var length: [UInt8] = []
        length.pack(UInt32(footer.count))
        write(length + Self.mark, to: &buffer)
    }

    private mutating func write(_ bytes: [UInt8], to buffer: inout [UInt8]) {
        buffer += bytes
        offset += bytes.count
    }

    /// Writes the columns as a row group, with one page each, and empties them.
    private mutating func endGroup(_ buffer: inout [UInt8]) {
        var chunks: [Group.Chunk] = []
        for index in columns.indices {
            let (page, start) = (columns[index].takePage(), offset)
            let header = ThriftWriter.structure { header in
                header.int32(1, 0)
                header.int32(2, page.count)
                header.int32(3, page.count)
                header.structure(5) { page in
                    page.int32(1, rowCount)
                    page.int32(2, ParquetColumn.plain)
                    page.int32(3, ParquetColumn.runs)
                    page.int32(4, ParquetColumn.runs)
                }
            }
            write(header + page, to: &buffer)
            chunks.append(Group.Chunk(start: start, size: offset - start))
        }
        groups.append(Group(rowCount: rowCount, chunks: chunks))
        rowCount = 0
    }

    private var footer: [UInt8] {
        ThriftWriter.structure { footer in
            footer.int32(1, 1)
            footer.list(2, of: .structure, [nil] + columns.map(Optional.some)) { list, column in
                list.structure { element in
                    guard let column else {
                        element.text(4, "schema")
                        element.int32(5, columns.count)
                        return
                    }
                    column.writeSchema(to: &element)
                }
            }
            footer.int64(3, groups.reduce(0) { $0 + $1.rowCount })
            footer.list(4, of: .structure, groups) { list, group in
                list.structure { write(group, to: &$0) }
            }
            footer.text(6, Self.writer)
        }
    }

    private func write(_ group: Group, to writer: inout ThriftWriter) {
        writer.list(1, of: .structure, Array(zip(columns, group.chunks))) { list, chunk in
            let (column, place) = chunk
            list.structure { chunk in
                chunk.int64(2, 0)
                chunk.structure(3) { data in
                    data.int32(1, column.type)
                    data.list(2, of: .int32, [ParquetColumn.plain, ParquetColumn.runs]) { $0.element($1) }
                    data.list(3, of: .binary, [column.name]) { $0.element($1) }
                    data.int32(4, 0)
                    data.int64(5, group.rowCount)
                    data.int64(6, place.size)
                    data.int64(7, place.size)
                    data.int64(9, place.start)
                }
            }
        }
        writer.int64(2, group.chunks.reduce(0) { $0 + $1.size })
        writer.int64(3, group.rowCount)
    }
}

/// The values of a column in the running row group.
struct ParquetColumn {
    let name: String
    private let kind: ExportKind
    private let isOptional: Bool
    /// The known values, one after the other.
    private(set) var values: [UInt8] = []
    /// The numbers of consecutive rows with a value and without, alternating; the first number is of rows with a value.
    private var presence = [0]
    /// The number of flags, of which eight share a byte.
    private var flagCount = 0

    /// The numbers of the encodings: values as they are, and runs of equal levels.
    static let (plain, runs) = (0, 3)

    init(_ name: String, _ kind: ExportKind, isOptional: Bool) {
        (self.name, self.kind, self.isOptional) = (name, kind, isOptional)
    }

    /// The number of the physical type.
    var type: Int {
        switch kind {
        case .flag: 0
        case .integer, .time: 2
        case .real: 5
        case .text: 6
        }
    }

    /// Adds a value; returns false for one of another kind.
    @discardableResult
    mutating func add(_ value: ExportValue) -> Bool {
        switch (kind, value) {
        case (_, .none): return note(isPresent: false)
        case (.text, .text(let text)), (.text, .decimal(let text)):
            values.pack(UInt32(text.utf8.count))
            values += text.utf8
        case (.time, .time(let time)): values.pack(UInt64(bitPattern: time.milliseconds))
        case (.integer, .integer(let number)): values.pack(UInt64(bitPattern: number))
        case (.real, .real(let number)):
            guard number.isFinite else { return note(isPresent: false) }
            values.pack(number.bitPattern)
        case (.flag, .flag(let flag)):
            if flagCount % 8 == 0 { values.append(0) }
            if flag { values[values.count - 1] |= 1 << (flagCount % 8) }
            flagCount += 1
        default: return false
        }
        return note(isPresent: true)
    }

    private mutating func note(isPresent: Bool) -> Bool {
        if (presence.count % 2 == 1) != isPresent { presence.append(0) }
        presence[presence.count - 1] += 1
        return true
    }

    /// Returns the page with the values, and empties the column.
    mutating func takePage() -> [UInt8] {
        var page: [UInt8] = []
        if isOptional {
            var levels: [UInt8] = []
            for (index, count) in presence.enumerated() where count > 0 {
                levels.packGroups(UInt64(count) << 1)
                levels.append(index % 2 == 0 ? 1 : 0)
            }
            page.pack(UInt32(levels.count))
            page += levels
        }
        page += values
        values.removeAll(keepingCapacity: true)
        (presence, flagCount) = ([0], 0)
        return page
    }

    /// Writes the column's element of the schema: times and texts have both the newer and the older annotation of their
    /// type.
    func writeSchema(to element: inout ThriftWriter) {
        element.int32(1, type)
        element.int32(3, isOptional ? 1 : 0)
        element.text(4, name)
        switch kind {
        case .text:
            element.int32(6, 0)
            element.structure(10) { $0.structure(1) }
        case .time:
            element.int32(6, 9)
            element.structure(10) { meaning in
                meaning.structure(8) { time in
                    // The first field means UTC, and the second one means milliseconds.
                    time.flag(1, true)
                    time.structure(2) { $0.structure(1) }
                }
            }
        case .integer, .real, .flag: break
        }
    }
}
