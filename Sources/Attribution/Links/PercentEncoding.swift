/// Percent-encoding (RFC 3986 §2.1).
package enum PercentEncoding {
    /// Appends `byte` as `%` and two capital digits.
    static func append(_ byte: UInt8, to text: inout [UInt8]) {
        let digits = Array("0123456789ABCDEF".utf8)
        text.append(UInt8(ascii: "%"))
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
    }

    /// A value for a query, in which nothing but unreserved characters stands for itself.
    static func queryValue(_ value: String) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(value.utf8.count)
        for byte in value.utf8 {
            if isUnreserved(byte) {
                text.append(byte)
            } else {
                append(byte, to: &text)
            }
        }
        return text
    }

    /// The escaped bytes in the place of their escapes; a `%` without two digits stays.
    package static func decoded(_ bytes: some Collection<UInt8>, plusIsBlank: Bool = false) -> [UInt8] {
        let bytes = Array(bytes)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if let byte = escapedByte(in: bytes.span, at: index) {
                text.append(byte)
                index += 3
            } else {
                text.append(
                    plusIsBlank && bytes[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[index]
                )
                index += 1
            }
        }
        return text
    }

    /// The byte that the escape at `index` stands for; nil where there is none.
    package static func escapedByte(in bytes: Span<UInt8>, at index: Int) -> UInt8? {
        guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
            let high = Hexadecimal.value(of: bytes[index + 1]),
            let low = Hexadecimal.value(of: bytes[index + 2])
        else { return nil }
        return UInt8(high << 4 | low)
    }

    static func isUnreserved(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "~")
    }

    static func isSubDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("),
            UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"),
            UInt8(ascii: "="):
            true
        default: false
        }
    }
}
