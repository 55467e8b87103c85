/// How much of a QR code may be damaged or covered and still be read; more of it makes the code larger.
///
/// The raw value is the level's letter. Source: ISO/IEC 18004, section on error correction.
public enum QRErrorCorrection: String, CaseIterable, Comparable, Sendable {
    /// About 7 % of the codewords can be restored.
    case low = "L"
    /// About 15 %: the usual level for a code on paper or on a screen.
    case medium = "M"
    /// About 25 %.
    case quartile = "Q"
    /// About 30 %: the level for a code with a logo in its centre.
    case high = "H"

    /// Bytes that any text of this level may have in UTF-8; one of digits or capitals alone may be longer.
    public var longestText: Int {
        // Before its bytes stand a character set, a mode and a length: 12, 4 and 16 bits.
        QRVersion.largest.blocks(self).dataCodewordCount - 4
    }

    /// The two bits by which a decoder knows the level.
    var indicator: Int {
        switch self {
        case .low: 0b01
        case .medium: 0b00
        case .quartile: 0b11
        case .high: 0b10
        }
    }

    private var rank: Int {
        switch self {
        case .low: 0
        case .medium: 1
        case .quartile: 2
        case .high: 3
        }
    }

    public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
}
