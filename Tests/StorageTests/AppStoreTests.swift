import Attribution
import TestDatabases
import Testing

@Suite("Apps and keys")
struct AppStoreTests {
    private static func key(_ number: UInt64, kind: KeyKind = .app, app: AppID? = AppID(high: 1, low: 1))
        throws -> APIKey
    {
        let digest = try #require(
            KeyDigest(bytes: Array(repeating: UInt8(truncatingIfNeeded: number), count: 32))
        )
        return APIKey(
            id: KeyID(high: 10, low: number),
            kind: kind,
            app: app,
            label: "Key \(number)",
            digest: digest,
            createdAt: TestStore.noon,
            expiresAt: number == 2 ? TestStore.noon : nil
        )
    }

    @Test("apps and keys are read as they were created, oldest first", arguments: backends)
    func keepsDirectory(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let settings = App.Settings(
            name: "Café Ünlü",
            openClicks: false,
            allowedOrigins: ["https://b.example", "https://a.example"],
            destinations: ["myapp://", "https://shop.example"],
            window: AttributionWindow(seconds: 3600),
            localizations: ["tr", "en", "pt-BR"],
            developmentLanguage: "en",
            policy: MatchPolicy(
                rule: .newest,
                minimumConfidence: 0.85,
                onAmbiguity: .campaignOnly,
                usesFingerprints: false
            ),
            defaultLink: DeepLinkURL(stored: "myapp://home"),
            clickIDs: .answer
        )
        let app = App(id: AppID(high: 2, low: 2), settings: settings, createdAt: TestStore.noon)
        let keys = [try Self.key(1), try Self.key(2, kind: .admin, app: nil), try Self.key(3, kind: .test)]
        let directory = try await test.run { session in
            try await session.create(app)
            for key in keys { try await session.create(key) }
            return try session.directory()
        }
        #expect(directory.apps.map(\.settings.name) == ["Shop", "Café Ünlü"])
        #expect(directory.app(app.id) == app)
        #expect(directory.keys == keys)
        #expect(directory.key(keys[2].digest) == keys[2])
    }

    @Test("a change from settings that an app no longer has is refused", arguments: backends)
    func refusesFormerSettings(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let shown = try await test.run { session in
            let app = try #require(try session.directory().apps.first)
            var (first, second) = (app.settings, app.settings)
            (first.openClicks, second.allowedOrigins) = (!first.openClicks, ["https://c.example"])
            try await session.update(app.id, from: app.settings, to: first, by: .test)
            await #expect(throws: StoreError.self) {
                try await session.update(app.id, from: app.settings, to: second, by: .test)
            }
            #expect(try session.directory().apps.first?.settings == first)
            second.openClicks = first.openClicks
            try await session.update(app.id, from: first, to: second, by: .test)
            return try session.directory().apps.first?.settings == second
        }
        #expect(shown)
    }

    @Test("an app's settings are replaced as a whole", arguments: backends)
    func updatesApp(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let settings = App.Settings(name: "Shop 2", openClicks: false, allowedOrigins: ["https://c.example"])
        let app = test.app
        let directory = try await test.run { session in
            try await session.update(
                app,
                to: App.Settings(
                    name: "Shop",
                    destinations: ["a://", "b://"],
                    localizations: ["tr"],
                    developmentLanguage: "tr",
                    policy: MatchPolicy(rule: .newest, usesFingerprints: false),
                    defaultLink: DeepLinkURL(stored: "a://b"),
                    clickIDs: .off
                )
            )
            try await session.update(app, to: settings)
            return try session.directory()
        }
        #expect(directory.app(app)?.settings == settings)
    }

    @Test("a repeated app name or key text, and an unknown app or key are refused", arguments: backends)
    func refusesContradictions(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let app = test.app
        let again = try Self.key(1)
        let (id, digest) = (try Self.key(4).id, again.digest)
        let sameText = APIKey(
            id: id,
            kind: .app,
            app: app,
            label: "",
            digest: digest,
            createdAt: TestStore.noon
        )
        let stray = try Self.key(5, app: AppID(high: 9, low: 9))
        let codes = try await test.run { session in
            try await session.create(
                App(id: AppID(high: 3, low: 3), settings: .init(name: "Third"), createdAt: TestStore.noon)
            )
            try await session.create(again)
            return [
                await code {
                    let id = AppID(high: 4, low: 4)
                    let settings = App.Settings(name: "Shop")
                    try await session.create(App(id: id, settings: settings, createdAt: TestStore.noon))
                },
                await code {
                    let fourth = App(
                        id: AppID(high: 4, low: 4),
                        settings: .init(name: "Fourth"),
                        createdAt: TestStore.noon
                    )
                    try await session.create(fourth, with: [again])
                },
                await code { try await session.update(app, to: .init(name: "Third")) },
                await code { try await session.create(sameText) },
                await code { try await session.create(stray) },
                await code { try await session.update(AppID(high: 9, low: 9), to: .init(name: "Ninth")) },
                await code { try await session.revoke(KeyID(high: 9, low: 9), at: TestStore.noon) },
            ]
        }
        #expect(codes == [.conflict, .conflict, .conflict, .conflict, .notFound, .notFound, .notFound])
        let directory = try await test.run { try $0.directory() }
        #expect(directory.apps.map(\.settings.name) == ["Shop", "Third"])
        #expect(directory.keys.count == 1)
    }

    @Test("a key keeps the time of its first revocation", arguments: backends)
    func revokesOnce(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let key = try Self.key(1)
        let directory = try await test.run { session in
            try await session.create(key)
            try await session.revoke(key.id, at: TestStore.noon)
            try await session.revoke(key.id, at: TestStore.noon.advanced(byMilliseconds: 5))
            return try session.directory()
        }
        #expect(directory.key(key.digest)?.revokedAt == TestStore.noon)
    }

    @Test("a key that one event loop creates is seen at once by another event loop", arguments: backends)
    func seesOwnChanges(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let key = try Self.key(1)
        let seen = try await test.run { session in
            let before = try session.directory().keys.count
            try await test.run { try await $0.create(key) }
            return [before, try session.directory().keys.count]
        }
        #expect(seen == [0, 1])
    }

    @Test("a key revoked by another process is seen within half a second", arguments: backends)
    func seesOthersChanges(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let key = try Self.key(1)
        let other = try await TestStore(backend, in: test.place)
        let monotonic = test.monotonic
        let revoked = try await test.run { session in
            try await session.create(key)
            _ = try session.directory()
            try await other.run { try await $0.revoke(key.id, at: Timestamp(milliseconds: 1)) }
            monotonic.advance(milliseconds: 400)
            try test.database.catchUp()
            return try session.directory().key(key.digest)?.revokedAt
        }
        #expect(revoked == Timestamp(milliseconds: 1))
    }

    @Test("after a refused change, another process's settings are read at once", arguments: backends)
    func readsAfterRefusal(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let other = try await TestStore(backend, in: test.place)
        let app = test.app
        let isRead = try await test.run { session in
            let former = try #require(try session.directory().app(app)).settings
            var (first, second) = (former, former)
            (first.openClicks, second.allowedOrigins) = (!former.openClicks, ["https://c.example"])
            let stored = first
            try await other.run { try await $0.update(app, from: former, to: stored, by: .test) }
            await #expect(throws: StoreError.self) {
                try await session.update(app, from: former, to: second, by: .test)
            }
            return try session.directory().app(app)?.settings == stored
        }
        #expect(isRead)
    }

    @Test("the last use of a key is recorded to the minute", arguments: backends)
    func notesUse(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let key = try Self.key(1)
        let used = try await test.run { session in
            try await session.create(key)
            session.noteUse(of: key.id, at: TestStore.noon.advanced(byMilliseconds: 60_000))
            session.noteUse(of: key.id, at: TestStore.noon)
            // The report waits until the use is stored. Other processes see the use when they open the
            // database.
            _ = try await session.statistics(StatisticsQuery(), at: TestStore.noon)
            let other = try await TestStore(backend, in: test.place)
            return try await other.run { try $0.directory().key(key.digest)?.lastUsedAt }
        }
        #expect(used == Timestamp(milliseconds: 1_699_999_980_000 + 60_000))
    }

    @Test("the last use of a key is never before its creation", arguments: backends)
    func firstUse(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let key = try Self.key(1)
        let used = try await test.run { session in
            try await session.create(key)
            session.noteUse(of: key.id, at: key.createdAt)
            // The report waits until the use is stored. Other processes see the use when they open the
            // database.
            _ = try await session.statistics(StatisticsQuery(), at: TestStore.noon)
            let other = try await TestStore(backend, in: test.place)
            return try await other.run { try $0.directory().key(key.digest)?.lastUsedAt }
        }
        #expect(key.createdAt.milliseconds % 60_000 > 0)
        #expect(used == key.createdAt)
    }
}

/// Returns the code of the error that `body` throws; nil if it throws none, `defect` if it throws no
/// `StoreError`.
func code(_ body: () async throws -> Void) async -> StoreError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? StoreError)?.code ?? .defect
    }
}
