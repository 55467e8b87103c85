#if PostgreSQL
import Attribution
import Support
import TestDatabases
import Testing

@Suite(
    "Statements on Citus",
    .enabled(if: Backend.available.contains(.citus), "AFTERLINK_TEST_CITUS names no coordinator")
)
struct CitusTests {
    @Test(
        "the statements of clicks, checks and claims read and write one shard each, and leave no transaction prepared"
    )
    func useOneShard() async throws {
        let test = try await TestStore(.citus)
        let place = try #require(test.place as? PostgreSQLPlace)
        let before = try executions(place)
        let matches = try await test.run { session in
            for number in UInt64(1)...40 {
                var click = try NewClick.sample(fingerprint: number, idempotency: number)
                click.evidence.address = AddressHashes(exact: number, near: number)
                _ = try await session.record(click)
            }
            var matches = 0
            for number in UInt64(1)...60 {
                let install = number % 2 == 0 ? number : nil
                let check = Check.sample(fingerprint: number, caller: number, install: install)
                if case .match = try await session.match(check) { matches += 1 }
            }
            return matches
        }
        #expect(matches == 40)
        let after = try executions(place)
        #expect(after.multiple == before.multiple)
        #expect(after.single >= before.single + 40 * 4 + 60)
        let prepared = "SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database()"
        #expect(try place.executeEverywhere(prepared).allSatisfy { $0 == "0" })
    }

    @Test("a transaction that writes to one worker and to the coordinator is committed in two phases")
    func commitInTwoPhases() async throws {
        let test = try await TestStore(.citus)
        let place = try #require(test.place as? PostgreSQLPlace)
        let phases = "SELECT count(*) FROM pg_dist_transaction"
        let before = try place.execute(phases)
        // A check that finds nothing stores one row in a bucket, and so on one worker.
        try await test.run { _ = try await $0.match(.sample()) }
        let isPrepared = try await Polling.eventually { try place.execute(phases) != before }
        #expect(isPrepared)
    }

    /// The numbers of statements that Citus has executed, by the number of their shards.
    private func executions(_ place: PostgreSQLPlace) throws -> (single: Int64, multiple: Int64) {
        let row = try place.execute(
            """
            SELECT query_execution_single_shard, query_execution_multi_shard FROM citus_stat_counters
            WHERE name = current_database()
            """
        )
        let numbers = row.split(separator: "|").compactMap { Int64($0) }
        try #require(numbers.count == 2)
        return (numbers[0], numbers[1])
    }
}
#endif
