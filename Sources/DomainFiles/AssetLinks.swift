public import Attribution

/// What Google's domain file of a host says: which apps may do what on its behalf.
///
/// Source: Google, "Digital Asset Links: statement lists" and Android, "Configure website associations and dynamic
/// rules". The JSON form is read and written elsewhere.
public struct AssetLinks: Equatable, Sendable {
    public var statements: [Statement] = []
    /// Addresses of further files.
    public var includes: [String] = []

    public init() {}

    /// That an app opens the host's links without asking.
    public static let handlesURLs = "delegate_permission/common.handle_all_urls"
    /// That passwords are shared.
    public static let sharesCredentials = "delegate_permission/common.get_login_creds"
    /// Most files that one may include.
    public static let maximumIncludes = 10

    public enum Target: Equatable, Sendable {
        case app(package: String, fingerprints: [String])
        /// `https://host`.
        case site(String)
    }

    public struct Statement: Equatable, Sendable {
        public var relations: [String]
        public var target: Target
        /// Rules that Android 15 and later follow within what the app's manifest allows; nil where there are none.
        public var components: [AssociationComponent]?
        /// As `[0]`; empty for one that stands in no file.
        public var place: String

        public init(
            relations: [String],
            target: Target,
            components: [AssociationComponent]? = nil,
            place: String = ""
        ) {
            self.relations = relations
            self.target = target
            self.components = components
            self.place = place
        }
    }
}

extension AssetLinks {
    /// What the apps that list a link host have to say there.
    ///
    /// The same apps in the same order always give the same.
    public init(host: LinkHost, apps: [App]) {
        for app in apps {
            let (links, android) = (app.settings.links, app.settings.links.android)
            guard let package = android.package, !android.certificateFingerprints.isEmpty else { continue }
            let isShared = links.apple.sharesWebCredentials
            statements.append(
                Statement(
                    relations: isShared ? [Self.handlesURLs, Self.sharesCredentials] : [Self.handlesURLs],
                    target: .app(package: package, fingerprints: android.certificateFingerprints),
                    components: links.androidComponents
                )
            )
        }
        guard statements.contains(where: { $0.relations.contains(Self.sharesCredentials) }) else { return }
        // Password managers want the site to name itself among those that share.
        let site = Statement(relations: [Self.sharesCredentials], target: .site("https://\(host.text)"))
        statements.insert(site, at: 0)
    }
}

extension AppLinks {
    /// The app's rules as Android knows them: nil where it has none, or one that cannot be said there.
    ///
    /// Android's rules know neither other cases of letters nor escapes; half of the rules would mean something else.
    fileprivate var androidComponents: [AssociationComponent]? {
        guard !rules.isEmpty, rules.allSatisfy(\.component.isPlain) else { return nil }
        return components
    }
}

extension AssociationComponent {
    /// Whether it says nothing of cases and escapes, and has no variables.
    var isPlain: Bool {
        let texts = ComponentMatcher(self, MatchingSettings()).patterns.map(\.pattern.text)
        return settings == MatchingSettings() && !texts.contains { $0.contains("$(") }
    }
}
