/// Writing strings (RFC 8259 §7).
enum JSONText {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Appends `text` with its quotation marks.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        let source = text.utf8.span
        var index = 0
        while index < source.count, !mayNeedEscape(source[index]) { index += 1 }
        if index == source.count {
            // Most strings: no byte needs an escape.
            bytes.append(addingCapacity: source.count) { free in
                for index in source.indices { free.append(source[index]) }
            }
        } else {
            for scalar in text.unicodeScalars { append(scalar, to: &bytes) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends a number in decimal digits.
    static func append(_ number: Int64, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: String(number).utf8)
    }

    /// U+2028 and U+2029 begin with E2 in UTF-8.
    private static func mayNeedEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "<")
            || byte == 0x7f || byte == 0xe2
    }

    private static func append(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
        switch scalar {
        case "\"", "\\": bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: scalar)])
        case "\n": bytes.append(contentsOf: "\\n".utf8)
        case "\r": bytes.append(contentsOf: "\\r".utf8)
        case "\t": bytes.append(contentsOf: "\\t".utf8)
        case "\u{0}"..."\u{1f}", "<", "\u{7f}", "\u{2028}", "\u{2029}":
            bytes.append(contentsOf: "\\u".utf8)
            for shift in stride(from: 12, through: 0, by: -4) {
                bytes.append(digits[Int(scalar.value >> UInt32(shift) & 15)])
            }
        default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
    }
}
