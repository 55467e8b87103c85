/// A mobile app; its clicks and first launches are separate from those of all other apps.
public struct App: Equatable, Sendable {
    /// What an operator may change about an app.
    public struct Settings: Equatable, Sendable {
        /// 1 to 100 characters, unique on the server.
        public var name: String
        /// Whether clicks without a key are accepted.
        public var openClicks: Bool
        /// Origins (`https://shop.example`) whose pages may post clicks; empty allows any.
        public var allowedOrigins: [String]
        /// The texts of the ``Destination``s that clicks may lead to; empty allows any.
        ///
        /// They restrict neither clicks that a server key posts nor taps on short links.
        public var destinations: [String]
        /// The attribution window of the app's clicks; nil for the server's standard window.
        public var window: AttributionWindow?
        /// The languages that the app comes in, as Xcode names them (`tr`, `pt-BR`); empty if unknown.
        public var localizations: [String]
        /// The language of ``localizations`` that the app uses if it has none of the device's languages.
        public var developmentLanguage: String?
        /// How likely a click must be to match, and the answer if none is likely enough.
        public var policy: MatchPolicy
        /// The link in answers that credit only a campaign, and so do not contain the click's own link.
        ///
        /// The policy ``MatchPolicy/Ambiguity/campaignOnly`` has no effect without it.
        public var defaultLink: DeepLinkURL?
        /// The settings of the app's links, landing pages and domain files.
        public var links: AppLinks
        /// The number of hours by which the app's reporting days begin before UTC days, −12…14.
        public var reportingOffset: Int64
        /// What is done with the click ids of ad networks.
        public var clickIDs: ClickIDPolicy
        /// The schemas that give Apple's conversion values their meanings.
        ///
        /// Each text is the day from which the schema is in force, a space, and the schema's JSON.
        public var conversionSchemas: [String] = []

        public static let reportingOffsets: ClosedRange<Int64> = -12...14

        /// Reads a ``reportingOffset``; nil unless the text is one.
        public static func reportingOffset(_ text: String) -> Int64? {
            Int64(text).flatMap { reportingOffsets.contains($0) ? $0 : nil }
        }

        public init(
            name: String,
            openClicks: Bool = true,
            allowedOrigins: [String] = [],
            destinations: [String] = [],
            window: AttributionWindow? = nil,
            localizations: [String] = [],
            developmentLanguage: String? = nil,
            policy: MatchPolicy = MatchPolicy(),
            defaultLink: DeepLinkURL? = nil,
            links: AppLinks = AppLinks(),
            reportingOffset: Int64 = 0,
            clickIDs: ClickIDPolicy = .keep
        ) {
            (self.name, self.openClicks, self.allowedOrigins) = (name, openClicks, allowedOrigins)
            (self.destinations, self.window, self.localizations) = (destinations, window, localizations)
            (self.developmentLanguage, self.policy) = (developmentLanguage, policy)
            self.defaultLink = defaultLink
            (self.links, self.reportingOffset, self.clickIDs) = (links, reportingOffset, clickIDs)
        }

        /// The ``policy`` in effect: without a default link, `campaignOnly` becomes `noMatch`.
        public var followedPolicy: MatchPolicy {
            guard policy.onAmbiguity == .campaignOnly, defaultLink == nil else { return policy }
            var followed = policy
            followed.onAmbiguity = .noMatch
            return followed
        }
    }

    public let id: AppID
    public var settings: Settings
    public let createdAt: Timestamp

    public init(id: AppID, settings: Settings, createdAt: Timestamp) {
        self.id = id
        self.settings = settings
        self.createdAt = createdAt
    }
}

/// Validates the names of an app in Apple's and Google's stores and systems.
package enum AppIdentifiers {
    /// Returns whether a text can be the prefix that Apple gives an app id: ten capital letters and digits.
    static func isTeam(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { $0.isASCIIDigit || ($0.isASCIILetter && $0 != $0.asciiLowercased) }
    }

    /// Returns the text if it is a bundle id: at most 155 characters, in two or more parts of letters, digits
    /// and hyphens, separated by dots; nil for any other text.
    static func bundle(_ text: String) -> String? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isBundle =
            text.utf8.count <= 155 && parts.count > 1
            && parts.allSatisfy { part in
                !part.isEmpty && part.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") }
            }
        return isBundle ? text : nil
    }

    /// Returns whether a text is an app id as in Apple's files: a prefix that ``isTeam(_:)`` accepts, a dot
    /// and a bundle id.
    package static func isAppID(_ text: String) -> Bool {
        guard let dot = text.firstIndex(of: ".") else { return false }
        return isTeam(String(text[..<dot])) && bundle(String(text[text.index(after: dot)...])) != nil
    }

    /// Reads the number of an app's page in Apple's store: 5 to 12 digits, with or without the prefix `id`.
    ///
    /// Returns nil for any other text.
    static func storeID(_ text: String) -> UInt64? {
        let digits = text.hasPrefix("id") ? text.dropFirst(2) : text[...]
        guard (5...12).contains(digits.utf8.count), digits.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return UInt64(digits)
    }

    /// Returns a certificate's SHA-256 as in Google's files: pairs of capital hexadecimal digits, separated by colons.
    ///
    /// Nil unless the text has 64 hexadecimal digits of either case, with colons between all pairs or with none.
    static func certificate(_ text: String) -> String? {
        let digits = text.utf8.filter { $0 != UInt8(ascii: ":") }
        let hasColons = text.utf8.count == 95
        guard digits.count == 64, hasColons || text.utf8.count == 64,
            digits.allSatisfy({ Hexadecimal.value(of: $0) != nil })
        else { return nil }
        let capitals = digits.map { $0.isASCIILetter ? $0 & ~0x20 : $0 }
        let pairs = stride(from: 0, to: 64, by: 2).map {
            String(decoding: capitals[$0..<$0 + 2], as: UTF8.self)
        }
        let canonical = pairs.joined(separator: ":")
        guard hasColons else { return canonical }
        return canonical.asciiLowercased == text.asciiLowercased ? canonical : nil
    }

    /// Returns an app's own URL scheme in lower case, as systems compare it; reads it with or without `://`.
    ///
    /// Nil for `http`, `https`, a scheme that links may not have, a scheme of more than 64 characters, and any
    /// text without the form of a scheme.
    static func scheme(_ text: String) -> String? {
        let name = text.hasSuffix("://") ? String(text.dropLast(3)) : text
        guard let parts = try? URLParts(Array("\(name)://host".utf8)), !parts.isWeb, name.utf8.count <= 64,
            parts.scheme == name.asciiLowercased, (try? parts.requireAllowedScheme()) != nil
        else { return nil }
        return parts.scheme
    }
}

/// A snapshot of all apps and keys; every request reads it.
///
/// It is a class, so that a request copies one reference and not each part.
public final class Directory: Equatable, Sendable {
    /// Oldest first.
    public let apps: [App]
    /// Oldest first, revoked ones included.
    public let keys: [APIKey]
    /// The ``App/Settings/followedPolicy`` of each app in ``apps``, computed once because every check reads it.
    private let policies: [MatchPolicy]
    private let appIndexes: [AppID: Int]
    private let keyIndexes: [KeyDigest: Int]

    public init(apps: [App], keys: [APIKey]) {
        self.apps = apps
        self.keys = keys
        policies = apps.map(\.settings.followedPolicy)
        appIndexes = Dictionary(zip(apps.map(\.id), apps.indices)) { first, _ in first }
        keyIndexes = Dictionary(zip(keys.map(\.digest), keys.indices)) { first, _ in first }
    }

    public static func == (left: Directory, right: Directory) -> Bool {
        left.apps == right.apps && left.keys == right.keys
    }

    public func app(_ id: AppID) -> App? { appIndexes[id].map { apps[$0] } }

    /// Returns the apps that list a host, oldest first: the host serves their domain files.
    public func apps(listing host: LinkHost) -> [App] {
        apps.filter { $0.settings.links.hosts.contains(host) }
    }

    /// Returns an app's ``App/Settings/followedPolicy``; nil for an app that does not exist.
    public func policy(of app: AppID) -> MatchPolicy? { appIndexes[app].map { policies[$0] } }

    /// Returns the apps whose links a host serves: the apps that list it; if there are none, the apps that list no
    /// host.
    ///
    /// For a nil (unknown) host, returns the apps that list no host.
    public func apps(onHost host: LinkHost?) -> [App] {
        if let host {
            let listing = apps.filter { $0.settings.links.hosts.contains(host) }
            guard listing.isEmpty else { return listing }
        }
        return apps.filter(\.settings.links.hosts.isEmpty)
    }

    /// Returns the app and all apps whose links the same host may serve; a slug must be unique among their links.
    ///
    /// The others are the apps that share a link host with the app. If the app lists no host, they are all apps that
    /// list none.
    public func neighbours(of app: App) -> [App] {
        let hosts = Set(app.settings.links.hosts)
        return apps.filter {
            $0.id == app.id || ($0.settings.links.hosts.isEmpty && hosts.isEmpty)
                || !hosts.isDisjoint(with: $0.settings.links.hosts)
        }
    }

    /// Returns the apps that would become ``neighbours(of:)`` of the app if it got the settings `links`.
    public func newNeighbours(of app: App, with links: AppLinks) -> [App] {
        let current = Set(neighbours(of: app).map(\.id))
        var changed = app
        changed.settings.links = links
        return neighbours(of: changed).filter { !current.contains($0.id) }
    }

    /// Returns what a key of one app may see: the app, its keys, and the keys that belong to no app.
    public func limited(to app: AppID) -> Directory {
        Directory(apps: apps.filter { $0.id == app }, keys: keys.filter { $0.app == app || $0.app == nil })
    }

    public func key(_ id: KeyID) -> APIKey? { keys.first { $0.id == id } }
    public func key(_ digest: KeyDigest) -> APIKey? { keyIndexes[digest].map { keys[$0] } }
}

/// The store of apps and keys.
public protocol AppStore {
    /// Returns the current apps and keys; changes by another process are visible within half a second.
    func directory() throws(StoreError) -> Directory

    // Every change is written to the audit log in the same transaction, with its actor.

    /// Creates an app and its first keys, or nothing.
    ///
    /// - Throws: `conflict` if another app has the name, or the same key text exists already.
    func create(_ app: App, with keys: [APIKey], by actor: AuditActor) async throws(StoreError)
    /// Changes an app if its settings are still `former`; a nil `former` allows any settings.
    ///
    /// - Throws: `notFound` for an unknown app, `conflict` if another app has the name, or if the settings are not
    ///   `former`.
    func update(_ app: AppID, from former: App.Settings?, to settings: App.Settings, by actor: AuditActor)
        async throws(StoreError)

    /// - Throws: `conflict` if the same key text exists already, `notFound` for an unknown app.
    func create(_ key: APIKey, by actor: AuditActor) async throws(StoreError)
    /// Revokes a key; if the key was revoked before, it retains the earlier time.
    ///
    /// - Throws: `notFound` for an unknown key.
    func revoke(_ key: KeyID, at now: Timestamp, by actor: AuditActor) async throws(StoreError)
    /// Records that a key was used; the store writes such records in batches, some seconds later.
    func noteUse(of key: KeyID, at now: Timestamp)
}
