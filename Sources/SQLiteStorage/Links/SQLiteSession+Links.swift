public import Attribution
internal import SQLite
internal import Threads

extension SQLiteSession: LinkStore {
    public func link(_ slug: LinkSlug, of apps: [AppID]) async throws(StoreError) -> LinkListing? {
        try read { connection throws(SQLiteError) in
            try LinkRow.find(slug, of: apps, on: connection)?.listing(on: connection)
        }
    }

    public func link(_ id: LinkID) async throws(StoreError) -> LinkListing? {
        try read { connection throws(SQLiteError) in
            try LinkRow.find(id, on: connection)?.listing(on: connection)
        }
    }

    public func sharedSlug(of app: AppID, and other: AppID) async throws(StoreError) -> LinkSlug? {
        try await readInBackground { connection throws(SQLiteError) in
            try connection.statement(LinkSQL.sharedSlug).first(app.high, app.low, other.high, other.low) {
                LinkSlug(stored: $0.text(0))
            }
        }
    }

    public func links(_ query: LinkQuery) async throws(StoreError) -> LinkPage {
        try await readInBackground { connection throws(SQLiteError) in
            try LinkPageReader(connection: connection).page(query)
        }
    }

    public func liveLink(
        ofCampaign key: CampaignKey,
        of apps: [AppID],
        at now: Timestamp
    ) async throws(StoreError) -> LinkListing? {
        try read { connection throws(SQLiteError) in
            try connection.statement(LinkSQL.liveOfCampaign).all(key.text, now.milliseconds) {
                row throws(SQLiteError) in
                try LinkRow(row)
            }
            .filter { apps.contains($0.app) }
            .max { $0.number < $1.number }?
            .listing(on: connection)
        }
    }

    public func create(_ links: [NewLink]) async throws(LinkStoreError) {
        try await change { context throws(SQLiteError) in try context.create(links) }
    }

    public func update(_ link: Link, ifUpdatedAt earlier: Timestamp?) async throws(LinkStoreError) {
        try await change { context throws(SQLiteError) in try context.update(link, ifUpdatedAt: earlier) }
    }

    public func delete(_ link: LinkID) async throws(LinkStoreError) {
        try await change { context throws(SQLiteError) in try context.delete(link) }
    }

    /// Does a change, which is undone as a whole where it is refused.
    private func change(
        _ body: @escaping @Sendable (WriteContext) throws(SQLiteError) -> Result<Void, LinkStoreError>
    ) async throws(LinkStoreError) {
        // The queue knows only its own errors; what is refused is told through here.
        let refusal = ConditionLock<LinkStoreError?>(nil)
        do throws(StoreError) {
            try await write { context throws(SQLiteError) in
                let result = try body(context)
                guard case .failure(let error) = result else {
                    refusal.withLock { $0 = nil }
                    return .success(())
                }
                refusal.withLock { $0 = error }
                return .failure(StoreError(.conflict, "a link was refused"))
            }
        } catch {
            throw refusal.withLock { $0 } ?? .store(error)
        }
    }
}
