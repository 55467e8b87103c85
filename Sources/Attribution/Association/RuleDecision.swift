/// What becomes of a URL for one app, and the rule that decides it.
public struct RuleDecision: Equatable, Sendable {
    public enum Outcome: String, Sendable {
        case opensApp = "opens_app"
        /// A rule says that it stays in the browser.
        case excluded
        /// No rule fits it, so that it stays in the browser.
        case noRule = "no_rule"
        /// The file leaves it to the app's manifest.
        case byManifest = "by_manifest"
    }

    /// An app id of Apple's, or a package.
    public let app: String
    public let outcome: Outcome
    /// Where the rule stands in the file; nil where none fits.
    public let place: String?
    /// What it says, as an operator would write it; nil where none fits.
    public let rule: String?

    init(app: String, outcome: Outcome, place: String? = nil, rule: String? = nil) {
        self.app = app
        self.outcome = outcome
        self.place = place
        self.rule = rule
    }
}

extension AppleAssociation {
    /// What becomes of a URL, for each app in the order of the file.
    ///
    /// Systems since iOS 13; where a detail has no components, its paths count.
    public func decisions(for url: AssociationURL) -> [RuleDecision] {
        var apps: [String] = []
        for app in details.flatMap(\.appIDs) where !apps.contains(app) { apps.append(app) }
        return apps.map { app in
            for detail in details where detail.appIDs.contains(app) {
                if let decision = decision(for: url, app, detail) { return decision }
            }
            return RuleDecision(app: app, outcome: .noRule)
        }
    }

    private func decision(for url: AssociationURL, _ app: String, _ detail: Detail) -> RuleDecision? {
        if let components = detail.components {
            return components.decision(for: url, app, detail.defaults.over(defaults), variables)
        }
        for (index, path) in (detail.paths ?? []).enumerated() where LegacyPath(path).matches(url) {
            return RuleDecision(
                app: app,
                outcome: LegacyPath(path).excludes ? .excluded : .opensApp,
                place: "\(detail.place).paths[\(index)]",
                rule: path
            )
        }
        return nil
    }
}

extension AssetLinks {
    /// What becomes of a URL on Android 15 and later, for each app that may open the host's links.
    public func decisions(for url: AssociationURL) -> [RuleDecision] {
        statements.compactMap { statement in
            guard statement.relations.contains(Self.handlesURLs),
                case .app(let package, _) = statement.target
            else { return nil }
            guard let components = statement.components else {
                return RuleDecision(app: package, outcome: .byManifest, place: statement.place)
            }
            return components.decision(for: url, package, MatchingSettings(), [])
                ?? RuleDecision(app: package, outcome: .noRule)
        }
    }
}

extension [AssociationComponent] {
    /// The first one that fits decides.
    fileprivate func decision(
        for url: AssociationURL,
        _ app: String,
        _ settings: MatchingSettings,
        _ variables: [SubstitutionVariable]
    ) -> RuleDecision? {
        for component in self where ComponentMatcher(component, settings, variables).matches(url) {
            return RuleDecision(
                app: app,
                outcome: component.excludes ? .excluded : .opensApp,
                place: component.place,
                rule: LinkRule(component).text
            )
        }
        return nil
    }
}

/// An entry of a detail's `paths`, the form before iOS 13: compared with the path alone, in letters of the same case.
struct LegacyPath {
    let pattern: WildcardPattern
    let excludes: Bool

    init(_ text: String) {
        excludes = text.hasPrefix("NOT ")
        pattern = WildcardPattern(excludes ? String(text.dropFirst(4)) : text)
    }

    func matches(_ url: AssociationURL) -> Bool { pattern.matches(url.path) }
}
