import HTTPServer
import Testing
import Threads

@Suite("Ticket keys")
struct TicketKeyRingTests {
    private let start = MonotonicTime(nanoseconds: 1_000)

    /// A source of keys; each byte of a key is the number of the key.
    private struct Source {
        var count: UInt8 = 0

        mutating func next(_ length: Int) -> [UInt8]? {
            count += 1
            return [UInt8](repeating: count, count: length)
        }
    }

    @Test("one key encrypts tickets for twelve hours, and then the next one")
    func rotates() throws {
        var ring = TicketKeyRing()
        var source = Source()
        for (hours, number) in [(0, 1), (6, 1), (11, 1), (12, 2), (23, 2), (24, 3), (1_000, 4)] {
            let key = ring.sealing(at: start.advanced(by: .seconds(hours * 3600))) { source.next($0) }
            #expect(key?.bytes.first == UInt8(number))
        }
    }

    @Test("a key decrypts its last ticket for the lifetime of a session")
    func opens() throws {
        var ring = TicketKeyRing()
        var source = Source()
        let old = try #require(ring.sealing(at: start) { source.next($0) })
        for hours in [12, 24, 35] {
            _ = ring.sealing(at: start.advanced(by: .seconds(hours * 3600))) { source.next($0) }
        }
        let lastMoment = start.advanced(by: .seconds(36 * 3600 - 1))
        #expect(ring.opening(named: old.name, at: lastMoment) == old)
        #expect(ring.opening(named: old.name, at: start.advanced(by: .seconds(36 * 3600))) == nil)
        #expect(ring.opening(named: [UInt8](repeating: 99, count: 16), at: start) == nil)
    }

    @Test("without randomness, there is no new key, and the old key encrypts only for twelve hours")
    func withoutRandomness() {
        var ring = TicketKeyRing()
        #expect(ring.sealing(at: start) { _ in nil } == nil)
        #expect(ring.sealing(at: start) { [UInt8](repeating: 1, count: $0) } != nil)
        #expect(ring.sealing(at: start.advanced(by: .seconds(12 * 3600))) { _ in nil } == nil)
    }
}
