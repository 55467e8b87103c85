internal import Attribution

/// A URL of a link host, split into the parts that the rules of domain files compare.
public struct AssociationURL: Equatable, Sendable {
    /// The path in ASCII with its escapes, as browsers send it; at least `/`.
    public let path: String
    /// The part after `?`; nil without a `?`.
    public let query: String?
    /// The part after `#`; nil without a `#`.
    public let fragment: String?

    /// - Parameter text: a whole `https` or `http` URL, or a path, as `/products/1?x=y#z`; any other text gives nil.
    public init?(_ text: String) {
        let text = text.trimmed
        let isPath = text.utf8.first == UInt8(ascii: "/")
        // Parse a path alone with a placeholder host, which is dropped below.
        let whole = Array((isPath ? "https://path.invalid" + text : text).utf8)
        guard whole.allSatisfy({ $0 > 0x20 && $0 != 0x7f }), let written = try? URLParts(whole),
            written.isWeb, (try? written.host()) != nil, let parts = try? URLParts(written.encoded)
        else { return nil }
        path = parts.path.isEmpty ? "/" : String(decoding: parts.path, as: UTF8.self)
        query = parts.query.map { String(decoding: $0, as: UTF8.self) }
        fragment = parts.fragment.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the values of all query items of a name, as written; an item without `=` has an empty value.
    func values(of name: String) -> [String] {
        (query ?? "").split(separator: "&").compactMap { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let written = String(parts[0])
            guard written == name || Self.decoded(written) == name else { return nil }
            return parts.count == 2 ? String(parts[1]) : ""
        }
    }

    static func decoded(_ text: String) -> String {
        String(decoding: PercentEncoding.decoded(text.utf8), as: UTF8.self)
    }
}

/// A rule with its compiled patterns and its settings.
///
/// Android always compares decoded parts of the URL. On Android, a rule with a fragment fits only URLs with a fragment,
/// and a rule with query items fits only URLs with all of these items.
///
/// Sources: Apple, "applinks.Details.Components"; Android, "<uri-relative-filter-group>", and Android's class
/// `UriRelativeFilter`, which applies the rules of Google's file.
struct ComponentMatcher {
    let component: AssociationComponent
    let settings: MatchingSettings
    private let isAndroid: Bool
    private let path: WildcardPattern
    private let fragment: WildcardPattern
    private let query: WildcardPattern
    private let items: [(name: String, pattern: WildcardPattern)]

    init(
        _ component: AssociationComponent,
        _ defaults: MatchingSettings,
        _ variables: VariableValues = VariableValues([])
    ) {
        self.init(component, component.settings.over(defaults), variables, isAndroid: false)
    }

    /// Creates the matcher of a rule in Google's file, for Android.
    init(android component: AssociationComponent) {
        let settings = MatchingSettings(percentEncoded: false)
        self.init(component, settings, VariableValues([]), isAndroid: true)
    }

    private init(
        _ component: AssociationComponent,
        _ settings: MatchingSettings,
        _ variables: VariableValues,
        isAndroid: Bool
    ) {
        self.component = component
        self.settings = settings
        self.isAndroid = isAndroid
        let compile = { (text: String?) in
            isAndroid ? WildcardPattern(android: text ?? "*") : WildcardPattern(text ?? "*", variables)
        }
        path = compile(component.path)
        fragment = compile(component.fragment)
        switch component.query {
        case nil: (query, items) = (compile(nil), [])
        case .pattern(let text): (query, items) = (compile(text), [])
        case .items(let all): (query, items) = (compile(nil), all.map { ($0.name, compile($0.value)) })
        }
    }

    /// All patterns, each with its key in the file.
    var patterns: [(key: String, pattern: WildcardPattern)] {
        [("/", path), ("#", fragment), ("?", query)] + items.map { ("?.\($0.name)", $0.pattern) }
    }

    /// The sum of the weights of all patterns.
    var weight: Int { patterns.reduce(0) { $0 + $1.pattern.weight } }

    /// Returns whether the rule fits a URL; nil if a pattern is too complex to compare and all others fit.
    ///
    /// All values of a query item must fit. A missing item, or an item without a value, has an empty value. On Android,
    /// one fitting value suffices, and a missing item never fits.
    func fits(_ url: AssociationURL) -> Bool? {
        guard !isAndroid || component.fragment == nil || url.fragment != nil else { return false }
        var results = [
            fit(path, url.path), fit(fragment, url.fragment ?? ""), fit(query, url.query ?? ""),
        ]
        for item in items {
            let values = url.values(of: item.name)
            guard isAndroid else {
                results += (values.isEmpty ? [""] : values).map { fit(item.pattern, $0) }
                continue
            }
            let fitting = values.map { fit(item.pattern, $0) }
            results.append(fitting.contains(true) ? true : fitting.contains(nil) ? nil : false)
        }
        if results.contains(false) { return false }
        return results.contains(nil) ? nil : true
    }

    /// Returns whether a pattern fits a part of a URL; nil if the pattern is too complex to compare.
    private func fit(_ pattern: WildcardPattern, _ written: String) -> Bool? {
        let text = settings.readsEscapes ? AssociationURL.decoded(written) : written
        guard !pattern.isTooComplex(for: text) else { return nil }
        return isAndroid
            ? pattern.matchesOnAndroid(text) : pattern.matches(text, ignoringCase: settings.ignoresCase)
    }

    /// Whether the rule, with its own settings, has the same meaning in Google's file as in Apple's.
    ///
    /// Android has no variables, ignores no case, and has no pattern for a whole query. It always decodes escapes. A
    /// pattern for an item or the fragment that fits an empty text also fits URLs without the item or fragment on
    /// Apple's systems, but not on Android. The result ignores that a `*` before other characters may fit fewer URLs on
    /// Android.
    var isForBothPlatforms: Bool {
        if case .pattern? = component.query { return false }
        let texts = patterns.map(\.pattern.text) + items.map(\.name)
        let hasEscape = texts.contains { $0.utf8.contains(UInt8(ascii: "%")) }
        let optional = items.map(\.pattern) + (component.fragment == nil ? [] : [fragment])
        return !settings.ignoresCase && (settings.readsEscapes || !hasEscape)
            && !texts.contains { $0.range(ofASCII: "$(") != nil } && !optional.contains { $0.matches("") }
    }

    /// Returns whether this rule fits every URL that `other` fits; true is certain, but false may be wrong.
    func covers(_ other: ComponentMatcher) -> Bool {
        guard settings.ignoresCase || !other.settings.ignoresCase || isUniversal else { return false }
        guard settings.readsEscapes == other.settings.readsEscapes || isUniversal else { return false }
        guard !isAndroid || component.fragment == nil || other.component.fragment != nil
        else { return false }
        let covers = { (wide: WildcardPattern, narrow: WildcardPattern) -> Bool in
            guard !isAndroid || wide == narrow || wide.isSameOnAndroid else { return false }
            return wide.covers(narrow, ignoringCase: settings.ignoresCase)
        }
        return covers(path, other.path) && covers(fragment, other.fragment) && covers(query, other.query)
            && items.allSatisfy { item in
                item.pattern.isUniversal && !isAndroid
                    || other.items.contains { $0.name == item.name && covers(item.pattern, $0.pattern) }
            }
    }

    private var isUniversal: Bool { patterns.allSatisfy(\.pattern.isUniversal) }
}
