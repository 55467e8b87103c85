/// The bytes of a request's head, and the ranges of its field lines.
struct RequestHead: Sendable {
    /// The ranges of a field line's name, and of its value without the white space around it.
    struct Line: Sendable, Hashable {
        var name: Range<UInt32>
        var value: Range<UInt32>
    }

    private var bytes: [UInt8]
    let lines: [Line]
    /// A set of bits, in which each field name sets the bit of its length modulo 64.
    ///
    /// A search for a name ends at once if the bit of the name's length is not set, which is usual for missing names.
    private let nameLengths: UInt64

    init(bytes: [UInt8], lines: [Line]) {
        self.bytes = bytes
        self.lines = lines
        nameLengths = lines.reduce(0) { $0 | Self.bit(ofLength: $1.name.count) }
    }

    private static func bit(ofLength length: Int) -> UInt64 { 1 &<< UInt64(truncatingIfNeeded: length) }

    /// Creates a head from field lines, for a request that came over no connection.
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

    /// Appends a text, for a request that came over no connection; returns the text's range.
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

    /// Returns the index of the first line of this name, from `start` on; `nil` without one.
    ///
    /// The case of letters does not matter.
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

/// Parses a request's head: request line and field lines (RFC 9112 §2 to §6).
///
/// When more bytes have arrived, the caller passes all bytes of the head again, from their start. The parser continues
/// where it stopped. It checks the syntax byte by byte, and the target and the version at the end of the request line.
/// It checks last, after the field lines, whether the server implements the method.
struct HeadParser {
    private enum State {
        /// Before the request line, where the parser accepts one empty line (RFC 9112 §2.2).
        case start
        case emptyLineFeed
        case method
        case target
        case version
        case versionEnd
        case requestLineFeed
        case fields
    }

    /// A complete head.
    struct Head: Equatable {
        var method: Method
        var target: RequestTarget
        var version: Version
        var lines: [RequestHead.Line]
        var framing: Framing
        var body: Framing.Body

        /// The number of bytes from the start to the end of the empty line.
        var length: Int
    }

    /// The maximum length of a method in bytes; a longer one gets 400, not 501.
    private static let maximumMethodLength = 32

    private var state = State.start
    private var position = 0
    private var sawEmptyLine = false
    private var method = 0..<0
    private var target = 0..<0
    private var versionStart = 0
    private var methodName = MethodName.other
    private var requestTarget: RequestTarget?
    private var version = Version.http11
    private var section = FieldSectionParser(at: 0)
    /// The field lines that were read so far, except those that handlers do not get.
    private(set) var lines: [RequestHead.Line] = []
    private var framing = Framing()

    /// Whether the request line has started; an empty line before it does not count.
    var hasBegun: Bool { state != .start && state != .emptyLineFeed }

    /// The method; `nil` if the parser has not read it, or the server does not implement it.
    var knownMethod: Method? { if case .known(let method) = methodName { method } else { nil } }

    /// Parses the head's bytes, passed from their start; returns `nil` if the parser needs more.
    mutating func parse(_ bytes: Span<UInt8>, limits: Limits) throws(Refusal) -> Head? {
        while position < bytes.count, state != .fields {
            switch state {
            case .start: try begin(bytes[position])
            case .emptyLineFeed: try endEmptyLine(bytes[position])
            case .method: try readMethod(bytes)
            case .target: try readTarget(bytes, longest: limits.targetByteCount)
            case .version: try readVersion(bytes)
            case .versionEnd: try endVersion(bytes)
            case .requestLineFeed, .fields: try endRequestLine(bytes)
            }
        }
        return state == .fields ? try readFields(bytes, limits) : nil
    }

    private mutating func begin(_ byte: UInt8) throws(Refusal) {
        if byte == ByteClass.carriageReturn {
            guard !sawEmptyLine else { throw .emptyLines }
            state = .emptyLineFeed
            position += 1
        } else {
            guard ByteClass.isToken(byte) else {
                throw byte == ByteClass.lineFeed ? .bareLineFeed : .methodSyntax
            }
            method = position..<position
            state = .method
        }
    }

    private mutating func endEmptyLine(_ byte: UInt8) throws(Refusal) {
        guard byte == ByteClass.lineFeed else { throw .bareCarriageReturn }
        sawEmptyLine = true
        state = .start
        position += 1
    }

    private mutating func readMethod(_ bytes: Span<UInt8>) throws(Refusal) {
        let index = ByteClass.run(of: ByteClass.isToken, in: bytes, from: position)
        position = index
        guard index - method.lowerBound <= Self.maximumMethodLength else { throw .methodLength }
        guard index < bytes.count else { return }
        guard bytes[index] == ByteClass.space else { throw .methodSyntax }
        method = method.lowerBound..<index
        methodName = MethodName(bytes, method)
        position += 1
        target = position..<position
        state = .target
    }

    private mutating func readTarget(_ bytes: Span<UInt8>, longest: Int) throws(Refusal) {
        let index = ByteClass.runOfTarget(in: bytes, from: position)
        position = index
        guard index - target.lowerBound <= longest else { throw .targetLength }
        guard index < bytes.count else { return }
        guard bytes[index] == ByteClass.space, index > target.lowerBound else {
            throw bytes[index] == UInt8(ascii: "#") ? .targetFragment : .targetSyntax
        }
        target = target.lowerBound..<index
        position += 1
        versionStart = position
        state = .version
    }

    /// Parses `HTTP/` DIGIT `.` DIGIT, in capitals, and nothing else (RFC 9112 §2.3).
    private mutating func readVersion(_ bytes: Span<UInt8>) throws(Refusal) {
        let offset = position - versionStart
        let byte = bytes[position]
        switch offset {
        case 0..<5: guard byte == Self.protocolName[offset] else { throw .versionSyntax }
        case 6: guard byte == UInt8(ascii: ".") else { throw .versionSyntax }
        default: guard ByteClass.isDigit(byte) else { throw .versionSyntax }
        }
        position += 1
        if offset == 7 { state = .versionEnd }
    }

    private static let protocolName: [5 of UInt8] = [0x48, 0x54, 0x54, 0x50, 0x2F]

    private mutating func endVersion(_ bytes: Span<UInt8>) throws(Refusal) {
        guard bytes[position] == ByteClass.carriageReturn else { throw .requestLineEnd }
        guard bytes[versionStart + 5] == UInt8(ascii: "1") else { throw .versionUnsupported }
        version = bytes[versionStart + 7] == UInt8(ascii: "0") ? .http10 : .http11
        requestTarget = try RequestTarget.read(bytes, target, method: methodName)
        position += 1
        state = .requestLineFeed
    }

    private mutating func endRequestLine(_ bytes: Span<UInt8>) throws(Refusal) {
        guard bytes[position] == ByteClass.lineFeed else { throw .bareCarriageReturn }
        position += 1
        section = FieldSectionParser(at: position)
        lines.reserveCapacity(12)
        state = .fields
    }

    private mutating func readFields(_ bytes: Span<UInt8>, _ limits: Limits) throws(Refusal) -> Head? {
        while true {
            switch try section.next(bytes, limit: limits.fieldsByteCount) {
            case .more: return nil
            case .end: return try conclude()
            case .line(let line):
                guard lines.count < limits.fieldCount else { throw .fieldsCount }
                if try framing.add(line, in: bytes) { lines.append(line) }
            }
        }
    }

    private func conclude() throws(Refusal) -> Head? {
        let body = try framing.conclude(version)
        // The method is checked last, so that a request that is also malformed gets 400.
        guard case .known(let method) = methodName, let requestTarget else { throw .methodUnknown }
        return Head(
            method: method,
            target: requestTarget,
            version: version,
            lines: lines,
            framing: framing,
            body: body,
            length: section.position
        )
    }
}
