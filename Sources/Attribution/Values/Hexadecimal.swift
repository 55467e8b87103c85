/// Reading and writing lower-case hexadecimal.
enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    /// The value of a digit of either case.
    static func value(of digit: UInt8) -> UInt64? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(digit - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(digit - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(digit - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    /// Appends the sixteen digits of `word`.
    static func append(_ word: UInt64, to text: inout [UInt8]) {
        for shift in stride(from: 60, through: 0, by: -4) {
            text.append(digits[Int(word >> UInt64(shift) & 15)])
        }
    }
}
