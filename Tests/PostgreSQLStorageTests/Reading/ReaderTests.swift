#if PostgreSQL
import Attribution
@testable import PostgreSQL
@testable import PostgreSQLStorage
@testable import Storage
import Support
import Testing

/// Apps, links, counts and jobs.
@Suite("Reading PostgreSQL on a blocking connection", .blocking, .onPostgreSQL)
struct ReaderTests {
    private let harness: ReaderHarness
    private var reader: PostgreSQLReader { harness.reader }
    private let scope = ReaderHarness.scope
    private let noon = ReaderHarness.noon

    init() throws { harness = try ReaderHarness() }

    /// Writes 450 links: every third with a tag, every fifth with a campaign, the last 50 of the other app.
    private func addLinks() throws {
        try harness.database.execute(
            """
            INSERT INTO links (number, id_high, id_low, app, slug, campaign_key, search_text, created_at, updated_at)
            SELECT n, 8, n, CASE WHEN n > 400 THEN 4 ELSE 3 END, 's' || n,
                CASE WHEN n % 5 = 0 THEN 'SUMMER' END, 's' || n || E'\\ntitle 10%', 1, 1 FROM generate_series(1, 450) AS n;
            INSERT INTO link_fields SELECT n, 'tags', 1, 'spring' FROM generate_series(3, 450, 3) AS n;
            INSERT INTO link_fields VALUES (449, 'title', 0, 'A title');
            UPDATE links SET archived_at = 5 WHERE number = 450;
            INSERT INTO link_counts (link, variant, clicks, robots, tests, matches)
                VALUES (449, '', 7, 2, 0, 1), (449, 'b', 3, 0, 0, 1)
            """
        )
    }

    private func numbers(_ query: LinkQuery, atMost limit: Int = .max) throws -> [Int64] {
        var numbers: [Int64] = []
        try reader.links(query) { link, isMatch in
            if isMatch { numbers.append(link.number) }
            return numbers.count < limit
        }
        return numbers
    }

    @Test("a list of links has pages, newest first, of an app, a campaign, a tag or a searched text")
    func links() throws {
        try addLinks()
        var query = LinkQuery(isArchived: nil)
        #expect(try numbers(query) == Array((1...450).reversed()))
        query.before = LinkID(high: 8, low: 250)
        #expect(try numbers(query, atMost: 10) == Array((240...249).reversed()))
        query.app = ReaderHarness.app
        query.before = LinkID(high: 8, low: 430)
        #expect(try numbers(query, atMost: 2) == [400, 399])
        query.tag = "spring"
        #expect(try numbers(query, atMost: 2) == [399, 396])
        query.campaignKey = CampaignKey("SUMMER")
        #expect(try numbers(query, atMost: 2) == [390, 375])
        query = LinkQuery(isArchived: true)
        #expect(try numbers(query) == [450])
        query = LinkQuery(isArchived: false)
        query.search = "S44"
        #expect(try numbers(query) == [449, 448, 447, 446, 445, 444, 443, 442, 441, 440, 44])
        query.search = "10%"
        #expect(try numbers(query).count == 449)
        query.search = "10_"
        #expect(try numbers(query) == [])
    }

    @Test("the most clicked names of many campaigns are read page by page, and not row by row")
    func plansOfTop() throws {
        try harness.database.execute(
            """
            INSERT INTO counts SELECT \(scope.number), n::text, d, s, p * 86400000::int8, '', m, 1
            FROM generate_series(1, 300) n, generate_series(1, 30) p, (VALUES (0), (11)) AS ds (d),
                (VALUES (1), (4)) AS ss (s), (VALUES ('clicks'), ('matches')) AS ms (m);
            ANALYZE counts
            """
        )
        for (ofAll, ofManyDays) in [PostgreSQLReader.topCampaigns, PostgreSQLReader.topLinks] {
            for statement in [ofAll, ofManyDays] {
                let plan = try harness.database.execute(
                    """
                    SET plan_cache_mode = force_generic_plan;
                    DEALLOCATE ALL;
                    PREPARE asked (int8, int8, int8, int8, int8) AS \(statement.text);
                    EXPLAIN EXECUTE asked (\(scope.number), 1, 86400000, 2592000000, 100)
                    """
                )
                #expect(plan.contains("Bitmap Index Scan on top_"), "\(plan)")
                #expect(!plan.contains("Scan using top_"), "\(plan)")
            }
        }
    }

    @Test("the clicks of an installation are found partition by partition")
    func clicksOfInstall() throws {
        let yesterday = noon.advanced(byMilliseconds: -ReaderHarness.day)
        var numbers: Set<UInt64> = []
        for (at, isLong) in [(yesterday, false), (noon, false), (noon, true)] {
            for install in [1, 2] as [UInt64] {
                let click = try harness.add(.sample(at: at), count: Int64(install), isLong: isLong)
                try harness.claim(click, after: 1, install: hash(install))
                if install == 1 { numbers.insert(UInt64(click.number)) }
            }
            // An installation leads only to its last click.
            try harness.database.execute("DELETE FROM installs")
        }
        var (found, parts, next): (Set<UInt64>, Int, Int64?) = ([], 0, 0)
        while let position = next, parts < 9 {
            let part = try reader.clicks(ofInstall: hash(1), in: scope, from: position)
            found.formUnion(part.clicks)
            (parts, next) = (parts + 1, part.next)
        }
        #expect(found == numbers && parts == 3)
    }

    @Test("a delivery without its event does not end the list of an endpoint's deliveries")
    func deliveryWithoutEvent() throws {
        try harness.database.execute(
            """
            INSERT INTO outbox_events SELECT 6, n::int8 << 16, n, 'match', '{}' FROM generate_series(1, 300) n WHERE n <> 290;
            INSERT INTO deliveries SELECT 1, n::int8 << 16, n, 1, 0, 1, n FROM generate_series(1, 300) n
            """
        )
        let endpoint = PostbackEndpoint(
            id: EndpointID(high: 1, low: 1),
            app: ReaderHarness.app,
            isTest: false,
            url: "https://example.com/hook",
            types: [.matchCreated],
            body: nil,
            createdAt: noon
        )
        var found: [Int64] = []
        let newest = OutboxEventID(high: UInt64(Int64.max), low: 0)
        try reader.deliveries(of: EndpointRecord(endpoint, scope: 6), before: newest) { row in
            found.append(Int64(row.record.id.low))
            return true
        }
        let stored = (1...300 as ClosedRange<Int64>).reversed()
        #expect(found == stored.filter { $0 != 290 })
    }

    @Test("a page of an endpoint's deliveries reads its own rows by the keys, however many wait")
    func plansOfDeliveries() throws {
        try harness.database.execute(
            """
            INSERT INTO outbox_events SELECT 6, n::int8 << 16, n, 'match', '{}' FROM generate_series(1, 20000) n;
            INSERT INTO deliveries SELECT 1, n::int8 << 16, n, 1, 0, 1, n FROM generate_series(1, 20000) n;
            ANALYZE outbox_events, deliveries
            """
        )
        for (statement, values) in [
            (PostgreSQLReader.selectDue, "1, 6, 20000, 40000, 64"),
            (PostgreSQLReader.selectDeliveries, "1, 6, \(Int64.max), 0"),
        ] {
            let types = values.split(separator: ",").map { _ in "int8" }.joined(separator: ", ")
            let plan = try harness.database.execute(
                """
                SET plan_cache_mode = force_generic_plan;
                DEALLOCATE ALL;
                PREPARE asked (\(types)) AS \(statement.text);
                EXPLAIN EXECUTE asked (\(values))
                """
            )
            #expect(!plan.contains("Seq Scan"), "\(plan)")
            #expect(plan.contains("Index Scan using outbox_events_pkey"), "\(plan)")
        }
    }

    @Test("sums are read by the index and added up without sorting, however many rows there are")
    func planOfSums() throws {
        let plan = try harness.database.execute(
            """
            SET plan_cache_mode = force_generic_plan;
            DEALLOCATE ALL;
            PREPARE asked (int8, text[], int8[], int8[], int8[], int8[]) AS \(PostgreSQLReader.sumsByValue.text);
            EXPLAIN EXECUTE asked (0, '{""}', '{2}', '{1}', '{0}', '{86400000}')
            """
        )
        #expect(plan.contains("HashAggregate") && !plan.contains("Sort"), "\(plan)")
        #expect(plan.contains("counts_pkey") && plan.contains("(campaign = n.campaign)"), "\(plan)")
    }

    @Test("a report reads the counts of its campaigns and links at once, and not one by one")
    func statementsOfReport() throws {
        try harness.count { payload in
            for number in 0..<40 {
                let labels = [
                    CounterLabel(.total), CounterLabel(campaign: "C\(number)", .total),
                    CounterLabel(campaign: "lnk_\(number)", .link),
                ]
                payload.counts.add(Int64(number + 1), .clicks, to: labels, of: scope, at: noon)
            }
        }
        var query = StatisticsQuery(app: ReaderHarness.app)
        query.groupLimit = 8
        let apps: [(id: AppID, scope: Scope)] = [
            (ReaderHarness.app, scope), (AppID(high: 1, low: 4), Scope(app: 4, isTest: false)),
        ]
        let report = try reading(atMost: 34) {
            try StatisticsReader(reader: reader, query: query, apps: apps).report(at: noon)
        }
        #expect(report.byCampaign.map(\.name) == (32...39).reversed().map { "C\($0)" })
        #expect(report.byLink.first?.counts[.clicks] == 40)
    }

    /// Reads with a limit on the number of statements, each of which costs a round trip.
    private func reading<Value>(atMost limit: Int64, _ read: () throws -> Value) throws -> Value {
        func executions() throws -> Int64 {
            let rows = try harness.connection.execute(
                PreparedStatement(
                    "SELECT coalesce(sum(generic_plans + custom_plans), 0)::int8 FROM pg_prepared_statements"
                )
            )
            return try rows.value(0, 0)
        }
        let before = try executions()
        let value = try read()
        let count = try executions() - before
        #expect(count <= limit, "\(count)")
        return value
    }

    @Test("a report of events reads its cohorts at once, and not day by day")
    func statementsOfEvents() throws {
        let days = (0..<28).map { noon.advanced(byMilliseconds: -Int64($0) * 86_400_000) }
        try harness.count { payload in
            for (number, day) in days.enumerated() {
                let (count, cohort) = (Int64(number + 1), CounterLabel(.cohort, "D0 purchase"))
                payload.counts.add(count, .matches, to: [CounterLabel(.total)], of: scope, at: day)
                payload.counts.add(count, "events", to: cohort, of: scope, in: .day, at: day)
            }
        }
        var span = StatisticsQuery(app: ReaderHarness.app)
        (span.from, span.interval) = (days.last, .day)
        let report = try reading(atMost: 20) {
            try EventReader(reader: reader, query: EventQuery(span), scopes: [scope]).report()
        }
        #expect(report.cohorts.map(\.matches) == Array(1...28))
        #expect(report.cohorts.map { $0.sums.first?.eventCount } == Array(1...28))
    }

    @Test("jobs read their progress, the clock and the keys that stored hashes need")
    func jobs() throws {
        #expect(try reader.progress(of: .drift) == nil)
        #expect(try reader.lastSettled() == nil)
        try harness.database.execute(
            """
            INSERT INTO jobs VALUES ('drift', 1, 0, 1234), ('fading', 1, 0, \(Int64.min));
            INSERT INTO former_server_keys VALUES (-5, 77);
            INSERT INTO address_days VALUES (3, 100), (4, \(noon.milliseconds + 1))
            """
        )
        #expect(try reader.progress(of: .drift) == Timestamp(milliseconds: 1234))
        #expect(try reader.progress(of: .fading) == nil)
        let check = try harness.addCheck(ReaderHarness.time(-90_000), server: 3)
        #expect(try reader.newestCheck() == Int64(check))
        #expect(try reader.lastSettled() == ReaderHarness.time(-90_000))
        let click = try harness.add(.sample(at: noon, visit: 9))
        #expect(try reader.newestClick() == click.number)
        #expect(try reader.lastSettled() == noon)
        let needs = try reader.requiredKeys(at: noon)
        #expect(needs.oldestRecord == ReaderHarness.time(-90_000))
        #expect(needs.replaced == [UInt64(bitPattern: -5): Timestamp(milliseconds: 77)])
        #expect(needs.firstAddressDay == 4)
        #expect(try reader.hasPastAddressDays(at: noon))
        #expect(try !reader.hasPastAddressDays(at: Timestamp(milliseconds: 50)))
        try harness.database.execute("INSERT INTO jobs VALUES ('clock', 0, 0, 99)")
        #expect(try reader.lastSettled() == Timestamp(milliseconds: 99))
    }

    @Test("the model is read as it was learnt, and a large key's open clicks in pages")
    func learning() throws {
        try harness.database.execute(
            """
            INSERT INTO learning VALUES (6, 10, 20);
            INSERT INTO learnt_counters VALUES (6, 1, 5, 2.5), (6, 2, -7, 1), (6, 10, 9, 4)
            """
        )
        #expect(try reader.learningEpoch(of: scope)?.landmark == Timestamp(milliseconds: 20))
        #expect(try reader.learningEpoch(of: Scope(number: 7)) == nil)
        #expect(try reader.learntScopes() == [scope])
        #expect(try reader.learntCounterCount(of: scope, nil) == 3)
        #expect(try reader.learntCounterCount(of: scope, .totals) == 1)
        #expect(try reader.modelSums(of: scope)[CounterKey(.totals, 5)] == 2.5)
        let sums = try reader.learntSums(of: scope, .launchesAtAddress, after: 0, atMost: 5)
        #expect(sums.map(\.key) == [9] && sums.map(\.sum) == [4])
        var numbers: [Int64] = []
        for step in 0..<6 as Range<Int64> {
            let at = ReaderHarness.time(step * -20_000)
            let click = try harness.add(.sample(at: at, visit: UInt64(step)), isLong: step == 3)
            numbers.append(click.number)
            if step == 1 { try harness.claim(click, after: 5) }
        }
        let key = KeySummary.Key(scope: scope, fingerprint: hash(1))
        var (read, position): ([Int64], RowPosition?) = ([], RowPosition(clickedAt: .max, click: .max))
        while let start = position {
            position = nil
            try reader.openClicks(of: key, before: start, atMost: 2) { row in
                read.append(row.click)
                position = RowPosition(clickedAt: row.clickedAt.milliseconds, click: row.click)
            }
        }
        #expect(read == [0, 2, 3, 4, 5].map { numbers[$0] })
        let expected = PendingCheckRecords.Expected(sum: .zero, click: numbers[1], fingerprint: nil)
        #expect(try reader.campaign(hashed: 0, expected, in: scope) == "SUMMER25")
    }
}
#endif
