/// Reads one JSON document, strictly (RFC 8259).
///
/// Nothing is mended or guessed: repeated names, malformed UTF-8, half surrogate pairs, a byte order mark and
/// nesting beyond ``maximumDepth`` are refused, because two readers may understand them differently.
struct JSONReader {
    /// Arrays and objects inside each other.
    static let maximumDepth = 32

    let bytes: [UInt8]
    var position = 0
    private var depth = 0

    static func read(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
        guard !bytes.isEmpty else { throw JSONError(.empty, at: 0) }
        guard !bytes.starts(with: [0xef, 0xbb, 0xbf]) else { throw JSONError(.byteOrderMark, at: 0) }
        try checkUTF8(bytes)
        var reader = JSONReader(bytes: bytes)
        return try reader.document()
    }

    /// The whole document at once, so that nothing after it has to think of it.
    private static func checkUTF8(_ bytes: [UInt8]) throws(JSONError) {
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw JSONError(.invalidUTF8, at: error.byteOffsets.lowerBound)
        }
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
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

    func peek() throws(JSONError) -> UInt8 {
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

/// The members of an object while it is read.
private struct JSONMembers {
    private var members: [JSONObject.Member] = []
    /// Filled only once there are many: a few names are compared faster one by one.
    private var names: Set<[UInt8]> = []

    private static let fewNames = 16

    /// False when the name is there already.
    ///
    /// Names are compared byte by byte, escapes read.
    mutating func append(_ name: String, _ value: JSONValue) -> Bool {
        if members.count < Self.fewNames {
            guard !members.contains(where: { $0.name.hasSameBytes(as: name) }) else { return false }
        } else {
            if names.isEmpty { names = Set(members.map { Array($0.name.utf8) }) }
            guard names.insert(Array(name.utf8)).inserted else { return false }
        }
        if members.isEmpty { members.reserveCapacity(8) }
        members.append(JSONObject.Member(name: name, value: value))
        return true
    }

    func object(at byteRange: Range<Int>) -> JSONObject {
        JSONObject(members: members, byteRange: byteRange)
    }
}

extension String {
    /// Swift's own `==` takes canonically equivalent texts for equal, JSON does not.
    ///
    /// It is quick to say no, though.
    func hasSameBytes(as other: String) -> Bool {
        self == other && utf8.elementsEqual(other.utf8)
    }
}

extension JSONValue {
    /// Reads a document: one value, UTF-8, nothing else.
    public init(parsing bytes: [UInt8]) throws(JSONError) {
        self = try JSONReader.read(bytes)
    }
}
