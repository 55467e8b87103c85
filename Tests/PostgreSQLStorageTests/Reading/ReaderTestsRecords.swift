#if PostgreSQL
import Attribution
@testable import PostgreSQL
@testable import PostgreSQLStorage
@testable import Storage
import Support
import Testing

/// Clicks and records of checks, which are read in the order of their numbers from several buckets and slots.
@Suite("Clicks and checks of PostgreSQL in their order", .blocking, .onPostgreSQL)
struct ReaderTestsRecords {
    private let harness: ReaderHarness
    private var reader: PostgreSQLReader { harness.reader }
    private let scope = ReaderHarness.scope
    private let noon = ReaderHarness.noon

    init() throws { harness = try ReaderHarness() }

    /// Writes a click every 1,500 seconds up to noon: over two days, in many buckets, and every fifth in slot
    /// -1.
    private func addClicks(_ count: Int64) throws -> [ClickRecord] {
        try (0..<count).map { step in
            let click = try NewClick.sample(
                at: ReaderHarness.time(-1500 * (count - 1 - step)),
                visit: UInt64(step + 1)
            )
            return try harness.add(click, isLong: step % 5 == 0)
        }
    }

    @Test("the history has clicks in their order over two slots and slot -1, in pages of any size")
    func clicks() throws {
        let clicks = try addClicks(70)
        try harness.add(.sample(at: noon, visit: 500), to: Scope(app: 4, isTest: false))
        try harness.claim(clicks[3], after: 7)
        for limit in [1, 9, 70, 1000] {
            var (read, last): ([Int64], Int64) = ([], .min)
            var isMore = true
            while isMore {
                var count = 0
                let end = clicks[68].number
                let rows = NumberedRows(.ascending, after: last, through: end, of: scope, limit: limit)
                try reader.clicks(rows) { click, _ in
                    (count, last) = (count + 1, click.record.number)
                    read.append(last)
                    #expect((click.claimedAt != nil) == (last == clicks[3].number))
                    return true
                }
                #expect(count <= limit)
                isMore = count == limit
            }
            #expect(read == clicks.prefix(69).map(\.number), "pages of \(limit)")
        }
        let bounds = try reader.historyBounds(of: scope)
        #expect(bounds.firstClickAt == clicks[0].facts.recordedAt && bounds.lastClickAt == noon)
        #expect(bounds.firstCheckAt == nil && bounds.learningBegan == nil && !bounds.hasDeleted)
        let none = try reader.historyBounds(of: Scope(app: 3, isTest: true))
        #expect(none.span == nil)
    }

    @Test("a click in slot -1 whose day has no partition is read too, and so is one from a clock that leapt")
    func daysWithoutPartition() throws {
        let old = try harness.add(.sample(at: ReaderHarness.time(-10 * 86_400)), isLong: true)
        let new = try harness.add(.sample(at: noon, visit: 3))
        let leapt = Timestamp(milliseconds: (ReaderHarness.today + 70_000) * ReaderHarness.day)
        try Partitions(connection: harness.connection).make(ReaderHarness.today + 70_000)
        let late = try harness.add(.sample(at: leapt, visit: 4))
        let number = try reader.newestClick()
        #expect(number == late.number)
        var read: [Int64] = []
        for order in [NumberedRows.Order.ascending, .descending] {
            read = []
            try reader.clicks(NumberedRows(order, through: number, of: scope, limit: 10)) { click, _ in
                read.append(click.record.number)
                return true
            }
            let expected = [old, new, late].map(\.number)
            #expect(read == (order == .ascending ? expected : expected.reversed()))
        }
        #expect(try reader.requiredKeys(at: noon).oldestRecord == old.facts.recordedAt)
    }

    @Test("pages of checks go back from any record, and join each with its click")
    func checkPages() throws {
        let click = try harness.add(.sample(at: noon, visit: 8), isLong: true)
        var numbers: [UInt64] = []
        for step in 0..<450 as Range<Int64> {
            let at = ReaderHarness.time(-200 * (449 - step))
            numbers.append(
                try harness.addCheck(at, server: step % 4) { facts in
                    if step == 440 { facts.click = ClickID(high: UInt64(click.number), low: 0) }
                }
            )
        }
        var (read, campaigns): ([UInt64], [String: Int]) = ([], [:])
        try reader.checks(NumberedRows(.descending)) { check in
            read.append(check.record.id.high)
            if let campaign = check.campaign { campaigns[campaign.text, default: 0] += 1 }
            return true
        }
        #expect(read == numbers.reversed())
        #expect(campaigns == ["SUMMER25": 1])
        read = []
        let first = RowIdentifier.first(at: ReaderHarness.time(-200 * 300))
        let end = RowIdentifier.first(at: ReaderHarness.time(-200 * 100))
        let last = Int64(numbers[340]) - 1
        try reader.checks(NumberedRows(.descending, after: first - 1, through: last)) { check in
            read.append(check.record.id.high)
            return read.count < 3
        }
        #expect(read == [numbers[339], numbers[338], numbers[337]])
        read = []
        try reader.checks(NumberedRows(.descending, after: first - 1, through: end - 1)) { check in
            read.append(check.record.id.high)
            return true
        }
        #expect(read == numbers[149..<349].reversed())
        #expect(try reader.check(numbers[7])?.record.id.high == numbers[7])
        #expect(try reader.check(numbers[440])?.record.facts.click?.low == 77)
        #expect(try reader.check(.max) == nil)
        #expect(try reader.check(UInt64(Int64.max)) == nil)
        #expect(try reader.check(numbers[7] + 1) == nil)
        var (records, next): ([UInt64], Int64) = ([], -1)
        while records.count < 450 {
            let before = records.count
            try reader.checks(NumberedRows(.ascending, after: next, limit: 100)) { check in
                (records, next) = (records + [check.record.id.high], check.number)
                #expect((check.clickedAt == noon) == (check.record.id.high == numbers[440]))
                return true
            }
            #expect(records.count <= before + 100)
            guard records.count > before else { break }
        }
        #expect(records == numbers)
        try reader.checks(NumberedRows(.ascending, isJoined: false)) { check in
            #expect(check.clickedAt == nil && check.campaign == nil)
            return true
        }
        try reader.checks(NumberedRows(.ascending, of: Scope(number: 8))) { _ in
            Issue.record("no check has this scope")
            return false
        }
        #expect(try reader.checkRecordBounds() == Int64(numbers[0])...Int64(numbers[449]))
    }

    @Test("an explanation finds the record of a request, a fingerprint and a click")
    func explanation() throws {
        let id = ClickID(high: 0x1234_5600, low: 0)
        var numbers: [UInt64] = []
        for step in 0..<60 as Range<Int64> {
            numbers.append(
                try harness.addCheck(ReaderHarness.time(-1500 * (59 - step)), server: step % 2) { facts in
                    facts.requestID = "request \(step / 2)"
                    facts.fingerprint = hash(UInt64(step % 7))
                    guard step % 10 == 0 else { return }
                    facts.click = id
                    facts.outcome = step == 20 || step == 40 ? .match : .noMatch
                }
            )
        }
        #expect(try reader.newestCheck(.request("request 4"), among: 1000) == numbers[9])
        #expect(try reader.newestCheck(.request("request 4"), among: 10) == nil)
        #expect(try reader.newestCheck(.fingerprint(hash(3)), among: 1000) == numbers[59])
        #expect(try reader.newestCheck(.fingerprint(hash(2)), among: 1000) == numbers[58])
        #expect(try reader.newestCheck(.click(id), among: 1000) == numbers[50])
        let start = ReaderHarness.time(-1500 * (59 - 21))
        #expect(try reader.match(of: id, from: start, among: 1000) == numbers[40])
        #expect(try reader.match(of: id, from: start, among: 5) == nil)
        #expect(try reader.match(of: id, from: Timestamp(milliseconds: 0), among: 1000) == numbers[20])
        var traces: [UInt64] = []
        let end = ReaderHarness.time(-1500 * (59 - 50))
        try reader.checkTraces(from: start, before: end, atMost: 20) { traces.append($0.id) }
        #expect(traces == Array(numbers[21..<41]))
        traces = []
        try reader.checkTraces(from: start, before: end, atMost: 1000) { traces.append($0.id) }
        #expect(traces == Array(numbers[21..<50]))
    }

    @Test("an explanation has the clicks of a fingerprint and their claims")
    func clicksOfExplanation() throws {
        let clicks = try addClicks(12)
        try harness.claim(clicks[2], after: 7)
        try harness.claim(clicks[1], after: 60_000)
        #expect(
            try reader.claimTime(of: clicks[2].id) == clicks[2].facts.clickedAt.advanced(byMilliseconds: 7000)
        )
        #expect(try reader.claimTime(of: clicks[3].id) == nil)
        let claimed = try #require(try reader.claimedClick(clicks[2].id.high))
        #expect(claimed.method == .probabilistic && claimed.record.number == clicks[2].number)
        #expect(try reader.claimedClick(5) == nil)
        let open = try reader.indexedClicks(of: hash(1), scope, areOpen: true, atMost: 3)
        #expect(open.map(\.click) == [11, 10, 9].map { clicks[$0].id.high })
        let closed = try reader.indexedClicks(of: hash(1), scope, areOpen: false, atMost: 9)
        #expect(closed.map(\.click) == [clicks[1].id.high, clicks[2].id.high], "the last closed is first")
        #expect(closed.allSatisfy { $0.closedAs == "already_claimed" })
        let state = try reader.indexState(of: claimed)
        #expect(state.isIndexed && state.closedAs == "already_claimed")
        try harness.database.execute("DELETE FROM click_index WHERE click = \(clicks[2].number)")
        #expect(try !reader.indexState(of: claimed).isIndexed)
    }

    @Test("the census of collisions reads every row of the index and every record once")
    func collisions() throws {
        for step in 0..<130 as Range<Int64> {
            let fingerprint = UInt64(step / 2)
            let at = ReaderHarness.time(-700 * step)
            let click = try harness.add(
                .sample(fingerprint: fingerprint, at: at, visit: UInt64(step)),
                isLong: step % 3 == 0
            )
            if step % 10 == 0 { try harness.claim(click, after: 4) }
        }
        for limit in [7, 1000] {
            var (read, position): (Set<Int64>, IndexedClick.Position) = ([], .first)
            var (count, isMore) = (0, true)
            while isMore {
                var page = 0
                try reader.indexedClicks(of: scope, after: position, atMost: limit) { click in
                    page += 1
                    read.insert(click.position.click)
                    position = click.position
                    #expect((click.closedAs == nil) == (click.position.state == 0))
                    #expect(click.clickedAt == click.position.since)
                }
                count += page
                isMore = page == limit
            }
            #expect(read.count == 130 && count == 130)
        }
        try harness.addCheck(noon, server: 2)
        var census = CollisionCensus(of: [.init(scope: scope, window: .standard)])
        var slices = 0
        while try census.runSlice(reader), slices < 100 { slices += 1 }
        #expect(slices < 100)
        #expect(try reader.collisionReport(of: scope) == nil)
        let report = try #require(census.reports(at: noon)[scope])
        for figure in report.figures {
            try harness.database.execute(
                "INSERT INTO figures VALUES (6, 'collisions', '\(figure.name)', '\(figure.value)')"
            )
        }
        #expect(try reader.collisionReport(of: scope) == report)
    }

    @Test("drift is read from the counts of groups and from the last evaluation")
    func drift() throws {
        let group = DriftGroup(.launch, platform: .value("ios"), osVersion: .value("17.2"), client: .unknown)
        let quarter = Granularity.quarter.start(of: noon)
        try harness.count { payload in
            payload.counts.addDrift(
                DriftCount(trials: 20, matches: 5),
                to: .launch,
                group.name,
                of: scope,
                at: quarter.advanced(byMilliseconds: -1)
            )
        }
        let history = try reader.driftHistory(of: scope, end: quarter)
        #expect(history.days[group]?.first == DriftCount(trials: 20, matches: 5))
        let groups = try ["a", "b"].map { client in
            try #require(
                DriftGroup(
                    .launch,
                    name: DriftGroup(
                        .launch,
                        platform: .value("ios"),
                        osVersion: .all,
                        client: .value(client)
                    ).name
                )
            )
        }
        let alarm = DriftAlarm(group: groups[1], since: noon, began: noon, usualRate: 0.5, rate: 0.1)
        var records = ColumnArrays(DriftRecord.columns)
        for (group, alarm) in [(groups[0], nil), (groups[1], alarm)] as [(DriftGroup, DriftAlarm?)] {
            let reading = DriftReading(
                group: group,
                recent: DriftCount(trials: 9, matches: 2),
                usualRate: 0.5,
                alarm: alarm
            )
            records.append(DriftRecord(reading, of: scope))
        }
        var batch = StatementBatch()
        let insert: SQLText =
            "INSERT INTO drift_groups (\(DriftRecord.columns)) SELECT * FROM \(rowsWith: DriftRecord.columns)"
        batch.append(PreparedStatement(insert), records.parameters)
        _ = try harness.connection.rows(of: batch)
        #expect(try reader.driftGroups(of: scope, atMost: 9).map(\.group) == groups)
        #expect(try reader.driftGroups(of: scope, atMost: 1).map(\.group) == [groups[0]])
        #expect(try reader.driftAlarms(of: scope).map(\.alarm) == [alarm])
        let names = try reader.countedNames(
            of: .launch,
            scope,
            in: quarter.advanced(byMilliseconds: -21_600_000)
        )
        #expect(names.sorted() == ([group] + groups).map(\.name).sorted())
    }
}
#endif
