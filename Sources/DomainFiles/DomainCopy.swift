public import Attribution

/// A file with which a host ties its links to apps, by its name.
public enum DomainFile: String, CaseIterable, Sendable {
    case apple = "apple-app-site-association"
    case google = "assetlinks.json"

    /// The path where systems look for it.
    public var path: String { "/.well-known/\(rawValue)" }
}

/// A copy of a host's domain file, and how it differs from the file that this service serves.
public struct DomainCopy: Equatable, Sendable {
    /// The server that shows the copy.
    public enum Holder: String, CaseIterable, Sendable {
        /// The host itself, as the Internet sees it.
        case live = "live"
        /// Apple's copy for its devices.
        case apple = "apple"
        /// Google's copy for its devices.
        case google = "google"
    }

    public enum State: Equatable, Sendable {
        /// The copy says the same.
        case current
        /// The copy says something else; each difference in words.
        case differs([String])
        /// The copy could not be read, with the reason.
        case unknown(String)
    }

    public let host: LinkHost
    public let file: DomainFile
    public let holder: Holder
    public let state: State
    /// The first poll that found this state.
    public let since: Timestamp

    public init(host: LinkHost, file: DomainFile, holder: Holder, state: State, since: Timestamp) {
        self.host = host
        self.file = file
        self.holder = holder
        self.state = state
        self.since = since
    }

    /// The copy's name, as the subject of a sentence.
    public var title: String {
        switch holder {
        case .live: "what \(host.text) shows as \(file.rawValue)"
        case .apple: "Apple's copy of the \(file.rawValue) of \(host.text)"
        case .google: "Google's copy of the \(file.rawValue) of \(host.text)"
        }
    }
}

extension AppleAssociation {
    /// Returns what another copy of the host's file says differently, in words; empty if both say the same.
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

    private static func differences(of expected: [String], from found: [String], _ place: String) -> [String]
    {
        expected.filter { !found.contains($0) }.map { "\($0) is missing \(place)" }
            + found.filter { !expected.contains($0) }.map { "\($0) is unexpected \(place)" }
    }

    private struct Rules: Equatable {
        var components: [AssociationComponent]?
        var paths: [String]?
        var defaults: MatchingSettings
    }

    /// Returns the rules in all details of an app, without positions and comments.
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
    /// A relation to one target, as Google's service reports it: without rules, and with one certificate each.
    private struct Pair: Hashable {
        let relation: String
        let target: String
    }

    /// Returns what another copy of the host's file says differently, in words; empty if both say the same.
    ///
    /// Rules are not compared, because Google's service does not return them by default.
    public func differences(from other: AssetLinks) -> [String] {
        let (expected, found) = (pairs, other.pairs)
        return expected.filter { !found.contains($0) }.map { "\($0.target) is missing for \($0.relation)" }
            + found.filter { !expected.contains($0) }.map { "\($0.target) is unexpected for \($0.relation)" }
    }

    private var pairs: [Pair] {
        statements.flatMap { statement in
            statement.relations.flatMap { relation in
                switch statement.target {
                case .site(let site): [Pair(relation: relation, target: site)]
                case .app(let package, let fingerprints):
                    fingerprints.map { Pair(relation: relation, target: "\(package) \($0)") }
                }
            }
        }
    }
}
