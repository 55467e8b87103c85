import Attribution
import HTTPServer

extension FuzzEntry {
    private static let addressTokens = [
        "::", ":", ".", "::ffff:", "1.2.3.4", "255", "256", "0", "01", "ffff", "[", "]", "/", "/24", "/0",
        "/128", "%eth0", ":80", ",", ", ", "for=", "for=\"[2001:db8::1]:80\"", ";", "=", "\"", "\\",
        "unknown", "_hidden", "10.0.0.1", "proto=https", " ", "\t", "é",
    ]

    static let networkAddress = FuzzEntry(text: "network-address", tokens: addressTokens) {
        (text) throws(BrokenPromise) in
        guard let address = NetworkAddress(text) else { return }
        try promise(NetworkAddress(address.text) == address, "a written address reads differently")
    }

    static let addressRange = FuzzEntry(text: "address-range", tokens: addressTokens) {
        (text) throws(BrokenPromise) in
        guard let range = AddressRange(text) else { return }
        try promise(range.contains(range.base), "a range does not contain its base")
    }

    /// A file of ranges, of which one address is asked for.
    static let addressRanges = FuzzEntry(
        "address-ranges",
        tokens: addressTokens + ["\n", "\r\n", "#", "10.0.0.0/8\n", "2001:db8::/32,GB\n", "::/0"]
    ) { (bytes, _) throws(BrokenPromise) in
        guard let ranges = try? AddressRanges(reading: bytes, file: "file") else { return }
        try promise(!ranges.isEmpty, "a file without a range was taken")
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: ",") }
        guard let first = AddressRange(String(decoding: line, as: UTF8.self)) else { return }
        try promise(ranges.contains(first.base), "the ranges do not hold the first one's base")
    }

    static let listenAddress = FuzzEntry(text: "listen-address", tokens: addressTokens) {
        (text) throws(BrokenPromise) in
        guard let address = ListenAddress(text) else { return }
        try promise(ListenAddress(address.description) == address, "a listen address reads differently")
    }

    private static let proxies = TrustedProxies(
        ["10.0.0.0/8", "2001:db8::/32"].compactMap { AddressRange($0) }
    )
    private static let proxy = NetworkAddress("10.0.0.1")
    private static let stranger = NetworkAddress("192.0.2.1")

    static let forwardedFor = FuzzEntry(text: "x-forwarded-for", tokens: addressTokens) {
        (text) throws(BrokenPromise) in
        guard let proxy, let stranger else { throw BrokenPromise("the addresses of the entry are none") }
        let client = proxies.client(peer: proxy, forwardedFor: [text])
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        try promise(proxies.client(peer: proxy, forwardedFor: parts) == client, "hops in own lines differ")
        try promise(proxies.client(peer: stranger, forwardedFor: [text]) == stranger, "a stranger is trusted")
    }

    static let forwarded = FuzzEntry(text: "forwarded", tokens: addressTokens) {
        (text) throws(BrokenPromise) in
        guard let proxy, let stranger else { throw BrokenPromise("the addresses of the entry are none") }
        let client = proxies.client(peer: proxy, forwarded: [text])
        try promise(proxies.client(peer: proxy, forwarded: [text]) == client, "a field reads differently")
        try promise(proxies.client(peer: stranger, forwarded: [text]) == stranger, "a stranger is trusted")
        let both = proxies.client(peer: proxy, forwardedFor: [text], forwarded: [text])
        try promise(both == proxy || both == client, "two fields that disagree give a third address")
    }
}
