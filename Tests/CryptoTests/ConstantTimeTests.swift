import Crypto
import Testing

@Suite("Constant-time comparison")
struct ConstantTimeTests {
    @Test("returns true only for equal bytes")
    func comparison() {
        let secret = SystemRandom.bytes(32)
        #expect(constantTimeEquals(secret, secret))
        #expect(constantTimeEquals([], []))
        #expect(!constantTimeEquals(secret, Array(secret.dropLast())))
        #expect(!constantTimeEquals(secret, []))
        for index in secret.indices {
            var other = secret
            other[index] ^= 0x80
            #expect(!constantTimeEquals(secret, other))
            let areEqual = constantTimeEquals(secret.span, other.span)
            #expect(!areEqual)
        }
    }
}

@Suite("System randomness")
struct SystemRandomTests {
    @Test("returns the requested number of bytes", arguments: [0, 1, 10, 32, 4096])
    func count(_ count: Int) { #expect(SystemRandom.bytes(count).count == count) }

    @Test("returns different bytes each time, and sets every byte")
    func variety() {
        let draws = (0..<64).map { _ in SystemRandom.bytes(32) }
        #expect(Set(draws).count == 64)
        for index in 0..<32 { #expect(draws.contains { $0[index] != 0 }) }
    }
}
