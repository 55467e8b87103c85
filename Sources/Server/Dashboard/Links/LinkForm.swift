internal import Attribution

/// The texts in the form of a link: as they were sent, or as a stored link has them.
struct LinkForm {
    /// The id of the app; empty for the only one.
    var app = ""
    var slug = ""
    /// The ``FormRecord/digest`` of the link that the form was filled with; nil for a new link.
    private(set) var digest: String?
    private var texts: [LinkField: String] = [:]

    init() {}

    /// Fills the form with a stored link.
    init(_ link: Link) {
        (app, slug) = (link.app.text, link.slug.text)
        for (field, values) in link.settings.fields.all {
            texts[field] = values.joined(separator: field.kind == .variants ? "\n" : ", ")
        }
        texts[.expiresAt] = texts[.expiresAt].map(Self.localTime)
        digest = record(path: "").digest
    }

    /// Returns the texts as a record; the page at the path shows the record.
    func record(path: String) -> FormRecord {
        let fields = LinkField.allCases.map { ($0.rawValue, DashboardText.name(of: $0), self[$0]) }
        return FormRecord(fields: fields, path: path)
    }

    /// Reads the form that a browser has sent.
    init(_ form: DashboardForm) {
        (app, slug, digest) = (form["app"] ?? "", form["slug"] ?? "", form[FormRecord.digestName])
        for field in LinkField.allCases { texts[field] = form[field.rawValue] }
    }

    subscript(field: LinkField) -> String { texts[field] ?? "" }

    /// The texts as the fields that the API validates; a blank text leaves its field out.
    var fields: LinkFields {
        var fields = LinkFields()
        for (field, text) in texts where !text.allSatisfy(\.isWhitespace) {
            switch field.kind {
            case .list: fields[field] = text.split(separator: ",").map(String.init)
            case .variants:
                fields[field] = text.split(whereSeparator: \.isNewline).map(String.init)
                    .filter { !$0.allSatisfy(\.isWhitespace) }
            default: fields.set(field, field == .expiresAt ? Self.time(text) : text)
            }
        }
        return fields
    }

    /// Returns a time as browsers put it into a `datetime-local` input, which has no zone; here it is UTC.
    private static func localTime(_ text: String) -> String {
        text.hasSuffix(":00.000Z") ? String(text.dropLast(8)) : String(text.dropLast())
    }

    /// Returns the time of a `datetime-local` input with the zone that it lacks, and any other text as it is.
    private static func time(_ text: String) -> String {
        [text, text + "Z", text + ":00Z"].first { Timestamp(iso8601: $0) != nil } ?? text
    }
}

/// Writes the inputs of a link's form, each with its label, its hint and its problems.
struct LinkFormWriter {
    /// The kind of an input.
    enum Input {
        case line
        case number
        case time
        case text
        case flag
        case choice([(value: String, text: String)])

        init(_ field: LinkField) {
            switch field {
            case .expiresAt: self = .time
            case .metadata, .variants, .previewDescription: self = .text
            case .qrErrorCorrection:
                let levels = QRErrorCorrection.allCases.map { ($0.rawValue, $0.rawValue) }
                self = .choice([("", DashboardText.standard)] + levels)
            default: self = field.kind == .flag ? .flag : field.kind == .number ? .number : .line
            }
        }
    }

    let problems: [FieldProblem]

    func write(
        _ input: Input,
        _ name: String,
        _ value: String,
        label: String,
        hint: String?,
        to html: inout HTML
    ) {
        let messages = problems.filter { $0.field == name }.map(\.message).joined(separator: " ")
        let notes = [messages.isEmpty ? nil : "e-\(name)", hint == nil ? nil : "h-\(name)"].compactMap(\.self)
        let describedBy = notes.isEmpty ? nil : notes.joined(separator: " ")
        let (id, invalid) = ("f-\(name)", messages.isEmpty ? nil : "true")
        let isWide = if case .text = input { true } else { false }
        html.element("div", ["class": isWide ? "field wide" : "field"]) { html in
            html.element("label", ["for": id], label)
            func attributes(
                type: String? = nil,
                _ value: String? = nil,
                mode: String? = nil,
                checked: Bool = false,
                rows: String? = nil
            ) -> HTML.Attributes {
                [
                    "name": name, "id": id, "type": type, "value": value, "inputmode": mode,
                    "step": type == "datetime-local" ? "any" : nil, "checked": checked ? "" : nil,
                    "rows": rows, "aria-describedby": describedBy, "aria-invalid": invalid,
                ]
            }
            switch input {
            case .line: html.open("input", attributes(value))
            case .number: html.open("input", attributes(value, mode: "numeric"))
            case .time: html.open("input", attributes(type: "datetime-local", value))
            case .flag:
                html.open("input", attributes(type: "checkbox", "true", checked: value == "true"))
            case .text: html.element("textarea", attributes(rows: "3"), value)
            case .choice(let options):
                html.element("select", attributes()) { $0.options(options, chosen: value) }
            }
            if !messages.isEmpty { html.element("p", ["class": "bad", "id": "e-\(name)"], messages) }
            if let hint { html.element("p", ["class": "note", "id": "h-\(name)"], hint) }
        }
    }
}
