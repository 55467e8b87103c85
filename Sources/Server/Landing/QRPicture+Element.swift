package import Attribution
package import QRCodes

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
    package static func element(of url: String, look: Link.QRDefaults, title: String) -> String? {
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
