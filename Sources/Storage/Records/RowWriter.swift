public import Attribution

/// Takes the values of a row, column after column: a statement binds them, a pipeline gathers them in arrays.
public protocol RowWriter {
    mutating func putInteger(_ column: StaticString, _ value: Int64?)
    mutating func putReal(_ column: StaticString, _ value: Double?)
    mutating func putText(_ column: StaticString, _ value: String?)
    mutating func putBytes(_ column: StaticString, _ value: [UInt8]?)
}

extension RowWriter {
    @inlinable
    public mutating func put(_ column: StaticString, _ value: Int64?) {
        putInteger(column, value)
    }

    @inlinable
    public mutating func put(_ column: StaticString, _ value: Int?) {
        putInteger(column, value.map { Int64($0) })
    }

    /// Stored as the signed integer of the same 64 bits.
    @inlinable
    public mutating func put(_ column: StaticString, _ value: UInt64?) {
        putInteger(column, value.map { Int64(bitPattern: $0) })
    }

    /// Stored as 0 or 1.
    @inlinable
    public mutating func put(_ column: StaticString, _ value: Bool) {
        putInteger(column, value ? 1 : 0)
    }

    @inlinable
    public mutating func put(_ column: StaticString, _ value: Double?) {
        putReal(column, value)
    }

    @inlinable
    public mutating func put(_ column: StaticString, _ value: String?) {
        putText(column, value)
    }

    @inlinable
    public mutating func put(_ column: StaticString, _ value: [UInt8]?) {
        putBytes(column, value)
    }

    /// Stored in milliseconds.
    @inlinable
    public mutating func put(_ column: StaticString, _ value: Timestamp?) {
        putInteger(column, value?.milliseconds)
    }

    /// Stored as its word.
    @inlinable
    public mutating func put<Word: RawRepresentable<String>>(_ column: StaticString, _ value: Word?) {
        putText(column, value?.rawValue)
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
