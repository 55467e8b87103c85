/// The properties of a byte as an ASCII character.
extension UInt8 {
    package var isASCIILetter: Bool {
        let lowercased = self | 0x20
        return lowercased >= UInt8(ascii: "a") && lowercased <= UInt8(ascii: "z")
    }

    package var isASCIIDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
    package var isASCIIAlphanumeric: Bool { isASCIILetter || isASCIIDigit }

    package var asciiLowercased: UInt8 {
        self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
    }

    /// Whether the byte is a letter, a digit, a hyphen or an underscore.
    package var isASCIIWordByte: Bool {
        isASCIIAlphanumeric || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
    }

    /// Whether the byte is a space or a tab.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension ArraySlice<UInt8> {
    /// The bytes without spaces and tabs at both ends.
    var trimmed: ArraySlice<UInt8> {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank })
        else { return [] }
        return self[first...last]
    }
}

extension String {
    /// The text with ASCII capitals in lower case.
    package var asciiLowercased: String { String(decoding: utf8.map(\.asciiLowercased), as: UTF8.self) }

    /// The text without spaces, tabs and line breaks at both ends.
    package var trimmed: String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0d).contains(byte) }
        guard let first = utf8.firstIndex(where: { !isSpace($0) }),
            let last = utf8.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(self[first...last])
    }

    /// Returns the text with `replacement` in place of each occurrence of an ASCII character.
    ///
    /// It also finds the character before a combining mark, which `replacing` does not: Swift reads both together as
    /// another character, but programs that read bytes do not.
    package func replacingASCII(_ character: Unicode.Scalar, with replacement: String) -> String {
        let sought = UInt8(ascii: character)
        guard utf8.contains(sought) else { return self }
        var bytes: [UInt8] = []
        for byte in utf8 { if byte == sought { bytes += replacement.utf8 } else { bytes.append(byte) } }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension StringProtocol {
    /// Returns the range of the first occurrence of `part`, compared byte by byte; nil if there is none.
    package func range(ofASCII part: String) -> Range<Index>? {
        let bytes = utf8
        guard let first = part.utf8.first else { return startIndex..<startIndex }
        var start = bytes.startIndex
        while let candidate = bytes[start...].firstIndex(of: first) {
            let rest = bytes[candidate...]
            if rest.starts(with: part.utf8) {
                return candidate..<bytes.index(candidate, offsetBy: part.utf8.count)
            }
            start = bytes.index(after: candidate)
        }
        return nil
    }
}

/// Reads hexadecimal digits, and writes them in lower case.
package enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns two digits in lower case for each byte.
    package static func text(of bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Reads pairs of digits of either case; nil for any other text.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let digits = text.utf8.compactMap { value(of: $0).map { UInt8(truncatingIfNeeded: $0) } }
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// Returns the value of a digit of either case; nil for any other byte.
    package static func value(of digit: UInt8) -> UInt64? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(digit - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(digit - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(digit - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    /// Returns the number that eight hexadecimal digits of either case write; nil if one is no digit.
    ///
    /// It reads all eight as one word to save time, because every check by fingerprint contains sixty-four digits.
    static func value(ofEight digits: Span<UInt8>, at start: Int) -> UInt32? {
        precondition(start >= 0 && start + 8 <= digits.count, "there are eight bytes from the start on")
        // The precondition keeps the load within the bytes.
        let word = unsafe digits.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self).bigEndian
        // After each addition, the highest bit of a byte shows whether the byte has reached a bound. If a byte is 0x80
        // or more, it may carry into the next byte, but then the word is rejected.
        let small = word | every(0x20)
        let isDigit = (word &+ every(0x80 - 0x30)) & ~(word &+ every(0x80 - 0x3a))
        let isLetter = (small &+ every(0x80 - 0x61)) & ~(small &+ every(0x80 - 0x67))
        guard word & every(0x80) == 0, (isDigit | isLetter) & every(0x80) == every(0x80) else { return nil }
        var values = (word & every(0x0f)) &+ ((isLetter & every(0x80)) &>> 7) &* 9
        values = (values | values &>> 4) & 0x00ff_00ff_00ff_00ff
        values = (values | values &>> 8) & 0x0000_ffff_0000_ffff
        return UInt32(truncatingIfNeeded: values | values &>> 16)
    }

    /// Returns a word of eight times the same byte.
    private static func every(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }

    /// Appends the sixteen hexadecimal digits of `word`.
    static func append(_ word: UInt64, to text: inout [UInt8]) {
        for shift in stride(from: 60, through: 0, by: -4) {
            text.append(digits[Int(word >> UInt64(shift) & 15)])
        }
    }
}

/// Base64 with the alphabet for URLs and file names, without padding (RFC 4648 §5).
public enum Base64URL {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    public static func text(of bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var buffer: UInt32 = 0
        var bitCount: UInt32 = 0
        for byte in bytes {
            buffer = buffer << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                text.append(digits[Int(buffer >> bitCount & 63)])
            }
        }
        if bitCount > 0 { text.append(digits[Int(buffer << (6 - bitCount) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes of a text from ``text(of:)``; nil for any other text.
    ///
    /// Rejects padding, other alphabets, and non-zero bits after the last byte, so that the same bytes have
    /// only one text.
    public static func bytes(of text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 3 / 4)
        var buffer: UInt32 = 0
        var bitCount: UInt32 = 0
        for digit in text.utf8 {
            guard let value = value(of: digit) else { return nil }
            buffer = buffer << 6 | value
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: buffer >> bitCount))
        }
        // A digit that completes no byte is superfluous.
        guard bitCount < 6, buffer & (1 << bitCount - 1) == 0 else { return nil }
        return bytes
    }

    /// Returns the bytes of a text in the usual alphabet (RFC 4648 §4), with its padding or without; nil for any other.
    public static func bytes(ofStandard text: String) -> [UInt8]? {
        guard !text.utf8.contains(UInt8(ascii: "-")), !text.utf8.contains(UInt8(ascii: "_")) else {
            return nil
        }
        let padding = text.utf8.suffix(2).count { $0 == UInt8(ascii: "=") }
        let digits = text.utf8.dropLast(padding).map { digit in
            digit == UInt8(ascii: "+")
                ? UInt8(ascii: "-") : digit == UInt8(ascii: "/") ? UInt8(ascii: "_") : digit
        }
        return bytes(of: String(decoding: digits, as: UTF8.self))
    }

    static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
