#if PostgreSQL
import Attribution
@testable import PostgreSQL
@testable import PostgreSQLStorage
@testable import Storage
import Support
import TestDatabases
import Threads

/// Asks an event loop's questions to the database of one test, which writes the database's rows as SQL.
///
/// `@unchecked Sendable` is correct because all tasks of a test run on the thread of the harness's loop.
final class QuestionHarness: @unchecked Sendable {
    static let noon = Timestamp(milliseconds: 1_700_000_000_000)
    static let day = noon.milliseconds / 86_400_000
    static let scope = Scope(number: 6)

    let database: PostgreSQLTestDatabase
    let loop = PollingPort()
    private let partitions: Partitions
    let connection: PostgreSQLConnection
    let slots: SlotTable
    let questions: TurnQuestions
    /// Further connections of the loop.
    var others: [PostgreSQLConnection] = []
    /// The current time for questions; it decides which slots are hot, that is, which slots a question reads.
    var now = QuestionHarness.noon

    /// Connects to the test's database, or to another server; `pause` is passed to ``TurnQuestions``.
    init(url: String? = nil, pause: Duration = .seconds(60)) throws {
        database = try JobDatabase.make(at: Self.noon)
        func configuration(_ url: String) throws -> PostgreSQLConfiguration {
            try PostgreSQLConfiguration(url: url, name: "the test's database", clock: WallClock { Self.noon })
        }
        partitions = try Partitions(
            connection: DatabaseOpening(configuration(database.socketURL)).open().connection
        )
        slots = SlotTable([:])
        var settings = try configuration(url ?? database.socketURL).settings.forLoop()
        // Tests decide themselves how long statements wait.
        settings.session = settings.session.map {
            $0.name.hasSuffix("timeout") ? PostgreSQLSettings.SessionSetting($0.name, "0") : $0
        }
        connection = PostgreSQLConnection(settings, port: loop.port)
        let hot = Box<() -> [Int64]> { [] }
        questions = TurnQuestions(
            connection,
            port: loop.port,
            slots: slots,
            hotSlots: { hot.value() },
            pause: pause
        )
        hot.value = { [unowned self] in slots.hot(at: now) }
        loop.turnDidEnd = { [unowned self] in
            questions.endTurn()
            for other in others { other.turnDidEnd() }
        }
        try createSlots([RowHome.longSlot, Self.day - 1, Self.day])
        connection.start()
    }

    private final class Box<Value> {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    /// A time that no test reaches unless the code under test hangs.
    static var end: MonotonicTime { .now().advanced(by: .seconds(Polling.seconds)) }

    /// Runs tasks of the loop until the operation has ended.
    func run<Result: Sendable>(
        _ operation: @escaping (QuestionHarness) async throws -> Result
    ) throws -> Result {
        let result = loop.run { () -> Swift.Result<Result, any Error> in
            do { return .success(try await operation(self)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Asks questions in one turn.
    func ask(_ asked: RowQuestion...) throws -> [RowAnswer] {
        let answers = try run { try await $0.questions.ask(asked, by: Self.end) }
        return asked.compactMap { answers[$0] }
    }

    /// Runs a read on a cache, and fetches rows, until no row is missing; returns the read's result and the
    /// number of trips.
    func read<Result: Sendable>(
        _ body: @escaping (RowCache) throws -> Result
    ) throws -> (result: Result, trips: Int) {
        try run { harness in
            let reader = PostgreSQLLoopReader(questions: harness.questions)
            let cache = reader.rows
            while true {
                let result = Swift.Result { try body(cache) }
                guard cache.isVoid else { return (try result.get(), cache.tripCount) }
                try await reader.fetch(for: cache, until: Self.end.nanoseconds)
            }
        }
    }

    /// How often the connection has executed each statement that it has prepared.
    func executions() throws -> [String: Int64] {
        let statement = PreparedStatement(
            "SELECT statement, generic_plans + custom_plans FROM pg_prepared_statements"
        )
        return try run { harness in
            let rows = try await harness.connection.read(statement, by: Self.end)
            var counts: [String: Int64] = [:]
            for row in 0..<rows.count {
                counts[try rows.value(row, 0)] = try rows.value(row, 1, as: Int64.self)
            }
            return counts
        }
    }

    /// How often the connection has executed the statement of a kind.
    func executions(of kind: QuestionKind) throws -> Int64 {
        try executions()[QuestionStatements.text(kind, slots.hot(at: now)).text] ?? 0
    }
}

/// Writes and changes the rows that questions read.
extension QuestionHarness {
    func createSlots(_ new: [Int64]) throws {
        for slot in new { try partitions.make(slot) }
        try publishSlots()
    }

    /// Publishes the slots of the table `partitions`, as the job does.
    func publishSlots() throws { slots.publish(try partitions.table()) }

    /// Writes a click with its rows of the index and of addresses, as the writer does; returns its record.
    @discardableResult
    func add(_ click: NewClick, count: Int64 = 0, isLong: Bool = false) throws -> ClickRecord {
        let number =
            click.facts.recordedAt.milliseconds << 16 | count << 12 | (isLong ? 1 << 6 : 0)
            | Int64(click.visit.index & 63)
        let hashes = click.fingerprints.map(\.key)
        let id = ClickID(high: UInt64(number), low: .max)
        let record = ClickRecord(click, id: id, scope: Self.scope, hashes: hashes, link: nil)
        let home = RowHome(of: number)
        var row = LiteralRow(["b": "\(home.bucket)", "slot": "\(home.slot)", "turn": "\(-number)"])
        record.write(to: &row)
        var sql = row.insert(into: "clicks")
        for entry in IndexEntry.all(of: click, number, in: Self.scope) {
            var row = LiteralRow(["b": "\(entry.hash.index & 63)", "slot": "\(home.slot)"])
            entry.write(to: &row)
            sql += row.insert(into: "click_index", but: ["state"])
        }
        if let address = click.evidence.address {
            var row = LiteralRow([
                "b": "\(address.near & 63)", "slot": "\(home.slot)", "scope": "\(Self.scope.number)",
            ])
            row.put("exact_address", "near_address", address)
            row.put("clicked_at", click.facts.clickedAt)
            row.put("click", number)
            row.put("expires_at", record.expiresAt)
            row.put("marks", HashPrefixes(hashes).bytes)
            sql += row.insert(into: "click_addresses")
        }
        try database.execute(sql)
        return record
    }

    /// Makes many copies of a click's row in the index, each a millisecond older than the one before.
    func copyIndexRow(of click: ClickRecord, _ count: Int, expiresAt: Timestamp? = nil) throws {
        let columns = IndexEntry.columns.names.map(\.description).filter {
            !["since", "click", "expires_at", "state"].contains($0)
        }
        .joined(separator: ", ")
        try database.execute(
            """
            INSERT INTO click_index (b, slot, \(columns), since, click, expires_at)
            SELECT b, slot, \(columns), since - k, click - k * 65536,
            \(expiresAt.map { "\($0.milliseconds)" } ?? "expires_at")
            FROM click_index, generate_series(1, \(count)) AS k WHERE click = \(click.number)
            """
        )
    }

    /// Stores a claim of a click, and closes its rows in the index.
    func claim(_ click: ClickRecord, _ claim: ClaimRecord) throws {
        var row = LiteralRow([:])
        claim.write(to: &row)
        let values = row.values.filter { $0.column != "click" && $0.column != "scope" }
            .map { "\($0.column) = \($0.literal)" }
        try database.execute(
            """
            UPDATE clicks SET \(values.joined(separator: ", ")) WHERE id = \(click.number);
            UPDATE click_index SET closed_at = \(claim.claimedAt.milliseconds), closed_as = 'already_claimed',
            caller = \(claim.caller.map { "\(Int64(bitPattern: $0.index))" } ?? "NULL"),
            is_undelivered = \(claim.isUndelivered ? 1 : 0) WHERE click = \(click.number)
            """
        )
    }
}

extension LiteralRow {
    init(_ given: [String: String]) { self.init(given.map { ($0, $1) }) }

    func insert(into table: String, but left: Set<String> = []) -> String {
        let values = values.filter { !left.contains($0.column) }
        let (names, literals) = (values.map(\.column), values.map(\.literal))
        return
            "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(literals.joined(separator: ", ")));\n"
    }
}

/// Returns a keyed hash that differs for each number.
func hash(_ number: UInt64) -> KeyedHash { KeyedHash(index: number &* 0x9e37_79b9_7f4a_7c15, rest: number) }

extension NewClick {
    /// Returns a click with sample values.
    static func sample(
        fingerprint: UInt64 = 1,
        at moment: Timestamp = QuestionHarness.noon,
        visit: UInt64 = 1,
        set: (inout Click.Facts) -> Void = { _ in }
    ) throws -> NewClick {
        guard let journey = JourneyID("j_1") else { throw StoreError(.defect, "a journey's name") }
        var facts = Click.Facts(
            app: AppID(high: 0, low: 0),
            destination: DeepLinkURL(stored: "myapp://promo/item"),
            campaignKey: CampaignKey("SUMMER25"),
            journeyID: journey,
            clickedAt: moment,
            recordedAt: moment,
            window: .standard
        )
        facts.isTest = QuestionHarness.scope.isTest
        facts.source = .instagram
        facts.platform = .ios
        set(&facts)
        let key = hash(fingerprint)
        return NewClick(
            facts: facts,
            fingerprints: [FingerprintEntry(form: nil, key: key)],
            visit: hash(visit),
            post: hash(visit)
        )
    }
}
#endif
