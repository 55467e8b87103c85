import Attribution
import Storage
import TestDatabases
import Testing

@Suite("Stored Apple postbacks")
struct ApplePostbackTests {
    private static func postback(
        _ id: String = "p1",
        _ verification: AppleVerification = .valid,
        _ environment: AppleEnvironment = .production,
        item: String = "10738027756",
        value: Int64? = 7,
        body: String? = nil
    ) -> StoredApplePostback {
        var postback = ApplePostback(.skAdNetwork, network: "com.example", item: item, id: id)
        (postback.version, postback.source, postback.fineValue) = ("4.0", "5239", value)
        postback.coarseValue = .high
        return StoredApplePostback(
            postback,
            verification,
            environment,
            receivedAt: TestStore.noon,
            body: body ?? "\(id) \(verification.rawValue) \(environment.rawValue) \(value ?? -1)"
        )
    }

    @Test("are counted once: by the first verified body, in any order of arrival", arguments: backends)
    func counting(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let (outcomes, page, sums) = try await test.run { session in
            var outcomes: [ApplePostbackOutcome] = []
            for postback in [
                Self.postback("p1", .invalid), Self.postback(), Self.postback(), Self.postback(value: 8),
                Self.postback("p1", .valid, .development), Self.postback("p1", .invalid), Self.postback("p2"),
            ] { outcomes.append(try await session.store(postback)) }
            let page = try await session.applePostbacks(ApplePostbackQuery())
            let end = TestStore.noon.advanced(byMilliseconds: 1000)
            return (
                outcomes, page,
                try await session.applePostbackSums(from: Timestamp(milliseconds: 0), to: end)
            )
        }
        #expect(outcomes == [.stored, .counted, .duplicate, .stored, .counted, .duplicate, .counted])
        #expect(page.postbacks.map(\.isCounted) == [true, true, false, true, false])
        #expect(page.postbacks.map(\.number) == page.postbacks.map(\.number).sorted(by: >))
        let first = try #require(page.postbacks.dropLast().last)
        #expect(
            first.postback == Self.postback(value: 8).postback || first.postback == Self.postback().postback
        )
        #expect(page.next == nil)
        let counted = sums.filter { $0.isCounted && $0.environment == .production }
        #expect(counted.map(\.count) == [2])
        #expect(sums.reduce(0) { $0 + $1.count } == 5)
    }

    @Test("come in pages that match a query", arguments: backends)
    func pages(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let (first, second, invalid, none) = try await test.run { session in
            for number in 1...5 {
                _ = try await session.store(Self.postback("p\(number)", number == 3 ? .invalid : .valid))
            }
            var query = ApplePostbackQuery(limit: 2)
            let first = try await session.applePostbacks(query)
            query.before = first.next
            let second = try await session.applePostbacks(query)
            query = ApplePostbackQuery()
            query.verification = .invalid
            let invalid = try await session.applePostbacks(query)
            query.items = ["1"]
            return (first, second, invalid, try await session.applePostbacks(query))
        }
        #expect(first.postbacks.map(\.postback.id) == ["p5", "p4"])
        #expect(second.postbacks.map(\.postback.id) == ["p3", "p2"])
        #expect(invalid.postbacks.map(\.postback.id) == ["p3"])
        #expect(none.postbacks.isEmpty)
    }

    @Test(
        "are deleted after 30 days if they belong to no app, after 90 if their signature is invalid",
        arguments: backends
    )
    func retention(backend: Backend) async throws {
        let test = try await TestStore(backend)
        func ids(after days: Int64) async throws -> Set<String> {
            test.clock.now = TestStore.noon.advanced(byMilliseconds: days * 86_400_000 + 1)
            try test.database.deleteOldApplePostbacks()
            let page = try await test.run { try await $0.applePostbacks(ApplePostbackQuery()) }
            return Set(page.postbacks.map(\.postback.id))
        }
        let app = test.app
        try await test.run { session in
            var settings = App.Settings(name: "Shop")
            settings.links.apple.appStoreID = 10_738_027_756
            try await session.update(app, to: settings)
            _ = try await session.store(Self.postback("own"))
            _ = try await session.store(Self.postback("forged", .invalid))
            _ = try await session.store(Self.postback("unclaimed", item: "1"))
            let ads = ApplePostback(.appleAds, network: "apple_ads", item: app.text, id: "ads")
            _ = try await session.store(
                StoredApplePostback(ads, .valid, .production, receivedAt: TestStore.noon, body: "")
            )
        }
        #expect(try await ids(after: 29) == ["own", "forged", "unclaimed", "ads"])
        #expect(try await ids(after: 31) == ["own", "forged", "ads"])
        #expect(try await ids(after: 91) == ["own", "ads"])
        #expect(try await ids(after: 401) == [])
    }

    @Test("are exported with their app, or without one", arguments: backends)
    func export(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let app = test.app
        let (all, own) = try await test.run { session in
            var settings = App.Settings(name: "Shop")
            settings.links.apple.appStoreID = 10_738_027_756
            try await session.update(app, to: settings)
            for number in 1...4 {
                let item = number % 2 == 0 ? "10738027756" : "1"
                _ = try await session.store(Self.postback("p\(number)", item: item))
            }
            let later = TestStore.noon.advanced(byMilliseconds: 3_600_000)
            return (
                try await ExportTests.rows(of: .applePostbacks, pages: 3, session, at: later),
                try await ExportTests.rows(of: .applePostbacks, app: app, pages: 1, session, at: later)
            )
        }
        func texts(_ name: String, _ rows: [ExportRow]) -> [String?] {
            rows.map { ExportTests.text(name, in: $0, of: .applePostbacks) }
        }
        #expect(texts("id", all) == ["p1", "p2", "p3", "p4"])
        #expect(texts("app", all) == [nil, app.text, nil, app.text])
        #expect(texts("id", own) == ["p2", "p4"])
    }

    @Test(
        "a probe arrives unchanged, changed, or not at all, and ends after ten minutes",
        arguments: backends
    )
    func probes(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let arrivals = try await test.run { session in
            let end = TestStore.noon.advanced(byMilliseconds: AppleProbe.milliseconds)
            for name in ["a", "b", "c"] {
                let probe = AppleProbe(nonce: name, digest: KeyDigest(of: "body \(name)"), expiresAt: end)
                try await session.start(probe, at: TestStore.noon)
            }
            try await session.noteArrival(ofProbe: "a", KeyDigest(of: "body a"))
            try await session.noteArrival(ofProbe: "b", KeyDigest(of: "body B"))
            try await session.noteArrival(ofProbe: "unknown", KeyDigest(of: "body B"))
            var arrivals: [AppleProbe.Arrival] = []
            for name in ["a", "b", "c", "unknown"] {
                arrivals.append(try await session.arrival(ofProbe: name))
            }
            let late = AppleProbe(
                nonce: "d",
                digest: KeyDigest(of: "d"),
                expiresAt: end.advanced(byMilliseconds: 1)
            )
            try await session.start(late, at: end)
            return arrivals + [try await session.arrival(ofProbe: "a")]
        }
        #expect(arrivals == [.unchanged, .changed, .missing, .missing, .missing])
    }
}
