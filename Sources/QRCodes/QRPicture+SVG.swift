internal import Attribution

extension QRPicture {
    /// Characters of a title; what is longer is cut.
    public static let longestTitle = 250

    /// The picture as an SVG document, sharp at every size: one path for all that is dark.
    ///
    /// The title is what a screen reader says; characters in it that XML cannot hold become blanks.
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
        for character in title.unicodeScalars.prefix(longestTitle) {
            switch character {
            case "&": text += "&amp;".utf8
            case "<": text += "&lt;".utf8
            case ">": text += "&gt;".utf8
            case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{fffe}", "\u{ffff}":
                text.append(UInt8(ascii: " "))
            default: text += UTF8.encode(character)?.map { $0 } ?? []
            }
        }
    }
}
