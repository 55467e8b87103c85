internal import Attribution

/// How an app's pages look: the operator's icon and colour.
struct PageLook {
    /// By the names of the templates' places.
    let values: [String: String]

    init(_ app: App?) {
        var values: [String: String] = [:]
        values["icon"] = app?.settings.links.icon?.text
        if let color = app?.settings.links.color {
            values["color"] = color
            values["onColor"] = Self.isLight(color) ? "#16181d" : "#fff"
        }
        self.values = values
    }

    /// Whether black is read better on a colour than white, by the contrast of WCAG 2.2, 1.4.3.
    ///
    /// Its curve is taken for a square, which is off by less than the eye sees where the two are about even.
    static func isLight(_ color: String) -> Bool {
        guard let number = Int(color.dropFirst(), radix: 16), color.utf8.count == 7 else { return false }
        let parts = [16, 8, 0].map { number >> $0 & 255 }
        let light = 2126 * parts[0] * parts[0] + 7152 * parts[1] * parts[1] + 722 * parts[2] * parts[2]
        // As far above black as below white: a luminance of 0.179.
        return light > 1790 * 255 * 255
    }
}
