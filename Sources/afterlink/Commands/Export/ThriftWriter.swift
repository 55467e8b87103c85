internal import Storage

/// Writes the compact protocol of Thrift, in which Parquet stores its headers and its footer.
///
/// Fields must be written in the order of their numbers, which differ by at most 15.
struct ThriftWriter {
    private(set) var bytes: [UInt8] = []
    /// The number of the last field of the structure.
    private var last: UInt8 = 0

    /// The kinds of values in headers of fields and lists; `false` is a kind of its own.
    enum Kind: UInt8 {
        case yes = 1
        case no = 2
        case int32 = 5
        case int64 = 6
        case binary = 8
        case list = 9
        case structure = 12
    }

    /// Returns the bytes of a structure.
    static func structure(_ body: (inout ThriftWriter) -> Void) -> [UInt8] {
        var writer = ThriftWriter()
        writer.structure(body)
        return writer.bytes
    }

    mutating func int32(_ field: UInt8, _ value: Int) {
        header(field, .int32)
        bytes.packShort(value)
    }

    mutating func int64(_ field: UInt8, _ value: Int) {
        header(field, .int64)
        bytes.packShort(value)
    }

    mutating func text(_ field: UInt8, _ text: String) {
        header(field, .binary)
        element(text)
    }

    mutating func flag(_ field: UInt8, _ flag: Bool) { header(field, flag ? .yes : .no) }

    mutating func structure(_ field: UInt8, _ body: (inout ThriftWriter) -> Void = { _ in }) {
        header(field, .structure)
        structure(body)
    }

    /// Writes a list; `write` writes each element, without a field number.
    mutating func list<Element>(
        _ field: UInt8,
        of kind: Kind,
        _ elements: [Element],
        _ write: (inout ThriftWriter, Element) -> Void
    ) {
        header(field, .list)
        let isShort = elements.count < 15
        bytes.append((isShort ? UInt8(elements.count) : 15) << 4 | kind.rawValue)
        if !isShort { bytes.packGroups(UInt64(elements.count)) }
        for element in elements { write(&self, element) }
    }

    mutating func element(_ text: String) {
        bytes.packGroups(UInt64(text.utf8.count))
        bytes += text.utf8
    }

    mutating func element(_ number: Int) { bytes.packShort(number) }

    mutating func structure(_ body: (inout ThriftWriter) -> Void) {
        let outer = last
        last = 0
        body(&self)
        bytes.append(0)
        last = outer
    }

    private mutating func header(_ field: UInt8, _ kind: Kind) {
        bytes.append((field - last) << 4 | kind.rawValue)
        last = field
    }
}
