internal import Attribution

/// A component with all that its file says of how it is compared.
struct ComponentMatcher {
    let component: AssociationComponent
    let settings: MatchingSettings
    private let path: WildcardPattern
    private let fragment: WildcardPattern
    private let query: WildcardPattern
    private let items: [(name: String, pattern: WildcardPattern)]

    init(
        _ component: AssociationComponent,
        _ outer: MatchingSettings,
        _ variables: VariableTexts = VariableTexts([])
    ) {
        self.component = component
        settings = component.settings.over(outer)
        let compile = { (text: String?) in WildcardPattern(text ?? "*", variables) }
        path = compile(component.path)
        fragment = compile(component.fragment)
        switch component.query {
        case nil: (query, items) = (compile(nil), [])
        case .pattern(let text): (query, items) = (compile(text), [])
        case .items(let all): (query, items) = (compile(nil), all.map { ($0.name, compile($0.value)) })
        }
    }

    /// All patterns, each with the key that it stands under.
    var patterns: [(key: String, pattern: WildcardPattern)] {
        var all = [("/", path), ("#", fragment), ("?", query)]
        all += items.map { ("?.\($0.name)", $0.pattern) }
        return all.map { (key: $0.0, pattern: $0.1) }
    }

    /// How long its patterns are together, with all texts of all variables.
    var weight: Int { patterns.reduce(0) { $0 + $1.pattern.weight } }

    /// Whether the rule fits a URL; nil where that is unknown, because a pattern is too complex to be compared.
    ///
    /// All values of an item must fit; an item that is missing, or has no value, has an empty one.
    func fits(_ url: AssociationURL) -> Bool? {
        var texts = [(path, url.path), (fragment, url.fragment ?? ""), (query, url.query ?? "")]
        for item in items {
            let values = url.values(of: item.name)
            texts += (values.isEmpty ? [""] : values).map { (item.pattern, $0) }
        }
        var isKnown = true
        for (pattern, text) in texts {
            let text = settings.readsEscapes ? AssociationURL.decoded(text) : text
            if pattern.isTooComplex(for: text) {
                isKnown = false
            } else if !pattern.matches(text, ignoringCase: settings.ignoresCase) {
                return false
            }
        }
        return isKnown ? true : nil
    }

    /// Whether every URL that fits the other one fits this one too.
    func covers(_ other: ComponentMatcher) -> Bool {
        guard settings.ignoresCase || !other.settings.ignoresCase || isUniversal else { return false }
        guard settings.readsEscapes == other.settings.readsEscapes || isUniversal else { return false }
        let covers = { (own: WildcardPattern, theirs: WildcardPattern) in
            own.covers(theirs, ignoringCase: settings.ignoresCase)
        }
        return covers(path, other.path) && covers(fragment, other.fragment) && covers(query, other.query)
            && items.allSatisfy { item in
                item.pattern.isUniversal
                    || other.items.contains { $0.name == item.name && covers(item.pattern, $0.pattern) }
            }
    }

    private var isUniversal: Bool { patterns.allSatisfy(\.pattern.isUniversal) }
}
