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

extension QRPicture {
    /// A code that stands in a page, to be scanned off a screen.
    ///
    /// In the link's colours; at level L, because a screen is not soiled and an address with a token is long.
    ///
    /// - Parameters:
    ///   - url: what the code holds, as it stands.
    ///   - look: that of the link.
    ///   - title: what a screen reader says, in the page's language; it is escaped.
    /// - Returns: an SVG element, whose size the page's style may set; nil for an address that no code holds.
    public static func element(of url: String, look: Link.QRDefaults, title: String) -> String? {
        guard let code = try? QRCode(encoding: url, errorCorrection: .low) else { return nil }
        let standard = QRStyle.standard
        let style = try? QRStyle(
            errorCorrection: .low,
            foreground: look.foreground ?? standard.foreground,
            background: look.background ?? standard.background,
            pixels: standard.pixels
        )
        return (try? QRPicture(code, style: style ?? standard))?.svg(title: title)
    }
}
