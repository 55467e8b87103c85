package import Attribution
internal import HTTPServer
package import JSON

/// The schemas of an app's conversion values, each in force from a day on.
///
/// An app's settings store each as a text: the day, a space, and the JSON that clients fetch.
package struct ConversionSchemas {
    private(set) var all: [(since: Timestamp, json: JSONObject, schema: ConversionSchema)] = []

    private static let maximumCount = 50

    /// Reads stored texts; one that is no longer valid is left out.
    package init(_ texts: [String]) {
        for text in texts.sorted() {
            guard let since = Self.day(String(text.prefix(10))),
                let json = (try? JSONValue(parsing: Array(text.utf8.dropFirst(11))))?.object,
                let schema = try? Self.read(json)
            else { continue }
            all.append((since, json, schema))
        }
    }

    package func inForce(at time: Timestamp) -> ConversionSchema? { all.last { $0.since <= time }?.schema }

    private static func day(_ text: String) -> Timestamp? {
        text.utf8.count == 10 ? Timestamp(iso8601: text + "T00:00:00Z") : nil
    }

    /// Returns the texts with a new schema, which replaces the schema of the same day if there is one.
    package static func texts(_ texts: [String], setting value: JSONValue, since day: String)
        throws(FieldProblem) -> [String]
    {
        guard Self.day(day) != nil, let object = value.object else {
            throw FieldProblem(
                name,
                "\(name) must have a day such as 2027-01-31, and an object as its schema."
            )
        }
        _ = try read(object)
        var json = JSONWriter()
        write(object, to: &json)
        let texts = texts.filter { !$0.hasPrefix(day) } + ["\(day) \(json.text)"]
        guard texts.count <= maximumCount else {
            throw FieldProblem(name, "\(name) may have \(maximumCount) entries; remove an old one.")
        }
        return texts.sorted()
    }
}

/// The JSON of schemas.
extension ConversionSchemas {
    /// The member of an app's body that lists the schemas.
    static let name = "conversion_schemas"

    /// Reads the list of an app's body: objects with a day and a schema.
    static func texts(_ value: JSONValue) throws(FieldProblem) -> [String] {
        guard let list = value.isNull ? [] : value.array else {
            throw FieldProblem(name, "\(name) must be a list of objects with since and schema.")
        }
        var texts: [String] = []
        for entry in list {
            let (day, schema) = (entry.object?["since"]?.string ?? "", entry.object?["schema"] ?? .null)
            texts = try Self.texts(texts, setting: schema, since: day)
        }
        return texts
    }

    static func write(_ texts: [String], to json: inout JSONWriter) {
        json.objects(name, texts) { json, text in
            json.member("since", String(text.prefix(10)))
            json.member("schema") { $0.raw(text.utf8.dropFirst(11)) }
        }
    }

    /// Writes a schema or one of its rules without the members that are `null`, which count as not sent.
    private static func write(_ object: JSONObject, to json: inout JSONWriter) {
        json.object { json in
            for member in object.members where !member.value.isNull {
                json.member(member.name) { json in
                    guard let rules = member.value.array else {
                        json.value(member.value)
                        return
                    }
                    json.array { json in for rule in rules.compactMap(\.object) { write(rule, to: &json) } }
                }
            }
        }
    }

    /// Writes the response to a client; its version is the number of schemas that have come into force.
    func writeConfiguration(at now: Timestamp, to json: inout JSONWriter) {
        let current = all.last { $0.since <= now }
        json.member("enabled", current != nil)
        guard let current else { return }
        json.object("schema") { json in
            json.member("schemaVersion", all.count { $0.since <= now })
            for member in current.json.members where member.name != "schemaVersion" {
                json.member(member.name) {
                    $0.value(member.name == "rules" ? sorted(member.value) : member.value)
                }
            }
        }
    }

    /// Returns the rules with the highest value first, because a client takes the first one that holds.
    private func sorted(_ rules: JSONValue) -> JSONValue {
        .array(
            (rules.array ?? []).sorted { left, right in
                (left.object?["fineValue"]?.int64 ?? 0) > (right.object?["fineValue"]?.int64 ?? 0)
            }
        )
    }

    /// - Throws: the first problem of a schema. An unknown member is a problem too, because a misspelt `min` or
    ///   `max` would otherwise limit nothing.
    private static func read(_ object: JSONObject) throws(FieldProblem) -> ConversionSchema {
        try check(object, schemaMembers)
        guard let list = object["rules"]?.array, list.count <= ConversionSchema.maximumRuleCount else {
            let rule = "must be a list of at most \(ConversionSchema.maximumRuleCount) objects"
            throw FieldProblem("rules", "rules \(rule).")
        }
        var rules: [ConversionSchema.Rule] = []
        for value in list {
            let object = value.object
            if let object { try check(object, ruleMembers) }
            guard let object, let fine = object["fineValue"]?.int64, (0...63).contains(fine),
                !rules.contains(where: { $0.fineValue == fine })
            else { throw FieldProblem("fineValue", "Each rule needs a fineValue of its own from 0 to 63.") }
            let coarse = object["coarseValue"]?.string.flatMap { ApplePostback.CoarseValue(rawValue: $0) }
            let names = ["label", "eventName"].compactMap { object[$0]?.string }
            let name = names.first { !$0.isEmpty } ?? "value \(fine)"
            rules.append(ConversionSchema.Rule(fineValue: fine, coarseValue: coarse, name: name))
        }
        return ConversionSchema(rules)
    }

    /// The form of a member's value.
    private enum Form {
        case text, flag, number, list, currency
        case whole(ClosedRange<Int64>)
        case word([String])

        var words: String {
            switch self {
            case .text: "a text of up to 100 characters"
            case .flag: "true or false"
            case .number: "a number"
            case .list: "a list"
            case .currency: "a code of ISO 4217 such as EUR"
            case .whole(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
            case .word(let words): "one of \(words.joined(separator: ", "))"
            }
        }

        func accepts(_ value: JSONValue) -> Bool {
            switch self {
            case .text: (value.string?.unicodeScalars.count ?? .max) <= 100
            case .flag: value.bool != nil
            case .number: value.double != nil
            case .list: value.array != nil
            case .currency: value.string.map { $0.isEmpty || Currency($0) != nil } ?? false
            case .whole(let range): value.int64.map(range.contains) ?? false
            case .word(let words): value.string.map(words.contains) ?? false
            }
        }
    }

    private static let schemaMembers: [String: Form] = [
        "schemaVersion": .whole(0...Int64.max), "mode": .word(["conversion", "revenue", "engagement"]),
        "measurementWindowHours": .whole(0...840), "currency": .currency, "revenueEventName": .text,
        "revenueProperty": .text, "accumulateRevenue": .flag,
        "engagementMetric": .word(["sessions", "days"]),
        "rules": .list,
    ]
    private static let ruleMembers: [String: Form] = [
        "label": .text, "fineValue": .whole(0...63), "coarseValue": .word(["none", "low", "medium", "high"]),
        "lockWindow": .flag, "eventName": .text, "min": .number, "max": .number,
    ]

    private static func check(_ object: JSONObject, _ members: [String: Form]) throws(FieldProblem) {
        for member in object.members {
            guard let form = members[member.name] else {
                let known = members.keys.sorted().joined(separator: ", ")
                throw FieldProblem(
                    member.name,
                    "There is no \(member.name) in a schema; the members are \(known)."
                )
            }
            guard member.value.isNull || form.accepts(member.value) else {
                throw FieldProblem(member.name, "\(member.name) must be \(form.words).")
            }
        }
    }
}

/// `GET /v1/skan/config`: returns the schema that is in force for the app with a bundle id; `enabled` is false if there
/// is none.
///
/// An unknown bundle id gets 200, too: without a final response, clients would retry for thirty days.
enum ShowSKAdNetworkConfiguration {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let (bundle, now) = (exchange.sentQueryItem("bundle_id"), exchange.now)
        let stores = exchange.stores
        let apps = bundle == nil ? [] : try await exchange.store(try stores.apps.directory()).apps
        let app = apps.first { $0.settings.links.apple.bundleIDs.contains(bundle ?? "") }
        let schemas = ConversionSchemas(app?.settings.conversionSchemas ?? [])
        return Response(.ok) { schemas.writeConfiguration(at: now, to: &$0) }
    }
}
