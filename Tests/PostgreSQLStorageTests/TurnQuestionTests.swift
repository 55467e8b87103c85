#if PostgreSQL
import Attribution
import Glibc
@testable import PostgreSQL
@testable import PostgreSQLStorage
@testable import Storage
import Support
import Testing
import Threads

/// How the questions of a turn are sent, and what happens when PostgreSQL fails.
@Suite("The questions of a turn", .blocking, .onPostgreSQL)
struct TurnQuestionTests {
    private let harness: QuestionHarness
    private let noon = QuestionHarness.noon
    private let scope = QuestionHarness.scope

    init() throws { harness = try QuestionHarness() }

    /// The FROM and WHERE clauses of a query for the connections of a database that wait for a lock.
    private static func waiting(in database: PostgreSQLTestDatabase) -> String {
        "FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = '\(database.name)'"
    }

    /// Asks each list of questions in a task of its own, all in one turn; returns the kinds of the errors.
    private func failures(of lists: [[RowQuestion]]) throws -> [PostgreSQLError.Kind?] {
        try harness.run { harness in
            await withTaskGroup(of: (Int, PostgreSQLError.Kind?).self) { group in
                for (index, list) in lists.enumerated() {
                    group.addTask { (index, await harness.failure(of: list)) }
                }
                return await group.reduce(into: Array(repeating: nil, count: lists.count)) { $0[$1.0] = $1.1 }
            }
        }
    }

    @Test("are sent as one statement for each kind of question, however many checks ask them")
    func oneStatementOfEachKind() throws {
        let clicks = try (1...20).map { try harness.add(.sample(fingerprint: $0, visit: $0)) }
        // The first turn prepares the statements.
        for _ in 1...2 {
            let lists = clicks.enumerated().map { index, click in
                [
                    RowQuestion.key(hash(UInt64(index + 1)), scope), .key(hash(1), scope),
                    .install(hash(5), scope), .home(click.number),
                ]
            }
            #expect(try failures(of: lists) == Array(repeating: nil, count: 20))
        }
        #expect(try harness.executions(of: .key) == 2)
        #expect(try harness.executions(of: .install) == 2)
        #expect(try harness.executions(of: .home(slot: QuestionHarness.day)) == 2)
    }

    @Test("read only through indexes, even while the tables are empty")
    func plans() throws {
        let kinds: [QuestionKind] = [
            .install, .key, .moreOfKey, .openClicks, .newestClicks, .around, .countAround, .liveClicks,
            .learnt,
            .model, .link, .linkByID, .linksOfCampaign, .linkContents, .home(slot: QuestionHarness.day),
            .home(slot: nil), .openClick(slot: QuestionHarness.day), .openClick(slot: nil),
        ]
        let settings = harness.connection.settings.session.map { "SET \($0.name) = '\($0.value)'" }
        for kind in kinds {
            let text = QuestionStatements.text(kind, harness.slots.hot(at: noon)).text
            let count = Set(text.matches(of: /\$[0-9]+/).map { String($0.output) }).count
            let isText = kind == .link || kind == .linksOfCampaign
            let types = (1...count).map { $0 == count && isText ? "text[]" : "int8[]" }
            let values = types.map { $0 == "text[]" ? "'{a}'" : "'{1}'" }
            let plan = try harness.database.execute(
                """
                \(settings.joined(separator: ";"));
                DEALLOCATE ALL;
                PREPARE asked (\(types.joined(separator: ", "))) AS \(text);
                EXPLAIN EXECUTE asked (\(values.joined(separator: ", ")))
                """
            )
            #expect(!plan.contains("Seq Scan"), "\(kind): \(plan)")
        }
    }

    @Test("find the rows of a new day, and let PostgreSQL forget the statements of the day before")
    func midnight() throws {
        let (today, scope) = (QuestionHarness.day, scope)
        func keyRows() throws -> [Int64] {
            guard case .key(let rows) = try harness.ask(.key(hash(1), scope))[0] else { return [] }
            return rows.open.map(\.click)
        }
        let yesterday = try harness.add(.sample(at: noon.advanced(byMilliseconds: -86_400_000)))
        #expect(try keyRows() == [yesterday.number])
        let tomorrow = Timestamp(milliseconds: (today + 1) * 86_400_000)
        try harness.createSlots([today + 1])
        let click = try harness.add(.sample(at: tomorrow))
        #expect(try keyRows() == [click.number, yesterday.number])
        // This is what the job does: it stores the time until which each ended day is needed.
        try harness.database.execute(
            """
            UPDATE partitions SET needed_until = \(tomorrow.milliseconds) + slot - \(today)
            WHERE slot IN (\(today), \(today - 1))
            """
        )
        try harness.publishSlots()
        harness.now = tomorrow
        #expect(try keyRows() == [click.number, yesterday.number])
        harness.now = tomorrow.advanced(byMilliseconds: 1)
        #expect(try keyRows() == [click.number])
        let statements = try harness.executions().keys.filter { $0.contains("closed_as") }
        #expect(statements == [QuestionStatements.text(.key, harness.slots.hot(at: harness.now)).text])
    }

    @Test("read slots with live clicks, the newest without, tomorrow's, and later ones after a write")
    func hotSlots() {
        let moments: [Int64: Timestamp?] = [
            -1: nil, 1: Timestamp(milliseconds: 10), 2: Timestamp(milliseconds: 20),
            3: Timestamp(milliseconds: 30), 4: nil, 5: nil, 6: nil, 7: nil,
        ]
        let table = SlotTable(moments)
        let start = Timestamp(milliseconds: 0)
        #expect(table.hot(at: start) == [1, -1])
        let day = Timestamp(milliseconds: 4 * 86_400_000)
        #expect(table.hot(at: day) == [5, 4, 3, -1])
        // After the clock was set back, the later slots are still read, because this process may have
        // recorded clicks in them.
        #expect(table.hot(at: start) == [5, 4, 3, 2, 1, -1])
        #expect(table.hot(at: start.advanced(byMilliseconds: 10)) == [5, 4, 3, 2, 1, -1])
        #expect(table.hot(at: start.advanced(byMilliseconds: 21)) == [5, 4, 3, 2, -1])
        #expect(table.hot(at: start.advanced(byMilliseconds: 31)) == [5, 4, 3, -1])
        #expect(table.use(6) && !table.use(8))
        #expect(table.hot(at: start) == [7, 6, 5, 4, 3, 2, 1, -1])
        table.add(8)
        #expect(table.hot(at: day) == [8, 7, 6, 5, 4, 3, -1])
    }

    @Test(
        "read installations last, so that a check that sees a claim also sees the claim's installation",
        arguments: 0..<6
    )
    func installationsLast(others: Int) throws {
        let further = [
            RowQuestion.learnt(.organic, 1, scope), .model(scope), .liveClicks(scope, second: 0),
            .around(1, scope, at: noon), .moreOfKey(hash(1), scope, noon),
        ]
        let install = RowQuestion.install(hash(5), scope)
        let asked = [install, .key(hash(1), scope)] + further.prefix(others)
        let lock = try TableLock("click_index", in: harness)
        let database = harness.database
        let waiting = Self.waiting(in: database)
        let answer = try harness.run { harness in
            async let claimed: Void = onLoop {
                let count = "SELECT count(*) \(waiting)"
                let isWaiting = try Polling.until { try database.execute(count) == "1" }
                #expect(isWaiting)
                let (scope, rest) = (QuestionHarness.scope.number, hash(5).rest)
                let index = Int64(bitPattern: hash(5).index)
                try database.execute(
                    """
                    INSERT INTO installs (b, scope, install, install_rest, click, until)
                    VALUES (\(index & 63), \(scope), \(index), \(Int64(bitPattern: rest)), 7, 0)
                    """
                )
            }
            async let answers = harness.questions.ask(asked, by: QuestionHarness.end)
            try await claimed
            await lock.release()
            return try await answers[install]
        }
        guard case .click(7) = answer else { Issue.record("\(String(describing: answer))"); return }
    }

    @Test("fail if their statement fails, while the questions of other statements get answers")
    func failingStatement() throws {
        try harness.database.execute("DROP TABLE learnt_counters")
        let learnt = RowQuestion.learnt(.organic, 1, scope)
        for _ in 1...2 {
            let kinds = try failures(of: [[.key(hash(1), scope)], [learnt], [.key(hash(2), scope), learnt]])
            #expect(kinds == [nil, .missingTable, .missingTable])
        }
        try harness.database.execute(
            "CREATE TABLE learnt_counters (scope int4, family int2, key int8, value float8)"
        )
        #expect(try failures(of: [[learnt]]) == [nil])
    }

    @Test("fail at the deadline of their check while the server does not answer, and the loop continues")
    func silence() throws {
        let harness = try QuestionHarness(url: silentServer())
        let start = MonotonicTime.now()
        let error = try harness.run { harness -> PostgreSQLError.Kind? in
            do throws(PostgreSQLError) {
                _ = try await harness.questions.ask(
                    [.key(hash(1), QuestionHarness.scope)],
                    by: start.advanced(by: .milliseconds(200))
                )
                return nil
            } catch {
                return error.kind
            }
        }
        #expect(error == .deadline)
        #expect(harness.connection.state == .connecting)
        // The loop does other things, and the attempt ends by its own limit; then questions are refused at once.
        while harness.connection.state == .connecting { harness.loop.turn() }
        #expect(throws: PostgreSQLError.self) { try harness.ask(.key(hash(1), QuestionHarness.scope)) }
    }

    /// Returns the URL of a server that accepts connections and never sends anything.
    private func silentServer() throws -> String {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let port = try #require(Loopback.listen(descriptor))
        return "postgres://a@127.0.0.1:\(port)/a?sslmode=disable"
    }

    @Test(
        "fail if a statement waits for a lock past their deadlines; questions that can wait get answers"
    )
    func lockedTable() throws {
        let question = RowQuestion.home(try harness.add(.sample()).number)
        let lock = try TableLock("clicks", in: harness)
        let kinds = try harness.run { harness in
            await withTaskGroup(of: PostgreSQLError.Kind?.self) { group in
                let limit = MonotonicTime.now().advanced(by: .milliseconds(200))
                for deadline in [limit, QuestionHarness.end] {
                    group.addTask { await harness.failure(of: [question], by: deadline) }
                }
                var kinds = [await group.next() ?? nil]
                await lock.release()
                for await kind in group { kinds.append(kind) }
                return kinds
            }
        }
        #expect(kinds == [.deadline, nil])
    }

    @Test(
        "wait while 4 turns (16 with pauses between) have no answer, and are dropped if their checks give up",
        arguments: [4, 16]
    )
    func slowServer(turns: Int) throws {
        let harness = try QuestionHarness(pause: turns == 4 ? .seconds(60) : .zero)
        _ = try harness.ask(.install(hash(1), scope))
        let before = try harness.executions(of: .install)
        let lock = try TableLock("installs", in: harness)
        let scope = scope
        let kinds = try harness.run { harness in
            await withTaskGroup(of: PostgreSQLError.Kind?.self) { group in
                let limit = MonotonicTime.now().advanced(by: .milliseconds(300))
                for number in 0..<20 as Range<UInt64> {
                    group.addTask {
                        let deadline = number < 18 ? limit : QuestionHarness.end
                        return await harness.failure(of: [.install(hash(number), scope)], by: deadline)
                    }
                    await harness.nextTurn()
                }
                var kinds: [PostgreSQLError.Kind?] = []
                for _ in 0..<18 { kinds.append(await group.next() ?? nil) }
                await lock.release()
                for await kind in group { kinds.append(kind) }
                return kinds
            }
        }
        #expect(kinds == Array(repeating: .deadline, count: 18) + [nil, nil])
        // The last statement has the two questions whose checks still wait.
        #expect(try harness.executions(of: .install) - before == turns + 1)
    }

    @Test("fail when the connection is lost, are refused until there is another one, and then get answers")
    func lostConnection() throws {
        let question = RowQuestion.home(try harness.add(.sample()).number)
        let lock = try TableLock("clicks", in: harness)
        let (database, scope) = (harness.database, scope)
        let waiting = Self.waiting(in: database)
        let kinds = try harness.run { harness in
            async let terminated: Void = onLoop {
                let count = "SELECT count(*) \(waiting)"
                guard try Polling.until({ try database.execute(count) == "1" }) else { return }
                try database.execute("SELECT pg_terminate_backend(pid) \(waiting)")
            }
            async let first = harness.failure(of: [question])
            async let second = harness.failure(of: [.key(hash(1), scope), question])
            let kinds = await [first, second]
            try await terminated
            // The connection is lost now, and the next attempt waits for its time.
            return kinds + [await harness.failure(of: [question])]
        }
        // A question that is sent at the same moment finds the connection closed before the reason is read.
        #expect(kinds.prefix(2).allSatisfy { $0 == .shuttingDown || $0 == .connectionLost })
        #expect(kinds.last == .notConnected)
        let last = try harness.run { harness in
            await lock.release()
            try await harness.connection.waitUntilReady(by: QuestionHarness.end)
            return await harness.failure(of: [.key(hash(1), scope), question])
        }
        #expect(last == nil)
    }
}

extension QuestionHarness {
    /// Asks questions in the current turn; returns the kind of the error, or nil if there is an answer to each.
    fileprivate func failure(of questions: [RowQuestion], by deadline: MonotonicTime = end)
        async -> PostgreSQLError.Kind?
    {
        do throws(PostgreSQLError) {
            let answers = try await self.questions.ask(questions, by: deadline)
            return answers.count == Set(questions).count ? nil : .unexpectedValue
        } catch {
            return error.kind
        }
    }

    fileprivate func nextTurn() async {
        await withCheckedContinuation { next in loop.port.wake(.now()) { next.resume() } }
    }
}

/// A lock of another session, for which all statements that read the table wait.
///
/// `@unchecked Sendable` is correct because only the thread of the harness's loop uses the lock.
private final class TableLock: @unchecked Sendable {
    private static let begin = PreparedStatement("BEGIN")
    private static let rollback = PreparedStatement("ROLLBACK")
    private let connection: PostgreSQLConnection

    init(_ table: StaticString, in harness: QuestionHarness) throws {
        connection = PostgreSQLConnection(harness.connection.settings, port: harness.loop.port)
        harness.others.append(connection)
        connection.start()
        // LOCK TABLE takes no parameters, so the name is part of the statement's text.
        let lock = PreparedStatement("LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE")
        try harness.run { [connection] _ in
            try await connection.waitUntilReady(by: QuestionHarness.end)
            var batch = StatementBatch()
            batch.append(Self.begin)
            batch.append(lock)
            _ = try await connection.perform(batch, by: QuestionHarness.end).rows()
        }
    }

    func release() async {
        var batch = StatementBatch()
        batch.append(Self.rollback)
        _ = await connection.perform(batch, by: QuestionHarness.end)
    }
}
#endif
