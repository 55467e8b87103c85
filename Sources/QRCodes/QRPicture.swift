public import Attribution

/// A QR code in a style, which can be drawn as SVG or PNG.
public struct QRPicture: Sendable {
    public let code: QRCode
    public let style: QRStyle
    /// The columns, and also the rows, of the square that is free for a logo.
    private let logo: Range<Int>

    /// Creates the picture of the smallest code that contains `text`.
    ///
    /// - Throws: ``QRCodeError`` if the text is empty or too long, or if the modules would be too small at this size.
    public init(of text: String, style: QRStyle = .standard) throws(QRCodeError) {
        try self.init(QRCode(encoding: text, errorCorrection: style.errorCorrection), style: style)
    }

    package init(_ code: QRCode, style: QRStyle) throws(QRCodeError) {
        self.code = code
        self.style = style
        let start = (code.modulesPerSide - (style.hasRoomForLogo ? code.logoModules : 0)) / 2
        logo = style.hasRoomForLogo ? start..<code.modulesPerSide - start : 0..<0
        let minimum = side * QRStyle.minimumModulePixels
        guard style.pixels >= minimum else { throw .tooFewPixels(minimum: minimum) }
    }

    /// Creates the picture of a link's code, from the link's address.
    ///
    /// - Throws: ``FieldProblems`` if the address is too long for a code, or the picture too small for the code.
    public init(ofLink url: String, in style: QRStyle) throws(FieldProblems) {
        do throws(QRCodeError) {
            try self.init(of: Link.scannedURL(url), style: style)
        } catch {
            throw FieldProblems([error.problem])
        }
    }

    /// The number of columns, and of rows, with the quiet zone.
    var side: Int { code.modulesPerSide + 2 * style.quietZone }

    /// Returns whether the module at a position is dark; columns and rows count from the quiet zone's outer corner.
    func isDark(column: Int, row: Int) -> Bool {
        let (column, row) = (column - style.quietZone, row - style.quietZone)
        guard !logo.contains(column) || !logo.contains(row) else { return false }
        return code.isDark(column: column, row: row)
    }

    /// The format of a picture's file.
    public enum Format: String, CaseIterable, Sendable {
        case svg = "svg"
        case png = "png"

        /// Takes the format from the extension of a file name, in upper or lower case; nil for any other extension.
        public init?(fileName: String) {
            let name = fileName.asciiLowercased
            guard let format = Self.allCases.first(where: { name.hasSuffix(".\($0.rawValue)") })
            else { return nil }
            self = format
        }
    }

    /// Returns the picture as a file; only an SVG contains the title.
    public func file(_ format: Format, title: String) -> [UInt8] {
        switch format {
        case .svg: Array(svg(title: title).utf8)
        case .png: png()
        }
    }
}

// MARK: - SVG

extension QRPicture {
    /// The maximum length of a title in Unicode scalars; longer titles are cut.
    public static let maximumTitleLength = 250

    /// Returns the picture as an SVG document with one path for all dark modules, which is sharp at every size.
    ///
    /// A screen reader reads the title. Characters that XML cannot contain become spaces.
    public func svg(title: String = "QR code") -> String {
        var text: [UInt8] = []
        text.reserveCapacity(8_192)
        text +=
            """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(style.pixels)" height="\(style.pixels)" \
            viewBox="0 0 \(side) \(side)" shape-rendering="crispEdges" role="img"><title>
            """.utf8
        Self.append(title: title, to: &text)
        text += "</title><path fill=\"\(style.background.text)\" d=\"M0 0h\(side)v\(side)H0z\"/>".utf8
        text += "<path fill=\"\(style.foreground.text)\" d=\"".utf8
        QROutline(of: self).append(to: &text)
        text += "\"/></svg>\n".utf8
        return String(decoding: text, as: UTF8.self)
    }

    private static func append(title: String, to text: inout [UInt8]) {
        for character in title.unicodeScalars.prefix(maximumTitleLength) {
            switch character {
            case "&": text += "&amp;".utf8
            case "<": text += "&lt;".utf8
            case ">": text += "&gt;".utf8
            case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{fffe}", "\u{ffff}":
                text.append(UInt8(ascii: " "))
            default: text += String(character).utf8
            }
        }
    }
}

// MARK: - PNG

extension QRPicture {
    /// Returns the picture as a PNG of two colours.
    ///
    /// Every module has the same number of pixels; the remaining pixels widen the quiet zone.
    public func png() -> [UInt8] {
        let modulePixels = style.pixels / side
        let start = (style.pixels - side * modulePixels) / 2
        let colors = (zero: style.background, one: style.foreground)
        var image = PNGImage(width: style.pixels, height: style.pixels, colors: colors)
        let empty = [UInt8](repeating: 0, count: (style.pixels + 7) / 8)
        image.append(row: empty, count: start)
        for row in 0..<side {
            // A byte contains eight pixels, the leftmost in its highest bit.
            var line = empty
            for column in 0..<side where isDark(column: column, row: row) {
                for pixel in start + column * modulePixels..<start + (column + 1) * modulePixels {
                    line[pixel / 8] |= 0x80 >> UInt8(pixel & 7)
                }
            }
            image.append(row: line, count: modulePixels)
        }
        image.append(row: empty, count: style.pixels - start - side * modulePixels)
        return image.finished()
    }
}
