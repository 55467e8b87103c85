/// A QR code in a style, ready to be drawn.
public struct QRPicture: Sendable {
    public let code: QRCode
    public let style: QRStyle
    /// Columns, which are rows too, that are left free for a logo.
    let logo: Range<Int>

    /// The smallest code that holds a text.
    ///
    /// - Throws: ``QRCodeError`` when no code holds it, or when its modules would be too small in a picture of this size.
    public init(of text: String, style: QRStyle = .standard) throws(QRCodeError) {
        try self.init(QRCode(encoding: text, errorCorrection: style.errorCorrection), style: style)
    }

    package init(_ code: QRCode, style: QRStyle) throws(QRCodeError) {
        self.code = code
        self.style = style
        let start = (code.modulesPerSide - (style.hasRoomForLogo ? code.logoModules : 0)) / 2
        logo = style.hasRoomForLogo ? start..<code.modulesPerSide - start : 0..<0
        let least = side * QRStyle.leastModulePixels
        guard style.pixels >= least else { throw .tooFewPixels(least: least) }
    }

    /// Columns, which are rows too, with the quiet zone.
    var side: Int { code.modulesPerSide + 2 * style.quietZone }

    /// Whether a module is drawn dark; columns and rows count from the corner of the quiet zone.
    func isDark(column: Int, row: Int) -> Bool {
        let (column, row) = (column - style.quietZone, row - style.quietZone)
        guard !logo.contains(column) || !logo.contains(row) else { return false }
        return code.isDark(column: column, row: row)
    }
}
