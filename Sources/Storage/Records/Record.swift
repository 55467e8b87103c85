public import Attribution

/// The names of columns, in the order in which a record writes and reads them.
public struct Columns: Sendable, ExpressibleByArrayLiteral {
    public let names: [StaticString]

    public init(arrayLiteral names: StaticString...) { self.names = names }
    private init(_ names: [StaticString]) { self.names = names }

    public static func + (left: Columns, right: Columns) -> Columns { Columns(left.names + right.names) }

    /// Returns whether the column at `position`, counted from 0, has this name.
    public func hold(_ name: StaticString, at position: Int) -> Bool {
        names.indices.contains(position) && names[position].description == name.description
    }
}

/// A row of a table, whose columns are listed once.
///
/// ``write(to:)`` puts and ``init(_:)`` gets the columns by name, in the order of ``columns``. In a debug build both
/// trap if a name is not the next one in ``columns``; a release build does not contain the names.
///
/// A statement with more than six parameters takes a record.
public protocol Record {
    static var columns: Columns { get }

    func write(to row: inout some RowWriter)

    /// Creates the record of a row; nil for a row that this program cannot have written.
    init?(_ row: inout some RowReader)
}

/// Takes the values of a row, column by column; for example, a statement binds them.
public protocol RowWriter {
    mutating func putInteger(_ column: StaticString, _ value: Int64?)
    mutating func putReal(_ column: StaticString, _ value: Double?)
    mutating func putText(_ column: StaticString, _ value: String?)
    mutating func putBytes(_ column: StaticString, _ value: [UInt8]?)
    /// Takes a part of an identifier or a hash; databases store the signed integer of the same 64 bits.
    mutating func putWord(_ column: StaticString, _ value: UInt64?)
    /// Takes a flag; databases store 0 or 1.
    mutating func putFlag(_ column: StaticString, _ value: Bool)
    /// Takes a time; databases store milliseconds since 1970.
    mutating func putTime(_ column: StaticString, _ value: Timestamp?)
}

extension RowWriter {
    @inlinable
    public mutating func putWord(_ column: StaticString, _ value: UInt64?) {
        putInteger(column, value.map { Int64(bitPattern: $0) })
    }

    @inlinable
    public mutating func putFlag(_ column: StaticString, _ value: Bool) { putInteger(column, value ? 1 : 0) }

    @inlinable
    public mutating func putTime(_ column: StaticString, _ value: Timestamp?) {
        putInteger(column, value?.milliseconds)
    }

    @inlinable
    public mutating func put(_ column: StaticString, _ value: Int64?) { putInteger(column, value) }

    @inlinable
    public mutating func put(_ column: StaticString, _ value: Int?) {
        putInteger(column, value.map { Int64($0) })
    }

    @inlinable
    public mutating func put(_ column: StaticString, _ value: UInt64?) { putWord(column, value) }

    @inlinable
    public mutating func put(_ column: StaticString, _ value: Bool) { putFlag(column, value) }

    @inlinable
    public mutating func put(_ column: StaticString, _ value: Double?) { putReal(column, value) }

    @inlinable
    public mutating func put(_ column: StaticString, _ value: String?) { putText(column, value) }

    @inlinable
    public mutating func put(_ column: StaticString, _ value: [UInt8]?) { putBytes(column, value) }

    @inlinable
    public mutating func put(_ column: StaticString, _ value: Timestamp?) { putTime(column, value) }

    /// Stores the raw value.
    @inlinable
    public mutating func put<Word: RawRepresentable<String>>(_ column: StaticString, _ value: Word?) {
        putText(column, value?.rawValue)
    }

    /// Stores the raw value.
    @inlinable
    public mutating func put(_ column: StaticString, _ value: some RawRepresentable<Int64>) {
        putInteger(column, value.rawValue)
    }

    @inlinable
    public mutating func put(_ first: StaticString, _ second: StaticString, _ value: KeyedHash?) {
        put(first, value?.index)
        put(second, value?.rest)
    }

    @inlinable
    public mutating func put(_ first: StaticString, _ second: StaticString, _ value: AddressHashes?) {
        put(first, value?.exact)
        put(second, value?.near)
    }
}

/// Returns the values of a row, column by column.
public protocol RowReader {
    /// Returns 0 for NULL; the next three functions return 0 or an empty value.
    mutating func getInteger(_ column: StaticString) -> Int64
    mutating func getReal(_ column: StaticString) -> Double
    mutating func getText(_ column: StaticString) -> String
    mutating func getBytes(_ column: StaticString) -> [UInt8]
    /// Returns nil for NULL, as do the next two functions. The test for NULL costs a call.
    mutating func getOptionalInteger(_ column: StaticString) -> Int64?
    mutating func getOptionalReal(_ column: StaticString) -> Double?
    mutating func getOptionalText(_ column: StaticString) -> String?
}

/// Reads columns that always have a value; if one is NULL all the same, its value is 0, false or empty.
extension RowReader {
    @inlinable
    public mutating func get(_ column: StaticString) -> Int64 { getInteger(column) }

    @inlinable
    public mutating func get(_ column: StaticString) -> UInt64 { UInt64(bitPattern: getInteger(column)) }

    /// Returns the value, limited to the type's range.
    @inlinable
    public mutating func get(_ column: StaticString) -> Int { Int(clamping: getInteger(column)) }

    @inlinable
    public mutating func get(_ column: StaticString) -> Bool { getInteger(column) != 0 }

    @inlinable
    public mutating func get(_ column: StaticString) -> Double { getReal(column) }

    @inlinable
    public mutating func get(_ column: StaticString) -> String { getText(column) }

    @inlinable
    public mutating func get(_ column: StaticString) -> [UInt8] { getBytes(column) }

    @inlinable
    public mutating func get(_ column: StaticString) -> Timestamp {
        Timestamp(milliseconds: getInteger(column))
    }

    @inlinable
    public mutating func get(_ first: StaticString, _ second: StaticString) -> KeyedHash {
        KeyedHash(index: get(first), rest: get(second))
    }
}

/// Values that a column may lack.
extension RowReader {
    @inlinable
    public mutating func get(_ column: StaticString) -> Int64? { getOptionalInteger(column) }

    @inlinable
    public mutating func get(_ column: StaticString) -> UInt64? {
        getOptionalInteger(column).map { UInt64(bitPattern: $0) }
    }

    /// Returns the value, limited to the type's range.
    @inlinable
    public mutating func get(_ column: StaticString) -> Int? {
        getOptionalInteger(column).map { Int(clamping: $0) }
    }

    @inlinable
    public mutating func get(_ column: StaticString) -> Double? { getOptionalReal(column) }

    @inlinable
    public mutating func get(_ column: StaticString) -> String? { getOptionalText(column) }

    @inlinable
    public mutating func get(_ column: StaticString) -> Timestamp? {
        getOptionalInteger(column).map { Timestamp(milliseconds: $0) }
    }

    /// Returns nil also for a word that this program does not know.
    @inlinable
    public mutating func get<Word: RawRepresentable<String>>(_ column: StaticString) -> Word? {
        getOptionalText(column).flatMap { Word(rawValue: $0) }
    }

    /// Returns nil also for a number that this program does not know.
    @inlinable
    public mutating func get<Code: RawRepresentable<Int64>>(_ column: StaticString) -> Code? {
        getOptionalInteger(column).flatMap { Code(rawValue: $0) }
    }

    @inlinable
    public mutating func get(_ first: StaticString, _ second: StaticString) -> KeyedHash? {
        // Both columns are read even if the first is NULL, so that the reader moves past them.
        let (index, rest) = (getOptionalInteger(first), getInteger(second))
        guard let index else { return nil }
        return KeyedHash(index: UInt64(bitPattern: index), rest: UInt64(bitPattern: rest))
    }

    @inlinable
    public mutating func get(_ first: StaticString, _ second: StaticString) -> AddressHashes? {
        // Both columns are read even if the first is NULL, so that the reader moves past them.
        let (exact, near) = (getOptionalInteger(first), getInteger(second))
        guard let exact else { return nil }
        return AddressHashes(exact: UInt64(bitPattern: exact), near: UInt64(bitPattern: near))
    }
}
