internal import JSON

/// A URL or a JSON body with macros such as `{click_id}`, which an event's values replace.
public enum PostbackTemplate {
    /// The values of an event by the names of macros.
    public struct Values {
        private var texts: [String: String] = [:]

        /// - Parameters:
        ///   - event: the event.
        ///   - app: the app of the endpoint.
        ///   - sequence: the number of the delivery.
        public init(_ event: OutboxEvent, app: AppID, sequence: Int64) {
            func add(_ object: JSONObject) {
                for member in object.members {
                    switch member.value {
                    case .string(let text): texts[member.name] = text
                    case .number(let number): texts[member.name] = number.text
                    case .bool(let flag): texts[member.name] = String(flag)
                    // The members of these two objects have macros of their own.
                    case .object(let inner) where ["utm", "click_ids"].contains(member.name): add(inner)
                    case .null, .array, .object: break
                    }
                }
            }
            if let object = (try? JSONValue(parsing: Array(event.data.utf8)))?.object { add(object) }
            texts["id"] = event.id.text
            texts["type"] = event.type
            texts["timestamp"] = event.at.iso8601
            texts["timestamp_seconds"] = String(event.at.milliseconds / 1000)
            texts["app"] = app.text
            texts["sequence"] = String(sequence)
        }

        subscript(name: String) -> String? { texts[name] }
    }

    /// The names of all macros.
    public static let names: [String] =
        [
            "id", "type", "timestamp", "timestamp_seconds", "app", "sequence", "click_id", "link",
            "campaign_key",
            "journey_id", "source", "variant", "platform", "method", "confidence", "guaranteed", "clicked_at",
            "matched_at", "seconds_to_install", "event_id", "name", "occurred_at", "amount", "currency",
            "verified",
            "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "utm_id",
            "reason",
        ] + NetworkClickIDs.parameters.map(\.name)

    /// The macros whose values are numbers, `true` or `false`: only these may stand outside the texts of a JSON body.
    public static let literals: Set = [
        "timestamp_seconds", "sequence", "confidence", "guaranteed", "seconds_to_install", "amount",
        "verified",
    ]

    /// A part of a template.
    private enum Part {
        case text(Substring)
        case macro(String)
        /// Braces around a word that is no macro's name.
        case unknown(String)
    }

    private static func parts(of template: String) -> [Part] {
        var (parts, rest): ([Part], Substring) = ([], template[...])
        while let open = rest.firstIndex(of: "{") {
            let after = rest[rest.index(after: open)...]
            let word = after.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
            guard !word.isEmpty, after[word.endIndex...].first == "}" else {
                parts.append(.text(rest[...open]))
                rest = after
                continue
            }
            parts.append(.text(rest[..<open]))
            let name = String(word)
            parts.append(names.contains(name) ? .macro(name) : .unknown(name))
            rest = after[after.index(after: word.endIndex)...]
        }
        return parts + [.text(rest)]
    }

    /// Returns whether a text has macros, or words in braces that are not macros.
    public static func hasMacros(_ text: String) -> Bool {
        parts(of: text).contains { if case .text = $0 { false } else { true } }
    }

    /// Returns the first word in braces that is no macro's name; nil without one.
    public static func unknownName(in template: String) -> String? {
        for case .unknown(let name) in parts(of: template) { return name }
        return nil
    }

    /// Returns whether a template is JSON once values replace its macros, both inside and outside texts.
    public static func isJSON(_ template: String) -> Bool {
        let text = json(template) { _, isQuoted in isQuoted ? "x" : "null" }
        return (try? JSONValue(parsing: Array(text.utf8))) != nil
    }

    /// Returns the first macro of a JSON template that stands outside a text although its values are texts; nil without
    /// one.
    public static func unquotedText(in template: String) -> String? {
        var found: String?
        _ = json(template) { name, isQuoted in
            if !isQuoted, !literals.contains(name) { found = found ?? name }
            return ""
        }
        return found
    }

    /// Returns whether a template has a brace that is not around a word.
    public static func hasLooseBrace(_ template: String) -> Bool {
        parts(of: template).contains { part in
            if case .text(let text) = part { text.contains { "{}".contains($0) } } else { false }
        }
    }

    /// Returns a URL whose values are percent-encoded; a missing value is empty.
    ///
    /// In the path, a value with a segment `.` or `..` is left out too, because such a segment, even if escaped, leads
    /// some receivers to another path.
    public static func url(_ template: String, _ values: Values) -> String {
        var isPath = true
        return parts(of: template).map { part in
            switch part {
            case .text(let text):
                isPath = isPath && !text.utf8.contains(UInt8(ascii: "?"))
                return String(text)
            case .macro(let name):
                let value = PercentEncoding.queryValue(values[name] ?? "")
                guard !isPath || !URLPath.hasDotSegment(value[...]) else { return "" }
                return String(decoding: value, as: UTF8.self)
            case .unknown: return ""
            }
        }.joined()
    }

    /// Returns a JSON body whose values are escaped for texts; a missing value is empty in a text, and else `null`.
    public static func body(_ template: String, _ values: Values) -> String {
        json(template) { name, isQuoted in
            guard isQuoted || values[name] != nil else { return "null" }
            let value = values[name] ?? ""
            guard isQuoted || !literals.contains(name) else { return value }
            var json = JSONWriter()
            json.value(value)
            // In templates of an earlier version, a macro whose values are texts may stand outside a text.
            guard isQuoted else { return json.text }
            // Remove the quotation marks as bytes, because Swift reads a quotation mark and a combining mark as one
            // character.
            return String(decoding: json.bytes.dropFirst().dropLast(), as: UTF8.self)
        }
    }

    /// Returns a JSON template in which `value` replaces each macro.
    ///
    /// `value` gets the name of the macro, and whether it stands in a text.
    private static func json(_ template: String, _ value: (String, Bool) -> String) -> String {
        var (isQuoted, isEscaped) = (false, false)
        return parts(of: template).map { part in
            switch part {
            case .text(let text):
                for scalar in text.unicodeScalars {
                    if isEscaped {
                        isEscaped = false
                    } else if scalar == "\"" {
                        isQuoted.toggle()
                    } else {
                        isEscaped = scalar == "\\"
                    }
                }
                return String(text)
            case .macro(let name): return value(name, isQuoted)
            case .unknown: return ""
            }
        }.joined()
    }
}
