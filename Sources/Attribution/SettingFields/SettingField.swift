/// A setting of a link or an app; its raw value names it on the wire, in files and in the database.
///
/// Everywhere but in JSON, a value is one or more texts.
public protocol SettingField: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    /// The type of the field's value in JSON.
    var kind: SettingFieldKind { get }
}

/// The type of a field's value in JSON.
public enum SettingFieldKind: Sendable {
    case text
    /// A whole number.
    case number
    case flag
    /// A JSON object, which is returned as it was written.
    case object
    /// An array of strings.
    case list
    /// An array of objects with a name, a weight and a destination.
    case variants
}

extension SettingField {
    /// Whether the field may have more than one text.
    public var isList: Bool { kind == .list || kind == .variants }
}

/// The values of a link's or an app's fields, as texts.
public struct FieldTexts<Field: SettingField>: Equatable, Sendable {
    private var values: [Field: [String]] = [:]

    public init() {}

    /// The texts of a field in their order; empty if it is not set.
    ///
    /// Setting an empty list, or only empty texts, clears the field.
    public subscript(field: Field) -> [String] {
        get { values[field] ?? [] }
        set {
            let texts = newValue.filter { !$0.isEmpty }
            values[field] = texts.isEmpty ? nil : texts
        }
    }

    /// Returns the only text of a field that is no list; nil if it is not set.
    public func text(_ field: Field) -> String? { values[field]?.first }

    public mutating func set(_ field: Field, _ text: String?) { self[field] = text.map { [$0] } ?? [] }

    /// The fields that are set, in the order of the cases.
    public var all: [(field: Field, texts: [String])] {
        Field.allCases.compactMap { field in values[field].map { (field, $0) } }
    }
}

/// A problem with one field.
public struct FieldProblem: Error, Equatable, Sendable {
    /// The field's name on the wire.
    public let field: String
    /// What is wrong and what to do, in plain words.
    public let message: String

    public init(_ field: String, _ message: String) {
        self.field = field
        self.message = message
    }

    public init(_ field: some SettingField, _ message: String) { self.init(field.rawValue, message) }

    /// Returns the problem of a field that a query contains twice: the service cannot know which value is meant.
    public static func repeated(_ field: String) -> FieldProblem {
        FieldProblem(field, "\(field) is given twice; give it once.")
    }
}

/// All problems with the fields of a link or an app.
public struct FieldProblems: Error, Equatable, Sendable {
    /// At least one problem.
    public let all: [FieldProblem]

    public init(_ all: [FieldProblem]) { self.all = all }
}

/// Reads fields one by one and collects their problems.
package struct FieldReader<Field: SettingField> {
    let fields: FieldTexts<Field>
    package private(set) var problems: [FieldProblem] = []

    package init(_ fields: FieldTexts<Field>) { self.fields = fields }

    mutating func report(_ field: Field, _ message: String) { problems.append(FieldProblem(field, message)) }

    mutating func text(_ field: Field, upTo maximum: Int) -> String? {
        guard let text = fields.text(field) else { return nil }
        guard text.unicodeScalars.count <= maximum else {
            report(field, "\(field.rawValue) has more than \(maximum) characters; shorten it.")
            return nil
        }
        guard !text.containsControlCharacter else {
            report(field, "\(field.rawValue) contains a control character such as a line break; remove it.")
            return nil
        }
        return text
    }

    mutating func page(_ field: Field) -> WebURL? {
        guard let text = fields.text(field) else { return nil }
        do throws(WebURLError) {
            return try WebURL(parsing: text)
        } catch {
            report(field, "\(field.rawValue): \(error.message)")
            return nil
        }
    }

    package mutating func number(_ field: Field, in range: ClosedRange<Int>) -> Int? {
        let rule = "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
        return parsed(field, rule) { text in Self.decimal(text).flatMap { range.contains($0) ? $0 : nil } }
    }

    mutating func time(_ field: Field) -> Timestamp? {
        parsed(field, "must be a time such as 2027-01-31T18:00:00Z") { Timestamp(iso8601: $0) }
    }

    package mutating func flag(_ field: Field) -> Bool? {
        parsed(field, "must be true or false") { ["true": true, "false": false][$0.asciiLowercased] }
    }

    mutating func word(_ field: Field) -> String? {
        parsed(field, "must be 1 to 64 letters, digits, - and _") { Self.isWord($0, upTo: 64) ? $0 : nil }
    }

    /// Returns the texts in their order, each once; reports and omits those that are too long, or contain a
    /// comma or a control character.
    mutating func list(_ field: Field, maximumCount: Int) -> [String] {
        var values: [String] = []
        for text in fields[field].map(\.trimmed) where !text.isEmpty && !values.contains(text) {
            let isAllowed =
                text.unicodeScalars.count <= 64 && !text.containsControlCharacter
                && !text.utf8.contains(UInt8(ascii: ","))
            guard isAllowed else {
                report(
                    field,
                    "Each of \(field.rawValue) must have 1 to 64 characters, no comma and no control character."
                )
                continue
            }
            values.append(text)
            guard hasRoom(values.count, maximumCount, field) else { return [] }
        }
        return values
    }

    /// Returns the values in their order, each once; reports `rule` for a text that `read` rejects.
    mutating func list<Value: Equatable>(
        _ field: Field,
        maximumCount: Int,
        rule: String,
        read: (String) -> Value?
    ) -> [Value] {
        var values: [Value] = []
        for text in fields[field].map(\.trimmed) where !text.isEmpty {
            guard let value = read(text) else {
                report(field, "\(field.rawValue) \(rule).")
                continue
            }
            if !values.contains(value) { values.append(value) }
            guard hasRoom(values.count, maximumCount, field) else { return [] }
        }
        return values
    }

    /// Reads `#rrggbb` or `#rgb`; the `#` may be missing, because in a URL it would start the fragment.
    package mutating func color(_ field: Field) -> QRColor? {
        value(field, rule: "must be a colour such as #1a2b3c; in a URL leave out the #") { text in
            try? QRColor(parsing: text.utf8.first == UInt8(ascii: "#") ? text : "#" + text)
        }
    }

    /// Reads the letter of a QR code's error correction.
    package mutating func errorCorrection(_ field: Field) -> QRErrorCorrection? {
        value(field, rule: "must be L, M, Q or H: how much of the code may be damaged") {
            QRErrorCorrection(rawValue: $0)
        }
    }

    /// Returns the value of the only text; nil, with a report of `rule`, if `read` rejects the text.
    ///
    /// A missing or blank text gives nil without a report.
    package mutating func value<Value>(_ field: Field, rule: String, read: (String) -> Value?) -> Value? {
        guard fields.text(field)?.trimmed.isEmpty == false else { return nil }
        return parsed(field, rule, read)
    }

    /// Returns the value of the only text, which may be blank; nil if there is none, and nil with a report of
    /// `rule` if `read` rejects the text.
    private mutating func parsed<Value>(_ field: Field, _ rule: String, _ read: (String) -> Value?) -> Value?
    {
        guard let text = fields.text(field)?.trimmed else { return nil }
        guard let value = read(text) else {
            report(field, "\(field.rawValue) \(rule).")
            return nil
        }
        return value
    }

    /// Returns whether a list may have `count` entries; if not, reports it.
    ///
    /// It is called after each entry, because comparing the entries of a very long list with each other would take too
    /// long.
    private mutating func hasRoom(_ count: Int, _ maximum: Int, _ field: Field) -> Bool {
        guard count > maximum else { return true }
        report(field, "\(field.rawValue) may have at most \(maximum) entries; remove some.")
        return false
    }

    static func isWord(_ text: String, upTo maximum: Int) -> Bool {
        (1...maximum).contains(text.utf8.count) && text.utf8.allSatisfy(\.isASCIIWordByte)
    }

    static func decimal(_ text: String) -> Int? {
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return Int(text)
    }
}

extension String {
    /// Whether the text contains an ASCII control character.
    var containsControlCharacter: Bool { utf8.contains { $0 < 0x20 || $0 == 0x7f } }

    /// The text as `#rrggbb` in lower case, from digits of either case; nil for any other text.
    var hexColor: String? {
        guard utf8.count == 7, utf8.first == UInt8(ascii: "#"),
            utf8.dropFirst().allSatisfy({ Hexadecimal.value(of: $0) != nil })
        else { return nil }
        return asciiLowercased
    }
}
