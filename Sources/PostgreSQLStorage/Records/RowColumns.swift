#if PostgreSQL
internal import PostgreSQL
internal import Storage

/// Builds statements for the columns of records.
extension SQLText.StringInterpolation {
    /// Appends the names, separated by commas.
    mutating func appendInterpolation(_ columns: Columns) { append(columns) { $0.appendLiteral($1) } }

    /// Appends the names, each with the name of its table.
    mutating func appendInterpolation(_ columns: Columns, of table: StaticString) {
        append(columns) { text, name in
            text.appendLiteral(table)
            text.appendLiteral(".")
            text.appendLiteral(name)
        }
    }

    /// Appends `name = table.name` for each column, for the assignments of an UPDATE.
    mutating func appendInterpolation(assignmentsOf columns: Columns, from table: StaticString) {
        append(columns) { text, name in
            text.appendLiteral(name)
            text.appendLiteral(" = ")
            text.appendLiteral(table)
            text.appendLiteral(".")
            text.appendLiteral(name)
        }
    }

    /// Appends a parameter for each column, counted from `first`.
    mutating func appendInterpolation(parametersFor columns: Columns, from first: Int = 1) {
        var number = first
        append(columns) { text, _ in
            text.appendLiteral("$")
            text.appendInterpolation(number)
            number += 1
        }
    }

    /// Appends the rows of ``ColumnArrays`` with these columns as a table with the name `r`.
    mutating func appendInterpolation(rowsWith columns: Columns) {
        appendLiteral("unnest(")
        appendInterpolation(parametersFor: columns)
        appendLiteral(") AS r (")
        appendInterpolation(columns)
        appendLiteral(")")
    }

    /// Appends a sum as a 64-bit number, clamped to its range, as ``Swift/Int64/clampedSum(_:_:)`` does.
    mutating func appendInterpolation(clamped sum: StaticString) {
        appendLiteral("least(greatest(")
        appendLiteral(sum)
        appendLiteral(", -9223372036854775808), 9223372036854775807)::int8")
    }

    private mutating func append(
        _ columns: Columns,
        _ appendColumn: (inout SQLText.StringInterpolation, StaticString) -> Void
    ) {
        for (position, name) in columns.names.enumerated() {
            if position > 0 { appendLiteral(", ") }
            appendColumn(&self, name)
        }
    }
}

extension ClaimRecord {
    /// The columns of a claim in the row of its click, whose table has the name `c`.
    static let columnsOfClicks: SQLText =
        columns.names.dropFirst().reduce("c.id AS click") { "\($0), c.\($1)" }
}

/// The values of many rows, column by column, for a statement that takes them as arrays.
///
/// One statement with arrays takes PostgreSQL half as much time as one statement for each row.
struct ColumnArrays: RowWriter, Sendable {
    let columns: Columns
    private var arrays: [ColumnArray] = []
    private var position = 0
    private(set) var rowCount = 0
    private var bucketPosition: Int?
    private var bucket: Int64 = 0

    /// - Parameter columns: the columns of each row: a record's columns, others, or both.
    init(_ columns: Columns) { self.columns = columns }

    var isEmpty: Bool { rowCount == 0 }

    /// The arrays in the order of the columns.
    var parameters: Parameters {
        var parameters = Parameters()
        for array in arrays { parameters.append(array) }
        return parameters
    }

    mutating func append(_ record: some Record) {
        append { (row: inout ColumnArrays) in record.write(to: &row) }
    }

    /// Appends a row.
    ///
    /// - Parameter write: puts all columns in their order.
    mutating func append(_ write: (inout ColumnArrays) -> Void) {
        position = 0
        write(&self)
        precondition(position == columns.names.count, "a row has all columns")
        rowCount += 1
    }

    /// Returns the bucket of a row: the lowest six bits of one of its columns.
    static func bucket(in column: StaticString, of columns: Columns, _ write: (inout ColumnArrays) -> Void)
        -> Int64
    {
        var row = ColumnArrays(columns)
        row.bucketPosition = columns.names.firstIndex { $0.description == column.description }
        row.append(write)
        return row.bucket
    }

    mutating func removeAll() { (arrays, rowCount) = ([], 0) }

    mutating func putInteger(_ column: StaticString, _ value: Int64?) {
        if position == bucketPosition, let value { bucket = value & 63 }
        putNext(column, value)
    }
    mutating func putReal(_ column: StaticString, _ value: Double?) { putNext(column, value) }
    mutating func putText(_ column: StaticString, _ value: String?) { putNext(column, value) }
    mutating func putBytes(_ column: StaticString, _ value: [UInt8]?) { putNext(column, value) }

    private mutating func putNext<Value: PostgreSQLValue & PostgreSQLElement>(
        _ column: StaticString,
        _ value: Value?
    ) {
        #if DEBUG
        precondition(
            columns.hold(column, at: position),
            "a record writes its columns in their order: \(column)"
        )
        #endif
        if arrays.count == position { arrays.append(ColumnArray(of: Value.self)) }
        arrays[position].append(value)
        position += 1
    }
}

/// Reads the values of one row, column by column.
struct ResultRow: RowReader {
    private let rows: ResultRows
    let index: Int
    /// The next column.
    private(set) var column: Int
    /// The error of a value that had another type than its reader expected.
    private(set) var failure: PostgreSQLError?

    init(_ rows: ResultRows, _ index: Int, column: Int = 0) {
        (self.rows, self.index, self.column) = (rows, index, column)
    }

    /// Reads the record whose columns come next.
    ///
    /// - Throws: for a value of another type, and for a row that this program cannot have written.
    mutating func record<Found: Record>(_ type: Found.Type = Found.self) throws(PostgreSQLError) -> Found {
        let record = Found(&self)
        if let failure { throw failure }
        guard let record else {
            throw PostgreSQLError(
                .unexpectedValue,
                "A row of \(type) has values that this program never stores."
            )
        }
        return record
    }

    mutating func getInteger(_ column: StaticString) -> Int64 { next(column, as: Int64.self) ?? 0 }
    mutating func getReal(_ column: StaticString) -> Double { next(column, as: Double.self) ?? 0 }
    mutating func getText(_ column: StaticString) -> String { next(column, as: String.self) ?? "" }
    mutating func getBytes(_ column: StaticString) -> [UInt8] { next(column, as: [UInt8].self) ?? [] }
    mutating func getOptionalInteger(_ column: StaticString) -> Int64? { next(column, as: Int64.self) }
    mutating func getOptionalReal(_ column: StaticString) -> Double? { next(column, as: Double.self) }
    mutating func getOptionalText(_ column: StaticString) -> String? { next(column, as: String.self) }

    private mutating func next<Value: PostgreSQLValue>(_ name: StaticString, as _: Value.Type) -> Value? {
        defer { column += 1 }
        #if DEBUG
        precondition(rows.isColumn(column, named: name), "a record reads its columns in their order: \(name)")
        #endif
        do throws(PostgreSQLError) {
            return try rows.value(index, column, as: Value?.self)
        } catch {
            failure = failure ?? error
            return nil
        }
    }
}

extension ResultRows {
    /// Returns the records of all rows; the first columns of each row must be the record's.
    func records<Found: Record>(of type: Found.Type = Found.self) throws(PostgreSQLError) -> [Found] {
        var records: [Found] = []
        records.reserveCapacity(count)
        for index in 0..<count {
            var row = ResultRow(self, index)
            records.append(try row.record())
        }
        return records
    }

    /// Calls `body` with the number of each row, and returns the results.
    func map<Value>(_ body: (Int) throws(PostgreSQLError) -> Value) throws(PostgreSQLError) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(count)
        for index in 0..<count { values.append(try body(index)) }
        return values
    }
}

#endif
