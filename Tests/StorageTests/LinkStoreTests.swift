import Attribution
import Support
import TestDatabases
import Testing

@Suite("Links in the store")
struct LinkStoreTests {
    private static let app = AppID(high: 1, low: 1)

    /// Creates two more apps.
    private static func addApps(_ test: TestStore) async throws {
        try await test.run { session in
            for number in [2, 3] as [UInt64] {
                let app = AppID(high: number, low: number)
                let settings = App.Settings(name: "App \(number)")
                try await session.create(App(id: app, settings: settings, createdAt: TestStore.noon))
            }
        }
    }

    @Test("links are read as they were created, by identifier and by slug", arguments: backends)
    func roundTrip(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let link = try SampleLink.make(
            1,
            slug: "go/Summer.25",
            [
                .title: ["Café Ünlü"], .campaignKey: ["SUMMER25"], .tags: ["b", "a"],
                .variants: ["x 1 myapp://x", "y 2 /y"], .metadata: [#"{"a":"é"}"#], .pasteboard: ["true"],
                .expiresAt: ["2027-01-01T00:00:00.000Z"], .maximumClicks: ["5"],
            ]
        )
        let (byID, bySlug, others) = try await test.run { session in
            try await session.create(link)
            let others = [
                try await session.link(link.slug, of: []),
                try await session.link(link.slug, of: [AppID(high: 9, low: 9)]),
                try await session.link(LinkSlug(stored: "go/summer.25"), of: [Self.app]),
                try await session.link(LinkID(high: 100, low: 2)),
            ]
            return (
                try await session.link(link.id), try await session.link(link.slug, of: [Self.app]), others
            )
        }
        let none = ["x", "y"].map { LinkListing.VariantCounts(name: $0, clicks: 0, matches: 0) }
        #expect(byID == LinkListing(link: link, variants: none))
        #expect(bySlug == byID)
        #expect(others.allSatisfy { $0 == nil })
    }

    @Test(
        "slugs are unique among the apps of a host; apps of other hosts may repeat them",
        arguments: backends
    )
    func uniqueSlugs(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await Self.addApps(test)
        let (second, third) = (AppID(high: 2, low: 2), AppID(high: 3, low: 3))
        try await test.run { session in
            let first = try SampleLink.make(1, slug: "a")
            try await session.create(first)
            let same = try SampleLink.make(2, slug: "a")
            #expect(await refusal { try await session.create(same) } == .slugTaken(same.slug))
            // This link belongs to an app that shares the host.
            let beside = NewLink(
                try SampleLink.make(3, slug: "a", app: second),
                neighbours: [second, Self.app]
            )
            #expect(await refusal { try await session.create([beside]) } == .slugTaken(same.slug))
            try await session.create(try SampleLink.make(4, slug: "a", app: third))
            #expect(try await session.link(same.slug, of: [third])?.link.id.low == 4)
            #expect(try await session.sharedSlug(of: third, and: Self.app) == same.slug)
            #expect(try await session.sharedSlug(of: Self.app, and: third) == same.slug)
            #expect(try await session.sharedSlug(of: Self.app, and: second) == nil)
            #expect(try await session.sharedSlug(of: Self.app, and: AppID(high: 9, low: 9)) == nil)
            // If two apps share a host although both have the slug, the older link is found.
            #expect(try await session.link(same.slug, of: [third, Self.app])?.link.id.low == 1)
            // Slugs that differ in the case of letters are different slugs.
            try await session.create(try SampleLink.make(5, slug: "A"))
        }
    }

    @Test("links in one request are created all or none", arguments: backends)
    func allOrNone(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { session in
            try await session.create(try SampleLink.make(1, slug: "a"))
            let links = try [("b", 2), ("c", 3), ("a", 4)].map {
                NewLink(try SampleLink.make($0.1, slug: $0.0), neighbours: [Self.app])
            }
            #expect(await refusal { try await session.create(links) } == .slugTaken(LinkSlug(stored: "a")))
            let stranger = NewLink(try SampleLink.make(5, app: AppID(high: 9, low: 9)), neighbours: [])
            #expect(await refusal { try await session.create(links.dropLast() + [stranger]) } == .notFound)
            #expect(try await session.slugs(LinkQuery()) == ["a"])
            try await session.create(Array(links.dropLast()))
            #expect(try await session.slugs(LinkQuery()) == ["c", "b", "a"])
        }
    }

    @Test(
        "a link is changed as a whole, but not by a caller that missed the last change",
        arguments: backends
    )
    func updates(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { session in
            var link = try SampleLink.make(1, [.title: ["old"], .tags: ["a", "b"], .campaignKey: ["OLD"]])
            try await session.create(link)
            let read = link.updatedAt
            link.settings = try Link.Settings(SampleLink.fields([.tags: ["c"]]))
            link.archivedAt = TestStore.noon
            let changed = link
            try await session.update(changed, ifUpdatedAt: read)
            let stored = try #require(try await session.link(link.id)).link
            #expect(stored.settings == changed.settings)
            #expect(stored.archivedAt == TestStore.noon)
            #expect(stored.slug == link.slug)
            // Two changes within one millisecond have different times.
            #expect(stored.updatedAt > read)
            #expect(await refusal { try await session.update(changed, ifUpdatedAt: read) } == .changed)
            try await session.update(changed, ifUpdatedAt: nil)
            #expect(try await session.slugs(.of(tag: "a", isArchived: nil)).isEmpty)
            #expect(try await session.slugs(.of(tag: "c", isArchived: nil)) == ["link-1"])
            let stranger = try SampleLink.make(2)
            #expect(await refusal { try await session.update(stranger, ifUpdatedAt: nil) } == .notFound)
        }
    }

    @Test(
        "links are listed newest first, by app, tag, campaign, words and archive, page by page",
        arguments: backends
    )
    func lists(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await Self.addApps(test)
        let second = AppID(high: 2, low: 2)
        try await test.run { session in
            for number in 1...9 as ClosedRange<UInt64> {
                var values: [LinkField: [String]] = [
                    .tags: number % 2 == 0 ? ["even", "all"] : ["all"],
                    .campaignKey: [number < 5 ? "SPRING" : "SUMMER"],
                ]
                if number == 3 { values[.title] = ["Yaz Kampanyası"] }
                if number == 4 { values[.iosDestination] = ["myapp://Special/item"] }
                if number == 6 { values[.variants] = ["v 1 myapp://varied"] }
                var link = try SampleLink.make(number, app: number == 9 ? second : Self.app, values)
                if number == 8 { link.archivedAt = TestStore.noon }
                try await session.create(link)
            }
            func numbers(_ query: LinkQuery) async throws -> [UInt64] {
                try await session.links(query).links.map(\.link.id.low)
            }
            #expect(try await numbers(LinkQuery()) == [9, 7, 6, 5, 4, 3, 2, 1])
            #expect(try await numbers(LinkQuery(isArchived: nil)) == [9, 8, 7, 6, 5, 4, 3, 2, 1])
            #expect(try await numbers(LinkQuery(isArchived: true)) == [8])
            #expect(try await numbers(.of(app: second)) == [9])
            #expect(try await numbers(.of(app: AppID(high: 7, low: 7))) == [])
            #expect(try await numbers(.of(tag: "even")) == [6, 4, 2])
            #expect(try await numbers(.of(app: second, tag: "all")) == [9])
            #expect(try await numbers(.of(tag: "Even")) == [])
            #expect(try await numbers(.of(campaignKey: CampaignKey("SPRING"))) == [4, 3, 2, 1])
            #expect(try await numbers(.of(tag: "even", campaignKey: CampaignKey("SPRING"))) == [4, 2])
            #expect(try await numbers(.of(search: "spring")) == [4, 3, 2, 1])
            #expect(try await numbers(.of(search: " yaz kamp ")) == [3])
            #expect(try await numbers(.of(search: "special")) == [4])
            #expect(try await numbers(.of(search: "varied")) == [6])
            #expect(try await numbers(.of(search: "LINK-7")) == [7])
            #expect(try await numbers(.of(search: "%")) == [])
            var (query, seen) = (LinkQuery(limit: 3), [] as [UInt64])
            repeat {
                let page = try await session.links(query)
                seen += page.links.map(\.link.id.low)
                query.before = page.next
            } while query.before != nil
            #expect(seen == [9, 7, 6, 5, 4, 3, 2, 1])
            #expect(try await numbers(.of(before: LinkID(high: 5, low: 5))) == seen)
        }
    }

    @Test("a page continues after a link that was deleted since the previous page", arguments: backends)
    func deletedLink(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { session in
            for number in 1...4 as ClosedRange<UInt64> {
                let sample = try SampleLink.make(number)
                let link = Link(
                    id: LinkID(high: number << 16, low: number),
                    app: sample.app,
                    slug: sample.slug,
                    settings: sample.settings,
                    createdAt: sample.createdAt,
                    updatedAt: sample.updatedAt
                )
                try await session.create(link)
            }
            var query = LinkQuery(limit: 2)
            query.before = try await session.links(query).next
            let last = try #require(query.before)
            #expect(last.low == 3)
            try await session.delete(last)
            #expect(try await session.links(query).links.map(\.link.id.low) == [2, 1])
        }
    }

    @Test("a campaign key leads to its newest link that has not ended", arguments: backends)
    func campaign(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await Self.addApps(test)
        let second = AppID(high: 2, low: 2)
        try await test.run { session in
            let later = TestStore.noon.advanced(byMilliseconds: 1000)
            try await session.create(try SampleLink.make(1, [.campaignKey: ["A"]]))
            try await session.create(
                try SampleLink.make(2, [.campaignKey: ["A"], .expiresAt: [later.iso8601]])
            )
            var archived = try SampleLink.make(3, [.campaignKey: ["A"]])
            archived.archivedAt = TestStore.noon
            try await session.create(archived)
            try await session.create(try SampleLink.make(4, app: second, [.campaignKey: ["A"]]))
            let key = try #require(CampaignKey("A"))
            func live(_ apps: [AppID], _ now: Timestamp) async throws -> UInt64? {
                try await session.liveLink(ofCampaign: key, of: apps, at: now)?.link.id.low
            }
            #expect(try await live([Self.app], TestStore.noon) == 2)
            #expect(try await live([Self.app], later) == 1)
            #expect(try await live([Self.app, second], later) == 4)
            #expect(try await live([], later) == nil)
        }
    }

    @Test("the link settings of apps are read as they were set", arguments: backends)
    func appSettings(backend: Backend) async throws {
        let test = try await TestStore(backend)
        var fields = AppLinkFields()
        fields[.hosts] = ["b.example", "a.example"]
        fields[.webHosts] = ["any"]
        fields.set(.iosTeam, "ABCDE12345")
        fields[.iosBundles] = ["com.example.b", "com.example.a"]
        let links = try AppLinks(fields)
        let app = test.app
        let read = try await test.run { session in
            try await session.update(app, to: App.Settings(name: "Shop", links: links))
            let set = try session.directory().app(app)?.settings.links
            try await session.update(app, to: App.Settings(name: "Shop"))
            return (set, try session.directory().app(app)?.settings.links)
        }
        #expect(read.0 == links)
        #expect(read.1 == AppLinks())
    }

    /// The number of stored links: a million in the long tests, 60,000 in the usual ones.
    private static let count: Int64 = isLong ? 1_000_000 : 60_000

    @Test(
        "a search reads at most 50,000 links for a page, so that it delays no other request",
        arguments: backends
    )
    func bounded(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let count = Self.count
        try test.change(.addLinks(count))
        try await test.run { session in
            #expect(try await session.link(LinkSlug(stored: "slug1"), of: [Self.app])?.link.id.low == 1)
            var (query, pages, found) = (LinkQuery.of(search: "slug1"), 0, [] as [String])
            query.search = "no such link"
            repeat {
                let page = try await session.links(query)
                found += page.links.map(\.link.slug.text)
                query.before = page.next
                pages += 1
            } while query.before != nil
            #expect(found.isEmpty)
            #expect(pages == Int(count) / 50_000 + 1)
        }
    }
}
