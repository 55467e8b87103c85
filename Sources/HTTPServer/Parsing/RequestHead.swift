/// The bytes of a request's head, and the ranges of its field lines.
struct RequestHead: Sendable {
    /// The ranges of a field line's name and value; the value without the white space around it.
    struct Line: Sendable, Hashable {
        var name: Range<UInt32>
        var value: Range<UInt32>
    }

    private var bytes: [UInt8]
    let lines: [Line]
    /// A bit for each length, modulo 64, that a name of the lines has: most names that are looked up and missing have
    /// none of these lengths.
    private let nameLengths: UInt64

    init(bytes: [UInt8], lines: [Line]) {
        self.bytes = bytes
        self.lines = lines
        nameLengths = lines.reduce(0) { $0 | Self.bit(ofLength: $1.name.count) }
    }

    private static func bit(ofLength length: Int) -> UInt64 { 1 &<< UInt64(truncatingIfNeeded: length) }

    /// Creates a head from lines that did not come over a connection.
    init(_ fields: [FieldLine]) {
        var bytes: [UInt8] = []
        var lines: [Line] = []
        for field in fields {
            let name = UInt32(bytes.count)
            bytes.append(contentsOf: field.name.utf8)
            let value = UInt32(bytes.count)
            bytes.append(contentsOf: field.value.utf8)
            lines.append(Line(name: name..<value, value: value..<UInt32(bytes.count)))
        }
        self.init(bytes: bytes, lines: lines)
    }

    /// Appends a text that did not come over a connection.
    ///
    /// - Returns: its range.
    mutating func append(_ text: String) -> Range<UInt32> {
        let start = UInt32(bytes.count)
        bytes.append(contentsOf: text.utf8)
        return start..<UInt32(bytes.count)
    }

    func string(_ range: Range<UInt32>) -> String {
        String(decoding: bytes[Int(range.lowerBound)..<Int(range.upperBound)], as: UTF8.self)
    }

    func withBytes<Result>(_ range: Range<UInt32>, _ read: (Span<UInt8>) -> Result) -> Result {
        read(bytes.span.extracting(Int(range.lowerBound)..<Int(range.upperBound)))
    }

    /// Returns the first line of this name at or after an index; the case of letters does not matter.
    func firstLine(named name: String, from start: Int = 0) -> Int? {
        guard nameLengths & Self.bit(ofLength: name.utf8.count) != 0 else { return nil }
        let wanted = name.utf8.span
        var index = start
        while index < lines.count {
            let range = lines[index].name
            if range.count == wanted.count, matches(wanted, at: Int(range.lowerBound)) { return index }
            index += 1
        }
        return nil
    }

    private func matches(_ name: Span<UInt8>, at start: Int) -> Bool {
        ByteClass.equals(name, inEitherCase: bytes.span.extracting(start..<start + name.count))
    }
}
