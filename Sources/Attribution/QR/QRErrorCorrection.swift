/// The share of a QR code that may be damaged or covered while it stays readable; a larger share makes the code larger.
///
/// The raw value is the level's letter. Source: ISO/IEC 18004, section on error correction.
public enum QRErrorCorrection: String, CaseIterable, Sendable {
    /// About 7 % of the codewords can be restored.
    case low = "L"
    /// About 15 %: the usual level for a code on paper or on a screen.
    case medium = "M"
    /// About 25 %.
    case quartile = "Q"
    /// About 30 %: the level for a code with a logo in its centre.
    case high = "H"
}
