extension Link {
    /// The default style of a link's QR code; nil stands for the standard style.
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
    public static func scannedURL(_ url: String) -> String {
        "\(url)?source=\(SourceToken.qr.rawValue)"
    }
}
