import Attribution
import Storage
import TestDatabases
import Testing

/// Events, what they are credited to, and their counts.
@Suite("Events")
struct EventTests {
    private static let app = AppID(high: 1, low: 1)
    private static let day: Int64 = 86_400_000

    private static func event(
        _ id: String,
        _ name: String = "purchase",
        install: UInt64? = nil,
        user: UInt64? = nil,
        click: ClickID? = nil,
        money: (Int64, String)? = nil,
        purchase: String? = nil,
        at time: Timestamp = TestStore.noon
    ) throws -> AppEvent {
        var event = AppEvent(id: id, name: try #require(EventName(name)), occurredAt: time)
        event.installs = install.map { [hash($0)] } ?? []
        event.users = user.map { [hash($0)] } ?? []
        (event.click, event.purchase) = (click, purchase)
        event.money = try money.map { Money($0.0, try #require(Currency($0.1))) }
        return event
    }

    private static func batch(
        _ events: [AppEvent],
        isVerified: Bool = false,
        isTest: Bool = false,
        at time: Timestamp = TestStore.noon
    ) -> EventBatch {
        EventBatch(app: app, isTest: isTest, isVerified: isVerified, receivedAt: time, events: events)
    }

    private static func report(_ session: TestSession, isTest: Bool = false) async throws -> EventReport {
        try await session.events(EventQuery(StatisticsQuery(app: app, isTest: isTest)))
    }

    private static func counted(_ test: TestStore, isTest: Bool = false) async throws -> EventReport {
        try test.database.catchUp()
        return try await test.run { try await report($0, isTest: isTest) }
    }

    /// Records a click and matches it with an installation.
    @discardableResult
    private static func match(
        _ session: TestSession,
        install: UInt64?,
        fingerprint: UInt64 = 1,
        campaign: String = "SUMMER25",
        at time: Timestamp = TestStore.noon
    ) async throws -> Claim {
        _ = try await session.record(
            .sample(fingerprint: fingerprint, at: time) { $0.campaignKey = CampaignKey(campaign) }
        )
        let check = Check.sample(fingerprint: fingerprint, at: time, caller: fingerprint, install: install)
        return try #require(try await session.match(check).claim)
    }

    @Test("inherit the match of their installation, and count by campaign and source", arguments: backends)
    func inherit(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let outcomes = try await test.run { session in
            try await Self.match(session, install: 7)
            let first = try await session.record(
                Self.batch([
                    Self.event("a", install: 7, money: (1290, "EUR")),
                    Self.event("b", install: 7, money: (500, "JPY")),
                    Self.event("c", install: 8), Self.event("d", "open"),
                ])
            )
            let second = try await session.record(
                Self.batch([Self.event("e", install: 7, money: (990, "EUR"))], isVerified: true)
            )
            return [first, second]
        }
        #expect(outcomes.joined().allSatisfy { $0 == .accepted })
        let report = try await Self.counted(test)
        #expect(report.matches == 1 && report.totals.eventCount == 5)
        let euro = try #require(report.totals.all.first { $0.currency?.code == "EUR" })
        #expect(euro.name == "purchase" && euro.events == 2 && euro.reported == 1290 && euro.verified == 990)
        #expect(euro.installs == 1)
        let campaign = try #require(report.byCampaign.first)
        #expect(campaign.name == "SUMMER25" && campaign.matches == 1 && campaign.sums.eventCount == 3)
        #expect(campaign.sums.revenue.map(\.verified) == [990, 0])
        #expect(report.bySource.map(\.name) == ["instagram"] && report.bySource[0].sums.eventCount == 3)
        #expect(report.cohorts.count == 1 && report.cohorts[0].sums.map(\.eventCount) == [3, 3, 3, 3, 3, 3])
        test.stop()
        #expect(try test.verify().problems == [])
    }

    @Test("of a campaign count together, in whichever spelling its name is queried", arguments: backends)
    func spellings(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let keys = ["\u{E9}", "e\u{301}"]
        for (number, key) in zip([1, 2] as [UInt64], keys) {
            let now = test.clock.now
            try await test.run { session in
                try await Self.match(session, install: number, fingerprint: number, campaign: key, at: now)
                let event = try Self.event("e\(number)", install: number, at: now)
                _ = try await session.record(Self.batch([event], at: now))
            }
            test.clock.advance(seconds: 86_400)
            try test.database.catchUp()
        }
        for key in keys {
            let (report, sums) = try await test.run { session in
                var query = EventQuery(StatisticsQuery(app: Self.app))
                let sums = try await session.eventSums(of: .campaigns([key]), query)
                query.span.campaign = CampaignKey(key)
                return (try await session.events(query), sums)
            }
            #expect(report.matches == 2 && report.totals.eventCount == 2)
            #expect(sums.count == 1 && sums[key]?.eventCount == 2)
        }
    }

    @Test("whose source has no token are counted under `unknown`, like its matches", arguments: backends)
    func unlistedSource(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { session in
            for fingerprint in [1, 2] as [UInt64] {
                _ = try await session.record(
                    .sample(fingerprint: fingerprint) { ($0.source, $0.rawSource) = (.unknown, "newsletter") }
                )
                let check = Check.sample(fingerprint: fingerprint, caller: fingerprint, install: fingerprint)
                #expect(try await session.match(check).claim != nil)
            }
            _ = try await session.record(Self.batch([Self.event("a", install: 1)]))
        }
        let group = try #require(try await Self.counted(test).bySource.first)
        #expect(group.name == "unknown" && group.matches == 2 && group.sums.eventCount == 1)
    }

    @Test("with the id of an earlier event are duplicates for 30 days", arguments: backends)
    func duplicates(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let last = TestStore.noon.advanced(byMilliseconds: 30 * Self.day)
        let later = last.advanced(byMilliseconds: 1)
        let outcomes = try await test.run { session in
            try [
                await session.record(Self.batch([Self.event("a"), Self.event("a"), Self.event("b")])),
                await session.record(Self.batch([Self.event("b"), Self.event("c")])),
                await session.record(Self.batch([Self.event("a")], isTest: true)),
                await session.record(Self.batch([Self.event("a")], at: last)),
                await session.record(Self.batch([Self.event("a")], at: later)),
            ]
        }
        #expect(
            outcomes.map { $0.map { $0 == .accepted } } == [
                [true, false, true], [false, true], [true], [false], [true],
            ]
        )
        #expect(try await Self.counted(test).totals.eventCount == 4)
        #expect(try await Self.counted(test, isTest: true).totals.eventCount == 1)
    }

    @Test(
        "are held under the ids that they were sent with, even if later events have them",
        arguments: backends
    )
    func heldIDs(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let later = TestStore.noon.advanced(byMilliseconds: 30 * Self.day + 1)
        let subject = DataSubject(.user(live: [hash(5)], test: []), of: Self.app)
        let held = try await test.run { session in
            for time in [TestStore.noon, later] {
                _ = try await session.record(Self.batch([Self.event("a", user: 5)], at: time))
            }
            return try await session.held(subject)
        }
        for name in ["identifier", "event_id"] {
            let ids = held.rows.map { row in row.fields.first { $0.name == name }?.value }
            #expect(ids == [.text("a"), .text("a")], "\(name)")
        }
    }

    @Test(
        "that are duplicates link neither their user nor their installation for others of their request",
        arguments: backends
    )
    func duplicatesLinkNothing(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let outcomes = try await test.run { session in
            let click = try await Self.match(session, install: nil).click.id
            try await Self.match(session, install: 7, fingerprint: 2)
            let first = try [Self.event("a"), Self.event("b")]
            _ = try await session.record(Self.batch(first, isVerified: true))
            let events = try [
                Self.event("a", install: 7, user: 5), Self.event("b", install: 8, click: click),
                Self.event("c", user: 5), Self.event("d", install: 8),
            ]
            return try await session.record(Self.batch(events, isVerified: true))
        }
        #expect(outcomes == [.duplicate, .duplicate, .accepted, .accepted])
        let rows = try await Self.exported(test)
        #expect(rows.map { $0["campaign"] } == [nil, nil, nil, nil])
    }

    @Test("with one id that two servers get at once are one event", arguments: backends)
    func atOnce(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let other = try await TestStore(test.place.backend, in: test.place)
        for number in 0..<20 {
            async let first = test.run { try await $0.record(Self.batch([Self.event("x\(number)")])) }
            async let second = other.run { try await $0.record(Self.batch([Self.event("x\(number)")])) }
            let outcomes = try await [first, second]
            #expect(outcomes.count { $0 == [.accepted] } == 1 && outcomes.count { $0 == [.duplicate] } == 1)
        }
        try other.database.catchUp()
        #expect(try await Self.counted(test).totals.eventCount == 20)
    }

    @Test("of a server key replace events of an app key with the same id", arguments: backends)
    func replaced(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let outcomes = try await test.run { session in
            try await Self.match(session, install: 7)
            let byApp = try [
                Self.event("a", install: 7, user: 5, money: (1, "EUR")),
                Self.event("b", install: 8, money: (9, "USD")), Self.event("c", "sign_up", install: 7),
                Self.event("d", install: 7, money: (700, "EUR")),
            ]
            let byServer = try [
                Self.event("a", install: 7, user: 5, money: (1290, "EUR")),
                Self.event("b", install: 7, money: (500, "EUR")), Self.event("e", "open"),
            ]
            return try [
                await session.record(Self.batch(byApp)),
                await session.record(Self.batch(byServer, isVerified: true)),
                await session.record(Self.batch(byServer, isVerified: true)),
                await session.record(Self.batch(byApp)),
            ]
        }
        #expect(outcomes[0] + outcomes[1] == Array(repeating: .accepted, count: 7))
        #expect(outcomes[2] + outcomes[3] == Array(repeating: .duplicate, count: 7))
        let report = try await Self.counted(test)
        let campaign = try #require(report.byCampaign.first)
        for sums in [report.totals, campaign.sums, report.bySource[0].sums, report.cohorts[0].sums[5]] {
            let sum = try #require(sums.all.first)
            #expect(sum.name == "purchase" && sum.currency?.code == "EUR" && sum.events == 3)
            #expect(sum.installs == 1 && sum.reported == 700 && sum.verified == 1790)
            #expect(sums.revenue.count == 1, "the replaced event had another currency")
        }
        #expect(report.totals.eventCount == 5 && campaign.sums.eventCount == 4)
        let rows = try await Self.exported(test)
        #expect(rows.map { $0["event_id"] } == ["c", "d", "a", "b", "e"])
        #expect(rows[2]["amount"] == "12.90" && rows[3]["campaign"] == "SUMMER25")
        let deleted = try await test.run { session in
            try await session.export(ExportQuery(.deletions, end: .row(.max))).rows
        }
        .filter { ExportTests.text("reason", in: $0, of: .deletions) == "erasure" }
        #expect(deleted.count == 2)
        test.stop()
        #expect(try test.verify().problems == [])
    }

    @Test(
        "of a server key replace an app key's event that another server gets at the same time",
        arguments: backends
    )
    func replacedAtOnce(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let other = try await TestStore(test.place.backend, in: test.place)
        for number in 0..<20 {
            let event = try Self.event("x\(number)", money: (100, "EUR"))
            async let first = test.run { try await $0.record(Self.batch([event])) }
            async let second = other.run { try await $0.record(Self.batch([event], isVerified: true)) }
            #expect(try await second == [.accepted])
            _ = try await first
        }
        try other.database.catchUp()
        let sum = try #require(try await Self.counted(test).totals.all.first)
        #expect(sum.events == 20 && sum.reported == 0 && sum.verified == 2000)
    }

    @Test(
        "link a user; an event of a server key takes precedence, and among events of app keys the first",
        arguments: backends
    )
    func links(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { session in
            try await Self.match(session, install: 7)
            try await Self.match(session, install: 8, fingerprint: 2, campaign: "OTHER")
            let byServer = try Self.event("s", "sign_up", install: 7, user: 5)
            _ = try await session.record(Self.batch([byServer], isVerified: true))
            let byApp = try [
                Self.event("a", "open", install: 8, user: 5), Self.event("b", "open", install: 7, user: 6),
                Self.event("c", "open", install: 8, user: 6), Self.event("d", "open", install: 8, user: 4),
            ]
            for event in byApp { _ = try await session.record(Self.batch([event])) }
            let purchases = try [
                Self.event("p5", user: 5), Self.event("p6", user: 6), Self.event("p4", user: 4),
                // The server names an installation, which has no match.
                Self.event("p9", install: 9, user: 4),
            ]
            _ = try await session.record(Self.batch(purchases, isVerified: true))
            let links = try Self.event("l", "open", install: 8, user: 6)
            _ = try await session.record(Self.batch([links], isVerified: true))
            _ = try await session.record(Self.batch([Self.event("q6", user: 6)], isVerified: true))
        }
        let rows = try await Self.exported(test)
        func campaigns(_ prefix: String) -> [String?] {
            rows.filter { $0["event_id"]?.hasPrefix(prefix) == true }.map { $0["campaign"] }
        }
        #expect(campaigns("p") == ["SUMMER25", "SUMMER25", "OTHER", nil])
        #expect(campaigns("q") == ["OTHER"])
        // An event of an app key does not credit the purchase `p9` later either.
        let more = try Self.event("z", "open", install: 8, user: 4)
        _ = try await test.run { try await $0.record(Self.batch([more])) }
        #expect(try await Self.exported(test).first { $0["event_id"] == "p9" }?["campaign"] == nil)
    }

    @Test(
        "of app keys link at most ten users to a match, whether they come before or after the match",
        arguments: backends,
        [false, true]
    )
    func userLimit(backend: Backend, isMatchedFirst: Bool) async throws {
        let test = try await TestStore(backend)
        try await test.run { session in
            if isMatchedFirst { try await Self.match(session, install: 7) }
            let users = 100..<114 as Range<UInt64>
            let purchases = try users.map { try Self.event("p\($0)", user: $0) }
            _ = try await session.record(Self.batch(purchases, isVerified: true))
            for part in [users.prefix(8), users.suffix(6)] {
                let opens = try part.map { try Self.event("o\($0)", "open", install: 7, user: $0) }
                _ = try await session.record(Self.batch(opens))
            }
            if !isMatchedFirst { try await Self.match(session, install: 7) }
            let later = try users.map { try Self.event("q\($0)", user: $0) }
            _ = try await session.record(Self.batch(later, isVerified: true))
        }
        let rows = try await Self.exported(test).filter { $0["campaign"] != nil }
        func count(_ prefix: String) -> Int {
            rows.count { $0["event_id"]?.hasPrefix(prefix) == true }
        }
        #expect(count("p") == 10 && count("q") == 10)
        // The events of the other users are credited themselves, and belong to the installation as before.
        #expect(count("o") == 14)
        let subject = DataSubject(.install(live: [hash(7)], test: []), of: Self.app)
        let held = try await test.run { try await $0.held(subject).counts }
        #expect(held.events == 34)
    }

    @Test(
        "that refund a purchase count in the purchase's class, and wrong refunds are rejected",
        arguments: backends
    )
    func refunds(backend: Backend) async throws {
        let test = try await TestStore(backend)
        @Sendable func refund(_ id: String, _ amount: Int64?, _ code: String = "EUR", of purchase: String)
            throws
            -> AppEvent
        { try Self.event(id, "refund", money: amount.map { (-$0, code) }, purchase: purchase) }
        let outcomes = try await test.run { session in
            try await Self.match(session, install: 7)
            let byApp = try [
                Self.event("a", install: 7, money: (1000, "EUR")),
                Self.event("w", install: 8, money: (100, "EUR")),
            ]
            _ = try await session.record(Self.batch(byApp))
            let byServer = try [
                Self.event("s", install: 7, money: (2000, "EUR")),
                Self.event("t", install: 7, money: (700, "EUR")),
            ]
            _ = try await session.record(Self.batch(byServer, isVerified: true))
            let refunds = try [
                refund("ra", 400, of: "a"), refund("rs", 500, of: "s"), refund("rt", nil, of: "t"),
                refund("rw", 30, of: "w"), refund("1", 100, "USD", of: "s"), refund("2", 2001, of: "s"),
                refund("3", 1, of: "rs"), refund("4", nil, of: "none"),
            ]
            return try [
                await session.record(Self.batch(refunds, isVerified: true)),
                await session.record(Self.batch([refund("rx", 300, of: "s")])),
                await session.record(Self.batch([refund("ra", 400, of: "a")], isVerified: true)),
                await session.record(Self.batch([refund("ra", 4000, of: "a")], isVerified: true)),
            ]
        }
        let euro = try #require(Currency("EUR"))
        #expect(
            outcomes[0] == [
                .accepted, .accepted, .accepted, .accepted, .rejected(.currency(euro)),
                .rejected(.amount(Money(2000, euro))), .rejected(.ofRefund), .rejected(.unknownAmount),
            ]
        )
        #expect(outcomes.dropFirst() == [[.accepted], [.duplicate], [.duplicate]])
        let totals = try #require(try await Self.counted(test).totals.revenue.first)
        #expect(totals.reported == 370 && totals.verified == 1500)
        let before = try #require(try await Self.counted(test).byCampaign.first?.sums.revenue.first)
        #expect(before.reported == 300 && before.verified == 1500)
        _ = try await test.run { try await Self.match($0, install: 8, fingerprint: 2) }
        let after = try #require(try await Self.counted(test).byCampaign.first?.sums.revenue.first)
        #expect(after == totals)
    }

    @Test(
        "that refund an event without an amount need their own amount, unless it is a purchase",
        arguments: backends
    )
    func refundsOfOthers(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let outcomes = try await test.run { session in
            let stored = try [
                Self.event("o1", "open", user: 5), Self.event("p1", user: 5),
                Self.event("o3", "open", install: 7),
            ]
            _ = try await session.record(Self.batch(stored, isVerified: true))
            var events = try [Self.event("o2", "open", user: 5), Self.event("p2", user: 5)]
            for id in ["o1", "o2", "p1", "p2"] {
                events.append(try Self.event("r\(id)", "refund", purchase: id))
            }
            for id in ["o1", "o3"] {
                events.append(try Self.event("s\(id)", "refund", money: (-400, "EUR"), purchase: id))
            }
            return try await session.record(Self.batch(events, isVerified: true))
        }
        let unknown = EventOutcome.rejected(.unknownAmount)
        let others = Array(repeating: EventOutcome.accepted, count: 4)
        #expect(outcomes == [.accepted, .accepted, unknown, unknown] + others)
        // An event that is no purchase passes on nothing, also if its match comes later.
        _ = try await test.run { try await Self.match($0, install: 7) }
        let campaign = try #require(try await Self.counted(test).byCampaign.first)
        #expect(campaign.sums.eventCount == 1 && campaign.sums.revenue.isEmpty)
    }

    @Test("of a server key that replace a purchase by another event cannot be refunded", arguments: backends)
    func refundOfReplaced(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let outcomes = try await test.run { session in
            let purchase = try Self.event("a", "level", user: 5, money: (100, "EUR"))
            _ = try await session.record(Self.batch([purchase]))
            let events = try [
                Self.event("a", "level", user: 5),
                Self.event("r", "refund", money: (-400, "JPY"), purchase: "a"),
                Self.event("s", "refund", purchase: "a"),
            ]
            return try await session.record(Self.batch(events, isVerified: true))
        }
        #expect(outcomes == [.accepted, .accepted, .rejected(.unknownAmount)])
    }

    @Test("before their match are credited when the match comes within 30 days", arguments: backends)
    func waiting(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let early = TestStore.noon.advanced(byMilliseconds: -29 * Self.day)
        let tooEarly = TestStore.noon.advanced(byMilliseconds: -31 * Self.day)
        try await test.run { session in
            let events = try [
                Self.event("a", "open", install: 7, at: early),
                Self.event("b", install: 7, user: 5, money: (100, "EUR")),
                Self.event("c", install: 7, at: tooEarly), Self.event("d", user: 5),
                Self.event("e", install: 9),
            ]
            #expect(try await session.record(Self.batch(events)) == Array(repeating: .accepted, count: 5))
        }
        #expect(try await Self.counted(test).byCampaign.isEmpty)
        _ = try await test.run { try await Self.match($0, install: 7) }
        let report = try await Self.counted(test)
        let campaign = try #require(report.byCampaign.first)
        // The event that names only the user is credited with the one that names both.
        #expect(campaign.sums.eventCount == 3 && campaign.sums.revenue.map(\.reported) == [100])
        #expect(report.totals.eventCount == 5)
        let rows = try await Self.exported(test)
        #expect(rows.map { $0["campaign"] } == ["SUMMER25", "SUMMER25", nil, "SUMMER25", nil])
    }

    @Test(
        "that name a click are credited to its match, even without an installation id, as are linked events",
        arguments: backends
    )
    func waitingForClick(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { session in
            var clicks: [ClickID] = []
            for fingerprint in [1, 2] as [UInt64] {
                let new = try NewClick.sample(fingerprint: fingerprint) { $0.campaignKey = CampaignKey("A") }
                clicks.append(try await session.record(new).click.id)
            }
            let (click, other) = (clicks[0], clicks[1])
            let events = try [
                Self.event("a", click: click), Self.event("b", install: 7, user: 5, click: click),
                Self.event("c", install: 7), Self.event("d", user: 5), Self.event("e", install: 8),
                Self.event("f", click: ClickID(high: click.high, low: click.low ^ 1)),
                Self.event("g", click: other),
            ]
            _ = try await session.record(Self.batch(events))
            #expect(try await session.match(.sample(fingerprint: 1, caller: 1)).claim?.click.id == click)
            let later = try [Self.event("h", install: 7), Self.event("i", click: click)]
            _ = try await session.record(Self.batch(later))
        }
        let campaigns = try await Self.exported(test).map { $0["campaign"] }
        #expect(campaigns == ["A", "A", "A", "A", nil, nil, nil, "A", "A"])
        let report = try #require(try await Self.counted(test).byCampaign.first)
        #expect(report.sums.eventCount == 6 && report.sums.all.map(\.installs) == [1])
        // A match without an install id is stored for events only if an event waits for its click.
        let held = try await test.run { session in
            var installs: [Int64] = []
            for fingerprint in [2, 3] as [UInt64] {
                if fingerprint == 3 { _ = try await session.record(.sample(fingerprint: fingerprint)) }
                let check = Check.sample(fingerprint: fingerprint, caller: fingerprint)
                let click = try #require(try await session.match(check).claim?.click.id)
                let subject = DataSubject(.click(click), of: Self.app)
                installs.append(try await session.held(subject).counts.installs)
            }
            return installs
        }
        #expect(held == [1, 0])
        test.stop()
        #expect(try test.verify().problems == [])
    }

    @Test("that name a click which another server matches at the same time are credited", arguments: backends)
    func clickAtOnce(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let other = try await TestStore(test.place.backend, in: test.place)
        for number in 1...20 as ClosedRange<UInt64> {
            let click = try await test.run { session in
                let new = try NewClick.sample(fingerprint: number) { $0.campaignKey = CampaignKey("A") }
                return try await session.record(new).click.id
            }
            async let claim = test.run { session in
                try await session.match(.sample(fingerprint: number, caller: number)).claim?.click.id
            }
            async let outcome = other.run { session in
                try await session.record(Self.batch([Self.event("x\(number)", click: click)]))
            }
            #expect(try await (claim, outcome) == (click, [.accepted]))
        }
        try other.database.catchUp()
        #expect(try await Self.counted(test).byCampaign.first?.sums.eventCount == 20)
    }

    @Test("are credited to a match that comes 30 days later, and not to a later one", arguments: backends)
    func lastMoment(backend: Backend) async throws {
        let test = try await TestStore(backend)
        _ = try await test.run { session in
            let events = try [Self.event("a", install: 7), Self.event("b", install: 8)]
            return try await session.record(Self.batch(events))
        }
        let last = TestStore.noon.advanced(byMilliseconds: 30 * Self.day)
        test.clock.now = last
        try test.database.runRetention()
        _ = try await test.run { try await Self.match($0, install: 7, at: last) }
        let later = last.advanced(byMilliseconds: 1)
        test.clock.now = later
        _ = try await test.run { try await Self.match($0, install: 8, fingerprint: 2, at: later) }
        #expect(try await Self.exported(test).map { $0["campaign"] } == ["SUMMER25", nil])
        let report = try await Self.counted(test)
        #expect(report.matches == 2 && report.byCampaign.first?.sums.eventCount == 1)
    }

    @Test("are deleted after their retention, and so is their match; the counts remain", arguments: backends)
    func retained(backend: Backend) async throws {
        // The shortest setting, because the ids of events must be unique for 30 days.
        let test = try await TestStore(backend) { $0.installRetentionSeconds = 30 * Self.day / 1000 }
        try await test.run { session in
            try await Self.match(session, install: 7)
            let events = try [Self.event("a", install: 7, money: (100, "EUR")), Self.event("b", install: 9)]
            _ = try await session.record(Self.batch(events))
        }
        let before = try await Self.counted(test).totals
        let last = TestStore.noon.advanced(byMilliseconds: 30 * Self.day)
        test.clock.now = last
        try test.database.runRetention()
        #expect(try await Self.exported(test).map { $0["event_id"] } == ["a", "b"])
        let again = try await test.run { session in
            try await session.record(Self.batch([Self.event("a", install: 7)], at: last))
        }
        #expect(again == [.duplicate])
        // PostgreSQL deletes rows a day later.
        let end = last.advanced(byMilliseconds: Self.day + 1)
        test.clock.now = end
        try test.database.runRetention()
        #expect(try await Self.exported(test).isEmpty)
        let report = try await Self.counted(test)
        #expect(report.totals == before && report.matches == 1)
        #expect(report.byCampaign.first?.sums.revenue.map(\.reported) == [100])
        let held = try await test.run { session in
            // The match is deleted, too, so this event is credited to no campaign.
            _ = try await session.record(Self.batch([Self.event("a", install: 7, at: end)], at: end))
            return try await session.holdings()
        }
        #expect(held.first { $0.table == "attributed_installs" }?.count == 0)
        #expect(try await Self.exported(test).map { $0["campaign"] } == [nil])
        test.stop()
        #expect(try test.verify().problems == [])
    }

    @Test("of an installation that another server matches at the same time are credited", arguments: backends)
    func matchAtOnce(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let other = try await TestStore(test.place.backend, in: test.place)
        for number in 1...20 as ClosedRange<UInt64> {
            async let claim = test.run { session in
                try await Self.match(session, install: 100 + number, fingerprint: number).method
            }
            async let outcome = other.run { session in
                try await session.record(Self.batch([Self.event("x\(number)", install: 100 + number)]))
            }
            _ = try await (claim, outcome)
        }
        try other.database.catchUp()
        let report = try await Self.counted(test)
        #expect(report.byCampaign.first?.sums.eventCount == 20)
    }

    @Test(
        "may name a click, a user of an earlier event, or a purchase instead of the installation",
        arguments: backends
    )
    func subjects(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { session in
            // A match without an installation id.
            let claim = try await Self.match(session, install: nil)
            let click = claim.click.id
            let events = try [
                Self.event("a", "sign_up", install: 7, user: 5, click: click),
                Self.event("b", user: 5, money: (1000, "EUR")), Self.event("c", user: 6),
                Self.event("d", click: ClickID(high: click.high, low: 1)),
            ]
            _ = try await session.record(Self.batch(events))
            let refund = try Self.event("r", "refund", money: (-400, "EUR"), purchase: "b")
            _ = try await session.record(Self.batch([refund, Self.event("e", install: 7)], isVerified: true))
        }
        let rows = try await Self.exported(test)
        #expect(rows.map { $0["event_id"] } == ["a", "b", "c", "d", "r", "e"])
        #expect(rows.map { $0["campaign"] } == ["SUMMER25", "SUMMER25", nil, nil, "SUMMER25", "SUMMER25"])
        #expect(rows[4]["amount"] == "-4.00" && rows[4]["purchase_id"] == "b")
        let report = try await Self.counted(test)
        // The refund of an app's purchase reduces the reported revenue.
        #expect(
            report.totals.revenue.map(\.verified) == [0] && report.totals.revenue.map(\.reported) == [600]
        )
    }

    @Test(
        "that refund a later purchase are credited when the purchase comes, or when its match comes",
        arguments: backends
    )
    func earlyRefunds(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let late = TestStore.noon.advanced(byMilliseconds: AppEvent.uniqueMilliseconds)
        @Sendable func refund(_ id: String, user: UInt64? = nil, of purchase: String) throws -> AppEvent {
            try Self.event(id, "refund", user: user, money: (-400, "EUR"), purchase: purchase, at: late)
        }
        try await test.run { session in
            try await Self.match(session, install: 7)
            let early = [try refund("r0", of: "p0")]
            _ = try await session.record(Self.batch(early, isVerified: true))
            let refunds = try [
                refund("r1", of: "p1"), refund("r2", of: "p2"), refund("r3", user: 9, of: "p3"),
            ]
            _ = try await session.record(Self.batch(refunds, isVerified: true, at: late))
            let events = try [
                // Another event may have this id by now.
                Self.event("p0", install: 7, at: late),
                Self.event("p1", install: 7, money: (1000, "EUR"), at: late),
                Self.event("p2", "subscription_renewed", install: 8, money: (2000, "EUR"), at: late),
                Self.event("p3", install: 8, at: late), Self.event("e", user: 9, at: late),
            ]
            let time = late.advanced(byMilliseconds: 1)
            _ = try await session.record(Self.batch(events, isVerified: true, at: time))
        }
        func credited() async throws -> [String?] {
            try await Self.exported(test).filter { $0["campaign"] != nil }.map { $0["event_id"] }
        }
        #expect(try await credited() == ["r1", "p0", "p1"])
        let first = try #require(try await Self.counted(test).byCampaign.first)
        #expect(first.sums.eventCount == 3 && first.sums.revenue.map(\.verified) == [600])
        test.clock.now = late
        _ = try await test.run { try await Self.match($0, install: 8, fingerprint: 2, at: late) }
        #expect(try await credited() == ["r1", "r2", "r3", "p0", "p1", "p2", "p3", "e"])
        let all = try #require(try await Self.counted(test).byCampaign.first)
        #expect(all.sums.eventCount == 8 && all.sums.revenue.map(\.verified) == [1800])
    }

    @Test(
        "that refund a purchase are credited with it and not before, whatever else they name",
        arguments: backends
    )
    func refundsFollow(backend: Backend) async throws {
        let test = try await TestStore(backend)
        @Sendable func refund(_ id: String, install: UInt64, of purchase: String) throws -> AppEvent {
            try Self.event(id, "refund", install: install, money: (-400, "EUR"), purchase: purchase)
        }
        try await test.run { session in
            try await Self.match(session, install: 7)
            let early = try refund("r1", install: 7, of: "p")
            _ = try await session.record(Self.batch([early], isVerified: true))
            let events = try [
                Self.event("p", user: 5, money: (1000, "EUR")), refund("r2", install: 7, of: "p"),
                refund("r3", install: 8, of: "p"), refund("r4", install: 7, of: "none"),
            ]
            _ = try await session.record(Self.batch(events, isVerified: true))
            try await Self.match(session, install: 8, fingerprint: 2, campaign: "OTHER")
        }
        func campaigns() async throws -> [String: String?] {
            let rows = try await Self.exported(test).map { ($0["event_id"] ?? "", $0["campaign"]) }
            return Dictionary(rows) { first, _ in first }
        }
        #expect(try await campaigns() == ["r1": nil, "p": nil, "r2": nil, "r3": nil, "r4": nil])
        #expect(try await Self.counted(test).byCampaign.allSatisfy { $0.sums.eventCount == 0 })
        let link = try Self.event("e", "open", install: 7, user: 5)
        _ = try await test.run { try await $0.record(Self.batch([link], isVerified: true)) }
        let summer: String? = "SUMMER25"
        #expect(
            try await campaigns()
                == ["r1": summer, "p": summer, "r2": summer, "r3": summer, "r4": nil, "e": summer]
        )
        let report = try await Self.counted(test)
        #expect(report.totals.revenue.map(\.verified) == [-600])
        let campaign = try #require(report.byCampaign.first { $0.sums.eventCount > 0 })
        #expect(campaign.sums.eventCount == 5 && campaign.sums.revenue.map(\.verified) == [-200])
    }

    @Test(
        "that refund a purchase are credited if another server gets the purchase at the same time",
        arguments: backends
    )
    func refundAtOnce(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let other = try await TestStore(test.place.backend, in: test.place)
        _ = try await test.run { try await Self.match($0, install: 7) }
        for number in 0..<20 {
            let purchase = try Self.event("p\(number)", install: 7, money: (1000, "EUR"))
            let refund = try Self.event("r\(number)", "refund", money: (-400, "EUR"), purchase: purchase.id)
            async let first = test.run { try await $0.record(Self.batch([purchase])) }
            async let second = other.run { try await $0.record(Self.batch([refund])) }
            _ = try await (first, second)
        }
        try other.database.catchUp()
        let report = try await Self.counted(test)
        #expect(report.byCampaign.first?.sums.revenue.map(\.reported) == [12_000])
    }

    @Test("whose revenue exceeds the range of 64 bits count up to the range's bound", arguments: backends)
    func bounds(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let earlier = TestStore.noon.advanced(byMilliseconds: -Self.day)
        for isVerified in [false, true] {
            for number in 0..<3 {
                try await test.run { session in
                    if number == 0, !isVerified { try await Self.match(session, install: 7) }
                    let events = try ["EUR", "USD", "JPY"].flatMap { code in
                        try [TestStore.noon, earlier].map { time in
                            let id = "\(code)\(time.milliseconds)\(number)\(isVerified)"
                            let amount: Int64 = code == "JPY" ? -.max : .max
                            return try Self.event(id, install: 7, money: (amount, code), at: time)
                        }
                    }
                    _ = try await session.record(Self.batch(events, isVerified: isVerified))
                }
                try test.database.catchUp()
            }
        }
        let report = try await Self.counted(test)
        let campaign = try #require(report.byCampaign.first)
        for sums in [report.totals, campaign.sums, report.bySource[0].sums, report.cohorts[0].sums[5]] {
            #expect(sums.revenue.map(\.reported) == [.max, .min, .max])
            #expect(sums.revenue.map(\.verified) == [.max, .min, .max])
        }
        var days = StatisticsQuery(app: Self.app)
        days.from = Granularity.day.start(of: earlier)
        days.to = days.from?.advanced(byMilliseconds: 2 * Self.day)
        let query = EventQuery(days)
        #expect(try await test.run { try await $0.events(query) }.totals == report.totals)
        test.stop()
        #expect(try test.verify().problems == [])
    }

    @Test("have at most 100 names a day, and the others count together", arguments: backends)
    func names(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { session in
            let names = (0..<150).map { "event_\($0)" }
            for start in [0, 75] {
                let events = try names[start..<start + 75].map { try Self.event($0, $0, money: (1, "EUR")) }
                _ = try await session.record(Self.batch(events))
            }
        }
        let sums = try await Self.counted(test).totals.all
        #expect(sums.count == 101)
        let other = try #require(sums.first)
        #expect(other.name == "other" && other.events == 50 && other.reported == 50)
    }

    @Test(
        "are reported for their campaign, even if a hundred other campaigns have no match and no event",
        arguments: backends
    )
    func lastCampaign(backend: Backend) async throws {
        let test = try await TestStore(backend)
        try await test.run { session in
            for number in 1...101 as ClosedRange<UInt64> {
                let key = CampaignKey("other \(number)")
                _ = try await session.record(.sample(fingerprint: 100 + number) { $0.campaignKey = key })
            }
            try await Self.match(session, install: 7)
            let event = try Self.event("1", install: 7, money: (100, "EUR"))
            _ = try await session.record(Self.batch([event], isVerified: true))
        }
        let groups = try await Self.counted(test).byCampaign
        #expect(groups.map(\.name) == ["SUMMER25"] && groups.first?.matches == 1)
        #expect(groups.first?.sums.revenue.map(\.verified) == [100])
        var days = StatisticsQuery(app: Self.app)
        days.from = Granularity.day.start(of: TestStore.noon).advanced(byMilliseconds: -20 * Self.day)
        days.to = days.from?.advanced(byMilliseconds: 21 * Self.day)
        let query = EventQuery(days)
        #expect(try await test.run { try await $0.events(query) }.byCampaign == groups)
    }

    @Test("count on the day on which they happened, and by the age of the installation", arguments: backends)
    func days(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let ages: [Int64] = [0, 1, 2, 20, 31]
        let end = TestStore.noon.advanced(byMilliseconds: 40 * Self.day)
        try await test.run { session in
            try await Self.match(session, install: 7)
            let events = try ages.map { age in
                let time = TestStore.noon.advanced(byMilliseconds: age * Self.day)
                return try Self.event("\(age)", install: 7, money: (100, "EUR"), at: time)
            }
            _ = try await session.record(Self.batch(events, isVerified: true, at: end))
        }
        let cohort = try #require(try await Self.counted(test).cohorts.first)
        #expect(cohort.matches == 1 && cohort.sums.map(\.eventCount) == [1, 2, 3, 3, 3, 4])
        #expect(cohort.sums.map { $0.all.first?.installs } == [1, 1, 1, 1, 1, 1])
        #expect(cohort.sums.last?.revenue.map(\.verified) == [400])
        var second = StatisticsQuery(app: Self.app)
        second.from = Granularity.day.start(of: TestStore.noon.advanced(byMilliseconds: Self.day))
        second.to = second.from?.advanced(byMilliseconds: Self.day)
        let query = EventQuery(second)
        let report = try await test.run { try await $0.events(query) }
        #expect(report.totals.eventCount == 1 && report.byCampaign.map(\.name) == ["SUMMER25"])
    }

    @Test("are erased with their installation, click or user", arguments: backends)
    func erased(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let claim = try await test.run { session in
            let claim = try await Self.match(session, install: 7)
            let events = try [
                Self.event("a", install: 7), Self.event("b", user: 5), Self.event("c", install: 8),
                Self.event("d", click: claim.click.id),
            ]
            _ = try await session.record(Self.batch(events))
            return claim
        }
        func erase(_ key: DataSubject.Key) async throws -> PrivacyCounts {
            let subject = DataSubject(key, of: Self.app)
            let record = Erasure(
                id: ErasureID(high: UInt64(subject.kind.rawValue.utf8.count), low: 1),
                at: TestStore.noon,
                app: Self.app,
                kind: subject.kind,
                actor: .command(user: "test")
            )
            let held = try await test.run { try await $0.held(subject).counts }
            let counts = try await test.run { try await $0.erase(subject, record).counts }
            #expect(held == counts)
            return counts
        }
        let ofUser = try await erase(.user(live: [hash(5)], test: []))
        #expect(ofUser.events == 1 && ofUser.installs == 0 && ofUser.clicks == 0)
        let ofClick = try await erase(.click(claim.click.id))
        #expect(ofClick.events == 2 && ofClick.installs == 1 && ofClick.clicks == 1)
        let ofInstall = try await erase(.install(live: [hash(8)], test: []))
        #expect(ofInstall.events == 1 && ofInstall.clicks == 0)
        #expect(try await Self.exported(test).isEmpty)
    }

    private static func exported(_ test: TestStore) async throws -> [[String: String]] {
        let rows = try await test.run { session in
            let query = ExportQuery(.events, end: .row(.max))
            return try await session.export(query).rows
        }
        return rows.map { row in
            var values: [String: String] = [:]
            for (name, value) in zip(ExportTable.events.columns, row.values) {
                switch value {
                case .text(let text), .decimal(let text): values[name] = text
                default: break
                }
            }
            return values
        }
    }
}
