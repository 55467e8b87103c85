internal import Attribution

/// How an app's pages look: the operator's icon and colour.
struct PageTheme {
    /// By the names of the templates' places.
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

    /// What is read best on a colour, of the two that pages write in: their dark ink, and white.
    static func ink(on color: String) -> String {
        guard let color = try? QRColor(parsing: color) else { return QRColor.white.text }
        return (color.contrast(with: ink) > color.contrast(with: .white) ? ink : .white).text
    }

    /// As in page.css.
    private static let ink = QRColor(red: 0x16, green: 0x18, blue: 0x1d)
}
