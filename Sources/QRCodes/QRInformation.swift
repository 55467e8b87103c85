internal import Attribution

/// What a decoder must know before it can read the text, with error correction of its own.
///
/// Source: ISO/IEC 18004, sections on format information and on version information.
enum QRInformation {
    /// Fifteen bits: level, mask, and ten bits of a BCH code; turned over in part, so that they are never all zero.
    static func format(level: QRErrorCorrection, mask: QRMask) -> Int {
        let value = level.indicator << 3 | mask.number
        return (value << 10 | remainder(of: value << 10, by: 0x537)) ^ 0x5412
    }

    /// Eighteen bits: the version and twelve bits of a BCH code.
    static func version(_ number: Int) -> Int {
        number << 12 | remainder(of: number << 12, by: 0x1f25)
    }

    /// Of polynomials over the field of two elements.
    private static func remainder(of dividend: Int, by divisor: Int) -> Int {
        let degree = Int.bitWidth - 1 - divisor.leadingZeroBitCount
        var rest = dividend
        while rest >> degree != 0 {
            let shift = Int.bitWidth - 1 - rest.leadingZeroBitCount - degree
            rest ^= divisor << shift
        }
        return rest
    }
}
