import Foundation
import SQLite
import SQLiteStorage
import Testing

@Suite("Query plans")
struct QueryPlanTests {
    @Test("every hot statement uses its index and scans nothing")
    func usesIndexes() async throws {
        let test = try await TestStore()
        test.store.stop(within: 60_000)
        let connection = try SQLiteConnection(path: test.path, access: .readOnly, busyMilliseconds: 0)
        for query in HotQueries.all + HotQueries.drift + HotQueries.links {
            let plan = try connection.queryPlan(of: query.sql)
            #expect(plan.count == query.plan.count, "\(query.name): \(plan)")
            for (line, expected) in zip(plan, query.plan) {
                #expect(line.contains(expected), "\(query.name): \(plan)")
            }
        }
    }
}
