/// Reads one JSON document, strictly (RFC 8259).
///
/// It rejects repeated names, malformed UTF-8, half surrogate pairs and a byte order mark, because two readers might
/// interpret them differently. It also rejects nesting beyond ``maximumDepth``, because each level takes stack memory.
struct JSONReader {
    /// The maximum nesting of arrays and objects.
    static let maximumDepth = 32

    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    static func read(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
        guard !bytes.isEmpty else { throw JSONError(.empty, at: 0) }
        guard !bytes.starts(with: [0xef, 0xbb, 0xbf]) else { throw JSONError(.byteOrderMark, at: 0) }
        try requireUTF8(bytes)
        var reader = JSONReader(bytes: bytes)
        return try reader.document()
    }

    /// Validates the whole document at once, so that the reader need not validate each string.
    private static func requireUTF8(_ bytes: [UInt8]) throws(JSONError) {
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes.span)
        } catch { throw JSONError(.invalidUTF8, at: error.byteOffsets.lowerBound) }
    }

    private mutating func document() throws(JSONError) -> JSONValue {
        skipSpace()
        guard position < bytes.count else { throw JSONError(.empty, at: position) }
        let value = try value()
        skipSpace()
        guard position == bytes.count else { throw JSONError(.trailingBytes, at: position) }
        return value
    }

    private mutating func value() throws(JSONError) -> JSONValue {
        switch try peek() {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: throw JSONError(.unexpectedByte, at: position)
        }
    }

    private mutating func literal(_ word: String, _ value: JSONValue) throws(JSONError) -> JSONValue {
        for byte in word.utf8 {
            guard try peek() == byte else { throw JSONError(.unexpectedByte, at: position) }
            position += 1
        }
        return value
    }

    private mutating func array() throws(JSONError) -> [JSONValue] {
        try descend()
        defer { depth -= 1 }
        var values: [JSONValue] = []
        skipSpace()
        if try skip(UInt8(ascii: "]")) { return values }
        while true {
            skipSpace()
            values.append(try value())
            skipSpace()
            if try skip(UInt8(ascii: "]")) { return values }
            try expect(UInt8(ascii: ","))
        }
    }

    private mutating func object() throws(JSONError) -> JSONObject {
        let start = position
        try descend()
        defer { depth -= 1 }
        var members = JSONMembers()
        skipSpace()
        if try skip(UInt8(ascii: "}")) { return members.object(at: start..<position) }
        while true {
            skipSpace()
            let nameStart = position
            guard try peek() == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: position) }
            let name = try string()
            skipSpace()
            try expect(UInt8(ascii: ":"))
            skipSpace()
            let value = try value()
            guard members.append(name, value) else { throw JSONError(.duplicateName, at: nameStart) }
            skipSpace()
            if try skip(UInt8(ascii: "}")) { return members.object(at: start..<position) }
            try expect(UInt8(ascii: ","))
        }
    }

    private mutating func descend() throws(JSONError) {
        guard depth < Self.maximumDepth else { throw JSONError(.tooDeep, at: position) }
        depth += 1
        position += 1
    }

    // MARK: - Bytes

    private func peek() throws(JSONError) -> UInt8 {
        guard position < bytes.count else { throw JSONError(.unexpectedEnd, at: position) }
        return bytes[position]
    }

    private mutating func skip(_ byte: UInt8) throws(JSONError) -> Bool {
        guard try peek() == byte else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ byte: UInt8) throws(JSONError) {
        guard try skip(byte) else { throw JSONError(.unexpectedByte, at: position) }
    }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position += 1
            default: return
            }
        }
    }
}

// MARK: - Numbers (RFC 8259 §6)

extension JSONReader {
    /// Reads a number of any size as text.
    private mutating func number() throws(JSONError) -> JSONNumber {
        let start = position
        skipOne(UInt8(ascii: "-"))
        if !skipOne(UInt8(ascii: "0")) { try skipDigits(from: start) }
        if skipOne(UInt8(ascii: ".")) { try skipDigits(from: start) }
        if skipOne(UInt8(ascii: "e")) || skipOne(UInt8(ascii: "E")) {
            if !skipOne(UInt8(ascii: "+")) { skipOne(UInt8(ascii: "-")) }
            try skipDigits(from: start)
        }
        // A digit can follow here only after a leading zero, as in 012.
        if position < bytes.count, Self.isDigit(bytes[position]) {
            throw JSONError(.malformedNumber, at: start)
        }
        return JSONNumber(text: String(decoding: bytes[start..<position], as: UTF8.self))
    }

    /// Skips one or more digits.
    private mutating func skipDigits(from start: Int) throws(JSONError) {
        let first = position
        while position < bytes.count, Self.isDigit(bytes[position]) { position += 1 }
        guard position > first else { throw JSONError(.malformedNumber, at: start) }
    }

    @discardableResult
    private mutating func skipOne(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }
}

// MARK: - Strings (RFC 8259 §7)

extension JSONReader {
    /// Reads a string that starts at the current position with a quotation mark.
    private mutating func string() throws(JSONError) -> String {
        position += 1
        let start = position
        try skipPlain()
        guard bytes[position] == UInt8(ascii: "\\") else {
            defer { position += 1 }
            return String(decoding: bytes[start..<position], as: UTF8.self)
        }
        return try escapedString(from: start)
    }

    /// Reads a string that begins at `start` and has its first escape at the current position.
    private mutating func escapedString(from start: Int) throws(JSONError) -> String {
        var text = Array(bytes[start..<position])
        while bytes[position] == UInt8(ascii: "\\") {
            try unescape(into: &text)
            let start = position
            try skipPlain()
            text.append(contentsOf: bytes[start..<position])
        }
        position += 1
        return String(decoding: text, as: UTF8.self)
    }

    /// Skips to the next quotation mark or backslash.
    private mutating func skipPlain() throws(JSONError) {
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return }
            guard byte >= 0x20 else { throw JSONError(.controlCharacter, at: position) }
            position += 1
        }
        throw JSONError(.unexpectedEnd, at: position)
    }

    private mutating func unescape(into text: inout [UInt8]) throws(JSONError) {
        let start = position
        position += 1
        let byte = try peek()
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0c)
        case UInt8(ascii: "n"): text.append(0x0a)
        case UInt8(ascii: "r"): text.append(0x0d)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            guard let scalar = Unicode.Scalar(try scalarValue(from: start))
            else { throw JSONError(.loneSurrogate, at: start) }
            text.append(contentsOf: String(scalar).utf8)
        default: throw JSONError(.malformedEscape, at: start)
        }
    }

    /// Reads the code unit or surrogate pair of a `\u` escape, from the position after the `\u`.
    private mutating func scalarValue(from start: Int) throws(JSONError) -> UInt32 {
        let first = try codeUnit(from: start)
        guard (0xd800...0xdbff).contains(first) else { return first }
        guard bytes[position...].starts(with: "\\u".utf8) else { throw JSONError(.loneSurrogate, at: start) }
        position += 2
        let second = try codeUnit(from: position - 2)
        guard (0xdc00...0xdfff).contains(second) else { throw JSONError(.loneSurrogate, at: start) }
        return 0x10000 + (first - 0xd800) << 10 + (second - 0xdc00)
    }

    private mutating func codeUnit(from start: Int) throws(JSONError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Self.hexadecimalDigit(try peek())
            else { throw JSONError(.malformedEscape, at: start) }
            unit = unit << 4 | digit
            position += 1
        }
        return unit
    }

    private static func hexadecimalDigit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}

// MARK: - Objects

/// Collects the members of an object.
private struct JSONMembers {
    private var members: [JSONObject.Member] = []
    /// The names of the members; empty while there are few, because comparing a few names one by one is faster.
    private var names: Set<[UInt8]> = []

    private static let maximumComparedNames = 16

    /// Appends a member, or returns false if the object already has the name.
    ///
    /// Names are compared byte by byte, with their escapes decoded.
    mutating func append(_ name: String, _ value: JSONValue) -> Bool {
        if members.count < Self.maximumComparedNames {
            guard !members.contains(where: { $0.name.hasSameBytes(as: name) }) else { return false }
        } else {
            if names.isEmpty { names = Set(members.map { Array($0.name.utf8) }) }
            guard names.insert(Array(name.utf8)).inserted else { return false }
        }
        if members.isEmpty { members.reserveCapacity(8) }
        members.append(JSONObject.Member(name: name, value: value))
        return true
    }

    func object(at byteRange: Range<Int>) -> JSONObject { JSONObject(members: members, byteRange: byteRange) }
}

extension String {
    /// Returns whether both texts consist of the same bytes.
    ///
    /// `==` treats canonically equivalent texts as equal, but in JSON they are different names.
    func hasSameBytes(as other: String) -> Bool {
        // `==` comes first, because it finds most differences faster than the comparison of bytes.
        self == other && utf8.elementsEqual(other.utf8)
    }
}

extension JSONValue {
    /// Reads a document: exactly one value in UTF-8.
    public init(parsing bytes: [UInt8]) throws(JSONError) { self = try JSONReader.read(bytes) }
}
