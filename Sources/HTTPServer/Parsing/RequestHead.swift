/// The bytes of a request's head, and where its field lines stand in them.
struct RequestHead: Sendable {
    /// Where one field line's name and value stand; the value without the white space around it.
    struct Line: Sendable, Hashable {
        var name: Range<UInt32>
        var value: Range<UInt32>
    }

    private var bytes: [UInt8]
    let lines: [Line]
    /// A bit for each length that a name of the lines has, in steps round 64: most names that are looked for and are not
    /// there have another length than all that are.
    private let nameLengths: UInt64

    init(bytes: [UInt8], lines: [Line]) {
        self.bytes = bytes
        self.lines = lines
        nameLengths = lines.reduce(0) { $0 | Self.bit(ofLength: $1.name.count) }
    }

    private static func bit(ofLength length: Int) -> UInt64 { 1 &<< UInt64(truncatingIfNeeded: length) }

    /// A head made of lines that were never on a wire.
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

    /// Puts a text behind the rest that was never on a wire.
    ///
    /// - Returns: where it stands.
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

    /// The first line of this name at or after an index; the name's letters may be of either case.
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
