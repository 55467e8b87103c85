internal import Attribution

/// The ways to take the figures of a panel elsewhere, with the filters on screen.
struct PanelExports {
    private let file: DashboardAddress
    private let name: String
    /// The call of the API that answers the same figures.
    private let call: DashboardAddress
    /// The command that prints the same figures; nil if none has these filters.
    private let command: String?

    /// - Parameters:
    ///   - name: the name of a ``PanelFile``.
    ///   - page: the address of the page, whose items the file gets.
    ///   - panel: the item `panel` of the file.
    ///   - call: the path and the items of the API's call; items that are nil are left out.
    ///   - command: the words of the command.
    init(
        _ name: String,
        of page: DashboardAddress,
        panel: String? = nil,
        call: (path: String, items: [(String, String?)]),
        command: [String]? = nil
    ) {
        self.name = name
        file = page.with("before", nil).with("panel", panel)
        let items = call.items.compactMap { name, value in value.map { QueryItem(name: name, value: $0) } }
        self.call = DashboardAddress(call.path, items)
        self.command = command.map(Self.line)
    }

    func address(_ ending: String) -> DashboardAddress {
        var address = file
        address.path = "/export/\(name).\(ending)"
        return address
    }

    /// The line for a shell; the variables represent the service's address and an admin key.
    private var curl: String {
        "curl -H \"Authorization: Bearer $AFTERLINK_KEY\" \"$AFTERLINK_URL\"" + Self.quoted(call.text)
    }

    /// Returns words as a line for a shell.
    static func line(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

    /// Returns a word for a shell.
    private static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { $0.isASCIIWordByte || "/:.,=".utf8.contains($0) }
        return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }

    fileprivate func write(to html: inout HTML) {
        html.element("details", ["class": "note"]) { html in
            html.element("summary", DashboardText.export)
            html.element("p") { html in
                html.link(address("csv"), "CSV")
                html.text(" ")
                html.link(address("json"), "JSON")
            }
            for (title, text) in [(DashboardText.asCurl, curl), (DashboardText.asCommand, command)] {
                guard let text else { continue }
                html.element("p", title)
                html.element("pre", ["class": "copy", "tabindex": "0"], text)
            }
        }
    }
}

extension HTML {
    /// Writes CSV, JSON, and the lines for curl and the command, behind one word.
    mutating func exports(_ exports: PanelExports) { exports.write(to: &self) }
}
