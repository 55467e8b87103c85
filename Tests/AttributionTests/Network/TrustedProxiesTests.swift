import Attribution
import Testing

@Suite("Trusted proxies")
struct TrustedProxiesTests {
    private let proxies = TrustedProxies(["10.0.0.0/8", "2001:db8:ffff::/48"].compactMap(AddressRange.init))

    private func client(
        peer: String = "10.0.0.1",
        forwardedFor: [String] = [],
        forwarded: [String] = []
    ) throws -> String {
        let peer = try #require(NetworkAddress(peer))
        return proxies.client(peer: peer, forwardedFor: forwardedFor, forwarded: forwarded).text
    }

    @Test("ignore the headers of an untrusted peer")
    func untrustedPeer() throws {
        #expect(try client(peer: "203.0.113.9", forwardedFor: ["198.51.100.1"]) == "203.0.113.9")
        #expect(try client(peer: "203.0.113.9", forwarded: ["for=198.51.100.1"]) == "203.0.113.9")
        let noProxies = TrustedProxies([])
        let peer = NetworkAddress(ipv4: 0x0a00_0001)
        #expect(noProxies.client(peer: peer, forwardedFor: ["198.51.100.1"]) == peer)
    }

    @Test(
        "take as client the rightmost hop of X-Forwarded-For that is no trusted proxy",
        arguments: [
            ([], "10.0.0.1"), (["198.51.100.1"], "198.51.100.1"), (["6.6.6.6, 198.51.100.1"], "198.51.100.1"),
            (["198.51.100.1, 10.0.0.2"], "198.51.100.1"),
            (["198.51.100.1,10.0.0.3 ,\t10.0.0.2"], "198.51.100.1"),
            (["198.51.100.1", "10.0.0.2"], "198.51.100.1"),
            (["6.6.6.6", "198.51.100.1, 10.0.0.2"], "198.51.100.1"), (["10.0.0.4, 10.0.0.3"], "10.0.0.4"),
            (["2001:db8::1"], "2001:db8::1"), (["[2001:db8::1]:4711"], "2001:db8::1"),
            (["198.51.100.1:4711"], "198.51.100.1"), (["2001:db8::1, 2001:db8:ffff::7"], "2001:db8::1"),
            // Reading goes from right to left, and ends before text that is not an address.
            (["198.51.100.1, unknown"], "10.0.0.1"), (["198.51.100.1, unknown, 10.0.0.2"], "10.0.0.2"),
            (["198.51.100.1, , 10.0.0.2"], "10.0.0.2"), ([""], "10.0.0.1"), (["198.51.100.1,"], "10.0.0.1"),
            (["198.51.100.01"], "10.0.0.1"), (["198.51.100.1:"], "10.0.0.1"),
            (["198.51.100.1:port"], "10.0.0.1"), (["[198.51.100.1]"], "10.0.0.1"),
            (["2001:db8::1:4711:x"], "10.0.0.1"), (["[2001:db8::1"], "10.0.0.1"), (["<script>"], "10.0.0.1"),
            (["198.51.100.1; 10.0.0.2"], "10.0.0.1"),
        ] as [([String], String)]
    )
    func forwardedFor(_ values: [String], expected: String) throws {
        #expect(try client(forwardedFor: values) == expected)
    }

    @Test(
        "read Forwarded in the same way, by the grammar of RFC 7239",
        arguments: [
            (["for=198.51.100.1"], "198.51.100.1"),
            (["For=198.51.100.1;proto=https;by=10.0.0.1"], "198.51.100.1"),
            (["proto=https; FOR=198.51.100.1"], "198.51.100.1"),
            ([#"for="[2001:db8:cafe::17]:4711""#], "2001:db8:cafe::17"),
            ([#"for="198.51.100.1:80""#], "198.51.100.1"), ([#"for="198.51.100.1:_port""#], "198.51.100.1"),
            ([#"for="198\.51.100.1""#], "198.51.100.1"), (["for=[2001:db8::1]"], "2001:db8::1"),
            (["for=6.6.6.6, for=198.51.100.1, for=10.0.0.2"], "198.51.100.1"),
            (["for=6.6.6.6", "for=198.51.100.1 , for=10.0.0.2"], "198.51.100.1"),
            ([#"for=198.51.100.1;host="a,b;c=\"d\"", for=10.0.0.2"#], "198.51.100.1"),
            (["for=198.51.100.1, ,"], "198.51.100.1"),
            ([#"for=6.6.6.6, for=198.51.100.1;host="a\"b", for=10.0.0.2"#], "198.51.100.1"),
            // A quotation mark that a client left open does not hide what the proxy appended.
            ([#"for="6.6.6.6, for=198.51.100.1"#], "198.51.100.1"),
            ([#"x=", for="[2001:db8::1]""#], "2001:db8::1"),
            ([#"for=6.6.6.6;x="\", for="[2001:db8::1]";by="a""#], "2001:db8::1"),
            // Reading stops at pseudonyms, missing or repeated parameters, and broken grammar.
            (["for=unknown"], "10.0.0.1"), (["for=_hidden"], "10.0.0.1"),
            (["for=198.51.100.1, for=_SEVKISEK, for=10.0.0.2"], "10.0.0.2"),
            (["proto=https"], "10.0.0.1"), (["for=198.51.100.1;for=198.51.100.2"], "10.0.0.1"),
            (["for="], "10.0.0.1"), (["for"], "10.0.0.1"), (["198.51.100.1"], "10.0.0.1"),
            (["for=198.51.100.1 proto=https"], "10.0.0.1"), (["for =198.51.100.1"], "10.0.0.1"),
            ([#"for="198.51.100.1"#], "10.0.0.1"), ([#"for="198.51.100.1"x"#], "10.0.0.1"),
            ([#"for="198.51.100.1\"#], "10.0.0.1"), (["for=198.51.100.1;"], "10.0.0.1"), ([""], "10.0.0.1"),
            ([#"""#], "10.0.0.1"),
        ] as [([String], String)]
    )
    func forwarded(_ values: [String], expected: String) throws {
        #expect(try client(forwarded: values) == expected)
    }

    @Test("use the peer if both headers are present and disagree")
    func bothHeaders() throws {
        #expect(try client(forwardedFor: ["198.51.100.1"], forwarded: ["for=198.51.100.1"]) == "198.51.100.1")
        #expect(try client(forwardedFor: ["198.51.100.1"], forwarded: ["for=6.6.6.6"]) == "10.0.0.1")
        #expect(try client(forwardedFor: ["6.6.6.6"], forwarded: ["for=unknown"]) == "10.0.0.1")
    }
}

@Suite("Explained derivation of the client's address")
struct ClientDerivationTests {
    private let proxies = TrustedProxies(["10.0.0.0/8"].compactMap(AddressRange.init))

    private func address(_ text: String) throws -> NetworkAddress { try #require(NetworkAddress(text)) }
    private func derivation(_ peer: String, forwardedFor: [String] = [], forwarded: [String] = []) throws
        -> ClientDerivation
    { proxies.derivation(peer: try address(peer), forwardedFor: forwardedFor, forwarded: forwarded) }

    @Test("lists each hop as trusted, client, not an address or not read")
    func hops() throws {
        let derivation = try self.derivation("10.0.0.1", forwardedFor: ["6.6.6.6, 198.51.100.1, 10.0.0.2"])
        #expect(derivation.peerIsTrusted)
        let hops = try (address("10.0.0.2"), address("198.51.100.1"), address("6.6.6.6"))
        #expect(derivation.forwardedFor == [.trusted(hops.0), .client(hops.1), .unread(hops.2)])
        #expect(derivation.client == (try address("198.51.100.1")))
        let broken = try self.derivation("10.0.0.1", forwarded: ["for=198.51.100.1, for=unknown"])
        #expect(broken.forwarded == [.notAnAddress, .unread(try address("198.51.100.1"))])
    }

    @Test("does not read headers of untrusted peers, and reports headers that disagree")
    func refusals() throws {
        let stranger = try derivation("203.0.113.9", forwardedFor: ["10.0.0.2"])
        #expect(!stranger.peerIsTrusted)
        #expect(stranger.forwardedFor == [.unread(try address("10.0.0.2"))])
        let (one, other) = (["198.51.100.1"], ["for=198.51.100.2"])
        let disagreeing = try derivation("10.0.0.1", forwardedFor: one, forwarded: other)
        #expect(disagreeing.headersDisagree)
        #expect(disagreeing.client == (try address("10.0.0.1")))
    }

    @Test("derives the same client as for a request, from any X-Forwarded-For")
    func agreesWithTheRule() throws {
        let nodes = ["10.0.0.2", "10.0.0.3", "198.51.100.1", "unknown", "", "2001:db8::1"]
        for first in nodes {
            for second in nodes {
                for peer in ["10.0.0.1", "203.0.113.9"] {
                    let (peer, fields) = (try address(peer), ["\(first), \(second)"])
                    let derivation = proxies.derivation(peer: peer, forwardedFor: fields, forwarded: [])
                    #expect(derivation.client == proxies.client(peer: peer, forwardedFor: fields))
                    let hops = derivation.forwardedFor.compactMap { hop in
                        switch hop {
                        case .trusted(let address), .client(let address): address
                        case .notAnAddress, .unread: nil
                        }
                    }
                    #expect((hops.last ?? peer) == derivation.client)
                }
            }
        }
    }
}
