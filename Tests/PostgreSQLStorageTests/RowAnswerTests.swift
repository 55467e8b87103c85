#if PostgreSQL
import Attribution
import PostgreSQL
@testable import PostgreSQLStorage
@testable import Storage
import Support
import TestDatabases
import Testing

/// The rows that answer each kind of question.
@Suite("Questions of a loop to PostgreSQL", .blocking, .onPostgreSQL)
struct RowAnswerTests {
    private let harness: QuestionHarness
    private let noon = QuestionHarness.noon
    private let scope = QuestionHarness.scope

    init() throws { harness = try QuestionHarness() }

    private func claim(of click: ClickRecord) -> ClaimRecord {
        let app = AppID(high: 0, low: 0)
        let claim = Claim(click: click.click(of: app, link: nil), claimedAt: noon, method: .signedToken)
        return ClaimRecord(claim, scope, hash: click.hashes.first, install: nil, caller: hash(77))
    }

    @Test("find a click in a slot that another server has just created")
    func slotOfAnotherServer() throws {
        let later = noon.advanced(byMilliseconds: 40 * 86_400_000)
        try harness.createSlots([later.milliseconds / 86_400_000])
        let click = try harness.add(.sample(at: later))
        harness.slots.publish([RowHome.longSlot: nil, QuestionHarness.day: nil])
        let position = RowPosition(clickedAt: later.milliseconds, click: click.number)
        let answers = try harness.ask(.home(click.number), .openClick(position, hash(1), scope))
        guard case .home(let home) = answers[0], case .open(let open) = answers[1] else {
            Issue.record("\(answers)")
            return
        }
        #expect(home.click == click && open.map(\.click) == [click.number])
    }

    @Test("find a live click even if the newer rows of its key have expired and fill one answer")
    func expiredRowsHideNothing() throws {
        let end = noon.advanced(byMilliseconds: 60_000)
        let live = try harness.add(.sample())
        let newer = try harness.add(.sample(at: noon.advanced(byMilliseconds: 1000), visit: 2))
        try harness.copyIndexRow(of: newer, 300, expiresAt: end)
        try harness.database.execute(
            "UPDATE click_index SET expires_at = \(end.milliseconds) WHERE click = \(newer.number)"
        )
        let later = end.advanced(byMilliseconds: 1)
        let scope = scope
        let (selection, trips) = try harness.read { rows in
            var selection = KeySelection(hash(1), at: later)
            try rows.read(&selection, in: scope)
            return selection
        }
        #expect(selection.open.map(\.click) == [live.number] && trips == 2)
        #expect(selection.newestUnclosed?.click == newer.number)
    }

    @Test("find the newest rows of a key that has more rows than fit into one answer")
    func largeKey() throws {
        let click = try harness.add(.sample())
        try harness.copyIndexRow(of: click, 400)
        let answers = try harness.ask(
            .key(hash(1), scope),
            .moreOfKey(hash(1), scope, noon),
            .openClicks(hash(1), scope)
        )
        guard case .key(let rows) = answers[0], case .open(let more) = answers[1],
            case .open(let all) = answers[2]
        else {
            Issue.record("\(answers)")
            return
        }
        let newest = (0..<Int64(KeyRows.maximumRead)).map { click.number - $0 * 65_536 }
        #expect(rows.open.map(\.click) == newest && !rows.isComplete)
        #expect(more.map(\.click) == newest)
        #expect(all.count == 401 && all.map(\.position) == all.map(\.position).sorted(by: >))
    }

    @Test("find a destination's newest live clicks")
    func newestClicks() throws {
        let destination = CreditedDestination(try NewClick.sample().facts)
        var clicks: [ClickRecord] = []
        for index in 0..<4 as Range<Int64> {
            let moment = noon.advanced(byMilliseconds: index)
            clicks.append(try harness.add(.sample(at: moment, visit: UInt64(index)), isLong: index == 2))
        }
        try harness.claim(clicks[3], claim(of: clicks[3]))
        try harness.add(
            .sample(at: noon.advanced(byMilliseconds: 9), visit: 9) {
                $0.destination = DeepLinkURL(stored: "b://")
            }
        )
        let query = NewestClicks(scope: scope, key: hash(1), destination: destination, at: noon)
        let late = NewestClicks(
            scope: scope,
            key: hash(1),
            destination: destination,
            at: clicks[1].expiresAt.advanced(byMilliseconds: 1)
        )
        let answers = try harness.ask(
            .newestClicks(query, atMost: 2),
            .newestClicks(query, atMost: 4096),
            .newestClicks(late, atMost: 4096)
        )
        var found: [[Int64]] = []
        for answer in answers { if case .clicks(let clicks) = answer { found.append(clicks) } }
        let numbers = clicks.map(\.number)
        #expect(found == [[numbers[2], numbers[1]], [numbers[2], numbers[1], numbers[0]], [numbers[2]]])
    }

    @Test("find and count the live clicks around an address")
    func addresses() throws {
        let (address, other) = (AddressHashes(exact: 11, near: 5), AddressHashes(exact: 12, near: 5))
        var clicks: [ClickRecord] = []
        for (index, address) in [address, other, AddressHashes(exact: 1, near: 6), address].enumerated() {
            let moment = noon.advanced(byMilliseconds: Int64(index) * 1000 - 5000)
            var click = try NewClick.sample(fingerprint: UInt64(index), at: moment, visit: UInt64(index))
            click.evidence.address = address
            clicks.append(try harness.add(click, isLong: index == 1))
        }
        let late = clicks[0].expiresAt.advanced(byMilliseconds: 1)
        let answers = try harness.ask(
            .around(5, scope, at: noon),
            .around(5, scope, at: late),
            .countAround(address, scope, at: noon),
            .countAround(address, scope, at: late),
            .countAround(AddressHashes(exact: 1, near: 9), scope, at: noon)
        )
        guard case .around(let rows) = answers[0], case .around(let left) = answers[1],
            case .addressCount(3, 2, let oldest) = answers[2], case .addressCount(2, 1, _) = answers[3],
            case .nothing = answers[4]
        else {
            Issue.record("\(answers)")
            return
        }
        #expect(rows.map(\.position.click) == [clicks[3].number, clicks[1].number, clicks[0].number])
        #expect(left.map(\.position.click) == [clicks[3].number, clicks[1].number])
        #expect(rows.map(\.exact) == [11, 12, 11] && oldest == clicks[0].facts.clickedAt)
        #expect(rows.map { $0.hashes.mayContain(hash(3)) } == [true, false, false])
    }

    @Test("find counts, learnt sums and models")
    func numbers() throws {
        let second = LiveClicks.second(of: noon)
        let hour = LiveClicks.hour(ofSecond: second)
        try harness.database.execute(
            """
            INSERT INTO live_clicks VALUES (6, 'second', \(second - 1), 1), (6, 'second', \(second), 2),
            (6, 'second', \((hour + 1) * 3600), 4), (6, 'hour', \(hour), 8), (6, 'hour', \(hour + 1), 16);
            INSERT INTO learning VALUES (6, 100, 200), (8, 1, 1);
            INSERT INTO learnt_counters VALUES (6, 9, -1, 0.5), (6, 1, 3, 2.5), (6, 8, -7, 4), (4, 1, 3, 9)
            """
        )
        let answers = try harness.ask(
            .liveClicks(scope, second: second),
            .liveClicks(Scope(number: 2), second: second),
            .learnt(.organic, .max, scope),
            .learnt(.organic, 4, scope),
            .model(scope),
            .model(Scope(number: 8)),
            .model(Scope(number: 4))
        )
        guard case .count(18) = answers[0], case .count(0) = answers[1], case .sum(0.5) = answers[2],
            case .sum(0) = answers[3], case .model(let epoch, let sums) = answers[4],
            case .model(_, let none) = answers[5], case .nothing = answers[6]
        else {
            Issue.record("\(answers)")
            return
        }
        #expect(
            epoch
                == LearningEpoch(began: Timestamp(milliseconds: 100), landmark: Timestamp(milliseconds: 200))
        )
        #expect(sums == [CounterKey(.totals, 3): 2.5, CounterKey(.signals, UInt64(bitPattern: -7)): 4])
        #expect(none.isEmpty)
    }
}
#endif
