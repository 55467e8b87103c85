#if PostgreSQL
import Foundation
import PostgreSQL
import Support
import Testing
import Threads

@Suite("Statements on a PostgreSQL connection", .blocking, .onPostgreSQL)
struct PipelineTests {
    private static let echo = PreparedStatement("SELECT $1")
    private static let insert = PreparedStatement("INSERT INTO items VALUES ($1)")
    private static let count = PreparedStatement("SELECT count(*) FROM items")

    private let database: PostgreSQLTestDatabase
    private let harness: ConnectionHarness

    init() throws {
        database = try PostgreSQLTestDatabase()
        try database.execute("CREATE TABLE items (n int8 UNIQUE DEFERRABLE INITIALLY IMMEDIATE)")
        harness = try ConnectionHarness(database)
    }

    private func itemCount() throws -> String { try database.execute("SELECT count(*) FROM items") }

    @Test("of many tasks in one turn are executed in one transaction, each with its own result")
    func manyTasks() throws {
        let statement = PreparedStatement("SELECT $1, pg_current_xact_id()::text")
        let harness = harness
        let (wrong, transactions) = try harness.whenReady { _ in
            await withTaskGroup(of: (Bool, String).self) { group in
                for number in 0..<1000 as Range<Int64> {
                    group.addTask {
                        guard let row = try? await harness.connection.read(statement, number),
                            let found = try? row.value(0, 0, as: Int64.self),
                            let transaction = try? row.value(0, 1, as: String.self)
                        else { return (false, "") }
                        return (found == number, transaction)
                    }
                }
                return await group.reduce(into: (0, Set<String>())) {
                    $0.0 += $1.0 ? 0 : 1
                    $0.1.insert($1.1)
                }
            }
        }
        #expect(wrong == 0 && transactions.count == 1)
    }

    @Test("are prepared once")
    func preparedOnce() throws {
        let statement = PreparedStatement(
            "SELECT count(*) FROM pg_prepared_statements WHERE statement = 'SELECT $1'"
        )
        let count = try harness.whenReady { connection in
            for number in 0..<10 as Range<Int64> { _ = try await connection.read(Self.echo, number) }
            return try await connection.read(statement).value(0, 0, as: Int64.self)
        }
        #expect(count == 1)
    }

    @Test("that fail do not affect other reads of the turn")
    func failingRead() throws {
        let divide = PreparedStatement("SELECT 1 / $1")
        let harness = harness
        let results = try harness.whenReady { _ in
            await withTaskGroup(of: (Int64, PostgreSQLError.Kind?).self) { group in
                for number in [3, 0, 1, 0, 2] as [Int64] {
                    group.addTask {
                        do throws(PostgreSQLError) {
                            return (try await harness.connection.read(divide, number).value(0, 0), nil)
                        } catch {
                            return (number, error.kind)
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(results.filter { $0.1 == nil }.count == 3)
        #expect(results.filter { $0.1 == .other }.count == 2)
    }

    @Test("of a batch report which statement failed, and nothing of the batch is stored")
    func failingBatch() throws {
        let outcome = try harness.whenReady { connection in
            await connection.perform {
                for number in [1, 2, 1, 3] as [Int64] { $0.append(Self.insert, number) }
            }
        }
        #expect(outcome.error?.kind == .uniqueViolation && outcome.error?.constraint == "items_n_key")
        let words = outcome.outcomes.map { outcome in
            switch outcome {
            case .done: "done"
            case .failed: "failed"
            case .aborted: "aborted"
            }
        }
        #expect(words == ["done", "done", "failed", "aborted"])
        #expect(try itemCount() == "0")
    }

    @Test("of several batches in one turn are one transaction for each batch")
    func batches() throws {
        let harness = harness
        let errors = try harness.whenReady { _ in
            await withTaskGroup(of: PostgreSQLError.Kind?.self) { group in
                for number in [1, 1, 2] as [Int64] {
                    group.addTask {
                        let outcome = await harness.connection.perform { $0.append(Self.insert, number) }
                        return outcome.error?.kind
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(errors.filter { $0 == .uniqueViolation }.count == 1)
        #expect(try itemCount() == "2")
    }

    @Test("of a batch count as failed if the commit fails")
    func failingCommit() throws {
        let deferring = PreparedStatement("SET CONSTRAINTS ALL DEFERRED")
        let (outcome, after) = try harness.whenReady { connection in
            let outcome = await connection.perform {
                $0.append(deferring)
                $0.append(Self.insert, 1 as Int64)
                $0.append(Self.insert, 1 as Int64)
            }
            return (outcome, try await connection.read(Self.count).value(0, 0, as: Int64.self))
        }
        #expect(outcome.error?.kind == .uniqueViolation)
        #expect(after == 0)
    }

    @Test("between BEGIN and COMMIT fail together, even if COMMIT seems to succeed")
    func interactive() throws {
        let (begin, commit) = (PreparedStatement("BEGIN"), PreparedStatement("COMMIT"))
        let kinds = try harness.whenReady { connection in
            var kinds: [PostgreSQLError.Kind?] = []
            for numbers in [[5, 6], [7, 5]] as [[Int64]] {
                _ = await connection.perform { $0.append(begin) }
                for number in numbers { _ = await connection.perform { $0.append(Self.insert, number) } }
                kinds.append(await connection.perform { $0.append(commit) }.error?.kind)
            }
            return kinds
        }
        #expect(kinds == [nil, .aborted])
        #expect(try itemCount() == "2")
    }

    @Test("fail, each with the reason, as long as they cannot be prepared")
    func refusedPreparation() throws {
        let (harness, missing) = (harness, PreparedStatement("SELECT 5::int8 FROM missing"))
        let codes = try harness.whenReady { _ in
            await withTaskGroup(of: String?.self) { group in
                for _ in 0..<3 {
                    group.addTask { await harness.connection.perform { $0.append(missing) }.error?.code }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        // 42P01 is "undefined table". None of the three reports that a prepared statement is missing.
        #expect(codes == ["42P01", "42P01", "42P01"])
        try database.execute("CREATE TABLE missing AS SELECT 1 AS one")
        let five = try harness.whenReady { connection in
            try await connection.read(missing).value(0, 0, as: Int64.self)
        }
        #expect(five == 5)
    }

    @Test("carry large parameters and results in both directions at once")
    func large() throws {
        let harness = harness
        let size = 2_000_000
        let count: UInt8 = isLong ? 40 : 6
        let wrong = try harness.whenReady { _ in
            await withTaskGroup(of: Bool.self) { group in
                for number in 0..<count {
                    group.addTask {
                        let bytes = [UInt8](repeating: number, count: size)
                        let row = try? await harness.connection.read(Self.echo, bytes)
                        return (try? row?.value(0, 0, as: [UInt8].self)) == bytes
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 0 : 1) }
            }
        }
        #expect(wrong == 0)
    }

    @Test("end for the caller at the deadline, and the next statement gets its own result")
    func deadline() throws {
        let sleep = PreparedStatement("SELECT pg_sleep($1)")
        let (kind, waited, next) = try harness.whenReady { connection in
            let started = MonotonicTime.now()
            var batch = StatementBatch()
            batch.append(sleep, 0.3)
            let outcome = await connection.perform(batch, by: started.advanced(by: .milliseconds(50)))
            let waited = MonotonicTime.now().nanoseconds(since: started)
            return (
                outcome.error?.kind, waited,
                try await connection.read(Self.echo, 7 as Int64).value(0, 0, as: Int64.self)
            )
        }
        #expect(kind == .deadline && waited < 250_000_000 && next == 7)
    }

    @Test("are prepared again after a migration changed their columns")
    func migration() throws {
        let all = PreparedStatement("SELECT * FROM items")
        let database = database
        let code = try harness.whenReady { connection in
            _ = try await connection.read(all)
            try database.execute("ALTER TABLE items ADD COLUMN more int8")
            let first = await connection.perform { $0.append(all) }
            _ = try await connection.read(all)
            return first.error?.code
        }
        #expect(code == "0A000")
    }

    @Test("that PostgreSQL cannot prepare fail with PostgreSQL's reason, each time")
    func invalid() throws {
        let invalid = PreparedStatement("SELECT missing FROM items")
        let codes = try harness.whenReady { connection in
            var codes: [String?] = []
            for _ in 0..<2 { codes.append(await connection.perform { $0.append(invalid) }.error?.code) }
            return codes
        }
        #expect(codes == ["42703", "42703"])
    }

    @Test(
        "that fail report the kind of error of their SQLSTATE",
        arguments: [
            ("23505", .uniqueViolation), ("23503", .constraintViolation), ("25006", .readOnly),
            ("23514", .missingTable), ("3F000", .missingTable), ("42P01", .missingTable),
            ("42501", .missingRight),
            ("40001", .serializationFailure), ("40P01", .deadlock), ("53100", .diskFull),
            ("53200", .outOfMemory), ("53300", .tooManyConnections), ("55P03", .lockTimeout),
            ("57014", .cancelled), ("57P01", .shuttingDown), ("08006", .connectionLost),
            ("XX000", .internalError), ("22012", .other),
        ] as [(String, PostgreSQLError.Kind)]
    )
    func kinds(code: String, kind: PostgreSQLError.Kind) throws {
        try database.execute(
            "CREATE FUNCTION fail(code text) RETURNS int LANGUAGE plpgsql AS"
                + " $$ BEGIN RAISE EXCEPTION USING ERRCODE = code, MESSAGE = 'made'; END $$"
        )
        let fail = PreparedStatement("SELECT fail($1)")
        let error = try harness.whenReady { await $0.perform { $0.append(fail, code) }.error }
        #expect(error?.kind == kind && error?.code == code && error?.message == "made")
    }

    @Test("wait for a lock only as long as the session allows")
    func lock() throws {
        let other = try ConnectionHarness(database)
        let lock = PreparedStatement("LOCK TABLE items")
        let begin = PreparedStatement("BEGIN")
        let take = { (batch: inout StatementBatch) in
            batch.append(begin)
            batch.append(lock)
        }
        let first = try other.whenReady { await $0.perform(take).error }
        let second = try harness.whenReady { await $0.perform(take).error }
        #expect(first == nil)
        #expect(second?.kind == .lockTimeout)
    }
}
#endif
