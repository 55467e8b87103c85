public import Attribution
internal import SQLite
internal import Storage

extension SQLiteSession: LinkStore {
    public func link(_ slug: LinkSlug, of apps: [AppID]) async throws(StoreError) -> LinkListing? {
        try read { reader throws(SQLiteError) in try reader.listing(slug, of: apps) }
    }

    public func link(_ id: LinkID) async throws(StoreError) -> LinkListing? {
        try read { reader throws(SQLiteError) in try reader.listing(id) }
    }

    public func sharedSlug(of app: AppID, and other: AppID) async throws(StoreError) -> LinkSlug? {
        try await readInBackground { reader throws(SQLiteError) in
            try reader.sharedSlug(of: app, and: other)
        }
    }

    public func links(_ query: LinkQuery) async throws(StoreError) -> LinkPage {
        try await readInBackground { reader throws(SQLiteError) in try reader.page(query) }
    }

    public func liveLink(
        ofCampaign key: CampaignKey,
        of apps: [AppID],
        at now: Timestamp
    ) async throws(StoreError) -> LinkListing? {
        try read { reader throws(SQLiteError) in
            try reader.liveListing(ofCampaign: key, of: apps, at: now)
        }
    }

    public func create(_ links: [NewLink]) async throws(LinkStoreError) {
        try await change(.create(links))
    }

    public func update(_ link: Link, ifUpdatedAt earlier: Timestamp?) async throws(LinkStoreError) {
        try await change(.update(link, ifUpdatedAt: earlier))
    }

    public func delete(_ link: LinkID) async throws(LinkStoreError) {
        try await change(.delete(link))
    }

    private func change(_ change: LinkChange) async throws(LinkStoreError) {
        let written: Written
        do throws(StoreError) {
            written = try await write(.links(change))
        } catch {
            throw .store(error)
        }
        if case .linkRefused(let error) = written { throw error }
    }
}

extension SQLiteSession: AppStore {
    public func directory() throws(StoreError) -> Directory {
        try currentDirectory()
    }

    public func create(_ app: App, with keys: [APIKey]) async throws(StoreError) {
        try await write(.directory(.createApp(app, keys)))
    }

    public func update(_ app: AppID, to settings: App.Settings) async throws(StoreError) {
        try await write(.directory(.updateApp(app, settings)))
    }

    public func create(_ key: APIKey) async throws(StoreError) {
        try await write(.directory(.createKey(key)))
    }

    public func revoke(_ key: KeyID, at now: Timestamp) async throws(StoreError) {
        try await write(.directory(.revokeKey(key, at: now)))
    }

    public func noteUse(of key: KeyID, at now: Timestamp) {
        // Most requests bring the key of the one before, and a second more or less is not told.
        if let last = lastKeyUse, last.key == key, (0..<1000).contains(now.milliseconds(since: last.at)) {
            return
        }
        lastKeyUse = (key, now)
        updates.update { $0.noteUse(of: key, at: now) }
    }
}
