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
    /// Rejects padding, other alphabets, and non-zero bits after the last byte, so that all bytes have
    /// exactly one text.
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
