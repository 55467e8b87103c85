import Attribution
import Testing

@Suite("Claiming a click")
struct ClaimTests {
    @Test("a click is matched once, then is already claimed", arguments: Backend.available)
    func matchesOnce(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let click = try await test.run { try await $0.record(.sample()).click }
        let first = try await test.run { try await $0.match(.sample()) }
        #expect(first == .match(Claim(click: click, claimedAt: TestStore.noon, method: .fingerprint)))
        let second = try await test.run { try await $0.match(.sample(caller: 2)) }
        #expect(second == .noMatch(.alreadyClaimed))
    }
}
