import Attribution
import JSON
import Server

/// Validates values by the description's schemas (JSON Schema 2020-12, as far as the description uses it).
///
/// Members that are not described are errors here, although clients must tolerate them, because the description must
/// contain everything that the service writes.
struct SchemaCheck {
    let api: Described

    /// The violations of a schema, each with its position; empty for a valid value.
    func violations(_ value: JSONValue, _ schema: JSONValue, at place: String = "") -> [String] {
        let schema = api.resolved(schema)
        return typeViolations(value, schema, place) + choiceViolations(value, schema, place)
            + objectViolations(value, schema, place) + arrayViolations(value, schema, place)
    }

    private func typeViolations(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> [String] {
        var violations: [String] = []
        let types = schema["type"].string.map { [$0] } ?? schema["type"].strings
        if !types.isEmpty, !types.contains(where: { Self.isOfType(value, $0) }) {
            violations.append("\(place) is \(value.kind) and not \(types.joined(separator: " or "))")
        }
        if let values = schema["enum"].array, !values.contains(value) {
            violations.append("\(place) has a value that is not described")
        }
        if let constant = schema.object?["const"], constant != value {
            violations.append("\(place) is not the described constant")
        }
        if let minimum = schema["minimum"].double, let number = value.double, number < minimum {
            violations.append("\(place) is too small")
        }
        if let maximum = schema["maximum"].double, let number = value.double, number > maximum {
            violations.append("\(place) is too large")
        }
        if schema["format"].string == "date-time", let text = value.string, Timestamp(iso8601: text) == nil {
            violations.append("\(place) is no time")
        }
        return violations
    }

    private static func isOfType(_ value: JSONValue, _ type: String) -> Bool {
        switch (type, value) {
        case ("null", .null), ("boolean", .bool), ("number", .number), ("string", .string),
            ("array", .array), ("object", .object):
            true
        case ("integer", .number(let number)): number.int64 != nil
        default: false
        }
    }

    private func choiceViolations(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> [String] {
        var violations: [String] = []
        if let choices = schema["oneOf"].array {
            let found = choices.map { self.violations(value, $0, at: place) }
            let count = found.count { $0.isEmpty }
            if count > 1 { violations.append("\(place) is described in two ways at once") }
            if count == 0 { violations += found.min { $0.count < $1.count } ?? [] }
        }
        // These are conditions on members that are described elsewhere.
        for condition in [schema] + (schema["allOf"].array ?? []) {
            guard let choices = condition["anyOf"].array else { continue }
            if !choices.contains(where: { meets(value, $0) }) {
                violations.append("\(place) has none of the described combinations of members")
            }
        }
        for condition in schema["allOf"].array ?? [] {
            guard let choices = condition["oneOf"].array else { continue }
            let count = choices.count { meets(value, $0) }
            if count != 1 { violations.append("\(place) has \(count) members of which one is needed") }
        }
        return violations
    }

    /// Whether the value has the members that a condition names; the rest of the schema checks their values.
    private func meets(_ value: JSONValue, _ condition: JSONValue) -> Bool {
        condition["required"].strings.allSatisfy { value.object?[$0].map { !$0.isNull } ?? false }
    }

    private func objectViolations(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> [String] {
        guard let object = value.object else { return [] }
        var violations = schema["required"].strings.filter { object[$0] == nil }.map {
            "\(place).\($0) is missing"
        }
        guard let described = schema["properties"].object else {
            let others = schema["additionalProperties"]
            guard others.object != nil else { return violations }
            return violations
                + object.members.flatMap { self.violations($0.value, others, at: "\(place).\($0.name)") }
        }
        for member in object.members {
            if let schema = described[member.name] {
                violations += self.violations(member.value, schema, at: "\(place).\(member.name)")
            } else {
                violations.append("\(place).\(member.name) is not described")
            }
        }
        return violations
    }

    private func arrayViolations(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> [String] {
        guard let items = schema.object?["items"], let values = value.array else { return [] }
        return values.enumerated().flatMap { violations($1, items, at: "\(place)[\($0)]") }
    }
}
