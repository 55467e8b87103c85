import Attribution
import Support
import Testing

@Suite("Deep links from random text")
struct DeepLinkURLFuzzTests {
    private let pieces = [
        "myapp", "https", "http", "://", ":", "/", "//", "?", "#", "&", "=", "@", "[", "]", "::1", "%", "%41",
        "%2e", "..", ".", "\\", " ", "ü", "😀", "shop.example", "a", "Z", "0", "80", "-", "_", "+", "source=",
        "jid=", "k", "\u{0}", "\n", "javascript", "<", "\"", "~", ";", "\u{202e}",
    ]

    @Test(
        "are plain ASCII, stay the same when read again, and keep their parameters with attribution",
        arguments: [1, 2, 3]
    )
    func accepted(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let journey = JourneyID(at: TestValues.noon, random: TestValues.random)
        var acceptedCount = 0
        for _ in 0..<6000 {
            let start = ["myapp://", "https://shop.example/", ""].randomElement(using: &generator) ?? ""
            let text = start + generator.text(of: pieces, count: 0...8)
            guard let url = try? DeepLinkURL(parsing: text) else { continue }
            acceptedCount += 1
            #expect(url.text.utf8.allSatisfy { 0x21...0x7e ~= $0 && ![0x22, 0x3c, 0x5c].contains($0) })
            #expect(try DeepLinkURL(parsing: url.text) == url)

            let campaign = CampaignKey("ş&=")
            let attributed = url.attributed(source: .qr, campaignKey: campaign, journeyID: journey)
            let answer = try DeepLinkURL(parsing: attributed)
            #expect(answer.queryItems.starts(with: url.queryItems))
            #expect(answer.queryItems.contains { $0.name == "jid" })
            let origin = url.text.split(separator: "/", maxSplits: 2)[1].prefix { $0 != "?" && $0 != "#" }
            let scheme = url.text.prefix { $0 != ":" }
            if let destination = try? Destination(parsing: "\(scheme)://\(origin)") {
                #expect(destination.covers(url) && destination.covers(answer))
            }
        }
        #expect(acceptedCount > 500)
    }

    @Test(
        "other parsers survive random text, and their results stay the same when read again",
        arguments: [4, 5, 6]
    )
    func otherReaders(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let pieces =
            pieces + [
                "for=", ",", "\"", "1.2.3.4", "2001:db8::", "ffff", "2025-01-08T14:30:00", ".5", "Z",
                "+03:00", "clk_", "0000000000000000000000000", "GMT", "Etc/", "(iPhone", "Android", ";", ")",
                " OS ", "17_2", "Version/", "Mobile/23B85", "Instagram ", " Android (", "FBSV/", "tr-TR",
            ]
        let proxies = TrustedProxies(["0.0.0.0/0", "::/0"].compactMap(AddressRange.init))
        for _ in 0..<2000 {
            let text = generator.text(of: pieces, count: 0...10)
            if let address = NetworkAddress(text) { #expect(NetworkAddress(address.text) == address) }
            if let moment = Timestamp(iso8601: text) { #expect(Timestamp(iso8601: moment.iso8601) == moment) }
            if let origin = Origin(text) { #expect(Origin(origin.text) == origin) }
            if let destination = try? Destination(parsing: text) {
                #expect((try? Destination(parsing: destination.text)) == destination)
            }
            if let version = OSVersion(text) { #expect(OSVersion(version.text(for: .ios)) == version) }
            let zones = DeviceData.embedded.timeZones
            if let zone = zones.canonical(text) { #expect(zones.canonical(zone) == zone) }
            _ = proxies.client(peer: NetworkAddress(high: 0, low: 1), forwardedFor: [text])
            _ = proxies.client(peer: NetworkAddress(high: 0, low: 1), forwarded: [text])
            _ = AddressRange(text)
            let signals = DeviceSignals(
                model: text,
                osVersion: text,
                timezone: text,
                language: text,
                touchPoints: 5,
                uaModel: text
            )
            #expect(CanonicalSignals(signals, userAgent: text).language?.isEmpty != true)
            let items = [QueryItem(name: "source", value: text)]
            _ = SourceSignals(linkItems: items, referer: text, userAgent: text).reading
        }
    }
}
