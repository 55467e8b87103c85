/// All apps and keys as they were at one moment: small, and asked on every request.
///
/// A class, so that a request carries a reference to it and not a copy of all its parts.
public final class Directory: Equatable, Sendable {
    /// Oldest first.
    public let apps: [App]
    /// Oldest first, revoked ones included.
    public let keys: [APIKey]
    /// Of the apps, in their order: each is asked for on every check.
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

    public func app(_ id: AppID) -> App? {
        appIndexes[id].map { apps[$0] }
    }

    /// The apps whose links and domain files a host answers, oldest first; none where no app lists it.
    public func apps(listing host: LinkHost) -> [App] {
        apps.filter { $0.settings.links.hosts.contains(host) }
    }

    /// What an app wants done with a probability, as far as that can be followed; nil for an app that is not there.
    public func policy(of app: AppID) -> MatchPolicy? {
        appIndexes[app].map { policies[$0] }
    }

    /// The apps whose links are answered on a host: those that list it, or where none does, those that list none.
    public func apps(onHost host: LinkHost?) -> [App] {
        if let host {
            let listing = apps.filter { $0.settings.links.hosts.contains(host) }
            guard listing.isEmpty else { return listing }
        }
        return apps.filter(\.settings.links.hosts.isEmpty)
    }

    /// The apps among whose links a slug of this app must be unique: those that share a link host with it, itself
    /// included.
    public func neighbours(of app: App) -> [App] {
        let hosts = Set(app.settings.links.hosts)
        return apps.filter {
            $0.id == app.id || ($0.settings.links.hosts.isEmpty && hosts.isEmpty)
                || !hosts.isDisjoint(with: $0.settings.links.hosts)
        }
    }

    /// The apps that would share a link host with this one if its links were set so, and do not now.
    public func newNeighbours(of app: App, with links: AppLinks) -> [App] {
        let present = Set(neighbours(of: app).map(\.id))
        var changed = app
        changed.settings.links = links
        return neighbours(of: changed).filter { !present.contains($0.id) }
    }

    public func key(_ digest: KeyDigest) -> APIKey? {
        keyIndexes[digest].map { keys[$0] }
    }
}

/// Where apps and keys are kept.
public protocol AppStore {
    /// The present apps and keys. What another process changed is seen within half a second.
    func directory() throws(StoreError) -> Directory

    /// Makes an app and its first keys: all of them or nothing.
    ///
    /// - Throws: `conflict` when another app has the name, or a key is there already.
    func create(_ app: App, with keys: [APIKey]) async throws(StoreError)
    /// - Throws: `notFound`, `conflict`.
    func update(_ app: AppID, to settings: App.Settings) async throws(StoreError)

    /// - Throws: `conflict` when the same key text is there already, `notFound` for an unknown app.
    func create(_ key: APIKey) async throws(StoreError)
    /// A key that was revoked before stays revoked since then.
    /// - Throws: `notFound`.
    func revoke(_ key: KeyID, at now: Timestamp) async throws(StoreError)
    /// Notes that the key was used. Batched.
    func noteUse(of key: KeyID, at now: Timestamp)
}

extension AppStore {
    /// Makes an app that has no keys yet.
    ///
    /// - Throws: `conflict` when another app has the name.
    public func create(_ app: App) async throws(StoreError) {
        try await create(app, with: [])
    }
}
