extension Link {
    /// The default style of a link's QR code; nil means the standard style.
    public struct QRDefaults: Equatable, Sendable {
        public var foreground: QRColor?
        public var background: QRColor?
        public var errorCorrection: QRErrorCorrection?

        public init(
            foreground: QRColor? = nil,
            background: QRColor? = nil,
            errorCorrection: QRErrorCorrection? = nil
        ) {
            self.foreground = foreground
            self.background = background
            self.errorCorrection = errorCorrection
        }
    }

    /// Returns the content of a link's QR code: its address with the source `qr`, which distinguishes a scan from a tap.
    ///
    /// It never contains a token: many visitors scan a printed code, and a token is valid for one.
    public static func scannedURL(_ url: String) -> String { "\(url)?source=\(SourceToken.qr.rawValue)" }
}

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
