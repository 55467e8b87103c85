/// Reads a link's fields one by one and keeps what is wrong with them.
struct LinkFieldReader {
    private let fields: LinkFields
    private(set) var problems: [LinkProblem] = []

    init(_ fields: LinkFields) {
        self.fields = fields
    }

    private mutating func report(_ field: LinkField, _ message: String) {
        problems.append(LinkProblem(field, message))
    }

    mutating func text(_ field: LinkField, upTo maximum: Int) -> String? {
        guard let text = fields.text(field) else { return nil }
        guard text.unicodeScalars.count <= maximum else {
            report(field, "\(field.rawValue) has more than \(maximum) characters; shorten it.")
            return nil
        }
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            report(field, "\(field.rawValue) holds a control character such as a line break; remove it.")
            return nil
        }
        return text
    }

    mutating func target(_ field: LinkField) -> Link.Target? {
        fields.text(field).flatMap { target($0, of: field) }
    }

    private mutating func target(_ text: String, of field: LinkField) -> Link.Target? {
        do throws(DeepLinkURLError) {
            guard text.trimmed.utf8.first == UInt8(ascii: "/") else {
                return .url(try DeepLinkURL(parsing: text))
            }
            return .path(try LinkPath(parsing: text))
        } catch {
            report(field, "\(field.rawValue): \(error.message)")
            return nil
        }
    }

    mutating func page(_ field: LinkField) -> WebURL? {
        guard let text = fields.text(field) else { return nil }
        do throws(WebURLError) {
            return try WebURL(parsing: text)
        } catch {
            report(field, "\(field.rawValue): \(error.message)")
            return nil
        }
    }

    mutating func number(_ field: LinkField, in range: ClosedRange<Int>) -> Int? {
        guard let text = fields.text(field) else { return nil }
        guard let number = Self.decimal(text), range.contains(number) else {
            let allowed = "\(range.lowerBound) to \(range.upperBound)"
            report(field, "\(field.rawValue) must be a whole number from \(allowed).")
            return nil
        }
        return number
    }

    mutating func window() -> AttributionWindow? {
        let allowed = AttributionWindow.allowedSeconds
        return number(.windowSeconds, in: Int(allowed.lowerBound)...Int(allowed.upperBound))
            .flatMap { AttributionWindow(seconds: Int64($0)) }
    }

    mutating func moment(_ field: LinkField) -> Timestamp? {
        guard let text = fields.text(field) else { return nil }
        guard let moment = Timestamp(iso8601: text) else {
            report(field, "\(field.rawValue) must be a time such as 2027-01-31T18:00:00Z.")
            return nil
        }
        return moment
    }

    mutating func flag(_ field: LinkField) -> Bool? {
        guard let text = fields.text(field) else { return nil }
        switch text {
        case "true": return true
        case "false": return false
        default:
            report(field, "\(field.rawValue) must be true or false.")
            return nil
        }
    }

    mutating func word(_ field: LinkField) -> String? {
        guard let text = fields.text(field) else { return nil }
        guard Self.isWord(text, upTo: 64) else {
            report(field, "\(field.rawValue) must be 1 to 64 letters, digits, - and _.")
            return nil
        }
        return text
    }

    /// In their order, each once.
    mutating func list(_ field: LinkField, maximumCount: Int) -> [String] {
        var values: [String] = []
        for text in fields[field].map(\.trimmed) where !text.isEmpty && !values.contains(text) {
            let isAllowed =
                text.unicodeScalars.count <= 64
                && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f && $0 != UInt8(ascii: ",") }
            guard isAllowed else {
                report(field, "Each of \(field.rawValue) has 1 to 64 characters without commas.")
                continue
            }
            values.append(text)
        }
        guard values.count <= maximumCount else {
            report(field, "\(field.rawValue) may be \(maximumCount) at most; leave some out.")
            return []
        }
        return values
    }

    mutating func variants() -> [Link.Variant] {
        var variants: [Link.Variant] = []
        for text in fields[.variants] {
            let parts = text.trimmed.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
            guard parts.count == 3, Self.isWord(String(parts[0]), upTo: 32),
                let weight = Self.decimal(String(parts[1])), (1...10_000).contains(weight)
            else {
                report(
                    .variants,
                    "A variant is a name, a weight from 1 to 10000 and a destination, as in \"b 30 myapp://promo/b\"."
                )
                continue
            }
            let name = String(parts[0])
            guard !variants.contains(where: { $0.name == name }) else {
                report(.variants, "Two variants have the name \(name); give each its own.")
                continue
            }
            guard let target = target(String(parts[2]), of: .variants) else { continue }
            variants.append(Link.Variant(name: name, weight: weight, target: target))
        }
        if variants.count > 20 { report(.variants, "A link has 20 variants at most; leave some out.") }
        return variants
    }

    private static func isWord(_ text: String, upTo maximum: Int) -> Bool {
        (1...maximum).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
    }

    private static func decimal(_ text: String) -> Int? {
        guard (1...18).contains(text.utf8.count),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(text)
    }
}
