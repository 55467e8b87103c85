public import Attribution

/// What Apple's domain file of a host says: which of its URLs open which apps, and what else it shares with them.
///
/// Source: Apple, "Supporting associated domains" and "applinks". The JSON form is read and written elsewhere.
public struct AppleAssociation: Equatable, Sendable {
    /// Apps and the rules for them; of those that fit a URL, an app goes by the first.
    public var details: [Detail] = []
    public var defaults = MatchingSettings()
    public var variables: [SubstitutionVariable] = []
    /// App ids of app clips.
    public var appClips: [String] = []
    /// App ids that share passwords with the host.
    public var webCredentials: [String] = []

    public init() {}

    public struct Detail: Equatable, Sendable {
        /// `<prefix>.<bundle id>` each.
        public var appIDs: [String]
        /// Nil where the file has none, which is not the same as none at all.
        public var components: [AssociationComponent]?
        /// What iOS 12 and before go by: patterns of paths, with `NOT ` before those that stay in the browser.
        public var paths: [String]?
        public var defaults: MatchingSettings
        /// As `applinks.details[0]`; empty for one that stands in no file.
        public var place: String

        public init(
            appIDs: [String],
            components: [AssociationComponent]?,
            paths: [String]? = nil,
            defaults: MatchingSettings = MatchingSettings(),
            place: String = ""
        ) {
            self.appIDs = appIDs
            self.components = components
            self.paths = paths
            self.defaults = defaults
            self.place = place
        }
    }

    /// Longest file that Apple's systems read, in bytes.
    public static let maximumByteCount = 128 * 1024
}

extension AppleAssociation {
    /// What the apps that list a link host have to say there.
    ///
    /// The same apps in the same order always give the same.
    public init(apps: [App]) {
        for app in apps {
            let (links, apple) = (app.settings.links, app.settings.links.apple)
            guard let team = apple.teamID else { continue }
            let appIDs = apple.bundleIDs.map { "\(team).\($0)" }
            appClips += apple.appClipIDs.map { "\(team).\($0)" }
            guard !appIDs.isEmpty else { continue }
            details.append(Detail(appIDs: appIDs, components: links.components))
            if apple.sharesWebCredentials { webCredentials += appIDs }
        }
    }
}

extension AppLinks {
    /// The app's rules in the order in which devices go through them: what stays in the browser first.
    ///
    /// The service's own paths always stay there. An app that names no URLs to open opens all others.
    public var components: [AssociationComponent] {
        let own = rules.map(\.component)
        let opened = own.filter { !$0.excludes }
        return LinkSlug.ownPaths + own.filter(\.excludes)
            + (opened.isEmpty ? [AssociationComponent(path: "*")] : opened)
    }
}

extension LinkSlug {
    /// Rules for what the service answers itself on a link host, which no app could show.
    fileprivate static let ownPaths: [AssociationComponent] = {
        let first = ([".well-known"] + reservedFirstParts.sorted()).flatMap { ["/\($0)", "/\($0)/*"] }
        let last = reservedLastParts.sorted().map { "/?*/\($0)" }
        return (first + last).map { AssociationComponent(path: $0, excludes: true) }
    }()
}
