internal import Attribution

/// The decision whether a URL opens an app, with the rule that decides.
public struct RuleDecision: Equatable, Sendable {
    public enum Outcome: String, CaseIterable, Sendable {
        /// A rule opens the app.
        case opensApp = "opens_app"
        /// A rule keeps the URL in the browser.
        case excluded = "excluded"
        /// No rule fits the URL, so that it stays in the browser.
        case noRule = "no_rule"
        /// The app's statement in Google's file has no rules, so that the app's manifest decides.
        case byManifest = "by_manifest"
        /// The outcome is unknown, because comparing the next rule would take too many steps.
        case tooComplex = "too_complex"
    }

    /// Apple's app id, or an Android package.
    public let app: String
    public let outcome: Outcome
    /// The position in the file of the deciding or too complex rule, or of a statement without rules; nil for
    /// ``Outcome/noRule``.
    public private(set) var place: String?
    /// The deciding or too complex rule, as an operator would write it; nil if no rule fits or there are no rules.
    public private(set) var rule: String?
}

extension AppleAssociation {
    /// Returns the decision about a URL for each app, in the order of the file.
    ///
    /// It decides as iOS 13 and later do: the paths of a detail (a list of apps with their rules) apply only if the
    /// detail has no components.
    public func decisions(for url: AssociationURL) -> [RuleDecision] {
        var apps: [String] = []
        var known: Set<String> = []
        var decisions: [String: RuleDecision] = [:]
        let values = VariableValues(variables)
        var budget = RuleBudget(for: url)
        // The fitting rule is the same for all apps of a detail.
        for detail in details {
            let fitting = fittingRule(of: detail, url, values, &budget)
            for app in detail.appIDs {
                if known.insert(app).inserted { apps.append(app) }
                if decisions[app] == nil { decisions[app] = fitting?.decision(for: app) }
            }
        }
        return apps.map { decisions[$0] ?? RuleDecision(app: $0, outcome: .noRule) }
    }

    private func fittingRule(
        of detail: Detail,
        _ url: AssociationURL,
        _ values: VariableValues,
        _ budget: inout RuleBudget
    ) -> FittingRule? {
        if let components = detail.components {
            let settings = detail.defaults.over(defaults)
            return components.fittingRule(url, &budget) { ComponentMatcher($0, settings, values) }
        }
        for (index, path) in (detail.paths ?? []).enumerated() {
            let rule = LegacyPath(path)
            let fits = budget.allows(rule.pattern.weight) ? rule.fits(url) : nil
            guard fits != false else { continue }
            let place = "\(detail.place).paths[\(index)]"
            return FittingRule(excludes: rule.excludes, isKnown: fits == true, place: place, text: path)
        }
        return nil
    }
}

extension AssetLinks {
    /// Returns the decision of Android 15 and later about a URL, for each statement that lets an app open links.
    public func decisions(for url: AssociationURL) -> [RuleDecision] {
        var budget = RuleBudget(for: url)
        return statements.compactMap { statement in
            guard statement.relations.contains(Self.handlesURLs),
                case .app(let package, _) = statement.target
            else { return nil }
            guard let components = statement.components else {
                return RuleDecision(app: package, outcome: .byManifest, place: statement.place)
            }
            let rule = components.fittingRule(url, &budget) { ComponentMatcher(android: $0) }
            return rule?.decision(for: package) ?? RuleDecision(app: package, outcome: .noRule)
        }
    }
}

/// The first rule that fits a URL, or that is too complex to compare.
private struct FittingRule {
    let excludes: Bool
    /// False for a rule that is too complex to compare.
    let isKnown: Bool
    let place: String
    let text: String

    func decision(for app: String) -> RuleDecision {
        let outcome: RuleDecision.Outcome = !isKnown ? .tooComplex : excludes ? .excluded : .opensApp
        return RuleDecision(app: app, outcome: outcome, place: place, rule: text)
    }
}

/// The number of steps that remain for comparing a file with a URL.
///
/// The steps are limited, because files come from strangers. A file that a person wrote does not reach the limit.
private struct RuleBudget {
    private static let maximumSteps = 20_000_000

    private let length: Int
    private var left = Self.maximumSteps

    init(for url: AssociationURL) {
        length = url.path.utf8.count + (url.query ?? "").utf8.count + (url.fragment ?? "").utf8.count + 1
    }

    /// Takes the steps of a rule of this weight, and returns whether enough steps remained.
    mutating func allows(_ weight: Int) -> Bool {
        left -= weight * length
        return left >= 0
    }
}

extension [AssociationComponent] {
    /// Returns the first rule that fits the URL or is too complex to compare; nil without such a rule.
    fileprivate func fittingRule(
        _ url: AssociationURL,
        _ budget: inout RuleBudget,
        _ makeMatcher: (AssociationComponent) -> ComponentMatcher
    ) -> FittingRule? {
        for component in self {
            let matcher = makeMatcher(component)
            let fits = budget.allows(matcher.weight) ? matcher.fits(url) : nil
            guard fits != false else { continue }
            let (excludes, place, text) = (component.excludes, component.place, LinkRule(component).text)
            return FittingRule(excludes: excludes, isKnown: fits == true, place: place, text: text)
        }
        return nil
    }
}

/// An entry of a detail's `paths`, the form of rules before iOS 13.
///
/// Systems compare the entry with the URL's path alone, and distinguish capitals from small letters.
struct LegacyPath {
    let pattern: WildcardPattern
    let excludes: Bool

    init(_ text: String) {
        excludes = text.hasPrefix("NOT ")
        pattern = WildcardPattern(excludes ? String(text.dropFirst(4)) : text)
    }

    /// Returns whether the entry fits a URL; nil if the entry is too complex to compare.
    func fits(_ url: AssociationURL) -> Bool? {
        pattern.isTooComplex(for: url.path) ? nil : pattern.matches(url.path)
    }
}
