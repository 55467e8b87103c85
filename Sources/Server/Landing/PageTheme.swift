internal import Attribution

/// The look of an app's pages: the operator's icon and colour.
struct PageTheme {
    /// The values by their names in the templates.
    let values: [String: String]

    init(_ app: App?) {
        var values: [String: String] = [:]
        values["icon"] = app?.settings.links.icon?.text
        if let color = app?.settings.links.color {
            values["color"] = color
            values["onColor"] = Self.ink(on: color)
        }
        self.values = values
    }

    /// The more readable text colour on a colour: the pages' dark ink, or white.
    static func ink(on color: String) -> String {
        guard let color = try? QRColor(parsing: color) else { return QRColor.white.text }
        return (color.contrast(with: ink) > color.contrast(with: .white) ? ink : .white).text
    }

    /// The ink of page.css.
    private static let ink = QRColor(red: 0x16, green: 0x18, blue: 0x1d)
}
