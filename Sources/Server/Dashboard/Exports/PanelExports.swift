internal import Attribution

/// The ways to export the figures of a panel, with the filters that the page shows.
struct PanelExports {
    /// The names and values of items of an address, or of a command's options; an item with a nil value is left out.
    typealias Items = [(String, String?)]

    /// The name of the ``PanelFile`` with all rows; nil for files with the rows of the page, see ``RecordedTable``.
    private var file: String?
    /// The items that the file's address has in addition to the page's.
    private var fileItems: Items = []
    /// Sentences, and the lines for a shell that they explain.
    private var lines: [(title: String, text: String)] = []

    /// The exports of a table whose files have the rows of the page.
    static let rows = PanelExports()

    /// Returns the exports of a panel that has a file of its own, with further items in the file's address.
    static func file(_ name: String, _ items: Items = []) -> PanelExports {
        PanelExports(file: name, fileItems: items)
    }

    /// Returns the address of the file with the table that has this caption.
    private func address(_ format: PanelFile.Format, of caption: String, on page: DashboardAddress)
        -> DashboardAddress
    {
        guard let file else { return page.with("table", caption).with("as", format.rawValue) }
        var address = fileItems.reduce(page.with("before", nil)) { $0.with($1.0, $1.1) }
        address.path = "/export/\(file).\(format.rawValue)"
        return address
    }

    /// Adds the call of the API and the command that give the same figures, with the same items.
    func calling(_ path: String, command: [String]? = nil, _ items: Items = []) -> PanelExports {
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

    fileprivate func write(of caption: String, to html: inout HTML) {
        html.element("details", ["class": "note"]) { html in
            html.element("summary", DashboardText.export)
            html.element("p") { html in
                html.link(address(.csv, of: caption, on: html.address), "CSV")
                html.text(" ")
                html.link(address(.json, of: caption, on: html.address), "JSON")
                if file == nil { html.text(" " + DashboardText.rowsOfPage) }
            }
            for (title, text) in lines {
                html.element("p", title)
                html.commands(text)
            }
        }
    }
}

extension HTML {
    /// Writes links to CSV and JSON files of a table, and the lines for curl and the command, in an element that opens
    /// on a click.
    ///
    /// A panel that has a file of its own needs no caption.
    mutating func exports(_ exports: PanelExports, of caption: String = "") {
        exports.write(of: caption, to: &self)
    }
}
