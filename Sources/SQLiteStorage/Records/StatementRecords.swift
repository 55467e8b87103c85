internal import Attribution
package import SQLite
package import Storage

/// Builds statements for the columns of records.
extension SQL {
    /// Returns `INSERT INTO table (columns) VALUES (…)`, with a parameter for each column.
    package static func insert(_ table: StaticString, _ columns: Columns) -> SQL {
        "INSERT INTO \(table) (\(columns)) VALUES (\(parametersFor: columns))"
    }

    /// Returns `UPDATE table SET (columns) = (…) WHERE condition`, with a parameter for each column.
    ///
    /// In the condition, ?1 is the value of the record's first column, ?2 of its second, and so on.
    package static func update(_ table: StaticString, _ columns: Columns, where condition: StaticString)
        -> SQL
    { "UPDATE \(table) SET (\(columns)) = (\(parametersFor: columns)) WHERE \(condition)" }
}

extension SQL.StringInterpolation {
    /// Appends the names, separated by commas.
    package mutating func appendInterpolation(_ columns: Columns) {
        append(columns) { text, name in text.appendLiteral(name) }
    }

    /// Appends the names, each with the name of its table.
    package mutating func appendInterpolation(_ columns: Columns, of table: StaticString) {
        append(columns) { text, name in
            text.appendLiteral(table)
            text.appendLiteral(".")
            text.appendLiteral(name)
        }
    }

    /// Appends a parameter for each column.
    package mutating func appendInterpolation(parametersFor columns: Columns) {
        append(columns) { text, _ in text.appendLiteral("?") }
    }

    private mutating func append(
        _ columns: Columns,
        _ appendColumn: (inout SQL.StringInterpolation, StaticString) -> Void
    ) {
        for (position, name) in columns.names.enumerated() {
            if position > 0 { appendLiteral(", ") }
            appendColumn(&self, name)
        }
    }
}

/// Runs statements with records (structures, each of which is stored as a row).
extension Statement {
    /// Binds a record's columns in their order, and runs to the end.
    package func run(_ record: some Record) throws(SQLiteError) {
        try bind(record)
        while try step() {}
        reset()
    }

    func bind<Bound: Record>(_ record: Bound) throws(SQLiteError) {
        var values = StatementValues(self, Bound.columns)
        record.write(to: &values)
        try values.end()
    }

    /// Returns the record in the row that ``step()`` moved to; the row's first columns must be the record's.
    package func record<Found: Record>(_ type: Found.Type = Found.self) throws(SQLiteError) -> Found {
        var row = StatementRow(self)
        return try row.record()
    }

    /// Returns the first row's record; nil if there is none.
    package func first<each Value: Bindable, Found: Record>(
        _ type: Found.Type,
        _ values: repeat each Value
    ) throws(SQLiteError) -> Found? {
        try first(repeat each values) { row throws(SQLiteError) in try row.record() }
    }

    /// Returns the records of all rows.
    package func all<each Value: Bindable, Found: Record>(
        _ type: Found.Type,
        _ values: repeat each Value
    ) throws(SQLiteError) -> [Found] {
        try all(repeat each values) { row throws(SQLiteError) in try row.record() }
    }
}

/// Reads unsigned words and times from the row that ``step()`` moved to.
extension Statement {
    func word(_ column: Int32) -> UInt64 { UInt64(bitPattern: integer(column)) }
    func time(_ column: Int32) -> Timestamp { Timestamp(milliseconds: integer(column)) }
}

/// Binds a record's values to a statement's parameters, in the order of the columns.
struct StatementValues: RowWriter {
    private let statement: Statement
    private var count: Int32 = 0
    private var failure: SQLiteError?
    #if DEBUG
    private let columns: Columns
    #endif

    init(_ statement: Statement, _ columns: Columns) {
        self.statement = statement
        #if DEBUG
        self.columns = columns
        #endif
    }

    mutating func putInteger(_ column: StaticString, _ value: Int64?) { bindNext(column, value) }
    mutating func putReal(_ column: StaticString, _ value: Double?) { bindNext(column, value) }
    mutating func putText(_ column: StaticString, _ value: String?) { bindNext(column, value) }
    mutating func putBytes(_ column: StaticString, _ value: [UInt8]?) { bindNext(column, value) }

    @inline(__always)
    private mutating func bindNext(_ column: StaticString, _ value: some Bindable) {
        #if DEBUG
        precondition(
            columns.hold(column, at: Int(count)),
            "a record writes its columns in their order: \(column)"
        )
        #endif
        count += 1
        do throws(SQLiteError) {
            try value.bind(to: statement, at: count)
        } catch {
            failure = failure ?? error
        }
    }

    func end() throws(SQLiteError) {
        #if DEBUG
        precondition(Int(count) == columns.names.count, "a record writes all its columns")
        #endif
        if let failure { throw failure }
    }
}

/// Reads the row that a statement has moved to, column by column.
struct StatementRow: RowReader {
    private let statement: Statement
    private var column: Int32 = 0

    init(_ statement: Statement) { self.statement = statement }

    /// Reads the record whose columns come next.
    mutating func record<Found: Record>(_ type: Found.Type = Found.self) throws(SQLiteError) -> Found {
        guard let record = Found(&self) else { throw .corrupt("reading a record") }
        return record
    }

    mutating func getInteger(_ column: StaticString) -> Int64 { statement.integer(next(column)) }
    mutating func getReal(_ column: StaticString) -> Double { statement.real(next(column)) }
    mutating func getText(_ column: StaticString) -> String { statement.text(next(column)) }
    mutating func getBytes(_ column: StaticString) -> [UInt8] { statement.bytes(next(column)) }
    mutating func getOptionalInteger(_ column: StaticString) -> Int64? {
        statement.optionalInteger(next(column))
    }
    mutating func getOptionalReal(_ column: StaticString) -> Double? { statement.optionalReal(next(column)) }
    mutating func getOptionalText(_ column: StaticString) -> String? { statement.optionalText(next(column)) }

    @inline(__always)
    private mutating func next(_ name: StaticString) -> Int32 {
        defer { column += 1 }
        #if DEBUG
        precondition(
            statement.isColumn(column, named: name),
            "a record reads its columns in their order: \(name)"
        )
        #endif
        return column
    }
}
