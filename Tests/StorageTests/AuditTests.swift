import Attribution
import Storage
import TestDatabases
import Testing

/// The audit log: each change of apps, keys, links, models and sessions writes its entry in its own
/// transaction.
@Suite("Audit log")
struct AuditTests {
    private static let actor = AuditActor.command(user: "ada")
    private static let key = KeyID(high: 0xffff_0000_0000_0001, low: 2)

    /// Returns the entries that match a query, oldest first.
    private static func entries(_ session: some AuditStore, _ query: AuditQuery = AuditQuery(limit: 1000))
        async throws -> [AuditEntry]
    {
        try await session.audit(query).entries.reversed()
    }

    @Test(
        "an app's change is recorded with the former and the new values of the changed fields only",
        arguments: backends
    )
    func app(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let app = test.app
        let found = try await test.run { session in
            let settings = try #require(try session.directory().app(app)?.settings)
            var changed = settings
            changed.name = "Shop \"2\"\n"
            changed.destinations = ["shop://", "other://"]
            try await session.update(app, from: nil, to: changed, by: .key(Self.key))
            // Nothing differs, so nothing is recorded.
            try await session.update(app, from: nil, to: changed, by: .key(Self.key))
            return (settings.name, try await Self.entries(session).filter { $0.action == "app.set" })
        }
        let entry = try #require(found.1.first)
        #expect(found.1.count == 1)
        #expect((entry.actor, entry.app, entry.subject) == (.key(Self.key), app, app.text))
        #expect(entry.before == #"{"name":"\#(found.0)"}"#)
        #expect(
            entry.after == #"{"destinations":["shop://","other://"],"name":"Shop \"2\"\u000a"}"#
        )
        #expect(entry.at == TestStore.noon && entry.subjectKind == "app")
    }

    @Test(
        "a refused change is not recorded, and neither is one that is undone with its batch",
        arguments: backends
    )
    func refused(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let app = test.app
        let (before, after) = try await test.run { session in
            let before = try await Self.entries(session).count
            await #expect(throws: StoreError.self) {
                try await session.update(
                    AppID(high: 9, low: 9),
                    from: nil,
                    to: .init(name: "x"),
                    by: Self.actor
                )
            }
            let link = try SampleLink.make(1, slug: "a", app: app)
            await #expect(throws: LinkStoreError.self) {
                // The second link has the slug of the first, so neither is created.
                let same = try SampleLink.make(2, slug: "a", app: app)
                try await session.create([link, same].map { NewLink($0, neighbours: []) }, by: Self.actor)
            }
            return (before, try await Self.entries(session).count)
        }
        #expect(before == after)
    }

    @Test("keys are recorded when they are created and revoked, without text and digest", arguments: backends)
    func keys(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let key = APIKey(
            id: Self.key,
            kind: .read,
            app: nil,
            label: "wall",
            digest: KeyDigest(of: "secret"),
            createdAt: TestStore.noon
        )
        let entries = try await test.run { session in
            try await session.create(key, by: Self.actor)
            for _ in 1...2 { try await session.revoke(key.id, at: TestStore.noon, by: .session(nil)) }
            return try await Self.entries(session).filter { $0.subject == key.id.text }
        }
        #expect(entries.map(\.action) == ["key.create", "key.revoke"])
        #expect(entries.map(\.actor) == [Self.actor, .session(nil)])
        #expect(
            entries.map(\.after) == [
                #"{"kind":"read","label":"wall"}"#, #"{"revoked_at":"\#(TestStore.noon.iso8601)"}"#,
            ]
        )
        #expect(entries.map(\.before) == ["{}", "{}"])
    }

    @Test(
        "each change of a link is recorded, archiving and restoring as such, and an import as one entry",
        arguments: backends
    )
    func links(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let app = test.app
        let entries = try await test.run { session in
            var link = try SampleLink.make(1, slug: "a", app: app)
            try await session.create([NewLink(link, neighbours: [])], by: Self.actor)
            link.archivedAt = TestStore.noon
            try await session.update(link, ifUpdatedAt: nil, by: Self.actor)
            link.archivedAt = nil
            try await session.update(link, ifUpdatedAt: nil, by: Self.actor)
            link.settings.title = "Autumn"
            try await session.update(link, ifUpdatedAt: nil, by: Self.actor)
            try await session.delete(link.id, by: Self.actor)
            let others = try (2...4).map { try SampleLink.make(UInt64($0), slug: "s\($0)", app: app) }
            try await session.create(others.map { NewLink($0, neighbours: []) }, by: Self.actor)
            return try await Self.entries(session).filter { $0.subjectKind == "link" }
        }
        #expect(
            entries.map(\.action)
                == ["link.create", "link.archive", "link.restore", "link.set", "link.delete", "link.import"]
        )
        #expect(entries.allSatisfy { $0.app == app })
        #expect(entries[1].after == #"{"archived_at":"\#(TestStore.noon.iso8601)"}"#)
        #expect(entries[2].before == entries[1].after && entries[2].after == "{}")
        #expect(entries[3].after == #"{"title":"Autumn"}"#)
        #expect(entries[4].before.contains(#""slug":"a""#) && entries[4].after == "{}")
        #expect(entries[5].after == #"{"count":"3","first_and_last":["s2","s4"]}"#)
    }

    @Test("sessions, the reset of a model and a rotation of the server key are recorded", arguments: backends)
    func others(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let app = test.app
        let digest = KeyDigest(of: "cookie")
        let entries = try await test.run { session in
            for text in ["cookie", "other"] {
                try await session.start(
                    DashboardSession(
                        digest: KeyDigest(of: text),
                        key: Self.key,
                        createdAt: TestStore.noon,
                        usedAt: TestStore.noon,
                        expiresAt: TestStore.noon.advanced(byMilliseconds: 1000)
                    )
                )
            }
            try await session.endAll(but: digest, by: .session(Self.key))
            let left = try await session.sessions().map(\.digest)
            #expect(left == [digest])
            for _ in 1...2 { try await session.end(digest, by: .session(Self.key)) }
            try await session.resetLearning(of: app, isTest: true, by: Self.actor)
            try await session.note(AuditedChange(.rotateServerKey), by: Self.actor)
            return try await Self.entries(session)
        }
        #expect(
            entries.map(\.action).suffix(6) == [
                "session.start", "session.start", "session.end_others", "session.end", "model.reset",
                "server_key.rotate",
            ]
        )
        #expect(entries.suffix(6).first?.actor == .session(Self.key))
        #expect(entries.suffix(2).first?.after == #"{"test":"true"}"#)
    }

    @Test(
        "pages go back from entry to entry, and a query filters by app, actor, action and times",
        arguments: backends
    )
    func pages(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let app = test.app
        try await test.run { session in
            for number in 1...7 {
                let actor = AuditActor.command(user: number % 2 == 0 ? "ada" : "bob")
                try await session.note(
                    AuditedChange(.changeApp, app: app, to: AuditFields([("n", ["\(number)"])])),
                    by: actor
                )
            }
            var (query, pages) = (AuditQuery(limit: 3), [[String]]())
            query.action = .changeApp
            repeat {
                let page = try await session.audit(query)
                pages.append(page.entries.map(\.after))
                query.before = page.next
            } while query.before != nil
            #expect(pages.flatMap(\.self) == (1...7).reversed().map { #"{"n":"\#($0)"}"# })
            #expect(pages.first?.count == 3)
            func count(_ change: (inout AuditQuery) -> Void) async throws -> Int {
                var query = AuditQuery()
                query.action = .changeApp
                change(&query)
                return try await session.audit(query).entries.count
            }
            #expect(try await count { $0.actor = "ada" } == 3)
            #expect(try await count { $0.actor = "command" } == 7)
            #expect(try await count { $0.actor = "key" } == 0)
            #expect(try await count { $0.app = app } == 7)
            #expect(try await count { $0.app = AppID(high: 9, low: 9) } == 0)
            #expect(try await count { $0.action = .deleteLink } == 0)
            #expect(try await count { $0.since = TestStore.noon } == 7)
            #expect(try await count { $0.until = TestStore.noon } == 0)
            let next = TestStore.noon.advanced(byMilliseconds: 1)
            #expect(try await count { $0.since = next } == 0)
            #expect(try await count { $0.until = next } == 7)
        }
    }

    @Test("a query leaves out entries from the millisecond of its end", arguments: backends)
    func exclusiveEnd(backend: Backend) async throws {
        for random in [7, UInt64.max - 7] {
            let test = try await TestStore(backend) { $0.random = { random } }
            test.clock.advance(seconds: 3600)
            let counts = try await test.run { session in
                try await session.note(AuditedChange(.rotateServerKey), by: Self.actor)
                var counts: [Int] = []
                for milliseconds in [3_600_000, 3_600_001] as [Int64] {
                    var query = AuditQuery()
                    query.action = .rotateServerKey
                    query.until = TestStore.noon.advanced(byMilliseconds: milliseconds)
                    counts.append(try await session.audit(query).entries.count)
                }
                return counts
            }
            #expect(counts == [0, 1], "\(random)")
        }
    }

    @Test("entries are deleted after their retention, in slices", arguments: backends)
    func retention(backend: Backend) async throws {
        let test = try await TestStore(backend) { $0.auditRetentionSeconds = 3600 }
        try await test.run { session in
            for _ in 1...600 { try await session.note(AuditedChange(.rotateServerKey), by: Self.actor) }
        }
        test.clock.advance(seconds: 3600)
        try test.database.deleteOldAudit()
        #expect(try await test.run { try await Self.entries($0, AuditQuery(limit: 1)).count } == 1)
        test.clock.advance(seconds: 1)
        try await test.run { try await $0.note(AuditedChange(.resetModel), by: Self.actor) }
        try test.database.deleteOldAudit()
        #expect(try await test.run { try await Self.entries($0).map(\.action) } == ["model.reset"])
    }

    @Test("a server that stops removes its own dashboard address, and no other server's", arguments: backends)
    func dashboardsOfSeveral(backend: Backend) async throws {
        let place = try await backend.makePlace(at: TestStore.noon)
        var configuration = StoreConfiguration(clock: WallClock { TestStore.noon })
        configuration.hasBackgroundWork = false
        let (first, second, third) = (
            try place.open(configuration), try place.open(configuration), try place.open(configuration)
        )
        try await first.run { try await $0.setDashboard("http://127.0.0.1:1") }
        try await second.run { try await $0.setDashboard("http://127.0.0.1:2") }
        first.stop(within: 60_000)
        let rest = try await third.run { try await $0.dashboards().map(\.url) }
        second.stop(within: 60_000)
        let none = try await third.run { try await $0.dashboards().map(\.url) }
        third.stop(within: 60_000)
        #expect(rest == ["http://127.0.0.1:2"] && none.isEmpty)
    }

    @Test("a dashboard's address replaces the last one, and an empty one removes it", arguments: backends)
    func dashboards(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let found = try await test.run { session in
            var found: [[String]] = []
            for url in ["http://127.0.0.1:8081", "https://stats.example", ""] {
                try await session.setDashboard(url)
                found.append(try await session.dashboards().map(\.url))
            }
            return found
        }
        #expect(found == [["http://127.0.0.1:8081"], ["https://stats.example"], []])
    }
}
