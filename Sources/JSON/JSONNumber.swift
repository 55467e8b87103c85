/// A number as it is written, so that no digit is lost before somebody asks for one type or another.
public struct JSONNumber: Equatable, Sendable {
    /// By the grammar of RFC 8259 §6.
    public let text: String

    init(text: String) {
        self.text = text
    }

    /// The number, if it is whole and fits, however it is written (`60`, `60.0`, `6e1`).
    ///
    /// Fractions and exponents go through a double, so that they count up to 2⁵³ only.
    public var int64: Int64? {
        if let value = Int64(text) { return value }
        guard text.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }),
            let double, double.magnitude <= 9_007_199_254_740_992
        else { return nil }
        let whole = Int64(double)
        return Double(whole) == double ? whole : nil
    }

    /// The nearest double; nil for what is too large for one.
    ///
    /// What is too small is zero.
    public var double: Double? {
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }
}
