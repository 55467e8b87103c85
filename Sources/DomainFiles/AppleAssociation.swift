public import Attribution
package import JSON

/// Apple's domain file of a host: which of its URLs open which apps, and what else it shares with them.
///
/// Source: Apple, "Supporting associated domains" and "applinks".
public struct AppleAssociation: Equatable, Sendable {
    /// Apps and their rules; for each app the first rule that fits a URL decides.
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
        /// Nil if the file has none, which differs from an empty list.
        public var components: [AssociationComponent]?
        /// Patterns of paths for iOS 12 and earlier; those that begin with `NOT ` stay in the browser.
        public var paths: [String]?
        public var defaults: MatchingSettings
        /// The position in the file, as `applinks.details[0]`; empty for a detail that was not read from one.
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

    /// The length of the longest file that Apple's systems read, in bytes.
    public static let maximumByteCount = 128 * 1024
}

extension AppleAssociation {
    /// Creates the file of a link host from the apps that list it; the same apps in the same order give the same file.
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

    /// The file's content.
    package func json() -> JSONWriter {
        var json = JSONWriter(reservedCapacity: 4096)
        json.object { json in
            if !details.isEmpty {
                json.member("applinks") { json in
                    json.object { json in
                        json.member("details") { json in
                            json.array { json in for detail in details { Self.write(detail, &json) } }
                        }
                    }
                }
            }
            for (service, apps) in [("webcredentials", webCredentials), ("appclips", appClips)]
            where !apps.isEmpty {
                json.member(service) { $0.object { json in json.member("apps") { $0.texts(apps) } } }
            }
        }
        return json
    }

    private static func write(_ detail: Detail, _ json: inout JSONWriter) {
        json.object { json in
            json.member("appIDs") { $0.texts(detail.appIDs) }
            if let components = detail.components { json.member("components") { $0.components(components) } }
        }
    }
}

extension AppLinks {
    /// The app's rules in the order in which devices apply them: those that keep a URL in the browser first.
    ///
    /// The service's own paths always stay in the browser. If no rule opens the app, all other URLs do.
    public var components: [AssociationComponent] {
        let written = rules.map(\.component)
        let opening = written.filter { !$0.excludes }
        return LinkSlug.reservedComponents + written.filter(\.excludes)
            + (opening.isEmpty ? [AssociationComponent(path: "*")] : opening)
    }
}

extension LinkSlug {
    /// Rules for the paths that the service itself answers on a link host, which no app could show.
    fileprivate static let reservedComponents: [AssociationComponent] = {
        let first = ([".well-known"] + reservedFirstParts.sorted()).flatMap { ["/\($0)", "/\($0)/*"] }
        let last = reservedLastParts.sorted().map { "/?*/\($0)" }
        return (first + last).map { AssociationComponent(path: $0, excludes: true) }
    }()
}

extension JSONWriter {
    /// Writes rules; the two files have different names for comments.
    mutating func components(_ components: [AssociationComponent], comment: String = "comment") {
        array { json in
            for component in components {
                json.object { json in
                    json.member("/", component.path)
                    switch component.query {
                    case nil: break
                    case .pattern(let text): json.member("?", text)
                    case .items(let items):
                        json.member("?") { json in
                            json.object { json in for item in items { json.member(item.name, item.value) } }
                        }
                    }
                    json.member("#", component.fragment)
                    if component.excludes { json.member("exclude", true) }
                    json.member("caseSensitive", component.settings.caseSensitive)
                    json.member("percentEncoded", component.settings.percentEncoded)
                    json.member(comment, component.comment)
                }
            }
        }
    }
}
