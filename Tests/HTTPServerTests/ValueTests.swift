import HTTPServer
import Testing
import Threads

@Suite("Listen addresses")
struct ListenAddressTests {
    @Test(
        "have the same text after parsing",
        arguments: [
            "127.0.0.1:8080", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:80", "[::]:8080",
            "[2001:db8::7]:443",
        ]
    )
    func readBack(text: String) { #expect(ListenAddress(text)?.description == text) }

    @Test(
        "are refused in any other form",
        arguments: [
            "", ":", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:-1",
            "127.0.0.1:65536", "localhost:80", "256.0.0.1:80", "1.2.3:80", "::1:80", "[::1]", "[::1]:",
            "[::1:80", "[::g]:80", "127.0.0.1:80 ",
        ]
    )
    func refused(text: String) { #expect(ListenAddress(text) == nil) }

    @Test("contain an IPv4 address in its mapped form")
    func mapped() {
        #expect(
            ListenAddress("192.0.2.1:80")?.address == PeerAddress(high: 0, low: 0xFFFF_C000_0201, port: 80)
        )
        #expect(ListenAddress("192.0.2.1:80")?.address.ipv4 == 0xC000_0201)
        #expect(ListenAddress("[::1]:80")?.address.ipv4 == nil)
    }
}

@Suite("Monotonic time")
struct MonotonicTimeTests {
    @Test(
        "is advanced by a duration, but not beyond the clock's range",
        arguments: [
            (100, .nanoseconds(5), 105), (100, .nanoseconds(-5), 95), (100, .nanoseconds(-200), 0),
            (UInt64.max - 1, .seconds(1), UInt64.max), (0, .milliseconds(1_500), 1_500_000_000),
            (7, .seconds(Int64.max), 7 + UInt64(Int64.max)),
        ] as [(UInt64, Duration, UInt64)]
    )
    func moves(start: UInt64, duration: Duration, end: UInt64) {
        #expect(MonotonicTime(nanoseconds: start).advanced(by: duration).nanoseconds == end)
    }

    @Test("never decreases")
    func never() {
        let earlier = MonotonicTime.now()
        let later = MonotonicTime.now()
        #expect(earlier <= later)
        #expect(earlier.nanoseconds(since: later.advanced(by: .seconds(1))) == 0)
    }
}

@Suite("Delivery ledger")
struct DeliveryLedgerTests {
    @Test(
        "reports a response once, when all its bytes are acknowledged, and the remaining responses at the end"
    )
    func tells() {
        var ledger = DeliveryLedger()
        var reports: [String] = []
        for end in [10, 20, 30] as [UInt64] { ledger.watch(until: end) { reports.append("\(end) \($0)") } }
        ledger.acknowledge(9)
        #expect(reports == [])
        ledger.acknowledge(20)
        #expect(reports == ["10 delivered", "20 delivered"])
        ledger.acknowledge(29)
        ledger.settle(.failed)
        ledger.settle(.delivered)
        ledger.acknowledge(99)
        #expect(reports == ["10 delivered", "20 delivered", "30 failed"])
        #expect(ledger.isEmpty)
    }
}
