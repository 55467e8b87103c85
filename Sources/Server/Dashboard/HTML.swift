internal import Attribution

/// Writes HTML and SVG; every text and every value of an attribute is escaped.
///
/// Names of elements and attributes are literals of the program, so no text of a user can become markup.
struct HTML: Sendable {
    typealias Attributes = KeyValuePairs<StaticString, String?>

    private(set) var bytes: [UInt8] = []
    /// Records one table of the page for a file; nil if only the page is needed.
    private(set) var recording: RecordedTable?

    init(recording: RecordedTable? = nil) { self.recording = recording }

    /// Writes a text.
    mutating func text(_ text: String) {
        recording?.add(text)
        HTMLText.append(text, to: &bytes)
    }

    /// Writes an element with content; attributes that are nil are left out.
    mutating func element(
        _ name: StaticString,
        _ attributes: Attributes = [:],
        _ content: (inout HTML) -> Void
    ) {
        open(name, attributes)
        content(&self)
        close(name)
    }

    /// Writes the end of an element.
    mutating func close(_ name: StaticString, _ content: RecordedTable.Content = .text) {
        recording?.close(name, content)
        bytes += "</".utf8
        append(name)
        bytes.append(UInt8(ascii: ">"))
    }

    /// Writes an element with a text.
    mutating func element(_ name: StaticString, _ attributes: Attributes, _ text: String) {
        element(name, attributes) { $0.text(text) }
    }

    mutating func element(_ name: StaticString, _ text: String) { element(name, [:], text) }

    /// Writes the start of an element; an element that never has content, such as `input`, needs no end.
    mutating func open(_ name: StaticString, _ attributes: Attributes = [:]) {
        recording?.open(name)
        bytes.append(UInt8(ascii: "<"))
        append(name)
        for (attribute, value) in attributes {
            guard let value else { continue }
            bytes.append(UInt8(ascii: " "))
            append(attribute)
            bytes += "=\"".utf8
            HTMLText.append(value, to: &bytes)
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(UInt8(ascii: ">"))
    }

    private mutating func append(_ name: StaticString) { bytes += name.description.utf8 }
}

extension HTML {
    /// Writes a text in which a part between two backticks is code, such as a command.
    mutating func prose(_ text: String) {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false)
        guard parts.count % 2 == 1 else { return self.text(text) }
        for (index, part) in parts.enumerated() {
            if index % 2 == 1 { element("code", String(part)) } else { self.text(String(part)) }
        }
    }

    mutating func paragraph(_ text: String) { element("p") { $0.prose(text) } }
    mutating func note(_ text: String) { element("p", ["class": "note"]) { $0.prose(text) } }

    /// Writes why there is nothing to show.
    mutating func empty(_ reason: String) { element("p", ["class": "empty"]) { $0.prose(reason) } }

    /// Writes the link to the next page of a list.
    mutating func next(_ address: DashboardAddress, _ text: String) {
        element("p") { $0.link(address, class: "next", text) }
    }

    /// Writes a link to a page of the dashboard.
    mutating func link(_ address: DashboardAddress, class style: String? = nil, _ text: String) {
        element("a", ["href": address.text, "class": style], text)
    }

    /// Writes a table; a row is a function that writes its cells.
    mutating func table<Row>(
        _ caption: String,
        _ headings: [String],
        _ rows: some Sequence<Row>,
        _ writeCells: (inout HTML, Row) -> Void
    ) {
        let write = { (html: inout HTML) in
            for heading in headings { html.element("th", ["scope": "col"], heading) }
        }
        table(caption, writeHeadings: write, rows, writeCells)
    }

    /// Writes a table whose headings a function writes.
    mutating func table<Row>(
        _ caption: String,
        writeHeadings: (inout HTML) -> Void,
        _ rows: some Sequence<Row>,
        _ writeCells: (inout HTML, Row) -> Void
    ) {
        // A wide table scrolls inside its element, also by keyboard, so that a narrow page does not scroll sideways.
        element("div", ["class": "scroll", "tabindex": "0", "role": "group", "aria-label": caption]) { html in
            html.element("table") { html in
                html.element("caption", caption)
                html.recording?.start(caption)
                html.element("thead") { $0.element("tr", [:], writeHeadings) }
                html.element("tbody") { html in
                    for row in rows { html.element("tr") { writeCells(&$0, row) } }
                }
                html.recording?.end()
            }
        }
    }

    /// Writes the first cell of a row, which names the row; the name is a link if there is an address.
    mutating func rowName(_ text: String, _ address: DashboardAddress? = nil) {
        element("th", ["scope": "row"]) { html in
            if let address { html.link(address, text) } else { html.text(text) }
        }
    }

    /// Writes a cell with a time; a dash without one.
    mutating func time(_ time: Timestamp?) {
        guard let time else { return element("td", "–") }
        element("td") { $0.element("time", ["datetime": time.iso8601], DashboardText.time(time)) }
    }

    /// Writes a cell with a number, aligned right, and a bar that shows its size among the numbers of its column.
    ///
    /// A table that contains only numbers aligns them by its own style, so its cells need no `class`.
    mutating func number(
        _ text: String,
        class style: String? = "n",
        bar share: (value: Int64, most: Int64)? = nil,
        isAmount: Bool = false
    ) {
        open("td", ["class": style])
        if let share { bar(share.value, of: share.most) }
        self.text(text)
        close("td", isAmount ? .amount : .number)
    }
}
