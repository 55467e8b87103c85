/// Writes HTML and SVG; every text and every value of an attribute is escaped.
///
/// Names of elements and attributes are literals of the program, so no text of a user can become markup.
struct HTML: Sendable {
    typealias Attributes = KeyValuePairs<StaticString, String?>

    private(set) var bytes: [UInt8] = []

    /// Writes a text.
    mutating func text(_ text: String) { HTMLText.append(text, to: &bytes) }

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
    mutating func close(_ name: StaticString) {
        bytes += "</".utf8
        append(name)
        bytes.append(UInt8(ascii: ">"))
    }

    /// Writes an element with a text.
    mutating func element(_ name: StaticString, _ attributes: Attributes, _ text: String) {
        element(name, attributes) { $0.text(text) }
    }

    mutating func element(_ name: StaticString, _ text: String) { element(name, [:], text) }

    /// Writes the start of an element, which is all of an element that never has content, such as `input`.
    mutating func open(_ name: StaticString, _ attributes: Attributes = [:]) {
        bytes.append(UInt8(ascii: "<"))
        append(name)
        for (attribute, value) in attributes {
            guard let value else { continue }
            bytes.append(UInt8(ascii: " "))
            append(attribute)
            bytes += "=\"".utf8
            text(value)
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(UInt8(ascii: ">"))
    }

    private mutating func append(_ name: StaticString) { bytes += name.description.utf8 }
}

extension HTML {
    mutating func paragraph(_ text: String) { element("p", text) }

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
        // Wide tables scroll by themselves, also with the keyboard, so that a narrow page does not.
        element("div", ["class": "scroll", "tabindex": "0", "role": "group", "aria-label": caption]) { html in
            html.element("table") { html in
                html.element("caption", caption)
                html.element("thead") { $0.element("tr", [:], writeHeadings) }
                html.element("tbody") { html in
                    for row in rows { html.element("tr") { writeCells(&$0, row) } }
                }
            }
        }
    }

    /// Writes a cell with a number, aligned right.
    mutating func number(_ text: String) { element("td", ["class": "n"], text) }

    /// Writes a choice of several words, with a label.
    mutating func select(
        _ name: String,
        _ label: String,
        _ options: [(value: String, text: String)],
        chosen: String
    ) {
        element("label") { html in
            html.element("span", label)
            html.element("select", ["name": name]) { html in
                for option in options {
                    let isChosen = option.value == chosen
                    html.element(
                        "option",
                        ["value": option.value, "selected": isChosen ? "" : nil],
                        option.text
                    )
                }
            }
        }
    }
}
