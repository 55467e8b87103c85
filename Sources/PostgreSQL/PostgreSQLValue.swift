#if PostgreSQL

/// A value of a parameter or of a result, which the protocol transfers in binary form.
///
/// Source: the functions `…recv` and `…send` in PostgreSQL's `src/backend/utils/adt`, and `pg_type.dat` for the object
/// identifiers of types.
public protocol PostgreSQLValue {
    /// The type of a parameter with this value.
    static var type: TypeID { get }

    /// NULL; nil if this type has no such value.
    static var null: Self? { get }

    /// Appends the length of the value and its bytes; for NULL only the length -1.
    func appendField(to fields: inout [UInt8])

    /// Creates a value from the bytes of a column of this type; nil if the type or the bytes do not fit.
    init?(_ bytes: Span<UInt8>, type: TypeID)
}

extension PostgreSQLValue {
    public static var null: Self? { nil }
}

/// A value that an array can contain; an array of bytes is a `bytea`.
public protocol PostgreSQLElement {
    static var arrayType: TypeID { get }

    static func appendField(of values: [Self], to fields: inout [UInt8])

    static func array(_ bytes: Span<UInt8>, type: TypeID) -> [Self]?
}

/// The object identifier of a type.
public struct TypeID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let bool = TypeID(rawValue: 16)
    public static let bytea = TypeID(rawValue: 17)
    public static let name = TypeID(rawValue: 19)
    public static let int8 = TypeID(rawValue: 20)
    public static let int2 = TypeID(rawValue: 21)
    public static let int4 = TypeID(rawValue: 23)
    public static let text = TypeID(rawValue: 25)
    public static let float4 = TypeID(rawValue: 700)
    public static let float8 = TypeID(rawValue: 701)
    public static let varchar = TypeID(rawValue: 1043)
    public static let timestamptz = TypeID(rawValue: 1184)
    public static let uuid = TypeID(rawValue: 2950)
}

// MARK: - Numbers

extension FixedWidthInteger {
    /// Creates the integer from its bytes in network order: at least one byte, and at most as many as the type has.
    fileprivate init?(network bytes: Span<UInt8>) {
        guard bytes.count > 0, bytes.count * 8 <= Self.bitWidth else { return nil }
        // The first byte of a signed integer has the sign.
        var number = Self.isSigned ? Self(truncatingIfNeeded: Int8(bitPattern: bytes[0])) : Self(bytes[0])
        for index in 1..<bytes.count { number = number << 8 | Self(bytes[index]) }
        self = number
    }
}

extension [UInt8] {
    /// Appends an integer in network order.
    mutating func appendNetwork(_ number: some FixedWidthInteger) {
        // The bytes of the local value are valid during the call.
        unsafe Swift.withUnsafeBytes(of: number.bigEndian) { bytes in unsafe append(contentsOf: bytes) }
    }

    /// Appends the length of an integer in bytes, and then the integer.
    fileprivate mutating func appendField(_ number: some FixedWidthInteger) {
        appendNetwork(Int32(number.bitWidth / 8))
        appendNetwork(number)
    }
}

extension Int16: PostgreSQLValue, PostgreSQLElement {
    public static var type: TypeID { .int2 }
    public static var arrayType: TypeID { TypeID(rawValue: 1005) }

    public func appendField(to fields: inout [UInt8]) { fields.appendField(self) }

    public init?(_ bytes: Span<UInt8>, type: TypeID) {
        guard type == .int2 else { return nil }
        self.init(network: bytes)
    }
}

/// Also reads columns of the type `int2`.
extension Int32: PostgreSQLValue, PostgreSQLElement {
    public static var type: TypeID { .int4 }
    public static var arrayType: TypeID { TypeID(rawValue: 1007) }

    public func appendField(to fields: inout [UInt8]) { fields.appendField(self) }

    public init?(_ bytes: Span<UInt8>, type: TypeID) {
        guard type == .int4 || type == .int2 else { return nil }
        self.init(network: bytes)
    }
}

/// Also reads columns of the types `int2` and `int4`.
extension Int64: PostgreSQLValue, PostgreSQLElement {
    public static var type: TypeID { .int8 }
    public static var arrayType: TypeID { TypeID(rawValue: 1016) }

    public func appendField(to fields: inout [UInt8]) { fields.appendField(self) }

    public init?(_ bytes: Span<UInt8>, type: TypeID) {
        guard type == .int8 || type == .int4 || type == .int2 else { return nil }
        self.init(network: bytes)
    }
}

/// The server stores the signed integer of the same 64 bits.
extension UInt64: PostgreSQLValue, PostgreSQLElement {
    public static var type: TypeID { Int64.type }
    public static var arrayType: TypeID { Int64.arrayType }

    public func appendField(to fields: inout [UInt8]) { fields.appendField(self) }

    public init?(_ bytes: Span<UInt8>, type: TypeID) {
        guard type == .int8, let number = Int64(network: bytes) else { return nil }
        self.init(bitPattern: number)
    }
}

extension Float: PostgreSQLValue, PostgreSQLElement {
    public static var type: TypeID { .float4 }
    public static var arrayType: TypeID { TypeID(rawValue: 1021) }

    public func appendField(to fields: inout [UInt8]) { fields.appendField(bitPattern) }

    public init?(_ bytes: Span<UInt8>, type: TypeID) {
        guard type == .float4, let bits = UInt32(network: bytes) else { return nil }
        self.init(bitPattern: bits)
    }
}

/// Also reads columns of the type `float4`.
extension Double: PostgreSQLValue, PostgreSQLElement {
    public static var type: TypeID { .float8 }
    public static var arrayType: TypeID { TypeID(rawValue: 1022) }

    public func appendField(to fields: inout [UInt8]) { fields.appendField(bitPattern) }

    public init?(_ bytes: Span<UInt8>, type: TypeID) {
        if let number = Float(bytes, type: type) {
            self.init(number)
        } else {
            guard type == .float8, let bits = UInt64(network: bytes) else { return nil }
            self.init(bitPattern: bits)
        }
    }
}

extension Bool: PostgreSQLValue, PostgreSQLElement {
    public static var type: TypeID { .bool }
    public static var arrayType: TypeID { TypeID(rawValue: 1000) }

    public func appendField(to fields: inout [UInt8]) { fields.appendField(self ? 1 as UInt8 : 0) }

    public init?(_ bytes: Span<UInt8>, type: TypeID) {
        guard type == .bool, bytes.count == 1 else { return nil }
        self = bytes[0] != 0
    }
}

// MARK: - Texts and bytes

/// Also reads columns of the types `varchar` and `name`; replaces bytes that are not UTF-8.
///
/// PostgreSQL cannot store U+0000, which texts of clients may contain. So U+001A, the character for
/// substitution, replaces it.
extension String: PostgreSQLValue, PostgreSQLElement {
    public static var type: TypeID { .text }
    public static var arrayType: TypeID { TypeID(rawValue: 1009) }

    public func appendField(to fields: inout [UInt8]) {
        fields.appendNetwork(Int32(utf8.count))
        fields.append(contentsOf: utf8)
        guard utf8.contains(0) else { return }
        for index in fields.indices.suffix(utf8.count) where fields[index] == 0 { fields[index] = 0x1A }
    }

    public init?(_ bytes: Span<UInt8>, type: TypeID) {
        guard type == .text || type == .varchar || type == .name else { return nil }
        // The bytes are valid during the call.
        self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }
}

/// The elements of a `bytea`.
extension UInt8: PostgreSQLElement {
    public static var arrayType: TypeID { .bytea }

    public static func appendField(of values: [UInt8], to fields: inout [UInt8]) {
        fields.appendNetwork(Int32(values.count))
        fields += values
    }

    public static func array(_ bytes: Span<UInt8>, type: TypeID) -> [UInt8]? {
        guard type == .bytea else { return nil }
        // The bytes are valid during the call.
        return unsafe bytes.withUnsafeBufferPointer { unsafe [UInt8]($0) }
    }
}

/// A `uuid`: 128 bits, compared by the server as one unsigned number.
public struct PostgreSQLUUID: Hashable, Sendable {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }
}

extension PostgreSQLUUID: PostgreSQLValue, PostgreSQLElement {
    public static var type: TypeID { .uuid }
    public static var arrayType: TypeID { TypeID(rawValue: 2951) }

    public func appendField(to fields: inout [UInt8]) {
        fields.appendNetwork(16 as Int32)
        fields.appendNetwork(high)
        fields.appendNetwork(low)
    }

    public init?(_ bytes: Span<UInt8>, type: TypeID) {
        guard type == .uuid, bytes.count == 16, let high = UInt64(network: bytes.extracting(0..<8)),
            let low = UInt64(network: bytes.extracting(8..<16))
        else { return nil }
        self.init(high: high, low: low)
    }
}

/// A `timestamptz`.
public struct PostgreSQLTime: Hashable, Sendable {
    /// The start of 2000, from which the server counts, in microseconds since the start of 1970.
    private static let epoch: Int64 = 946_684_800_000_000

    /// Microseconds since the start of 1970, clamped to 64 bits.
    public let microseconds: Int64

    public init(microseconds: Int64) { self.microseconds = microseconds }
}

extension PostgreSQLTime: PostgreSQLValue, PostgreSQLElement {
    public static var type: TypeID { .timestamptz }
    public static var arrayType: TypeID { TypeID(rawValue: 1185) }

    public func appendField(to fields: inout [UInt8]) {
        let (difference, overflow) = microseconds.subtractingReportingOverflow(Self.epoch)
        fields.appendField(overflow ? .min : difference)
    }

    public init?(_ bytes: Span<UInt8>, type: TypeID) {
        guard type == .timestamptz, let number = Int64(network: bytes) else { return nil }
        let (sum, overflow) = number.addingReportingOverflow(Self.epoch)
        self.init(microseconds: overflow ? .max : sum)
    }
}

// MARK: - NULL and arrays

extension Optional: PostgreSQLValue where Wrapped: PostgreSQLValue {
    public static var type: TypeID { Wrapped.type }
    public static var null: Wrapped?? { .some(nil) }

    public func appendField(to fields: inout [UInt8]) {
        switch self {
        case .some(let value): value.appendField(to: &fields)
        case .none: fields.appendNetwork(-1 as Int32)
        }
    }

    public init?(_ bytes: Span<UInt8>, type: TypeID) {
        guard let value = Wrapped(bytes, type: type) else { return nil }
        self = value
    }
}

extension Optional: PostgreSQLElement where Wrapped: PostgreSQLValue & PostgreSQLElement {
    public static var arrayType: TypeID { Wrapped.arrayType }
}

extension Array: PostgreSQLValue where Element: PostgreSQLElement {
    public static var type: TypeID { Element.arrayType }

    public func appendField(to fields: inout [UInt8]) { Element.appendField(of: self, to: &fields) }

    public init?(_ bytes: Span<UInt8>, type: TypeID) {
        guard let values = Element.array(bytes, type: type) else { return nil }
        self = values
    }
}

/// The elements of an array of `bytea`.
extension Array: PostgreSQLElement where Element == UInt8 {
    public static var arrayType: TypeID { TypeID(rawValue: 1001) }
}

/// Arrays with one dimension (`array_recv`): dimensions, flag of NULLs, type, count, first index, and the elements as
/// fields.
extension PostgreSQLElement where Self: PostgreSQLValue {
    public static func appendField(of values: [Self], to fields: inout [UInt8]) {
        let start = fields.count
        fields.appendNetwork(0 as Int32)
        for number in [1, 1, Int32(bitPattern: type.rawValue), Int32(values.count), 1] {
            fields.appendNetwork(number)
        }
        for value in values { value.appendField(to: &fields) }
        let length = Int32(fields.count - start - 4)
        for index in 0..<4 { fields[start + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index)) }
    }

    public static func array(_ bytes: Span<UInt8>, type: TypeID) -> [Self]? {
        guard type == arrayType, let dimensionCount = Int32(network: bytes, at: 0) else { return nil }
        guard dimensionCount > 0 else { return [] }
        guard dimensionCount == 1, let element = Int32(network: bytes, at: 8),
            let count = Int32(network: bytes, at: 12)
        else { return nil }
        let elementType = TypeID(rawValue: UInt32(bitPattern: element))
        var values: [Self] = []
        var position = 20
        for _ in 0..<max(0, count) {
            guard let length = Int32(network: bytes, at: position) else { return nil }
            let end = position + 4 + max(0, Int(length))
            guard end <= bytes.count,
                let value = length < 0
                    ? null : Self(bytes.extracting(position + 4..<end), type: elementType)
            else { return nil }
            values.append(value)
            position = end
        }
        return values
    }
}

extension Int32 {
    /// Creates the integer at an offset; nil if there are fewer bytes.
    fileprivate init?(network bytes: Span<UInt8>, at offset: Int) {
        guard offset + 4 <= bytes.count else { return nil }
        self.init(network: bytes.extracting(offset..<offset + 4))
    }
}

#endif
