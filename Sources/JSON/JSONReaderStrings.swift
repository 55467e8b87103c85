/// Strings (RFC 8259 §7).
extension JSONReader {
    /// The string whose opening quotation mark is next.
    mutating func string() throws(JSONError) -> String {
        position += 1
        let start = position
        try skipPlain()
        guard bytes[position] == UInt8(ascii: "\\") else {
            defer { position += 1 }
            return String(decoding: bytes[start..<position], as: UTF8.self)
        }
        return try escapedString(from: start)
    }

    /// The rest of a string in which an escape comes next.
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

    /// Goes to the next quotation mark or backslash.
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
            guard let scalar = Unicode.Scalar(try scalarValue(from: start)) else {
                throw JSONError(.loneSurrogate, at: start)
            }
            text.append(contentsOf: String(scalar).utf8)
        default: throw JSONError(.malformedEscape, at: start)
        }
    }

    /// The character whose `\u` was read, as one code unit or as a surrogate pair.
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
            guard let digit = Self.hexadecimalDigit(try peek()) else {
                throw JSONError(.malformedEscape, at: start)
            }
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
