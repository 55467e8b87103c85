import Attribution
import Testing

@Suite("Network addresses")
struct NetworkAddressTests {
    @Test(
        "are read in every spelling of RFC 4291 and written in the spelling of RFC 5952",
        arguments: [
            ("0.0.0.0", "0.0.0.0"), ("203.0.113.42", "203.0.113.42"), ("255.255.255.255", "255.255.255.255"),
            ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("2001:DB8::1", "2001:db8::1"),
            ("2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1"),
            ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
            ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"), ("2001:db8::0:1", "2001:db8::1"),
            ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
            ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("0:0:0:0:0:0:0:0", "::"),
            ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"), ("::192.0.2.33", "::c000:221"),
            ("::ffff:192.0.2.33", "192.0.2.33"), ("::FFFF:c000:0221", "192.0.2.33"),
            ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"), ("fe80::1", "fe80::1"),
            ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ]
    )
    func spelling(_ text: String, canonical: String) throws {
        let address = try #require(NetworkAddress(text))
        #expect(address.text == canonical)
        #expect(NetworkAddress(address.text) == address)
    }

    @Test(
        "are refused in every other spelling",
        arguments: [
            "", " ", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.04", "01.2.3.4", "1.2.3.-4", "1.2.3.",
            ".1.2.3", "1..2.3", "1.2.3.4 ", " 1.2.3.4", "0x7f.0.0.1", "2130706433", "1.2.3.4/24",
            "1.2.3.4:80", "1.2.3.a", "1.2.3.99999999999999999999", "１.2.3.4", ":", ":::", "1:2:3:4:5:6:7",
            "1:2:3:4:5:6:7:8:9", "1::2::3", "1:2:3:4::5:6:7:8", "::1:2:3:4:5:6:7:8", "12345::", "g::",
            "fe80::1%eth0", "[::1]", "::1/128", "1:", ":1", "1:::2", "::1.2.3", "::1.2.3.256", "1.2.3.4::",
            "::1.2.3.4:5", "1:2:3:4:5:6:7:1.2.3.4", "::01.2.3.4", "::ffff:1.2.3.4.", "unknown", "localhost",
            "2001:db8::é",
        ]
    )
    func refusal(_ text: String) { #expect(NetworkAddress(text) == nil) }

    @Test("an IPv4 address is its v4-mapped IPv6 address")
    func mapped() throws {
        let address = NetworkAddress(ipv4: 0xcb00_712a)
        #expect(NetworkAddress("203.0.113.42") == address)
        #expect(NetworkAddress("::ffff:203.0.113.42") == address)
        #expect(address.high == 0 && address.low == 0xffff_cb00_712a)
        #expect(address.ipv4 == 0xcb00_712a)
        #expect(try #require(NetworkAddress("::203.0.113.42")).ipv4 == nil)
        #expect(try #require(NetworkAddress("1::ffff:203.0.113.42")).ipv4 == nil)
    }

    @Test(
        "are loopback, private, shared, unspecified, or none of these",
        arguments: [
            ("127.0.0.1", "loopback"), ("127.255.255.255", "loopback"), ("::1", "loopback"),
            ("128.0.0.1", "public"), ("126.255.255.255", "public"), ("::2", "public"),
            ("10.0.0.0", "private"), ("10.255.255.255", "private"), ("11.0.0.0", "public"),
            ("172.15.255.255", "public"), ("172.16.0.0", "private"), ("172.31.255.255", "private"),
            ("172.32.0.0", "public"), ("192.168.0.1", "private"), ("192.169.0.1", "public"),
            ("192.167.255.255", "public"), ("169.254.0.1", "private"), ("169.253.0.1", "public"),
            ("100.63.255.255", "public"), ("100.64.0.0", "shared"), ("100.127.255.255", "shared"),
            ("100.128.0.0", "public"), ("fc00::", "private"), ("fdff::1", "private"), ("fe00::1", "public"),
            ("fe80::1", "private"), ("febf::1", "private"), ("fec0::1", "public"), ("fbff::1", "public"),
            ("2001:db8::1", "public"), ("8.8.8.8", "public"), ("0.0.0.0", "unspecified"),
            ("0.255.255.255", "unspecified"), ("1.0.0.0", "public"), ("::", "unspecified"),
        ]
    )
    func kind(_ text: String, expected: String) throws {
        let address = try #require(NetworkAddress(text))
        #expect(address.isLoopback == (expected == "loopback"))
        #expect(address.isPrivate == (expected == "private"))
        #expect(address.isShared == (expected == "shared"))
        #expect(address.isUnspecified == (expected == "unspecified"))
        #expect(address.distinguishesVisitors == (expected == "public"))
    }

    @Test("are cut to their first bits")
    func truncation() throws {
        let address = try #require(NetworkAddress("2001:db8:1:2:3::4"))
        #expect(address.prefix(ipv4Bits: 24, ipv6Bits: 64).text == "2001:db8:1:2::")
        #expect(NetworkAddress(ipv4: 0xcb00_712a).prefix(ipv4Bits: 24, ipv6Bits: 48).text == "203.0.113.0")
        #expect(address.prefix(ipv4Bits: 24, ipv6Bits: 128) == address)
        #expect(address.prefix(ipv4Bits: 24, ipv6Bits: 0).text == "::")
        #expect(NetworkAddress(ipv4: .max).prefix(ipv4Bits: 0, ipv6Bits: 48).text == "0.0.0.0")
    }
}

@Suite("Address ranges")
struct AddressRangeTests {
    @Test(
        "contain the addresses that begin with their bits",
        arguments: [
            ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.0", false),
            ("10.0.0.0/8", "9.255.255.255", false), ("192.168.1.7/24", "192.168.1.200", true),
            ("192.168.1.7/24", "192.168.2.1", false), ("203.0.113.42", "203.0.113.42", true),
            ("203.0.113.42", "203.0.113.43", false), ("203.0.113.42/32", "203.0.113.43", false),
            ("0.0.0.0/0", "8.8.8.8", true), ("0.0.0.0/0", "2001:db8::1", false),
            ("::/0", "2001:db8::1", true), ("::/0", "8.8.8.8", true),
            ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false),
            ("2001:db8::1", "2001:db8::1", true), ("2001:db8::1", "2001:db8::2", false),
            ("2001:db8::/65", "2001:db8:0:0:7fff::", true), ("2001:db8::/65", "2001:db8:0:0:8000::", false),
            ("::ffff:10.0.0.0/104", "10.1.2.3", true), ("::ffff:10.0.0.0/104", "11.1.2.3", false),
            ("127.0.0.0/8", "::1", false), ("::1/128", "127.0.0.1", false),
        ]
    )
    func contains(_ range: String, address: String, isInside: Bool) throws {
        let range = try #require(AddressRange(range))
        let address = try #require(NetworkAddress(address))
        #expect(range.contains(address) == isInside)
    }

    @Test(
        "are refused in any other spelling",
        arguments: [
            "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/8/8",
            "10.0.0/8", "::/129", "10.0.0.0/255.0.0.0", " 10.0.0.0/8", "10.0.0.0 /8", "10.0.0.0/8 ",
            "localhost", "*", "10.*", "fe80::1%eth0/64",
        ]
    )
    func refusal(_ text: String) { #expect(AddressRange(text) == nil) }
}

@Suite("Addresses that outgoing requests may use")
struct PublicAddressTests {
    @Test(
        "do not include private and special addresses",
        arguments: [
            "127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255",
            "192.168.1.1", "169.254.169.254", "169.254.0.1", "100.64.0.1", "100.100.100.200", "192.0.0.192",
            "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255",
            "240.0.0.1", "255.255.255.255", "168.63.129.16", "192.88.99.1", "::", "::1", "::ffff:127.0.0.1",
            "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "fe80::1", "fec0::1", "fc00::1",
            "fd00:ec2::254", "ff02::1", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1",
            "2002:7f00:1::1", "3fff::1", "5f00::1",
        ]
    )
    func refuses(text: String) throws { #expect(try !#require(NetworkAddress(text)).isPublic) }

    @Test(
        "include the addresses of the public Internet",
        arguments: [
            "1.1.1.1", "8.8.8.8", "17.253.144.10", "172.15.0.1", "172.32.0.1", "192.0.1.1", "192.169.0.1",
            "100.63.255.255", "100.128.0.1", "223.255.255.255", "168.63.129.17", "2606:4700::1111",
            "2a00:1450:4001::1", "2001:4860:4860::8888", "2620:149::1",
        ]
    )
    func permits(text: String) throws { #expect(try #require(NetworkAddress(text)).isPublic) }
}
