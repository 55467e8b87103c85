public import Attribution
package import JSON

/// Google's domain file of a host, which states what apps and sites may do for the host.
///
/// Sources: Google, "Digital Asset Links: statement lists"; Android, "Configure website associations and dynamic rules".
public struct AssetLinks: Equatable, Sendable {
    public var statements: [Statement] = []
    /// The addresses of included files.
    public var includes: [String] = []

    public init() {}

    /// The relation of an app that opens the host's links without asking the user.
    public static let handlesURLs = "delegate_permission/common.handle_all_urls"
    /// The relation of an app or a site that shares passwords.
    public static let sharesCredentials = "delegate_permission/common.get_login_creds"
    /// The maximum number of included files that systems read.
    public static let maximumIncludes = 10

    public enum Target: Hashable, Sendable {
        case app(package: String, fingerprints: [String])
        /// A site, as `https://host`.
        case site(String)
    }

    public struct Statement: Equatable, Sendable {
        public var relations: [String]
        public var target: Target
        /// The rules with which Android 15 and later restrict the links of the app's manifest; nil if the statement
        /// has no list of rules.
        public var components: [AssociationComponent]?
        /// The position in the file, as `[0]`; empty if the statement comes from no file.
        public var place = ""
    }
}

extension AssetLinks {
    /// Creates the file of a link host from the apps that list the host.
    ///
    /// It leaves out apps without an Android package or without a certificate. The same apps in the same order give the
    /// same file.
    public init(host: LinkHost, apps: [App]) {
        for app in apps {
            let (links, android) = (app.settings.links, app.settings.links.android)
            guard let package = android.package, !android.certificateFingerprints.isEmpty else { continue }
            let shared = links.apple.sharesWebCredentials ? [Self.sharesCredentials] : []
            let app = Target.app(package: package, fingerprints: android.certificateFingerprints)
            let (relations, components) = ([Self.handlesURLs] + shared, links.androidComponents)
            statements.append(Statement(relations: relations, target: app, components: components))
        }
        guard statements.contains(where: { $0.relations.contains(Self.sharesCredentials) }) else { return }
        // Password managers require a statement for the site itself, too.
        let site = Statement(relations: [Self.sharesCredentials], target: .site("https://\(host.text)"))
        statements.insert(site, at: 0)
    }

    /// Writes the statements of the file; the files of this service have no includes.
    package func json() -> JSONWriter {
        var json = JSONWriter(reservedCapacity: 1024)
        json.array { json in for statement in statements { json.object { Self.write(statement, &$0) } } }
        return json
    }

    private static func write(_ statement: Statement, _ json: inout JSONWriter) {
        json.member("relation", statement.relations)
        json.object("target") { json in
            switch statement.target {
            case .site(let site):
                json.member("namespace", "web")
                json.member("site", site)
            case .app(let package, let fingerprints):
                json.member("namespace", "android_app")
                json.member("package_name", package)
                json.member("sha256_cert_fingerprints", fingerprints)
            }
        }
        guard let components = statement.components else { return }
        json.object("relation_extensions") { json in
            json.object(handlesURLs) { json in
                json.components("dynamic_app_link_components", components)
            }
        }
    }

    /// Reads the statements that Google's service returns for a site; nil if the body is not a JSON object.
    ///
    /// It skips a statement that lacks a relation or a known target. Source: Google, "Digital Asset Links API:
    /// statements.list".
    package init?(googleStatements body: [UInt8]) {
        guard let object = (try? JSONValue(parsing: body))?.object else { return nil }
        for value in object["statements"]?.array ?? [] {
            guard let statement = value.object, let relation = statement["relation"]?.string,
                let target = Target(googleTarget: statement["target"]?.object)
            else { continue }
            statements.append(Statement(relations: [relation], target: target))
        }
    }
}

extension AssetLinks.Target {
    fileprivate init?(googleTarget object: JSONObject?) {
        if let app = object?["androidApp"]?.object, let package = app["packageName"]?.string,
            let fingerprint = app["certificate"]?.object?["sha256Fingerprint"]?.string
        {
            self = .app(package: package, fingerprints: [fingerprint])
        } else if let site = object?["web"]?.object?["site"]?.string {
            // Google's service returns a site with the final dot of a fully qualified name.
            self = .site(site.hasSuffix(".") ? String(site.dropLast()) : site)
        } else {
            return nil
        }
    }
}

extension AppLinks {
    /// The app's rules for Android; nil if there are none, or if one of them would have another meaning there.
    ///
    /// If the file left out a rule, the remaining rules would have another meaning. So the file contains all rules or
    /// none. Android always decodes escapes, and its rules have no setting for that. The rules that exclude the
    /// pictures of QR codes have a slash after `*`, and Android lets such a `*` match only up to the next slash. So
    /// there is a rule for each number of slug parts.
    fileprivate var androidComponents: [AssociationComponent]? {
        let matchers = rules.map { ComponentMatcher($0.component, MatchingSettings()) }
        guard !matchers.isEmpty, matchers.allSatisfy(\.isForBothPlatforms) else { return nil }
        let parts = (2...LinkSlug.maximumPartCount).map { "/" + String(repeating: "?*/", count: $0) }
        let pictures = parts.flatMap { path in
            LinkSlug.reservedLastParts.sorted().map {
                AssociationComponent(path: path + $0, excludes: true)
            }
        }
        return (pictures + components).map { component in
            var component = component
            component.settings = MatchingSettings()
            // Android's documentation has no member `comment`, and Android discards all rules if a member is malformed.
            component.comment = nil
            return component
        }
    }
}
