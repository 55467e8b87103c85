import Attribution
import Storage
import Testing

/// A database in memory whose apps and keys are published.
private struct PublishingBackend: StorageBackend {
    typealias Rules = ServerRules

    let database: MemoryDatabase

    func openReader() -> MemoryReader { MemoryReader(database) }
    func openScanner() -> MemoryReader { MemoryReader(database) }
    var logByteCount: Int64 { 0 }
}

private final class PublishingSession: DatabaseSession {
    let loop: LoopState<PublishingBackend>

    init(_ loop: LoopState<PublishingBackend>) { self.loop = loop }
}

@Suite("Apps and keys that are published")
struct PublishedDirectoryTests {
    private let app = App(
        id: AppID(high: 1, low: 1),
        settings: App.Settings(name: "Shop"),
        createdAt: TestStore.noon
    )

    private func snapshot(_ version: Int64, _ apps: [App]) -> DirectoryCache.Snapshot {
        var numbers: [AppID: Int64] = [:]
        for (index, app) in apps.enumerated() { numbers[app.id] = Int64(index) + 7 }
        return DirectoryCache.Snapshot(
            version: version,
            directory: Directory(apps: apps, keys: []),
            numbers: numbers
        )
    }

    @Test("loops see a published change within 200 ms, and at once after their own process has read it")
    func publishes() async throws {
        let database = MemoryDatabase(nil)
        let clock = TestMonotonicClock()
        var configuration = StoreConfiguration(clock: WallClock { TestStore.noon })
        configuration.monotonicNow = { clock.now }
        configuration.hasBackgroundWork = false
        let state = StoreState(configuration)
        let cache = try DirectoryCache(reading: MemoryReader(database))
        let threads = StoreThreads(state, PublishingBackend(database: database))
        let session = PublishingSession(LoopState(threads, cache))
        #expect(try session.directory().apps.isEmpty)

        cache.publish(snapshot(2, [app]))
        #expect(try session.directory().apps.isEmpty)
        clock.advance(milliseconds: 200)
        #expect(try session.directory().apps.map(\.id) == [app.id])

        cache.publish(snapshot(1, []))
        state.noteDirectoryChange()
        #expect(try session.directory().apps.map(\.id) == [app.id], "an older snapshot is ignored")
        cache.publish(snapshot(3, []))
        state.noteDirectoryChange()
        #expect(try session.directory().apps.isEmpty)
    }

    @Test("the number of an app comes from memory")
    func findsNumbers() async throws {
        let database = MemoryDatabase(nil)
        let store = try MemoryStore(database)
        let click = try await store.runClaims { try await $0.record(.sample()).click }
        store.stop()
        var configuration = StoreConfiguration(clock: WallClock { TestStore.noon })
        configuration.hasBackgroundWork = false
        let cache = try DirectoryCache(reading: MemoryReader(database))
        let threads = StoreThreads(StoreState(configuration), PublishingBackend(database: database))
        let session = PublishingSession(LoopState(threads, cache))
        #expect(try await session.view(for: .sample()).live.isEmpty, "the app is not known yet")
        cache.publish(snapshot(2, [app]))
        #expect(try await session.view(for: .sample()).live == [click.id.high])
        session.endTurn()
    }
}
