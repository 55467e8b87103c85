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
