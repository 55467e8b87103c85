import Attribution
import Storage
import Synchronization
import Testing

/// A server's open transaction; the transactions of several servers share one database in memory.
private struct ServerTransaction {
    let reader: MemoryReader
    let transaction: WriteTransaction<MemoryWriter<ServerRules>>

    init(server: Int, _ database: MemoryDatabase) throws {
        var configuration = StoreConfiguration(clock: WallClock { TestStore.noon })
        configuration.numbers = try #require(NumberLayout(server: server, shortSeconds: 2 * 86_400))
        reader = MemoryReader(database)
        transaction = try WriteTransaction(MemoryWriter(reader: reader), StoreState(configuration))
        try begin()
    }

    func begin() throws {
        reader.beginSnapshot()
        try transaction.begin()
    }

    func commit() throws {
        try transaction.writeGathered()
        reader.database.committed.withLock { $0 = reader.rows }
        transaction.didCommit()
        try begin()
    }

    func record(_ click: NewClick) throws -> RecordOutcome {
        guard case .click(let outcome) = try transaction.perform(.click(click)) else {
            throw StoreError(.defect, "no click was recorded")
        }
        return outcome
    }
}

@Suite("Numbers of rows")
struct RowNumberTests {
    static let day = TestStore.noon.milliseconds / 86_400_000

    @Test(
        "a number states where its click is stored",
        arguments: [
            (server: 0, visit: 0, seconds: 86_400, slot: day), (31, 63, 172_800, day), (5, 7, 172_801, -1),
            (31, 0, 2_592_000, -1),
        ] as [(server: Int, visit: UInt64, seconds: Int64, slot: Int64)]
    )
    func homes(server: Int, visit: UInt64, seconds: Int64, slot: Int64) throws {
        let database = MemoryDatabase(nil)
        let own = try ServerTransaction(server: server, database)
        var click = try NewClick.sample { facts in
            facts.window = AttributionWindow(seconds: seconds) ?? .standard
        }
        click.visit = KeyedHash(index: 64 * 1_000_003 + visit, rest: 1)
        let number = Int64(bitPattern: try own.record(click).click.id.high)
        let home = RowHome(of: number)
        #expect(home.server == Int64(server))
        #expect(home.bucket == Int64(visit))
        #expect(home.slot == slot)
        #expect(RowIdentifier.time(of: number) == TestStore.noon)
    }

    @Test("a server's numbers grow in the order of arrival, through full milliseconds and a clock set back")
    func grow() throws {
        let own = try ServerTransaction(server: 3, MemoryDatabase(nil))
        var numbers: [UInt64] = []
        for index in 0..<40 as Range<Int64> {
            let time = TestStore.noon.advanced(byMilliseconds: index < 30 ? 0 : -60_000)
            numbers.append(try own.record(.sample(fingerprint: UInt64(index), at: time)).click.id.high)
        }
        #expect(numbers == numbers.sorted())
        #expect(Set(numbers).count == 40)
        #expect(
            numbers.map { RowIdentifier.time(of: Int64($0)) }.max()
                == TestStore.noon.advanced(byMilliseconds: 2)
        )
    }

    @Test("after the clock was days ahead, clicks are stored in their own day again, as other servers expect")
    func leap() throws {
        let own = try ServerTransaction(server: 3, MemoryDatabase(nil))
        var numbers: [Int64] = []
        func record(_ days: Int64, seconds: Int64 = 0) throws -> Int64 {
            let time = TestStore.noon.advanced(byMilliseconds: days * 86_400_000 + seconds * 1000)
            let post = UInt64(numbers.count)
            let click = try NewClick.sample(fingerprint: post, at: time, visit: 5, post: post)
            numbers.append(Int64(bitPattern: try own.record(click).click.id.high))
            return RowHome(of: numbers[numbers.count - 1]).slot - Self.day
        }
        #expect(try record(0) == 0)
        #expect(try record(3) == 3)
        #expect(try record(3, seconds: 20) == 3)
        // The clock is right again, and it is the millisecond of the first click.
        #expect(try record(0) == 0)
        #expect(try record(0, seconds: 20) == 0)
        #expect(Set(numbers).count == numbers.count)
        // A clock that is set back by less keeps the order of arrival.
        #expect(try record(1) == 1)
        #expect(try record(0, seconds: 60) == 1)
        #expect(numbers[6] > numbers[5])
        // The clock leaps twice before it is right again.
        #expect(try record(3) == 3)
        #expect(try record(6) == 6)
        #expect(try record(0, seconds: 80) == 0)
    }

    @Test("two servers never assign the same number")
    func differ() throws {
        let database = MemoryDatabase(nil)
        let servers = [
            try ServerTransaction(server: 1, database), try ServerTransaction(server: 2, database),
        ]
        var numbers: Set<UInt64> = []
        for index in 0..<100 as Range<UInt64> {
            for server in servers {
                numbers.insert(
                    try server.record(.sample(fingerprint: index, visit: 1, post: index)).click.id.high
                )
            }
        }
        #expect(numbers.count == 200)
    }

    @Test("a layout accepts no server except 0 to 31", arguments: [-1, 32, 1000])
    func refuses(server: Int) { #expect(NumberLayout(server: server, shortSeconds: 60) == nil) }

    @Test("a repeated post is recognised in the transaction of its first post, and later by another server")
    func findsPosts() throws {
        let database = MemoryDatabase(nil)
        let first = try ServerTransaction(server: 1, database)
        let click = try first.record(.sample(visit: 7))
        #expect(try first.record(.sample(visit: 7)).isDuplicate)
        try first.commit()
        let second = try ServerTransaction(server: 2, database)
        let repeated = try second.record(.sample(visit: 7))
        #expect(repeated.isDuplicate)
        #expect(repeated.click.id == click.click.id)
        #expect(try !second.record(.sample(visit: 8)).isDuplicate)
    }

    @Test("records of checks are numbered like clicks with short windows, in the bucket of their server")
    func numbersChecks() throws {
        let layout = try #require(NumberLayout(server: 9, shortSeconds: 60))
        var last: Int64 = 0
        for _ in 0..<20 {
            let next = layout.check(after: last, at: TestStore.noon)
            #expect(next > last)
            let home = RowHome(of: next)
            #expect([home.server, home.bucket, home.slot] == [9, layout.batchBucket, Self.day])
            last = next
        }
    }

    @Test("in a database in a file, each number is the one before plus one")
    func countsPlainly() {
        let (layout, visit) = (NumberLayout.plain, hash(5))
        let first = layout.click(after: 0, at: TestStore.noon, visit: visit, window: .standard)
        #expect(first == RowIdentifier.first(at: TestStore.noon))
        #expect(layout.click(after: first, at: TestStore.noon, visit: visit, window: .standard) == first + 1)
        #expect(layout.check(after: first + 1, at: Timestamp(milliseconds: 0)) == first + 2)
    }
}
