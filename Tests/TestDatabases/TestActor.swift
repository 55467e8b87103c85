package import Attribution

extension AuditActor {
    /// The author of changes in tests that are not about the audit log.
    package static let test = AuditActor.command(user: "test")
}

/// Changes by ``AuditActor/test``.
extension AppStore {
    package func create(_ app: App, with keys: [APIKey] = []) async throws(StoreError) {
        try await create(app, with: keys, by: .test)
    }

    package func update(_ app: AppID, to settings: App.Settings) async throws(StoreError) {
        try await update(app, from: nil, to: settings, by: .test)
    }

    package func create(_ key: APIKey) async throws(StoreError) { try await create(key, by: .test) }

    package func revoke(_ key: KeyID, at now: Timestamp) async throws(StoreError) {
        try await revoke(key, at: now, by: .test)
    }
}

extension LinkStore {
    package func create(_ links: [NewLink]) async throws(LinkStoreError) {
        try await create(links, by: .test)
    }

    package func update(_ link: Link, ifUpdatedAt earlier: Timestamp?) async throws(LinkStoreError) {
        try await update(link, ifUpdatedAt: earlier, by: .test)
    }

    package func delete(_ link: LinkID) async throws(LinkStoreError) { try await delete(link, by: .test) }
}

extension LearningStore {
    package func resetLearning(of app: AppID, isTest: Bool) async throws(StoreError) {
        try await resetLearning(of: app, isTest: isTest, by: .test)
    }
}

extension SessionStore {
    package func end(_ session: KeyDigest) async throws(StoreError) { try await end(session, by: .test) }
}

extension PostbackStore {
    package func create(_ endpoint: PostbackEndpoint) async throws(StoreError) {
        try await create(endpoint, by: .test)
    }

    package func set(_ endpoint: EndpointID, to state: PostbackEndpoint.State) async throws(StoreError) {
        try await change(endpoint, .set(state, reason: state == .enabled ? "" : "a test"), by: .test)
    }

    package func replay(_ replay: PostbackReplay, to endpoint: EndpointID) async throws(StoreError) -> Int {
        try await self.replay(replay, to: endpoint, by: .test)
    }
}
