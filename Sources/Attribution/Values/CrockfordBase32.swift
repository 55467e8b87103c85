/// Crockford's base32 (crockford.com/base32.html) in lower case, without its leniency: `I`, `L`, `O`, `U` and
/// capitals are no digits, so that an identifier has one spelling.
enum CrockfordBase32 {
    static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    static func value(of digit: UInt8) -> UInt64? {
        digits.firstIndex(of: digit).map(UInt64.init)
    }
}
