import Attribution
import Storage
import TestDatabases
import Testing

@Suite("Clicks of links in the store")
struct LinkClickTests {
    private static let app = AppID(high: 1, low: 1)

    private static func click(
        _ link: Link,
        variant: String? = nil,
        fingerprint: UInt64 = 1,
        visit: UInt64? = nil,
        at moment: Timestamp = TestStore.noon,
        isTest: Bool = false,
        isRobot: Bool = false
    ) throws -> NewClick {
        try NewClick.sample(fingerprint: fingerprint, at: moment, visit: visit) { facts in
            facts.link = link.id
            facts.variant = variant
            facts.isTest = isTest
            facts.isRobot = isRobot
        }
    }

    @Test(
        "clicks and matches are counted by link and variant, robots and tests separately",
        arguments: backends
    )
    func counts(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { session in
            let link = try SampleLink.make(1, [.variants: ["a 1 myapp://a", "b 1 myapp://b"]])
            try await session.create(link)
            let plain = try SampleLink.make(2)
            try await session.create(plain)
            let first = try await session.record(try Self.click(link, variant: "a", fingerprint: 1)).click
            _ = try await session.record(try Self.click(link, variant: "b", fingerprint: 2, visit: 77))
            // A repeated post is one click.
            #expect(
                try await session.record(try Self.click(link, variant: "b", fingerprint: 2, visit: 77))
                    .isDuplicate
            )
            _ = try await session.record(try Self.click(link, variant: "b", fingerprint: 3, isRobot: true))
            _ = try await session.record(try Self.click(link, variant: "b", fingerprint: 4, isTest: true))
            _ = try await session.record(try NewClick.sample(fingerprint: 5))
            #expect(first.facts.link == link.id)
            let claim = try #require(try await session.match(.sample(fingerprint: 1, install: 5)).claim)
            #expect(claim.click == first)
            #expect(claim.click.facts.variant == "a")
            // Only the claim counts: a repeated answer and a test match do not.
            let again = try await session.match(.sample(fingerprint: 1, install: 5))
            #expect(again.isReplay(of: first, at: TestStore.noon))
            _ = try await session.match(.sample(fingerprint: 4, isTest: true))
            // No job has added the counts of these transactions yet.
            let listing = try #require(try await session.link(link.id))
            #expect((listing.clicks, listing.robots, listing.matches) == (2, 1, 1))
            #expect(
                listing.variants == [
                    LinkListing.VariantCounts(name: "a", clicks: 1, matches: 1),
                    LinkListing.VariantCounts(name: "b", clicks: 1, matches: 0),
                ]
            )
            #expect(try await session.link(plain.id) == LinkListing(link: plain))
        }
        #expect(try test.count(.linkCounts) == 3)
        #expect(try test.count(.testClicksOfLinks) == 1)
    }

    @Test("the clicks of a variant that the link no longer has stay in the report", arguments: backends)
    func formerVariants(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { session in
            var link = try SampleLink.make(1, [.variants: ["a 1 myapp://a"]])
            try await session.create(link)
            _ = try await session.record(try Self.click(link, variant: "a"))
            link.settings = try Link.Settings(SampleLink.fields([.variants: ["b 1 myapp://b"]]))
            try await session.update(link, ifUpdatedAt: nil)
            try test.database.catchUp()
            let names = try await session.link(link.id)?.variants.map(\.name)
            #expect(names == ["b", "a"])
        }
    }

    @Test(
        "the clicks of people never exceed the link's maximum, even if many come at once",
        arguments: backends
    )
    func maximumUnderRaces(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let link = try SampleLink.make(1, [.maximumClicks: ["7"], .campaignKey: ["A"]])
        let key = try #require(CampaignKey("A"))
        func live() async throws -> LinkID? {
            try await test.run {
                try await $0.liveLink(ofCampaign: key, of: [Self.app], at: TestStore.noon)?.link.id
            }
        }
        try await test.run { try await $0.create(link) }
        #expect(try await live() == link.id)
        let outcomes = try await test.runConcurrently(200) { session, number in
            // Test clicks do not count towards the maximum.
            _ = try await session.record(try Self.click(link, fingerprint: 1000 + number, isTest: true))
            return try await session.record(try Self.click(link, fingerprint: number))
        }
        let recorded = outcomes.count { if case .recorded = $0 { true } else { false } }
        let ended = outcomes.count { $0 == .linkEnded(.usedUp) }
        #expect((recorded, ended) == (7, 193))
        let listing = try await test.run { try await $0.link(link.id) }
        #expect(listing?.clicks == 7)
        #expect(try await live() == nil, "a link without remaining clicks has ended")
    }

    @Test(
        "clicks of archived, expired and unknown links are refused; a repeated post is not",
        arguments: backends
    )
    func ended(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { session in
            let later = TestStore.noon.advanced(byMilliseconds: 5000)
            var link = try SampleLink.make(1, [.expiresAt: [later.iso8601]])
            try await session.create(link)
            let first = try await session.record(try Self.click(link, visit: 5)).click
            func record(_ link: Link, visit: UInt64, at moment: Timestamp) async throws -> RecordOutcome {
                try await session.record(try Self.click(link, fingerprint: visit, visit: visit, at: moment))
            }
            #expect(try await record(link, visit: 6, at: later) == .linkEnded(.expired))
            #expect(try await session.record(try Self.click(link, visit: 5, at: later)).click == first)
            link.archivedAt = TestStore.noon
            try await session.update(link, ifUpdatedAt: nil)
            #expect(try await record(link, visit: 7, at: TestStore.noon) == .linkEnded(.archived))
            let gone = try SampleLink.make(2)
            #expect(try await record(gone, visit: 8, at: TestStore.noon) == .linkEnded(.archived))
            try test.database.catchUp()
            #expect(try await session.link(link.id)?.clicks == 1)
        }
    }

    @Test("a link with any click, even of a robot or a test, cannot be deleted", arguments: backends)
    func deletion(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { session in
            let links = try (1...4).map { try SampleLink.make(UInt64($0), [.tags: ["a"]]) }
            for link in links { try await session.create(link) }
            _ = try await session.record(try Self.click(links[1], fingerprint: 1))
            _ = try await session.record(try Self.click(links[2], fingerprint: 2, isRobot: true))
            _ = try await session.record(try Self.click(links[3], fingerprint: 3, isTest: true))
            try await session.delete(links[0].id)
            for link in links.dropFirst() {
                #expect(await refusal { try await session.delete(link.id) } == .clicked)
            }
            #expect(await refusal { try await session.delete(links[0].id) } == .notFound)
            #expect(try await session.slugs(.of(tag: "a")) == ["link-4", "link-3", "link-2"])
            // The slug of the deleted link is free again.
            try await session.create(try SampleLink.make(9, slug: "link-1"))
        }
        #expect(try test.count(.tagsOfFirstLink) == 0)
    }
}
