import Attribution
import Testing

@Suite("Derivation of the client's address, for people")
struct ClientDerivationTests {
    private let proxies = TrustedProxies(["10.0.0.0/8"].compactMap(AddressRange.init))

    private func address(_ text: String) throws -> NetworkAddress { try #require(NetworkAddress(text)) }
    private func derivation(_ peer: String, forwardedFor: [String] = [], forwarded: [String] = []) throws
        -> ClientDerivation
    { proxies.derivation(peer: try address(peer), forwardedFor: forwardedFor, forwarded: forwarded) }

    @Test("tells of each hop whether it was believed, and stops where the rule stops")
    func hops() throws {
        let derivation = try self.derivation("10.0.0.1", forwardedFor: ["6.6.6.6, 198.51.100.1, 10.0.0.2"])
        #expect(derivation.peerIsTrusted)
        #expect(
            derivation.forwardedFor == [
                .trusted(try address("10.0.0.2")), .client(try address("198.51.100.1")),
                .unread(try address("6.6.6.6")),
            ]
        )
        #expect(derivation.client == (try address("198.51.100.1")))
        let broken = try self.derivation("10.0.0.1", forwarded: ["for=198.51.100.1, for=unknown"])
        #expect(broken.forwarded == [.notAnAddress, .unread(try address("198.51.100.1"))])
    }

    @Test("says that headers of strangers are not read, and that two headers disagree")
    func refusals() throws {
        let stranger = try derivation("203.0.113.9", forwardedFor: ["10.0.0.2"])
        #expect(!stranger.peerIsTrusted)
        #expect(stranger.forwardedFor == [.unread(try address("10.0.0.2"))])
        let disagreeing = try derivation(
            "10.0.0.1",
            forwardedFor: ["198.51.100.1"],
            forwarded: ["for=198.51.100.2"]
        )
        #expect(disagreeing.headersDisagree)
        #expect(disagreeing.client == (try address("10.0.0.1")))
    }

    @Test("names the very address that requests count with, whatever the headers")
    func agreesWithTheRule() throws {
        let nodes = ["10.0.0.2", "10.0.0.3", "198.51.100.1", "unknown", "", "2001:db8::1"]
        for first in nodes {
            for second in nodes {
                for peer in ["10.0.0.1", "203.0.113.9"] {
                    let (peer, fields) = (try address(peer), ["\(first), \(second)"])
                    let derivation = proxies.derivation(peer: peer, forwardedFor: fields, forwarded: [])
                    #expect(derivation.client == proxies.client(peer: peer, forwardedFor: fields))
                    let told = derivation.forwardedFor.compactMap { hop in
                        switch hop {
                        case .trusted(let address), .client(let address): address
                        case .notAnAddress, .unread: nil
                        }
                    }
                    #expect((told.last ?? peer) == derivation.client)
                }
            }
        }
    }
}
