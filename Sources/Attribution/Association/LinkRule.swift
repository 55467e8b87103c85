/// What an operator says about URLs of an app's link hosts: that they open the app, or that they stay in the browser.
///
/// Written on one line: `/products/*`, `exclude /help/*`, `/search ?q=?*&lang=tr #top ignore-case decoded -- a comment`.
/// The path comes first and may be left out; behind `?` stands a pattern for the whole query, or `name=pattern` for its
/// items; behind `#` one for the fragment.
public struct LinkRule: Equatable, Sendable {
    public let component: AssociationComponent

    public static let maximumLength = 512
    /// Of one app: their file is read by every phone that installs it.
    public static let maximumCount = 100

    /// A rule out of a domain file, to be shown.
    package init(_ component: AssociationComponent) {
        self.component = component
    }

    /// - Throws: ``LinkRuleError``, whose message says what to do.
    public init(parsing text: String) throws(LinkRuleError) {
        guard text.utf8.count <= Self.maximumLength else { throw .tooLong }
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { throw .controlCharacter }
        var component = AssociationComponent()
        var body = text[...]
        if let mark = text.range(ofASCII: " -- ") {
            let comment = String(text[mark.upperBound...]).trimmed
            component.comment = comment.isEmpty ? nil : comment
            body = text[..<mark.lowerBound]
        }
        var words = body.split(separator: " ")[...]
        if words.first == "exclude" {
            component.excludes = true
            words.removeFirst()
        }
        for word in words { try Self.read(String(word), into: &component) }
        guard component.path != nil || component.query != nil || component.fragment != nil else {
            throw .empty
        }
        self.component = component
    }

    private static func read(
        _ word: String,
        into component: inout AssociationComponent
    ) throws(LinkRuleError) {
        switch word.utf8.first {
        case UInt8(ascii: "/"), UInt8(ascii: "*"), UInt8(ascii: "$"):
            guard component.path == nil else { throw .repeated(word) }
            guard !word.utf8.contains(UInt8(ascii: "#")) else { throw .glued(word) }
            try checkPattern(word)
            component.path = word
        case UInt8(ascii: "?"):
            guard component.query == nil else { throw .repeated(word) }
            component.query = try query(String(word.dropFirst()))
        case UInt8(ascii: "#"):
            guard component.fragment == nil else { throw .repeated(word) }
            try checkPattern(word)
            component.fragment = String(word.dropFirst())
        default: try readFlag(word, into: &component)
        }
    }

    private static func readFlag(
        _ word: String,
        into component: inout AssociationComponent
    ) throws(LinkRuleError) {
        switch word {
        case "ignore-case" where component.settings.caseSensitive == nil:
            component.settings.caseSensitive = false
        case "decoded" where component.settings.percentEncoded == nil:
            component.settings.percentEncoded = false
        case "ignore-case", "decoded", "exclude": throw .repeated(word)
        default: throw .unknownWord(word)
        }
    }

    private static func query(_ text: String) throws(LinkRuleError) -> AssociationComponent.Query {
        guard text.utf8.contains(UInt8(ascii: "=")) else {
            try checkPattern(text)
            return .pattern(text)
        }
        var items: [QueryItem] = []
        for part in text.split(separator: "&", omittingEmptySubsequences: false) {
            let parts = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else { throw .malformedItem(String(part)) }
            let name = String(parts[0])
            guard !items.contains(where: { $0.name == name }) else { throw .repeated(name) }
            try checkPattern(String(parts[1]))
            items.append(QueryItem(name: name, value: String(parts[1])))
        }
        return .items(items)
    }

    private static func checkPattern(_ text: String) throws(LinkRuleError) {
        guard text.unicodeScalars.count(where: { $0 == "*" }) <= 8 else { throw .tooManyWildcards(text) }
        var rest = text[...]
        while let start = rest.range(ofASCII: "$(") {
            rest = rest[start.upperBound...]
            guard let end = rest.range(ofASCII: ")") else { return }
            let name = String(rest[..<end.lowerBound])
            guard PredefinedVariable(rawValue: name) != nil else { throw .unknownVariable(name) }
            rest = rest[end.upperBound...]
        }
    }

    /// As it is parsed again.
    public var text: String {
        var words: [String] = component.excludes ? ["exclude"] : []
        if let path = component.path { words.append(path) }
        switch component.query {
        case nil: break
        case .pattern(let text): words.append("?\(text)")
        case .items(let items):
            words.append("?" + items.map { "\($0.name)=\($0.value)" }.joined(separator: "&"))
        }
        if let fragment = component.fragment { words.append("#\(fragment)") }
        if component.settings.ignoresCase { words.append("ignore-case") }
        if component.settings.readsEscapes { words.append("decoded") }
        if let comment = component.comment { words.append("-- \(comment)") }
        return words.joined(separator: " ")
    }
}

/// Why a text is no rule.
public enum LinkRuleError: Error, Equatable, Sendable {
    case tooLong
    case controlCharacter
    case empty
    case repeated(String)
    case glued(String)
    case malformedItem(String)
    case tooManyWildcards(String)
    case unknownVariable(String)
    case unknownWord(String)

    /// In plain words: what is wrong and what to do.
    public var message: String {
        switch self {
        case .tooLong:
            "A rule has \(LinkRule.maximumLength) bytes at most; shorten it, or leave its comment out."
        case .controlCharacter:
            "The rule holds a control character such as a line break; write it on one line."
        case .empty:
            "The rule names no path, query or fragment; write one such as /products/* or exclude /help/*."
        case .repeated(let word):
            "\"\(word)\" says something that the rule says already; leave one of them out."
        case .glued(let word):
            "\"\(word)\" holds a fragment; write it apart, as in /products/* #top."
        case .malformedItem(let part):
            "\"\(part)\" is no item of a query; write name=pattern, and & between two of them."
        case .tooManyWildcards(let text):
            "\"\(text)\" has more than eight *; one of them goes over slashes already."
        case .unknownVariable(let name):
            "There is no variable $(\(name)); there are alpha, upper, lower, alnum, digit, xdigit, region and lang."
        case .unknownWord(let word):
            "\"\(word)\" is not understood; a path begins with /, * or $(, a query with ?, a fragment with #, and besides"
                + " there are exclude, ignore-case, decoded, and -- before a comment."
        }
    }
}

/// The variables that Apple defines itself.
///
/// Source: Apple, "applinks.SubstitutionVariables". Codes of regions and languages are told by their form alone, not by
/// the lists that a device has.
package enum PredefinedVariable: String, CaseIterable, Sendable {
    case alpha, upper, lower, alnum, digit, xdigit, region, lang
}
