import Attribution
import HTTPServer
import Server
import Testing

private let peer = PeerAddress(ipv4: 0xCB00_7109, port: 1)
private let link = #""deeplink_url":"myapp://promo/item""#
private let page =
    #"{"signals":{"model":"iPhone","osVersion":"17_2","screenWidth":390,"screenHeight":844,"pixelRatio":3,"#
    + #""timezone":"Europe/Istanbul","language":"tr-TR"},\#(link)}"#

@Suite("The evidence of clicks and launches")
struct EvidenceTests {
    private let service: TestService

    init() async throws { service = try await TestService() }

    @Test("a click is stored with its address and network, its visitor, canonical values and system")
    func click() async throws {
        await service.click(page, fields: ["User-Agent": "Safari"], peer: peer)
        let first = try #require(service.watch.click)
        #expect(first.fingerprints.count >= 4)
        #expect(
            first.fingerprints.allSatisfy { $0.release == OSRelease(platform: .ios, major: 17, minor: 2) }
        )
        let text = try #require(first.evidence.canonicalText)
        #expect(CanonicalSignals(line: text)?.timezone == "Europe/Istanbul")
        #expect(first.evidence.signals.components == [.width, .screen])
        // The second click comes from a near address; its other user agent makes it another visitor's.
        await service.click(
            page,
            fields: ["User-Agent": "Other"],
            peer: PeerAddress(ipv4: 0xCB00_710A, port: 1)
        )
        let second = try #require(service.watch.click)
        #expect(AddressHashes.agreement(first.evidence.address, second.evidence.address) == .near)
        #expect(first.evidence.visitor != second.evidence.visitor)
    }

    @Test("a click posted with a server key has an address only if its body names an address")
    func serversOwnAddress() async throws {
        func address(_ body: String, _ key: KeyKind) async throws -> AddressHashes? {
            await service.click(body, fields: service.bearer(key), peer: peer)
            return try #require(service.watch.click).evidence.address
        }
        let click = #"{"fingerprint":"\#(hex)",\#(link)"#
        #expect(try await address(click + #","ip_address":"203.0.113.9"}"#, .server) != nil)
        #expect(try await address(click + "}", .server) == nil)
        #expect(try await address(click + "}", .app) != nil)
    }

    @Test("a click with a ready-made fingerprint has no values of its own, but the system of its agent")
    func readyMade() async throws {
        let agent =
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
            + "Version/17.2 Mobile/15E148 Safari/604.1"
        await service.click(#"{"fingerprint":"\#(hex)",\#(link)}"#, fields: ["User-Agent": agent])
        let click = try #require(service.watch.click)
        #expect(click.evidence.canonicalText == nil && click.evidence.signals.isEmpty)
        #expect(click.fingerprints.map(\.release) == [OSRelease(platform: .ios, major: 17, minor: 2)])
    }

    @Test(
        "a loopback, private, carrier-grade NAT or relay address is dropped: it distinguishes no visitors",
        arguments: [0x7F00_0001, 0x0A00_0001, 0x6440_0001, 0xACE0_E005] as [UInt32]
    )
    func addressesThatTellNothing(bits: UInt32) async throws {
        let relays = try AddressRanges(reading: Array("172.224.224.0/27,GB".utf8), file: "relays")
        let service = try await TestService { $0.relays = relays }
        await service.click(page, peer: PeerAddress(ipv4: bits, port: 1))
        #expect(try #require(service.watch.click).evidence.address == nil)
        await service.check(hex, peer: PeerAddress(ipv4: bits, port: 1))
        #expect(try #require(service.watch.check).details.address == nil)
        await service.check(hex, peer: peer)
        #expect(try #require(service.watch.check).details.address != nil)
    }

    @Test("a check records the system of its agent, and the client's name")
    func check() async throws {
        let fields = [
            "User-Agent": "Shop/1 CFNetwork/1568.1 Darwin/24.1.0", "X-SDK-Version": "paylisher-ios/1.8.9",
            "X-Request-ID": "request-1",
        ]
        await service.check(hex, fields: fields, peer: peer)
        let check = try #require(service.watch.check)
        #expect(check.ladder.fingerprints.count == 1 && check.ladder.rungs.isEmpty)
        let details = check.details
        #expect(details.release == OSRelease(platform: .ios, major: 18, minor: 1))
        #expect(details.sdkVersion == "ios 1.8.9" && details.requestID == "request-1")
        #expect(details.signals.isEmpty && details.firstInstalledAt == nil)
    }

    @Test(
        "a client's name and release are shortened, and lose all but printable ASCII",
        arguments: [
            ("paylisher-ios/1.8.9", "ios 1.8.9"), ("paylisher-android/2", "android 2"), ("acme/1", "acme 1"),
            ("", nil), ("   ", nil), ("çay/1\t", "ay 1"),
            (String(repeating: "a", count: 100), String(repeating: "a", count: 64)),
        ] as [(String, String?)]
    )
    func sdkVersion(text: String, expected: String?) {
        let request = Request(.get, path: "/", fields: [FieldLine(name: "X-SDK-Version", value: text)])
        #expect(LaunchFields.sdkVersion(request) == expected)
    }

    @Test(
        "a width beside a hash is used if the known hash lacks the width, and wrong values cause no error",
        arguments: [
            (
                "iPhone|Europe/Istanbul|tr",
                #"{"model":"iPhone","screenWidth":"1170","osMajor":"17","tz":"Europe/Istanbul","lang":"tr"}"#,
                1, 17
            ),
            (
                "iPhone|Europe/Istanbul|tr",
                #"{"model":"iPhone","screenWidth":1170,"osMajor":17,"tz":"Europe/Istanbul","lang":"tr"}"#, 1,
                17
            ),
            (
                "iPhone|Europe/Istanbul|tr",
                #"{"model":"iPhone","screenWidth":null,"osMajor":"17","tz":"Europe/Istanbul","lang":"tr"}"#,
                0, 17
            ),
            (
                "iPhone|1170|Europe/Istanbul|tr",
                #"{"model":"iPhone","screenWidth":"1170","tz":"Europe/Istanbul","lang":"tr"}"#, 0, nil
            ),
            (
                "x",
                #"{"model":"iPhone","screenWidth":"1170","osMajor":"17","tz":"Europe/Istanbul","lang":"tr"}"#,
                0, 17
            ),
            ("x", #"{"model":7,"screenWidth":"wide","osMajor":[],"tz":{},"lang":null}"#, 0, nil),
            ("x", "[]", 0, nil), ("x", "{", 0, nil), ("x", "", 0, nil), ("x", "nonsense", 0, nil),
            ("x", #"{"osMajor":"99999999999999999999"}"#, 0, nil), ("x", #"{"osMajor":1e400}"#, 0, nil),
        ] as [(String, String, Int, Int?)]
    )
    func deviceSignals(text: String, field: String, signals: Int, major: Int?) async throws {
        let fields = ["X-Device-Signals": field, "X-Device-Platform": "ios", "User-Agent": "Shop/1"]
        let reply = await service.check(Fingerprint(of: text).hex, fields: fields)
        #expect(reply.status == 200)
        let details = try #require(service.watch.check).details
        #expect(details.signals.components.count == signals)
        #expect(details.release?.major == major)
    }

    @Test("a width gets the same hash from a launch as from the page of its click")
    func sameWidth() async throws {
        await service.click(page)
        let field =
            #"{"model":"iPhone","screenWidth":"1170","osMajor":"17","tz":"Europe/Istanbul","lang":"tr"}"#
        await service.check(
            Fingerprint(of: "iPhone|Europe/Istanbul|tr").hex,
            fields: ["X-Device-Signals": field, "X-Device-Platform": "ios"]
        )
        let width = try #require(service.watch.check?.details.signals[.width])
        #expect(service.watch.click?.evidence.signals[.width] == width)
    }
}
