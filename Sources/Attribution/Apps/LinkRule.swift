/// An operator's rule about URLs of an app's link hosts: they open the app, or they stay in the browser.
///
/// A rule is one line, such as `/products/*`, `exclude /help/*` or `/search ?q=?*&lang=tr #top ignore-case decoded -- a
/// comment`. `exclude` comes first, and the comment last; the parts between them may have any order. A rule needs a
/// path, a query or a fragment. `?` precedes a pattern for the whole query, or `name=pattern` for some of its items,
/// joined by `&`. `#` precedes a pattern for the fragment.
public struct LinkRule: Equatable, Sendable {
    public let component: AssociationComponent

    /// The largest length of a rule in bytes.
    public static let maximumLength = 512
    /// The largest number of rules of an app: each phone that installs the app reads all of them.
    public static let maximumCount = 100

    /// Creates a rule from a domain file's component, to print it as text.
    package init(_ component: AssociationComponent) { self.component = component }

    /// - Throws: ``LinkRuleError``, whose message says what to do.
    public init(parsing text: String) throws(LinkRuleError) {
        guard text.utf8.count <= Self.maximumLength else { throw .tooLong }
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { throw .controlCharacter }
        var component = AssociationComponent()
        var body = text[...]
        if let separator = text.range(ofASCII: " -- ") {
            let comment = String(text[separator.upperBound...]).trimmed
            component.comment = comment.isEmpty ? nil : comment
            body = text[..<separator.lowerBound]
        }
        var words = body.split(separator: " ")[...]
        if words.first == "exclude" {
            component.excludes = true
            words.removeFirst()
        }
        for word in words { try Self.read(String(word), into: &component) }
        guard component.path != nil || component.query != nil || component.fragment != nil
        else { throw .empty }
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
            try requirePattern(word)
            component.path = word
        case UInt8(ascii: "?"):
            guard component.query == nil else { throw .repeated(word) }
            component.query = try query(String(word.dropFirst()))
        case UInt8(ascii: "#"):
            guard component.fragment == nil else { throw .repeated(word) }
            try requirePattern(word)
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
        case "ignore-case", "decoded": throw .repeated(word)
        case "exclude": throw .misplacedExclude
        default: throw .unknownWord(word)
        }
    }

    private static func query(_ text: String) throws(LinkRuleError) -> AssociationComponent.Query {
        guard text.utf8.contains(UInt8(ascii: "=")) else {
            try requirePattern(text)
            return .pattern(text)
        }
        var items: [QueryItem] = []
        for part in text.split(separator: "&", omittingEmptySubsequences: false) {
            let parts = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else { throw .malformedItem(String(part)) }
            let name = String(parts[0])
            guard !items.contains(where: { $0.name == name }) else { throw .repeated(name) }
            try requirePattern(String(parts[1]))
            items.append(QueryItem(name: name, value: String(parts[1])))
        }
        return .items(items)
    }

    private static func requirePattern(_ text: String) throws(LinkRuleError) {
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

    /// The rule as ``init(parsing:)`` reads it.
    public var text: String {
        var words: [String] = component.excludes ? ["exclude"] : []
        if let path = component.path { words.append(path) }
        if let query = queryWord { words.append(query) }
        if let fragment = component.fragment { words.append("#\(fragment)") }
        if component.settings.ignoresCase { words.append("ignore-case") }
        if component.settings.readsEscapes { words.append("decoded") }
        if let comment = component.comment { words.append("-- \(comment)") }
        return words.joined(separator: " ")
    }

    private var queryWord: String? {
        switch component.query {
        case nil: nil
        case .pattern(let text): "?\(text)"
        case .items(let items): "?" + items.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        }
    }

    /// Refuses a query with `#`, because no URL has such a query.
    ///
    /// ``init(parsing:)`` accepts such a query, because it also reads stored rules and must not lose any of them. If
    /// the only rule that lets URLs open the app were lost, all URLs would open the app.
    func requireUnglued() throws(LinkRuleError) {
        if let word = queryWord, word.utf8.contains(UInt8(ascii: "#")) { throw .glued(word) }
    }
}

/// The reason why a text is not a rule.
public enum LinkRuleError: Error, Equatable, Sendable {
    case tooLong
    case controlCharacter
    case empty
    case repeated(String)
    /// `exclude` is not the first word, or occurs twice.
    case misplacedExclude
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
            "The rule contains a control character such as a line break; write it on one line."
        case .empty:
            "The rule names no path, query or fragment; write one such as /products/* or exclude /help/*."
        case .repeated(let word): "\"\(word)\" is the second of its kind in the rule; remove one of the two."
        case .misplacedExclude:
            "exclude must be the first word of the rule, and occur only once; move it, or leave it out."
        case .glued(let word):
            "\"\(word)\" contains a fragment; separate it with a space, as in /products/* #top."
        case .malformedItem(let part):
            "\"\(part)\" is no item of a query; write name=pattern, with & between two items."
        case .tooManyWildcards(let text):
            "\"\(text)\" has more than eight *; write fewer, as one * also matches slashes."
        case .unknownVariable(let name):
            "There is no variable $(\(name)); there are alpha, upper, lower, alnum, digit, xdigit, region and lang."
        case .unknownWord(let word):
            "\"\(word)\" is not understood; a path starts with /, * or $(, a query with ?, a fragment with #, and the"
                + " words are exclude, ignore-case, decoded, and -- before a comment."
        }
    }
}

/// A rule of a domain file: patterns for parts of a URL, and whether URLs that fit them open the app.
///
/// Every part that is present must fit; a missing part fits everything.
public struct AssociationComponent: Equatable, Sendable {
    /// Patterns for the query as a whole, or for the values of some of its items.
    public enum Query: Equatable, Sendable {
        case pattern(String)
        case items([QueryItem])
    }

    /// The pattern for the path.
    public var path: String?
    public var query: Query?
    /// The pattern for the part after `#`.
    public var fragment: String?
    /// Whether URLs that fit stay in the browser.
    public var excludes: Bool
    /// A comment, for people.
    public var comment: String?
    public var settings: MatchingSettings
    /// The position in the domain file, as `applinks.details[0].components[2]`; empty for a rule that was not
    /// read from a domain file.
    public var place: String

    public init(
        path: String? = nil,
        query: Query? = nil,
        fragment: String? = nil,
        excludes: Bool = false,
        comment: String? = nil,
        settings: MatchingSettings = MatchingSettings(),
        place: String = ""
    ) {
        (self.path, self.query, self.fragment) = (path, query, fragment)
        (self.excludes, self.comment, self.settings, self.place) = (excludes, comment, settings, place)
    }
}

/// How patterns are compared; a nil value is inherited from the enclosing object of the file, or else is true.
public struct MatchingSettings: Equatable, Sendable {
    public var caseSensitive: Bool?
    /// Whether patterns are compared with the URL as it is written; false compares with its decoded characters.
    public var percentEncoded: Bool?

    public init(caseSensitive: Bool? = nil, percentEncoded: Bool? = nil) {
        self.caseSensitive = caseSensitive
        self.percentEncoded = percentEncoded
    }

    /// Returns these settings, with the values of `outer` where they are nil.
    package func over(_ outer: MatchingSettings) -> MatchingSettings {
        MatchingSettings(
            caseSensitive: caseSensitive ?? outer.caseSensitive,
            percentEncoded: percentEncoded ?? outer.percentEncoded
        )
    }

    package var ignoresCase: Bool { caseSensitive == false }
    package var readsEscapes: Bool { percentEncoded == false }
}

/// The variables that Apple defines for patterns: `$(digit)` matches one digit.
///
/// This program recognises codes of regions and languages by their length and letters; devices use lists.
/// Source: Apple, "applinks.SubstitutionVariables".
package enum PredefinedVariable: String, CaseIterable, Sendable {
    case alpha, upper, lower, alnum, digit, xdigit, region, lang
}
