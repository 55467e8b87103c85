public import Attribution

/// Gives the values of a row, column after column.
public protocol RowReader {
    /// 0 for NULL; the others accordingly.
    mutating func getInteger(_ column: StaticString) -> Int64
    mutating func getReal(_ column: StaticString) -> Double
    mutating func getText(_ column: StaticString) -> String
    mutating func getBytes(_ column: StaticString) -> [UInt8]
    /// Nil for NULL; the others accordingly. Asking for that costs a call more.
    mutating func getOptionalInteger(_ column: StaticString) -> Int64?
    mutating func getOptionalReal(_ column: StaticString) -> Double?
    mutating func getOptionalText(_ column: StaticString) -> String?
}

/// Values that a column always holds: NULL reads as 0, as false or as empty.
extension RowReader {
    @inlinable
    public mutating func get(_ column: StaticString) -> Int64 {
        getInteger(column)
    }

    @inlinable
    public mutating func get(_ column: StaticString) -> UInt64 {
        UInt64(bitPattern: getInteger(column))
    }

    /// Held at the ends of the type's range.
    @inlinable
    public mutating func get(_ column: StaticString) -> Int {
        Int(clamping: getInteger(column))
    }

    @inlinable
    public mutating func get(_ column: StaticString) -> Bool {
        getInteger(column) != 0
    }

    @inlinable
    public mutating func get(_ column: StaticString) -> Double {
        getReal(column)
    }

    @inlinable
    public mutating func get(_ column: StaticString) -> String {
        getText(column)
    }

    @inlinable
    public mutating func get(_ column: StaticString) -> [UInt8] {
        getBytes(column)
    }

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
    public mutating func get(_ column: StaticString) -> Int64? {
        getOptionalInteger(column)
    }

    @inlinable
    public mutating func get(_ column: StaticString) -> UInt64? {
        getOptionalInteger(column).map { UInt64(bitPattern: $0) }
    }

    /// Held at the ends of the type's range.
    @inlinable
    public mutating func get(_ column: StaticString) -> Int? {
        getOptionalInteger(column).map { Int(clamping: $0) }
    }

    @inlinable
    public mutating func get(_ column: StaticString) -> Double? {
        getOptionalReal(column)
    }

    @inlinable
    public mutating func get(_ column: StaticString) -> String? {
        getOptionalText(column)
    }

    @inlinable
    public mutating func get(_ column: StaticString) -> Timestamp? {
        getOptionalInteger(column).map { Timestamp(milliseconds: $0) }
    }

    /// Nil for a word that this program does not know, too.
    @inlinable
    public mutating func get<Word: RawRepresentable<String>>(_ column: StaticString) -> Word? {
        getOptionalText(column).flatMap { Word(rawValue: $0) }
    }

    @inlinable
    public mutating func get(_ first: StaticString, _ second: StaticString) -> KeyedHash? {
        // Both are read, so that the next column follows.
        let (index, rest) = (getOptionalInteger(first), getInteger(second))
        guard let index else { return nil }
        return KeyedHash(index: UInt64(bitPattern: index), rest: UInt64(bitPattern: rest))
    }

    @inlinable
    public mutating func get(_ first: StaticString, _ second: StaticString) -> AddressHashes? {
        // Both are read, so that the next column follows.
        let (exact, near) = (getOptionalInteger(first), getInteger(second))
        guard let exact else { return nil }
        return AddressHashes(exact: UInt64(bitPattern: exact), near: UInt64(bitPattern: near))
    }
}
