internal import Attribution

/// Writes HTML and SVG; every text and every value of an attribute is escaped.
///
/// Names of elements and attributes are literals of the program, so no text of a user can become markup.
struct HTML: Sendable {
    typealias Attributes = KeyValuePairs<StaticString, String?>

    private(set) var bytes: [UInt8] = []
    /// The visit that the page is for; nil for a page without a session.
    let visit: DashboardVisit?
    /// Records one table of the page for a file; nil if only the page is needed.
    private(set) var recording: RecordedTable?

    init(for visit: DashboardVisit? = nil, recording: RecordedTable? = nil) {
        (self.visit, self.recording) = (visit, recording)
    }

    /// The address of the page.
    var address: DashboardAddress { visit?.address ?? DashboardAddress("/") }
    /// Whether the page may have forms that change something.
    var mayChange: Bool { visit?.mayChange ?? false }
    /// The apps and keys that the page may show.
    var directory: Directory { visit?.directory ?? Directory(apps: [], keys: []) }

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

    /// Writes sentences as a list.
    mutating func items(_ sentences: [String], _ attributes: Attributes = [:]) {
        element("ul", attributes) { html in
            for sentence in sentences { html.element("li") { $0.prose(sentence) } }
        }
    }

    /// Writes warnings, if there are any.
    mutating func warnings(_ sentences: [String]) {
        guard !sentences.isEmpty else { return }
        items(sentences, ["class": "warnings", "aria-label": DashboardText.warnings])
    }

    /// Writes lines in an element that opens on a click.
    mutating func details(_ summary: String, _ text: String) {
        element("details") { html in
            html.element("summary", summary)
            html.element("pre", text)
        }
    }

    /// Writes lines for a shell.
    mutating func commands(_ lines: String) { element("pre", ["class": "copy", "tabindex": "0"], lines) }

    /// Writes why there is nothing to show.
    mutating func empty(_ reason: String) { element("p", ["class": "empty"]) { $0.prose(reason) } }

    /// Writes a part of a list: its rows, or why the whole list has none, and the link to the next part.
    ///
    /// - Parameters:
    ///   - rows: the rows; at most `limit` of them.
    ///   - limit: the number of rows of a full part.
    ///   - next: where the next part begins; nil for the last part.
    ///   - texts: why a list is empty, and the text of the link.
    ///   - write: writes rows, if there are any.
    mutating func list<Row, Subject>(
        _ rows: [Row],
        limit: Int,
        next: Identifier<Subject>?,
        texts: (empty: String, older: String),
        _ write: (inout HTML) -> Void
    ) {
        // An empty part that is not the last one does not prove that the list is empty.
        if !rows.isEmpty { write(&self) } else if next == nil { empty(texts.empty) }
        searched(backTo: next?.time, isFull: rows.count == limit)
        if let next { self.next(address.with("before", next.text), texts.older) }
    }

    /// Writes how far back a list was searched, if a limit ended the search before the page was full.
    mutating func searched(backTo time: Timestamp?, isFull: Bool) {
        guard let time, !isFull else { return }
        note(DashboardText.searched(backTo: time))
    }

    /// Writes the link to the next part of a list.
    mutating func next(_ address: DashboardAddress, _ text: String) {
        paragraph(linkingTo: address, class: "next", text)
    }

    /// Writes a link to a page of the dashboard.
    mutating func link(_ address: DashboardAddress, class style: String? = nil, _ text: String) {
        element("a", ["href": address.text, "class": style], text)
    }

    /// Writes a paragraph with only a link to a page of the dashboard.
    mutating func paragraph(linkingTo address: DashboardAddress, class style: String? = nil, _ text: String) {
        element("p") { $0.link(address, class: style, text) }
    }

    /// Writes a table and its exports; a row is a function that writes its cells.
    mutating func table<Row>(
        _ text: TableText,
        _ rows: some Sequence<Row>,
        exports: PanelExports? = nil,
        _ writeCells: (inout HTML, Row) -> Void
    ) {
        let write = { (html: inout HTML) in
            for heading in text.headings { html.element("th", ["scope": "col"], heading) }
        }
        table(text.caption, writeHeadings: write, rows, writeCells)
        if let exports { self.exports(exports, of: text.caption) }
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

    /// Writes cells with texts; a dash for a nil text.
    mutating func cells(_ texts: String?...) { for text in texts { element("td", text ?? "–") } }

    /// Writes a cell with a text in a style, such as `good` or `bad`.
    mutating func cell(_ text: String, class style: String?) { element("td", ["class": style], text) }

    /// Writes a cell with a time; a dash without one.
    mutating func time(_ time: Timestamp?) {
        guard let time else { return cells(nil) }
        element("td") { $0.element("time", ["datetime": time.iso8601], DashboardText.time(time)) }
    }

    /// Writes cells with whole numbers.
    mutating func counts<Number: BinaryInteger>(_ numbers: Number?...) {
        for number in numbers { self.number(DashboardText.count(number)) }
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
