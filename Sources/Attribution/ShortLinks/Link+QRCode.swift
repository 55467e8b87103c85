extension Link {
    /// How a link's QR code looks where nobody wishes otherwise; what is nil is as ``QRStyle/standard`` has it.
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

    /// What a link's QR code holds: the link's address, and by what a scan is told from a tap.
    ///
    /// The click has the source `qr` then, whatever source the link has. Never a token: a printed code is scanned by
    /// many, and a token is good for one.
    public static func scannedURL(_ url: String) -> String {
        "\(url)?source=\(SourceToken.qr.rawValue)"
    }
}
