import Attribution
import HTTPServer

extension FuzzEntry {
    private static let addressTokens = [
        "::", ":", ".", "::ffff:", "1.2.3.4", "255", "256", "0", "01", "ffff", "[", "]", "/", "/24", "/0",
        "/128", "%eth0", ":80", ",", ", ", "for=", "for=\"[2001:db8::1]:80\"", ";", "=", "\"", "\\",
        "unknown", "_hidden", "10.0.0.1", "proto=https", " ", "\t", "é",
    ]

    static let networkAddress = FuzzEntry(same: "network-address", tokens: addressTokens) {
        NetworkAddress($0)
    } write: {
        $0.text
    }

    static let addressRange = FuzzEntry(text: "address-range", tokens: addressTokens) {
        (text) throws(BrokenPromise) in
        guard let range = AddressRange(text) else { return }
        try promise(range.contains(range.base), "a range does not contain its base")
    }

    /// A file of address ranges; if the file is valid, its ranges contain the base address of the first line's range.
    static let addressRanges = FuzzEntry(
        "address-ranges",
        tokens: addressTokens + ["\n", "\r\n", "#", "10.0.0.0/8\n", "2001:db8::/32,GB\n", "::/0"]
    ) { (bytes, _) throws(BrokenPromise) in
        guard let ranges = try? AddressRanges(reading: bytes, file: "file") else { return }
        try promise(!ranges.isEmpty, "a file without a range was accepted")
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: ",") }
        guard let first = AddressRange(String(decoding: line, as: UTF8.self)) else { return }
        try promise(ranges.contains(first.base), "the ranges do not contain the base of the first one")
    }

    static let listenAddress = FuzzEntry(same: "listen-address", tokens: addressTokens) {
        ListenAddress($0)
    } write: {
        $0.description
    }

    private static let proxies = TrustedProxies(
        ["10.0.0.0/8", "2001:db8::/32"].compactMap(AddressRange.init)
    )
    private static let proxy = NetworkAddress("10.0.0.1")
    private static let untrusted = NetworkAddress("192.0.2.1")

    static let forwardedFor = FuzzEntry(text: "x-forwarded-for", tokens: addressTokens) {
        (text) throws(BrokenPromise) in
        guard let proxy, let untrusted else { throw BrokenPromise("the entry's addresses are invalid") }
        let client = proxies.client(peer: proxy, forwardedFor: [text])
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        try promise(proxies.client(peer: proxy, forwardedFor: parts) == client, "separate fields differ")
        try promise(
            proxies.client(peer: untrusted, forwardedFor: [text]) == untrusted,
            "the header of an untrusted peer is trusted"
        )
    }

    static let forwarded = FuzzEntry(text: "forwarded", tokens: addressTokens) {
        (text) throws(BrokenPromise) in
        guard let proxy, let untrusted else { throw BrokenPromise("the entry's addresses are invalid") }
        let client = proxies.client(peer: proxy, forwarded: [text])
        try promise(proxies.client(peer: proxy, forwarded: [text]) == client, "a field has two readings")
        try promise(
            proxies.client(peer: untrusted, forwarded: [text]) == untrusted,
            "the header of an untrusted peer is trusted"
        )
        let both = proxies.client(peer: proxy, forwardedFor: [text], forwarded: [text])
        try promise(both == proxy || both == client, "two fields that disagree result in a third address")
    }
}
