internal import Attribution

/// The ways to export the figures of a panel, with the filters that the page shows.
struct PanelExports {
    /// The names and values of items of an address, or of a command's options; an item with a nil value is left out.
    typealias Items = [(String, String?)]

    private let csv: DashboardAddress
    private let json: DashboardAddress
    /// Whether the files contain only the rows that the page shows.
    private var isOfPage = false
    /// Sentences, and the lines for a shell that they explain.
    private var lines: [(title: String, text: String)] = []

    /// Creates the exports of a panel that has a file of its own.
    ///
    /// - Parameters:
    ///   - name: the name of a ``PanelFile``.
    ///   - page: the address of the page, whose items the file gets.
    ///   - panel: the item `panel` of the file.
    init(_ name: String, of page: DashboardAddress, panel: String? = nil) {
        func address(_ ending: String) -> DashboardAddress {
            var address = page.with("before", nil).with("panel", panel)
            address.path = "/export/\(name).\(ending)"
            return address
        }
        (csv, json) = (address("csv"), address("json"))
    }

    /// Creates the exports of a table, whose file has the rows of the page; see ``RecordedTable``.
    init(table caption: String, of page: DashboardAddress) {
        let address = page.with("table", caption)
        (csv, json) = (address.with("as", "csv"), address.with("as", "json"))
        isOfPage = true
    }

    /// Adds the call of the API and the command that give the same figures, with the same items.
    func calling(_ path: String, command: [String]? = nil, _ items: Items = [])
        -> PanelExports
    {
        let sent = items.compactMap { name, value in value.map { QueryItem(name: name, value: $0) } }
        let exports = adding(DashboardText.asCurl, Self.curl(DashboardAddress(path, sent)))
        return command.map { exports.running($0, items) } ?? exports
    }

    /// The items that are options without a value.
    private static let flags: Set = ["test", "archived"]

    /// Adds a command with the items as its options.
    func running(
        _ command: [String],
        _ items: Items = [],
        as title: String = DashboardText.asCommand
    ) -> PanelExports {
        let options = items.flatMap { name, value in
            value.map { ["--" + name.replacing("_", with: "-")] + (Self.flags.contains(name) ? [] : [$0]) }
                ?? []
        }
        return adding(title, Self.line(["afterlink"] + command + options))
    }

    /// Adds a sentence and a line for a shell.
    func adding(_ title: String, _ text: String) -> PanelExports {
        var exports = self
        exports.lines.append((title, text))
        return exports
    }

    /// Returns the line that calls the API; its variables stand for the service's address and an admin key.
    static func curl(_ call: DashboardAddress) -> String {
        "curl -H \"Authorization: Bearer $AFTERLINK_KEY\" \"$AFTERLINK_URL\"" + quoted(call.text)
    }

    /// Returns words as a line for a shell.
    static func line(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

    /// Returns a word as a shell reads it, in quotation marks if it needs them.
    private static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { $0.isASCIIWordByte || "/:.,=".utf8.contains($0) }
        return isPlain && !word.isEmpty ? word : "'" + word.replacingASCII("'", with: "'\\''") + "'"
    }

    fileprivate func write(to html: inout HTML) {
        html.element("details", ["class": "note"]) { html in
            html.element("summary", DashboardText.export)
            html.element("p") { html in
                html.link(csv, "CSV")
                html.text(" ")
                html.link(json, "JSON")
                if isOfPage { html.text(" " + DashboardText.rowsOfPage) }
            }
            for (title, text) in lines {
                html.element("p", title)
                html.element("pre", ["class": "copy", "tabindex": "0"], text)
            }
        }
    }
}

extension HTML {
    /// Writes links to CSV and JSON files, and the lines for curl and the command, in an element that opens on a click.
    mutating func exports(_ exports: PanelExports) { exports.write(to: &self) }
}
