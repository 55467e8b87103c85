/// Something that an operator can say of a link or an app, by its name on the wire, in a file and in the database.
///
/// Every way in and out speaks of it in texts: the admin API, the commands, imports, exports and the store.
public protocol SettingField: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    /// How JSON writes it.
    var kind: SettingFieldKind { get }
}

/// How JSON writes a field, whose texts are the same everywhere.
public enum SettingFieldKind: Sendable {
    case text
    /// A whole number.
    case number
    case flag
    /// An object, given back as it was written.
    case object
    /// Any number of texts.
    case list
    /// A list of objects with a name, a weight and a destination.
    case variants
}

extension SettingField {
    /// Whether it has any number of texts.
    public var isList: Bool {
        switch kind {
        case .list, .variants: true
        case .text, .number, .flag, .object: false
        }
    }
}

/// Fields as texts: what came in, and what goes out.
public struct FieldTexts<Field: SettingField>: Equatable, Sendable {
    private var values: [Field: [String]] = [:]

    public init() {}

    /// The texts of a field in their order; empty where it is not set.
    ///
    /// Setting no texts, or empty ones alone, clears it.
    public subscript(field: Field) -> [String] {
        get { values[field] ?? [] }
        set {
            let texts = newValue.filter { !$0.isEmpty }
            values[field] = texts.isEmpty ? nil : texts
        }
    }

    /// The only text of a field that is no list; nil where it is not set.
    public func text(_ field: Field) -> String? { values[field]?.first }

    public mutating func set(_ field: Field, _ text: String?) {
        self[field] = text.map { [$0] } ?? []
    }

    /// The fields that are set, in the order of their kind's list of cases.
    public var all: [(field: Field, texts: [String])] {
        Field.allCases.compactMap { field in values[field].map { (field, $0) } }
    }
}

/// What is wrong with one field.
public struct FieldProblem: Error, Equatable, Sendable {
    /// Its name on the wire.
    public let field: String
    /// In plain words: what is wrong and what to do.
    public let message: String

    public init(_ field: String, _ message: String) {
        self.field = field
        self.message = message
    }

    public init(_ field: some SettingField, _ message: String) {
        self.init(field.rawValue, message)
    }
}

/// Everything that is wrong with what was said of a link or an app.
public struct FieldProblems: Error, Equatable, Sendable {
    /// At least one.
    public let all: [FieldProblem]

    public init(_ all: [FieldProblem]) {
        self.all = all
    }
}
