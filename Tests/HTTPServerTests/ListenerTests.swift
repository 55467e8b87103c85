import HTTPServer
import Testing

@Suite("Addresses of this machine")
struct ListenerTests {
    @Test("loopback addresses belong to this machine, and addresses of other machines do not")
    func ownAddresses() {
        let loopback = [PeerAddress(ipv4: 0x7f00_0001, port: 80), PeerAddress(ipv4: 0x7f00_0002, port: 80)]
        #expect(loopback.allSatisfy { $0.isOfThisMachine })
        // One address of IPv4 and one of IPv6 that are reserved for documentation.
        #expect(!PeerAddress(ipv4: 0xcb00_7109, port: 80).isOfThisMachine)
        #expect(!PeerAddress(high: 0x2001_0db8_0000_0000, low: 9, port: 80).isOfThisMachine)
    }
}
