#if PostgreSQL

/// An array parameter that grows by one element at a time, such as a column of rows that one statement inserts.
///
/// It contains the elements in the protocol's binary form, so that each value is copied only once.
public struct ColumnArray: Sendable {
    /// The type of the array.
    let type: TypeID
    private let elementType: TypeID
    private var elements: [UInt8] = []
    public private(set) var count = 0

    /// Creates an empty array of `Element`, whose values may be NULL.
    public init<Element: PostgreSQLValue & PostgreSQLElement>(of _: Element.Type) {
        (type, elementType) = (Element.arrayType, Element.type)
    }

    /// Appends a value, which must have the element type of the array; nil is NULL.
    public mutating func append<Element: PostgreSQLValue>(_ value: Element?) {
        precondition(Element.type == elementType, "a column has values of one type")
        value.appendField(to: &elements)
        count += 1
    }

    /// Appends the length and the bytes of the array.
    ///
    /// The bytes are the number of dimensions, the flag of NULLs, the element type, the count, the first index, and the
    /// elements.
    func appendField(to fields: inout [UInt8]) {
        fields.appendNetwork(Int32(elements.count + 20))
        for number in [1, 1, Int32(bitPattern: elementType.rawValue), Int32(count), 1] {
            fields.appendNetwork(number)
        }
        fields += elements
    }
}

#endif
