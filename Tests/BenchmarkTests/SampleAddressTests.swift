import Attribution
import Benchmark
import Testing

/// Tests the addresses from which the benchmark's loads send their requests.
@Suite("Addresses of requests")
struct SampleAddressTests {
    @Test("have the same length, distinguish visitors, and change the network with each number")
    func areSpread() {
        let numbers = Array(0..<2000) + [9_999_999, 12_345_678]
        let texts = numbers.map { String(decoding: SampleAddress.bytes($0), as: UTF8.self) }
        #expect(texts.allSatisfy { $0.utf8.count == 15 })
        let addresses = texts.compactMap { NetworkAddress($0) }
        #expect(addresses.map(\.text) == texts)
        #expect(addresses.allSatisfy { $0.distinguishesVisitors })
        #expect(Set(addresses).count == addresses.count)
        let networks = addresses.prefix(2000).map { $0.prefix(ipv4Bits: 24, ipv6Bits: 48) }
        #expect(zip(networks, networks.dropFirst()).allSatisfy { $0 != $1 })
    }

    @Test("have the same number as the fingerprint in their request")
    func belongToRequests() {
        var pattern = RequestPattern(prefix: "0badcafe") { fingerprint in
            "GET /?fingerprint=\(fingerprint) HTTP/1.1\r\nX-Forwarded-For: 150.100.100.100\r\n\r\n"
        }
        pattern.set(0x1234)
        let address = String(decoding: SampleAddress.bytes(0x1234), as: UTF8.self)
        let zeros = String(repeating: "0", count: 52)
        #expect(
            String(decoding: pattern.bytes, as: UTF8.self)
                == "GET /?fingerprint=0badcafe\(zeros)1234 HTTP/1.1\r\nX-Forwarded-For: \(address)\r\n\r\n"
        )
    }
}
