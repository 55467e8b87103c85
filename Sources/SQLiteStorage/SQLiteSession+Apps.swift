public import Attribution
internal import SQLite
internal import Storage

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
