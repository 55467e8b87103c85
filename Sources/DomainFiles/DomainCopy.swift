public import Attribution

/// The two files in which a host says whose its links are, by their names.
public enum DomainFile: String, CaseIterable, Sendable {
    case apple = "apple-app-site-association"
    case google = "assetlinks.json"

    /// Where it is looked for.
    public var path: String { "/.well-known/\(rawValue)" }
}

/// One of the places where a host's domain file can be read, and how it stands there.
public struct DomainCopy: Equatable, Sendable {
    /// Who shows the copy.
    public enum Holder: String, CaseIterable, Sendable {
        /// The host itself, as the Internet sees it.
        case live
        /// Apple, for its devices.
        case apple
        /// Google, for its own.
        case google
    }

    public enum State: Equatable, Sendable {
        /// It says what this service says.
        case current
        /// It says something else: what, in words.
        case differs([String])
        /// It could not be read, and why.
        case unknown(String)
    }

    public let host: LinkHost
    public let file: DomainFile
    public let holder: Holder
    public let state: State
    /// Since when it stands so, as far as was looked.
    public let since: Timestamp

    public init(host: LinkHost, file: DomainFile, holder: Holder, state: State, since: Timestamp) {
        self.host = host
        self.file = file
        self.holder = holder
        self.state = state
        self.since = since
    }

    /// Who shows what, as a sentence begins.
    public var title: String {
        switch holder {
        case .live: "what \(host.text) shows as \(file.rawValue)"
        case .apple: "Apple's copy of the \(file.rawValue) of \(host.text)"
        case .google: "Google's copy of the \(file.rawValue) of \(host.text)"
        }
    }
}

extension AppleAssociation {
    /// What another reading of the same host's file says otherwise; nothing where both say the same.
    public func differences(from other: AppleAssociation) -> [String] {
        var differences = Self.differences(
            of: details.flatMap(\.appIDs),
            from: other.details.flatMap(\.appIDs),
            "under applinks"
        )
        differences += Self.differences(of: appClips, from: other.appClips, "under appclips")
        differences += Self.differences(
            of: webCredentials,
            from: other.webCredentials,
            "under webcredentials"
        )
        for app in details.flatMap(\.appIDs) where other.details.contains(where: { $0.appIDs.contains(app) })
        {
            if rules(of: app) != other.rules(of: app) { differences.append("the rules of \(app) differ") }
        }
        if differences.isEmpty, defaults != other.defaults || variables != other.variables {
            differences.append("defaults or variables differ")
        }
        return differences
    }

    private static func differences(of own: [String], from theirs: [String], _ place: String) -> [String] {
        own.filter { !theirs.contains($0) }.map { "\($0) is missing \(place)" }
            + theirs.filter { !own.contains($0) }.map { "\($0) is too much \(place)" }
    }

    private struct Rules: Equatable {
        var components: [AssociationComponent]?
        var paths: [String]?
        var defaults: MatchingSettings
    }

    /// What stands in the details of an app, wherever that is.
    private func rules(of app: String) -> [Rules] {
        details.filter { $0.appIDs.contains(app) }.map { detail in
            let components = detail.components?.map { component in
                var component = component
                component.place = ""
                component.comment = nil
                return component
            }
            return Rules(components: components, paths: detail.paths, defaults: detail.defaults)
        }
    }
}

extension AssetLinks {
    /// One thing that the file says, as Google's service tells it: without rules, one certificate each.
    private struct Claim: Hashable {
        let relation: String
        let target: String
    }

    /// What another reading of the same host's file says otherwise; nothing where both say the same.
    ///
    /// Rules are left out: Google's service does not tell them unless asked.
    public func differences(from other: AssetLinks) -> [String] {
        let (own, theirs) = (claims, other.claims)
        return own.filter { !theirs.contains($0) }.map { "\($0.target) is missing for \($0.relation)" }
            + theirs.filter { !own.contains($0) }.map { "\($0.target) is too much for \($0.relation)" }
    }

    private var claims: [Claim] {
        statements.flatMap { statement in
            statement.relations.flatMap { relation in
                switch statement.target {
                case .site(let site): [Claim(relation: relation, target: site)]
                case .app(let package, let fingerprints):
                    fingerprints.map { Claim(relation: relation, target: "\(package) \($0)") }
                }
            }
        }
    }
}
