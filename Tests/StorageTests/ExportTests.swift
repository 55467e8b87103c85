import Attribution
import Foundation
import Storage
import Support
import TestDatabases
import Testing

@Suite("Exports")
struct ExportTests {
    /// Returns all rows behind a cursor, and fails if a page is larger than asked for.
    static func rows(
        of table: ExportTable,
        behind since: ExportCursor? = nil,
        app: AppID? = nil,
        pages limit: Int = 3,
        _ session: TestSession,
        at now: Timestamp = TestStore.noon
    ) async throws -> [ExportRow] {
        var query = ExportQuery(table, end: try await session.end(of: table, at: now), limit: limit)
        (query.since, query.app) = (since, app)
        var rows: [ExportRow] = []
        while true {
            let page = try await session.export(query)
            // The last page of deletions has at most one more row for each table.
            #expect(page.rows.count <= limit + (table == .deletions && page.next == nil ? 3 : 0))
            #expect(page.rows.allSatisfy { fits($0, table) }, "\(page.rows)")
            rows += page.rows
            guard let next = page.next else { return rows }
            query.since = next
        }
    }

    /// Whether each value of a row has the kind of its column.
    private static func fits(_ row: ExportRow, _ table: ExportTable) -> Bool {
        row.values.count == table.columns.count
            && zip(row.values, table.columns).allSatisfy { value, column in
                switch (value, table.kind(of: column)) {
                case (.none, _), (.text, .text), (.time, .time), (.integer, .integer), (.real, .real),
                    (.flag, .flag):
                    true
                default: false
                }
            }
    }

    static func text(_ name: String, in row: ExportRow, of table: ExportTable) -> String? {
        guard let index = table.columns.firstIndex(of: name), case .text(let text) = row.values[index] else {
            return nil
        }
        return text
    }

    @Test("contain each click once, in pages of any size, and continue behind a row", arguments: backends)
    func clicks(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let other = AppID(high: 2, low: 2)
        let (all, rest, ofOther) = try await test.run { session in
            let app = App(id: other, settings: App.Settings(name: "Other"), createdAt: TestStore.noon)
            try await session.create(app)
            for number in 1...10 as ClosedRange<UInt64> {
                let click = try NewClick.sample(
                    fingerprint: number,
                    app: number % 3 == 0 ? other : AppID(high: 1, low: 1),
                    visit: number
                ) {
                    $0.destination = DeepLinkURL(stored: "myapp://\(number)")
                    // A link's own source, and a token.
                    if number == 1 { ($0.source, $0.rawSource) = (.unknown, "Newsletter") }
                    if number == 2 { ($0.source, $0.rawSource) = (.instagram, "ig") }
                }
                _ = try await session.record(click)
            }
            let all = try await Self.rows(of: .clicks, session)
            return (
                all, try await Self.rows(of: .clicks, behind: all[4].cursor, session),
                try await Self.rows(of: .clicks, app: other, pages: 2, session)
            )
        }
        let destinations = { (rows: [ExportRow]) in
            rows.compactMap { Self.text("destination", in: $0, of: .clicks) }
        }
        #expect(destinations(all) == (1...10).map { "myapp://\($0)" })
        let sources = all.prefix(2).map { Self.text("source", in: $0, of: .clicks) }
        #expect(sources == ["newsletter", "instagram"])
        #expect(rest == Array(all[5...]))
        #expect(destinations(ofOther) == ["myapp://3", "myapp://6", "myapp://9"])
        for row in all {
            #expect(row.values.count == ExportTable.clicks.columns.count)
            #expect(ExportCursor(row.cursor.text, of: .clicks) == row.cursor)
        }
    }

    /// A time of the past that PostgreSQL's exports reach within seconds: they end half a minute before the present.
    private static func time() -> Timestamp {
        Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000) - 25_000)
    }

    @Test("contain each row once, although two servers write meanwhile", arguments: backends)
    func once(backend: Backend) async throws {
        let test = try await TestStore(backend, in: try await backend.makePlace(at: Self.time()))
        test.clock.now = Self.time()
        var configuration = StoreConfiguration(clock: WallClock { Self.time() })
        configuration.hasBackgroundWork = false
        configuration.trustsClock = true
        configuration.timeLimitMilliseconds = 600_000
        let second = backend == .sqlite ? test.database : try test.place.open(configuration)
        defer { if backend != .sqlite { second.stop(within: 60_000) } }
        let count: UInt64 = 150
        var ids: [String] = []
        var since: ExportCursor?
        func readOn() async throws {
            let start = since
            let rows = try await test.run { session in
                try await Self.rows(of: .clicks, behind: start, pages: 7, session)
            }
            ids += rows.compactMap { Self.text("id", in: $0, of: .clicks) }
            since = rows.last?.cursor ?? since
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, database) in [test.database, second].enumerated() {
                group.addTask {
                    try await database.run { session in
                        for number in 1...count {
                            test.clock.now = Self.time()
                            let visit = UInt64(index) * 1000 + number
                            let click = try NewClick.sample(fingerprint: visit, at: Self.time(), visit: visit)
                            guard case .recorded = try await session.record(click) else {
                                throw StoreError(.conflict, "the click was not recorded")
                            }
                        }
                    }
                }
            }
            for _ in 0..<20 { try await readOn() }
            try await group.waitForAll()
        }
        let end = Polling.end
        while ids.count < 2 * Int(count), ContinuousClock.now < end {
            try await readOn()
            // The remaining rows follow within seconds; ten polls of this thread take a tenth of a second.
            var looks = 0
            _ = await Polling.eventually {
                looks += 1
                return looks > 10
            }
        }
        #expect(ids.count == 2 * Int(count) && Set(ids).count == ids.count)
    }

    @Test("contain checks with their weight, and matches also in a table of their own", arguments: backends)
    func checks(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let (checks, matches) = try await test.run { session in
            _ = try await session.record(try .sample(fingerprint: 1))
            for fingerprint in [1, 2] as [UInt64] {
                _ = try await session.match(.sample(fingerprint: fingerprint))
            }
            return (
                try await Self.rows(of: .checks, pages: 1, session),
                try await Self.rows(of: .matches, session)
            )
        }
        let outcomes = checks.compactMap { Self.text("outcome", in: $0, of: .checks) }
        #expect(outcomes.sorted() == ["match", "no_match"])
        #expect(checks.allSatisfy { $0.values.last == .integer(1) })
        #expect(matches.count == 1)
        #expect(matches.first?.cursor == checks.first { $0.values[4] == .text("match") }?.cursor)
    }

    @Test(
        "contain every event of an app, although whole pages have events of another app",
        arguments: backends
    )
    func eventsOfApp(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let (app, other) = (test.app, AppID(high: 2, low: 2))
        let rows = try await test.run { session in
            let new = App(id: other, settings: App.Settings(name: "Other"), createdAt: TestStore.noon)
            try await session.create(new)
            // With two rows a page, three events of the other app fill more than a page.
            for (owner, id) in [(app, "a"), (other, "b"), (other, "c"), (other, "d"), (app, "e")] {
                let name = try #require(EventName("open"))
                _ = try await session.record(
                    EventBatch(
                        app: owner,
                        isTest: false,
                        isVerified: true,
                        receivedAt: TestStore.noon,
                        events: [AppEvent(id: id, name: name, occurredAt: TestStore.noon)]
                    )
                )
            }
            return try await Self.rows(of: .events, app: app, pages: 2, session)
        }
        #expect(rows.map(\.values[0]) == [.text("a"), .text("e")])
    }

    @Test("contain each count of an ended hour once, and continue behind any of them", arguments: backends)
    func counters(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let later = TestStore.noon.advanced(byMilliseconds: 2 * 3_600_000)
        let link = try SampleLink.make(1)
        let (open, all, parts) = try await test.run { session in
            try await session.create(link)
            for number in 1...6 as ClosedRange<UInt64> {
                let click = try NewClick.sample(fingerprint: number, visit: number) {
                    // A campaign may contain the separator of former cursors.
                    $0.campaignKey = CampaignKey(["Spring", "Été", "zz\u{1F}z"][Int(number % 3)])
                    $0.link = number == 6 ? link.id : nil
                }
                _ = try await session.record(click)
            }
            let open = try await Self.rows(of: .counters, session)
            let all = try await Self.rows(of: .counters, pages: 1000, session, at: later)
            var parts: [[ExportRow]] = []
            for row in all {
                parts.append(
                    try await Self.rows(of: .counters, behind: row.cursor, pages: 2, session, at: later)
                )
            }
            return (open, all, parts)
        }
        #expect(open.isEmpty)
        let clicks = all.filter {
            Self.text("metric", in: $0, of: .counters) == "clicks"
                && Self.text("dimension", in: $0, of: .counters) == "total"
        }
        let campaigns = clicks.map { Self.text("campaign", in: $0, of: .counters) }
        #expect(campaigns == ["", "Spring", "zz\u{1F}z", "Été"])
        #expect(clicks.map { $0.values.last } == [6, 2, 2, 2].map { .integer($0 as Int64) })
        let linked = all.filter { Self.text("campaign", in: $0, of: .counters) == link.id.text }
        #expect(linked.map { Self.text("dimension", in: $0, of: .counters) } == ["link"])
        #expect(linked.map { Self.text("metric", in: $0, of: .counters) } == ["clicks"])
        for (index, part) in parts.enumerated() { #expect(part == Array(all[(index + 1)...])) }
        #expect(all.allSatisfy { ExportCursor($0.cursor.text, of: .counters) == $0.cursor })
    }

    @Test("have cursors that are ordered by bytes, as a database orders two spellings of one campaign")
    func spellings() {
        func cursor(_ campaign: String, _ dimension: Int64) -> CountCursor {
            CountCursor(hour: Timestamp(milliseconds: 0), scope: 2, campaign: campaign, dimension: dimension)
        }
        let (decomposed, composed) = (cursor("e\u{301}", 5), cursor("\u{E9}", 0))
        #expect(decomposed < composed && !(composed < decomposed))
        #expect(cursor("e\u{301}", 5) < cursor("e\u{301}", 6))
    }

    @Test("refuse cursors that no row of the table has")
    func cursors() {
        for text in ["", "-1", "x", "1.5", "99999999999999999999"] {
            #expect(ExportCursor(text, of: .clicks) == nil)
        }
        for text in ["", "1", "YQ", "MTIz"] { #expect(ExportCursor(text, of: .counters) == nil) }
        let dates = ["2027-01-31", "2027-10-31"]
        for text in ["", "1", "1-2", "1-2-x", "1-2-3-4-5", "1--2", "1-+2-3", "1-02-3"] + dates {
            #expect(ExportCursor(text, of: .deletions) == nil)
        }
        #expect(ExportCursor("12", of: .links) == .row(12))
    }

    @Test("continue behind a cursor of counts of an earlier version")
    func formerCursor() throws {
        let former = "7200000\u{1F}3\u{1F}Été\u{1F}2\u{1F}ios\u{1F}clicks"
        let cursor = try #require(ExportCursor(Base64URL.text(of: Array(former.utf8)), of: .counters))
        guard case .count(let count) = cursor else { return }
        #expect((count.hour.milliseconds, count.scope, count.dimension) == (7_200_000, 3, 2))
        #expect((count.campaign, count.value, count.metric) == ("Été", "ios", "clicks"))
        #expect(ExportCursor(cursor.text, of: .counters) == cursor)
    }
}
