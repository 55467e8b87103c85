public import Attribution
package import JSON

/// Apple's domain file of a host, which states which URLs of the host open which apps.
///
/// It also lists the apps with which the host shares passwords, and the host's app clips.
///
/// Source: Apple, "Supporting associated domains" and "applinks".
public struct AppleAssociation: Equatable, Sendable {
    /// The apps and their rules; for each app, the first rule that fits a URL decides.
    public var details: [Detail] = []
    public var defaults = MatchingSettings()
    public var variables: [SubstitutionVariable] = []
    /// The app ids of app clips.
    public var appClips: [String] = []
    /// The app ids of apps that share passwords with the host.
    public var webCredentials: [String] = []

    public init() {}

    public struct Detail: Equatable, Sendable {
        /// The app ids, each in the form `<prefix>.<bundle id>`.
        public var appIDs: [String]
        /// The rules; nil if the file has no list of rules for these apps.
        ///
        /// With an empty list, no URL opens the apps.
        public var components: [AssociationComponent]?
        /// Patterns of paths for iOS 12 and earlier; nil if the file has no list of paths.
        ///
        /// A path that fits a pattern with the prefix `NOT ` stays in the browser.
        public var paths: [String]?
        public var defaults: MatchingSettings
        /// The position in the file, as `applinks.details[0]`; empty if the detail comes from no file.
        public var place: String

        public init(
            appIDs: [String],
            components: [AssociationComponent]?,
            paths: [String]? = nil,
            defaults: MatchingSettings = MatchingSettings(),
            place: String = ""
        ) {
            (self.appIDs, self.components, self.paths) = (appIDs, components, paths)
            (self.defaults, self.place) = (defaults, place)
        }
    }

    /// The maximum length in bytes of a file that Apple's systems read.
    public static let maximumByteCount = 128 * 1024
}

extension AppleAssociation {
    /// Creates the file of a link host from the apps that list the host.
    ///
    /// It leaves out apps without an Apple team id. The same apps in the same order give the same file.
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

    /// Writes the file, without paths, defaults and variables, which the files of this service never have.
    package func json() -> JSONWriter {
        var json = JSONWriter(reservedCapacity: 4096)
        json.object { json in
            if !details.isEmpty {
                json.object("applinks") { json in
                    json.objects("details", details) { json, detail in
                        json.member("appIDs", detail.appIDs)
                        if let components = detail.components { json.components("components", components) }
                    }
                }
            }
            for (service, apps) in [("webcredentials", webCredentials), ("appclips", appClips)]
            where !apps.isEmpty {
                json.object(service) { $0.member("apps", apps) }
            }
        }
        return json
    }
}

extension AppLinks {
    /// The app's rules in the order in which devices apply them: first the rules that keep a URL in the browser.
    ///
    /// The service's paths always stay in the browser. If no rule opens the app, all other URLs open it.
    public var components: [AssociationComponent] {
        let written = rules.map(\.component)
        let opening = written.filter { !$0.excludes }
        return LinkSlug.reservedComponents + written.filter(\.excludes)
            + (opening.isEmpty ? [AssociationComponent(path: "*")] : opening)
    }
}

extension LinkSlug {
    /// The rules that keep the service's paths on a link host in the browser, because no app can show them.
    fileprivate static let reservedComponents: [AssociationComponent] = {
        let first = ([".well-known"] + reservedFirstParts.sorted()).flatMap { ["/\($0)", "/\($0)/*"] }
        let last = reservedLastParts.sorted().map { "/?*/\($0)" }
        return (first + last).map { AssociationComponent(path: $0, excludes: true) }
    }()
}

extension JSONWriter {
    /// Writes a member with rules.
    mutating func components(_ name: String, _ rules: [AssociationComponent]) {
        objects(name, rules) { json, component in
            json.member("/", component.path)
            switch component.query {
            case nil: break
            case .pattern(let text): json.member("?", text)
            case .items(let items):
                json.object("?") { json in for item in items { json.member(item.name, item.value) } }
            }
            json.member("#", component.fragment)
            if component.excludes { json.member("exclude", true) }
            json.member("caseSensitive", component.settings.caseSensitive)
            json.member("percentEncoded", component.settings.percentEncoded)
            json.member("comment", component.comment)
        }
    }
}
