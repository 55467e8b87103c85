internal import Attribution
internal import JSON

/// The fields of a link or an app, read from JSON into texts.
struct FieldBody<Field: SettingField> {
    private(set) var fields: FieldTexts<Field>
    private(set) var problems: [FieldProblem] = []

    /// - Parameters:
    ///   - object: the body; `null` clears a field.
    ///   - fields: the fields that are set so far.
    ///   - others: members that are not fields, which the caller reads; the advice on an unknown member names them.
    ///   - ignored: members that are accepted although they set nothing, such as an id that a client sends back.
    init(
        _ object: JSONObject,
        over fields: FieldTexts<Field>,
        besides others: [String] = [],
        ignoring ignored: Set<String> = []
    ) {
        self.fields = fields
        for member in object.members where !ignored.contains(member.name) && !others.contains(member.name) {
            guard let field = Field(rawValue: member.name) else {
                let known = (others + Field.allCases.map(\.rawValue)).joined(separator: ", ")
                let advice = "\(member.name) cannot be set here; set one of \(known)."
                problems.append(FieldProblem(member.name, advice))
                continue
            }
            if member.value.isNull {
                self.fields.set(field, nil)
            } else if let texts = Self.texts(field.kind, member.value) {
                self.fields[field] = texts
            } else {
                let advice = "\(member.name) must be \(Self.form(field.kind)), or null."
                problems.append(FieldProblem(field, advice))
            }
        }
    }

    /// Makes a value from the fields.
    ///
    /// - Throws: 422 with the problems of the body, `others`, and the problems that `make` throws.
    func validated<Value>(
        _ others: [FieldProblem] = [],
        _ make: (FieldTexts<Field>) throws(FieldProblems) -> Value
    ) throws(APIError) -> Value {
        let problems = problems + others
        do throws(FieldProblems) {
            let value = try make(fields)
            guard problems.isEmpty else { throw FieldProblems([]) }
            return value
        } catch { throw .unprocessable(problems + error.all) }
    }

    private static func texts(_ kind: SettingFieldKind, _ value: JSONValue) -> [String]? {
        switch kind {
        case .text: return value.string.map { [$0] }
        case .number: return value.int64.map { [String($0)] }
        case .flag: return value.bool.map { [String($0)] }
        case .object:
            guard value.object != nil else { return nil }
            var json = JSONWriter()
            json.value(value)
            return [json.text]
        case .list: return all(value, \.string)
        case .variants: return all(value, variant)
        }
    }

    /// Reads every element; returns nil if `read` refuses an element, or if the value is not a list.
    private static func all(_ value: JSONValue, _ read: (JSONValue) -> String?) -> [String]? {
        guard let values = value.array else { return nil }
        let texts = values.compactMap(read)
        return texts.count == values.count ? texts : nil
    }

    private static func variant(_ value: JSONValue) -> String? {
        if let text = value.string { return text }
        guard let object = value.object, let name = object["name"]?.string,
            let weight = object["weight"]?.int64, let destination = object["destination"]?.string
        else { return nil }
        return "\(name) \(weight) \(destination)"
    }

    private static func form(_ kind: SettingFieldKind) -> String {
        switch kind {
        case .text: "a text"
        case .number: "a whole number"
        case .flag: "true or false"
        case .object: "a JSON object"
        case .list: "a list of texts"
        case .variants: "a list of objects with name, weight and destination"
        }
    }
}

extension JSONWriter {
    /// Writes the fields that are set as JSON values.
    ///
    /// Variants are left out: the caller writes them with their clicks and matches.
    mutating func members<Field: SettingField>(of fields: FieldTexts<Field>) {
        for (field, texts) in fields.all {
            switch field.kind {
            case .text: member(field.rawValue, texts.first)
            case .number: member(field.rawValue, texts.first.flatMap { Int64($0) })
            case .flag: member(field.rawValue, texts.first == "true")
            case .object: member(field.rawValue) { json in json.raw((texts.first ?? "{}").utf8) }
            case .list: member(field.rawValue, texts)
            case .variants: break
            }
        }
    }
}
