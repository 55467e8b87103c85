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

    @Test("the headers of a peer that is not trusted count for nothing")
    func untrustedPeer() throws {
        #expect(try client(peer: "203.0.113.9", forwardedFor: ["198.51.100.1"]) == "203.0.113.9")
        #expect(try client(peer: "203.0.113.9", forwarded: ["for=198.51.100.1"]) == "203.0.113.9")
        let nobody = TrustedProxies([])
        let peer = NetworkAddress(ipv4: 0x0a00_0001)
        #expect(nobody.client(peer: peer, forwardedFor: ["198.51.100.1"]) == peer)
    }

    @Test(
        "X-Forwarded-For gives the rightmost hop that is not a proxy of ours",
        arguments: [
            ([], "10.0.0.1"), (["198.51.100.1"], "198.51.100.1"), (["6.6.6.6, 198.51.100.1"], "198.51.100.1"),
            (["198.51.100.1, 10.0.0.2"], "198.51.100.1"),
            (["198.51.100.1,10.0.0.3 ,\t10.0.0.2"], "198.51.100.1"),
            (["198.51.100.1", "10.0.0.2"], "198.51.100.1"),
            (["6.6.6.6", "198.51.100.1, 10.0.0.2"], "198.51.100.1"), (["10.0.0.4, 10.0.0.3"], "10.0.0.4"),
            (["2001:db8::1"], "2001:db8::1"), (["[2001:db8::1]:4711"], "2001:db8::1"),
            (["198.51.100.1:4711"], "198.51.100.1"), (["2001:db8::1, 2001:db8:ffff::7"], "2001:db8::1"),
            // What is no address ends the reading at the last good hop.
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
        "Forwarded gives the same, by the grammar of RFC 7239",
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
            // A quotation mark that a caller left open swallows nothing that the proxy appended.
            ([#"for="6.6.6.6, for=198.51.100.1"#], "198.51.100.1"),
            ([#"x=", for="[2001:db8::1]""#], "2001:db8::1"),
            ([#"for=6.6.6.6;x="\", for="[2001:db8::1]";by="a""#], "2001:db8::1"),
            // Pseudonyms, missing and repeated parameters, and broken grammar end the reading.
            (["for=unknown"], "10.0.0.1"), (["for=_hidden"], "10.0.0.1"),
            (["for=198.51.100.1, for=_SEVKISEK, for=10.0.0.2"], "10.0.0.2"),
            (["proto=https"], "10.0.0.1"), (["for=198.51.100.1;for=198.51.100.2"], "10.0.0.1"),
            (["for="], "10.0.0.1"),
            (["for"], "10.0.0.1"), (["198.51.100.1"], "10.0.0.1"),
            (["for=198.51.100.1 proto=https"], "10.0.0.1"),
            (["for =198.51.100.1"], "10.0.0.1"), ([#"for="198.51.100.1"#], "10.0.0.1"),
            ([#"for="198.51.100.1"x"#], "10.0.0.1"),
            ([#"for="198.51.100.1\"#], "10.0.0.1"), (["for=198.51.100.1;"], "10.0.0.1"), ([""], "10.0.0.1"),
            ([#"""#], "10.0.0.1"),
        ] as [([String], String)]
    )
    func forwarded(_ values: [String], expected: String) throws {
        #expect(try client(forwarded: values) == expected)
    }

    @Test("two headers have to agree; if they do not, only the peer is certain")
    func bothHeaders() throws {
        #expect(try client(forwardedFor: ["198.51.100.1"], forwarded: ["for=198.51.100.1"]) == "198.51.100.1")
        #expect(try client(forwardedFor: ["198.51.100.1"], forwarded: ["for=6.6.6.6"]) == "10.0.0.1")
        #expect(try client(forwardedFor: ["6.6.6.6"], forwarded: ["for=unknown"]) == "10.0.0.1")
    }
}
