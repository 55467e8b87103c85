internal import Attribution
internal import HTTPServer

/// The texts of one table of a page.
///
/// To make a file of the table, the page is written a second time, and this value records the table's texts.
struct RecordedTable {
    /// What a cell of a table contains.
    enum Content {
        case text
        case number
        /// An amount of money, whose decimals a binary number would not keep.
        case amount
    }

    private let caption: String
    /// The values by rows, the headings first.
    private var rows: [[ExportValue]] = []
    private var cell: String?
    private var (isOpen, isSkipped) = (false, false)

    init(_ caption: String) { self.caption = caption }

    /// Starts to record if the table has the caption, and no table was recorded before.
    mutating func start(_ caption: String) { isOpen = rows.isEmpty && caption == self.caption }
    mutating func end() { isOpen = false }

    mutating func open(_ element: StaticString) {
        guard isOpen else { return }
        switch element.description {
        case "tr": rows.append([])
        case "th", "td": cell = ""
        // The title of a drawing repeats its figures, and a button is no value.
        case "title", "form": isSkipped = true
        default: break
        }
    }

    mutating func add(_ text: String) { if !isSkipped { cell? += text } }

    mutating func close(_ element: StaticString, _ content: Content) {
        switch element.description {
        case "title", "form": isSkipped = false
        case "th", "td":
            guard let text = cell, !rows.isEmpty else { return }
            cell = nil
            rows[rows.count - 1].append(text == "–" || text.isEmpty ? .none : Self.value(text, content))
        default: break
        }
    }

    /// Returns a number without the blanks between its thousands; any other text as it is.
    private static func value(_ text: String, _ content: Content) -> ExportValue {
        let plain = text.replacing(DashboardText.groupSeparator, with: "").replacing("−", with: "-")
        guard content != .text, let number = Double(plain) else { return .text(text) }
        return Int64(plain).map { .integer($0) } ?? (content == .amount ? .decimal(plain) : .real(number))
    }

    /// Returns the body of a file; nil if the page had no such table.
    func body(_ format: PanelFile.Format) -> PagedBody? {
        guard let headings = rows.first else { return nil }
        var names: [String] = []
        for case .text(let name) in headings.map({ $0 == .none ? .text("") : $0 }) {
            // A repeated heading gets the name of the column before it as a prefix, so that no two columns of changes
            // have the same name.
            names.append(names.contains(name) ? "\(names.last ?? ""): \(name)" : name)
        }
        return format.body(names, Array(rows.dropFirst()))
    }
}

extension DashboardPage {
    /// Makes a file of the table that the address names; nil if it names none.
    ///
    /// - Throws: 404 if the page has no such table now.
    func file(_ exchange: Exchange, _ visit: DashboardVisit) throws(APIError) -> Response? {
        guard let format: PanelFile.Format = try exchange.word("as") else { return nil }
        var html = HTML(for: visit, recording: RecordedTable(exchange.queryItem("table") ?? ""))
        content(&html)
        guard let body = html.recording?.body(format) else { throw .notFound(DashboardText.noTable) }
        let name = exchange.request.path.split(separator: "/").first.map(String.init) ?? "overview"
        return format.response(body, named: name)
    }
}
