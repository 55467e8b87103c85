import HTTPServer
import Testing

@Suite("Addresses of this machine")
struct ListenerTests {
    @Test("loopback addresses are this machine's, and those of other machines are not")
    func ownAddresses() {
        let loopback = [
            PeerAddress(ipv4: 0x7f00_0001, port: 80), PeerAddress(ipv4: 0x7f00_0002, port: 80),
        ]
        #expect(loopback.allSatisfy { $0.isOfThisMachine })
        // Addresses of examples, in IPv4 and in IPv6.
        #expect(!PeerAddress(ipv4: 0xcb00_7109, port: 80).isOfThisMachine)
        #expect(!PeerAddress(high: 0x2001_0db8_0000_0000, low: 9, port: 80).isOfThisMachine)
    }
}
