/// Reads hexadecimal digits, and writes them in lower case.
package enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns the value of a digit of either case.
    package static func value(of digit: UInt8) -> UInt64? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(digit - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(digit - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(digit - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    /// Returns the number of eight digits of either case, the first one highest; nil if one is no digit.
    ///
    /// Reads all eight at once, because every check contains sixty-four.
    static func value(ofEight digits: Span<UInt8>, at start: Int) -> UInt32? {
        precondition(start >= 0 && start + 8 <= digits.count, "eight digits stand among the bytes")
        // The check above keeps the load within the bytes.
        let word = unsafe digits.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self).bigEndian
        // The highest bit of each byte shows whether the byte has passed a bound. No byte carries into the
        // next, because a word with a byte from 0x80 on is rejected.
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

    /// Appends the sixteen digits of `word`.
    static func append(_ word: UInt64, to text: inout [UInt8]) {
        for shift in stride(from: 60, through: 0, by: -4) {
            text.append(digits[Int(word >> UInt64(shift) & 15)])
        }
    }
}
