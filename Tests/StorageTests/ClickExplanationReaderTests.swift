import Attribution
import Simulation
import TestDatabases
import Testing

@Suite("The data for the explanation of a click")
struct ClickExplanationReaderTests {
    @Test(
        "the data contains the click's state, how launches find the click, and related checks",
        arguments: backends
    )
    func material(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let address = AddressHashes(exact: 11, near: 1)
        let (first, second, bare, robot) = try await test.run { session in
            func record(_ fingerprint: UInt64, visit: UInt64, set: (inout NewClick) -> Void = { _ in })
                async throws -> ClickID
            {
                var click = try NewClick.sample(fingerprint: fingerprint, visit: visit)
                click.evidence.address = address
                set(&click)
                return try await session.record(click).click.id
            }
            let first = try await record(1, visit: 1) {
                $0.facts.clickedAt = TestStore.noon
                $0.facts.recordedAt = TestStore.noon.advanced(byMilliseconds: -60_000)
            }
            let second = try await record(1, visit: 1) {
                $0.facts.clickedAt = TestStore.noon.advanced(byMilliseconds: 60_000)
                $0.facts.recordedAt = $0.facts.clickedAt
            }
            let bare = try await record(2, visit: 3) {
                $0.fingerprints = []
                $0.facts.isContradictory = true
            }
            let robot = try await record(3, visit: 4) { $0.facts.isRobot = true }
            return (first, second, bare, robot)
        }
        func material(_ id: ClickID) async throws -> ClickExplanationInput {
            try #require(try await test.run { try await $0.material(ofClick: id) })
        }
        let fresh = try await material(first).click
        #expect(!fresh.isRetired && !fresh.isContradictory)
        #expect(try await material(bare).click.isContradictory)
        try await test.run { session in
            var check = Check.sample(fingerprint: 1, at: TestStore.noon.advanced(byMilliseconds: 120_000))
            check.set(details: LaunchDetails(address: LaunchAddress(address)))
            _ = try await session.match(check)
            var near = Check.sample(fingerprint: 7, at: check.at, caller: 2)
            near.set(details: LaunchDetails(address: LaunchAddress(AddressHashes(exact: 12, near: 1))))
            _ = try await session.match(near)
        }
        let retired = try await material(first)
        #expect(retired.click.isRetired)
        #expect(retired.isIndexed && retired.keyCount == 1)
        #expect(retired.near.map(\.relation) == [.sameFingerprint, .nearAddress])
        #expect(retired.near.first?.record.facts.click == second)
        let token = try await material(bare)
        #expect(token.keyCount == 0 && token.isIndexed)
        #expect(token.near.map(\.relation) == [.sameAddress, .nearAddress])
        #expect(try await material(robot).click.isRobot)
        try test.change(.deleteRobots)
        #expect(try await !material(robot).isIndexed)
        #expect(try await test.run { try await $0.material(ofClick: ClickID(high: 1, low: 1)) } == nil)
    }
}
