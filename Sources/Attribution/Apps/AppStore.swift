/// All apps and keys at one time: few, and read for every request.
///
/// A class, so that a request holds a reference to it and not a copy of all its parts.
public final class Directory: Equatable, Sendable {
    /// Oldest first.
    public let apps: [App]
    /// Oldest first, revoked ones included.
    public let keys: [APIKey]
    /// The policies of the apps, in their order: each check reads one.
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

    /// Returns the apps whose links and domain files a host serves, oldest first; empty if no app lists it.
    public func apps(listing host: LinkHost) -> [App] {
        apps.filter { $0.settings.links.hosts.contains(host) }
    }

    /// Returns the policy of an app that can be followed; nil for an app that does not exist.
    public func policy(of app: AppID) -> MatchPolicy? { appIndexes[app].map { policies[$0] } }

    /// Returns the apps whose links a host serves: those that list it, or if none does, those that list no
    /// host.
    public func apps(onHost host: LinkHost?) -> [App] {
        if let host {
            let listing = apps.filter { $0.settings.links.hosts.contains(host) }
            guard listing.isEmpty else { return listing }
        }
        return apps.filter(\.settings.links.hosts.isEmpty)
    }

    /// Returns the app and all apps that share a link host with it: a slug must be unique among their links.
    public func neighbours(of app: App) -> [App] {
        let hosts = Set(app.settings.links.hosts)
        return apps.filter {
            $0.id == app.id || ($0.settings.links.hosts.isEmpty && hosts.isEmpty)
                || !hosts.isDisjoint(with: $0.settings.links.hosts)
        }
    }

    /// Returns the apps that would newly share a link host with this one under these settings.
    public func newNeighbours(of app: App, with links: AppLinks) -> [App] {
        let present = Set(neighbours(of: app).map(\.id))
        var changed = app
        changed.settings.links = links
        return neighbours(of: changed).filter { !present.contains($0.id) }
    }

    public func key(_ digest: KeyDigest) -> APIKey? { keyIndexes[digest].map { keys[$0] } }
}

/// The store of apps and keys.
public protocol AppStore {
    /// Returns the current apps and keys; changes by another process are visible within half a second.
    func directory() throws(StoreError) -> Directory

    /// Creates an app and its first keys: all of them or nothing.
    ///
    /// - Throws: `conflict` if another app has the name, or a key exists already.
    func create(_ app: App, with keys: [APIKey]) async throws(StoreError)
    /// - Throws: `notFound`, `conflict`.
    func update(_ app: AppID, to settings: App.Settings) async throws(StoreError)

    /// - Throws: `conflict` if the same key text exists already, `notFound` for an unknown app.
    func create(_ key: APIKey) async throws(StoreError)
    /// Revokes a key; a key that was revoked before keeps its time.
    ///
    /// - Throws: `notFound`.
    func revoke(_ key: KeyID, at now: Timestamp) async throws(StoreError)
    /// Records in a batch that the key was used.
    func noteUse(of key: KeyID, at now: Timestamp)
}

extension AppStore {
    /// Creates an app that has no keys yet.
    ///
    /// - Throws: `conflict` if another app has the name.
    public func create(_ app: App) async throws(StoreError) { try await create(app, with: []) }
}
