package import Attribution
package import QRCodes

extension QRPicture {
    /// Returns a code as an element of a page, to be scanned from a screen.
    ///
    /// It has the link's colours, and level L, because a screen is clean and an address with a token is long.
    ///
    /// - Parameters:
    ///   - url: the content of the code.
    ///   - defaults: the link's style.
    ///   - title: what a screen reader says, in the page's language; it is escaped.
    /// - Returns: an SVG element, whose size the page's style may set; nil if the address is too long for a code.
    package static func element(of url: String, defaults: Link.QRDefaults, title: String) -> String? {
        guard let code = try? QRCode(encoding: url, errorCorrection: .low) else { return nil }
        let standard = QRStyle.standard
        let style = try? QRStyle(
            errorCorrection: .low,
            foreground: defaults.foreground ?? standard.foreground,
            background: defaults.background ?? standard.background,
            pixels: standard.pixels
        )
        return (try? QRPicture(code, style: style ?? standard))?.svg(title: title)
    }
}
