public import Attribution

/// A file with which a host states which apps open its links; the raw value is the file's name.
public enum DomainFile: String, CaseIterable, Sendable {
    case apple = "apple-app-site-association"
    case google = "assetlinks.json"

    /// The path at which systems fetch the file.
    public var path: String { "/.well-known/\(rawValue)" }
}

/// A copy of a host's domain file, compared with the file that this service serves.
public struct DomainCopy: Equatable, Sendable {
    /// The server that has the copy.
    public enum Holder: String, CaseIterable, Sendable {
        /// The host itself, reached over the Internet.
        case live = "live"
        /// Apple's server, for Apple's devices.
        case apple = "apple"
        /// Google's server, for Android devices.
        case google = "google"
    }

    public enum State: Equatable, Sendable {
        /// The copy differs in nothing that the service compares.
        case current
        /// The copy differs; each text describes one difference.
        case differs([String])
        /// The service could not read the copy; the text is the reason.
        case unknown(String)
    }

    public let host: LinkHost
    public let file: DomainFile
    public let holder: Holder
    public let state: State
    /// The time of the first poll that found this state.
    public let since: Timestamp

    public init(host: LinkHost, file: DomainFile, holder: Holder, state: State, since: Timestamp) {
        (self.host, self.file, self.holder) = (host, file, holder)
        (self.state, self.since) = (state, since)
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
    /// Returns a text for each difference from another copy of the host's file.
    ///
    /// It ignores the order of apps, and comments. It reports different defaults or variables only if nothing else
    /// differs.
    public func differences(from other: AppleAssociation) -> [String] {
        let (expected, found) = (details.flatMap(\.appIDs), other.details.flatMap(\.appIDs))
        var differences = Self.differences(of: expected, from: found, "under applinks")
        differences += Self.differences(of: appClips, from: other.appClips, "under appclips")
        let (passwords, others) = (webCredentials, other.webCredentials)
        differences += Self.differences(of: passwords, from: others, "under webcredentials")
        for app in expected where found.contains(app) && rules(of: app) != other.rules(of: app) {
            differences.append("the rules of \(app) differ")
        }
        if differences.isEmpty, defaults != other.defaults || variables != other.variables {
            differences.append("defaults or variables differ")
        }
        return differences
    }

    private static func differences(of expected: [String], from found: [String], _ part: String) -> [String] {
        expected.filter { !found.contains($0) }.map { "\($0) is missing \(part)" }
            + found.filter { !expected.contains($0) }.map { "\($0) is unexpected \(part)" }
    }

    /// Returns all details of an app, without app ids, positions and comments.
    private func rules(of app: String) -> [Detail] {
        details.filter { $0.appIDs.contains(app) }.map { detail in
            let components = detail.components?.map { component in
                var component = component
                component.place = ""
                component.comment = nil
                return component
            }
            return Detail(appIDs: [], components: components, paths: detail.paths, defaults: detail.defaults)
        }
    }
}

extension AssetLinks {
    /// A relation to one target; an app with several certificates has a target for each, as in Google's service.
    private struct Pair: Hashable {
        let relation: String
        let target: String
    }

    /// Returns a text for each difference from another copy of the host's file.
    ///
    /// It does not compare rules, because Google's service does not return them by default.
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
