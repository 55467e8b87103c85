import Attribution
import Testing

@Suite("Addresses that may be called by somebody else's word")
struct PublicAddressTests {
    @Test(
        "are those of the public Internet alone",
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
        "are let through where they are",
        arguments: [
            "1.1.1.1", "8.8.8.8", "17.253.144.10", "172.15.0.1", "172.32.0.1", "192.0.1.1", "192.169.0.1",
            "100.63.255.255", "100.128.0.1", "223.255.255.255", "168.63.129.17", "2606:4700::1111",
            "2a00:1450:4001::1", "2001:4860:4860::8888", "2620:149::1",
        ]
    )
    func permits(text: String) throws { #expect(try #require(NetworkAddress(text)).isPublic) }
}
