/// Parses the field lines of a head or of trailers, up to the empty line that ends them (RFC 9112 §5).
///
/// When more bytes have arrived, the caller passes all bytes again, from their start. The parser continues where it
/// stopped, so that it reads each byte once. It throws at the first wrong byte.
struct FieldSectionParser {
    enum Outcome: Equatable {
        /// The parser has read all bytes and needs more.
        case more
        /// The parser has read a field line.
        case line(RequestHead.Line)
        /// The parser has read the empty line; `position` is after it.
        case end
    }

    private enum State {
        case firstLineStart
        case lineStart
        case name
        case beforeValue
        case value
        case lineFeed
        case lastLineFeed
    }

    /// The index of the next byte.
    private(set) var position: Int
    private let start: Int
    private var state = State.firstLineStart
    private var nameStart = 0
    private var nameEnd = 0
    private var valueStart = 0
    private var valueEnd = 0

    /// Creates a parser of the section that starts at the given index.
    init(at start: Int) {
        self.start = start
        position = start
    }

    /// Parses the next line; the section may have at most `limit` bytes before its empty line.
    mutating func next(_ bytes: Span<UInt8>, limit: Int) throws(Refusal) -> Outcome {
        while position < bytes.count {
            guard position - start < limit + 2 else { throw .fieldsLength }
            switch state {
            case .firstLineStart, .lineStart: try beginLine(bytes[position])
            case .name: try readName(bytes)
            case .beforeValue: skipBlanks(bytes)
            case .value: try readValue(bytes)
            case .lineFeed:
                try expectLineFeed(bytes[position])
                state = .lineStart
                return .line(line)
            case .lastLineFeed:
                try expectLineFeed(bytes[position])
                return .end
            }
        }
        guard position - start <= limit + 2 else { throw .fieldsLength }
        return .more
    }

    private var line: RequestHead.Line {
        .init(name: UInt32(nameStart)..<UInt32(nameEnd), value: UInt32(valueStart)..<UInt32(valueEnd))
    }

    private mutating func beginLine(_ byte: UInt8) throws(Refusal) {
        if ByteClass.isToken(byte) {
            nameStart = position
            state = .name
            return
        }
        switch byte {
        case ByteClass.carriageReturn:
            position += 1
            state = .lastLineFeed
        case ByteClass.space, ByteClass.tab:
            throw state == .firstLineStart ? .whiteSpaceBeforeFields : .foldedLine
        case ByteClass.colon: throw .fieldNameEmpty
        case ByteClass.lineFeed: throw .bareLineFeed
        default: throw .fieldNameSyntax
        }
    }

    private mutating func readName(_ bytes: Span<UInt8>) throws(Refusal) {
        let index = ByteClass.run(of: ByteClass.isToken, in: bytes, from: position)
        position = index
        guard index < bytes.count else { return }
        switch bytes[index] {
        case ByteClass.colon:
            nameEnd = index
            position += 1
            valueStart = position
            state = .beforeValue
        case ByteClass.space, ByteClass.tab: throw .whiteSpaceBeforeColon
        case ByteClass.carriageReturn, ByteClass.lineFeed: throw .missingColon
        default: throw .fieldNameSyntax
        }
    }

    private mutating func skipBlanks(_ bytes: Span<UInt8>) {
        let index = ByteClass.run(of: ByteClass.isBlank, in: bytes, from: position)
        position = index
        valueStart = index
        if index < bytes.count { state = .value }
    }

    private mutating func readValue(_ bytes: Span<UInt8>) throws(Refusal) {
        let index = ByteClass.runOfFieldValue(in: bytes, from: position)
        position = index
        guard index < bytes.count else { return }
        switch bytes[index] {
        case ByteClass.carriageReturn:
            var end = index
            while end > valueStart, ByteClass.isBlank(bytes[end - 1]) { end -= 1 }
            valueEnd = end
            position += 1
            state = .lineFeed
        case ByteClass.lineFeed: throw .bareLineFeed
        default: throw .fieldValueSyntax
        }
    }

    private mutating func expectLineFeed(_ byte: UInt8) throws(Refusal) {
        guard byte == ByteClass.lineFeed else { throw .bareCarriageReturn }
        position += 1
    }
}
