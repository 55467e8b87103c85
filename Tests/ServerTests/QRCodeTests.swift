import Attribution
import HTTPServer
import JSON
import QRCodes
import Server
import Testing
import Threads

/// The pictures are compared with pictures of the module `QRCodes`, whose tests let other programs read the codes.
@Suite("A link's QR code over HTTP")
struct QRCodeTests {
    private static let host = ["Host": "go.shop.example"]

    /// Creates a service with a link.
    private func shop(_ fields: String = "") async throws -> TestService {
        let service = try await TestService(LinkScenario.shop)
        try await service.makeLink(#"{"slug":"summer25","destination":"myapp://promo/item"\#(fields)}"#)
        return service
    }

    private func code(
        _ service: TestService,
        _ file: String = "summer25/qr.svg",
        _ query: String? = nil,
        fields: [String: String] = QRCodeTests.host
    ) async -> Answer {
        await service.send(.get, "/" + file, query: query, fields: fields)
    }

    /// Returns the picture of a text in the standard style.
    private func png(_ text: String) throws -> [UInt8] { try QRPicture(of: text).png() }

    @Test("the code contains the link's URL with the source qr, which replaces the link's own source")
    func source() async throws {
        let service = try await shop(#","campaign_key":"SUMMER25","source":"instagram","utm_source":"ig""#)
        let text = "https://go.shop.example/summer25?source=qr"
        let png = await code(service, "summer25/qr.png")
        #expect(png.status == 200 && png.field("Content-Type") == "image/png")
        #expect(png.body == (try QRPicture(of: text).png()))
        let svg = await code(service, "summer25/qr.svg")
        #expect(svg.status == 200 && svg.field("Content-Type") == "image/svg+xml")
        let title = "QR code: https://go.shop.example/summer25"
        #expect(svg.text == (try QRPicture(of: text).svg(title: title)))
        let click = await service.click(#"{"fingerprint":"\#(hex)","link":"summer25","query":"?source=qr"}"#)
        #expect(click.status == 201, "\(click.text)")
        let match = await service.check(hex)
        #expect(match.text.contains("myapp://promo/item?source=qr&keyName=SUMMER25"), "\(match.text)")
    }

    @Test("a request for the code is not a click: nothing is stored or counted")
    func noClick() async throws {
        let service = try await shop(#","maximum_clicks":1"#)
        for _ in 0..<3 { #expect(await code(service).status == 200) }
        #expect(await service.send(.head, "/summer25/qr.png", fields: Self.host).status == 200)
        let listing = await service.admin(.get, "/links").text
        #expect(listing.contains(#""clicks":0,"robots":0,"matches":0"#))
        #expect(try await service.totals()[.clicks] ?? 0 == 0)
    }

    @Test("the code exists for a slug of several parts, too, escaped or not")
    func parts() async throws {
        let service = try await shop()
        try await service.makeLink(#"{"slug":"go/a_b.c/1","destination":"myapp://promo/item"}"#)
        for path in ["go/a_b.c/1/qr.png", "go/a%5fb.c/%31/qr.png"] {
            let answer = await code(service, path)
            #expect(try answer.body == png("https://go.shop.example/go/a_b.c/1?source=qr"))
            #expect(answer.field("Content-Disposition") == #"inline; filename="go-a_b.c-1.png""#)
        }
    }

    @Test("the code has the link's style, which the query can change")
    func look() async throws {
        let service = try await shop(
            ##","qr_foreground":"#1A2b3c","qr_background":"#FFE","qr_error_correction":"Q""##
        )
        let usual = await code(service).text
        #expect(usual.contains(##"fill="#ffffee" d="M0 0h"##))
        #expect(usual.contains(##"fill="#1a2b3c""##))
        #expect(usual.contains(#"width="512" height="512" viewBox="0 0 41 41""#), "version 4, level Q")
        #expect(usual.contains("<title>QR code: https://go.shop.example/summer25</title>"))
        let wished = await code(
            service,
            "summer25/qr.svg",
            "foreground=%23400&background=fff&size=300&error_correction=L&quiet_zone=0"
        ).text
        #expect(wished.contains(##"fill="#ffffff" d="M0 0h"##))
        #expect(wished.contains(##"fill="#440000""##))
        #expect(wished.contains(#"width="300" height="300" viewBox="0 0 29 29""#), "version 3, level L")
    }

    @Test("the code leaves its centre free for a logo, at level H instead of the link's level")
    func logo() async throws {
        let service = try await shop(#","qr_error_correction":"L""#)
        let answer = await code(service, "summer25/qr.png", "logo=true&size=400")
        let link = "https://go.shop.example/summer25?source=qr"
        let style = try QRStyle(errorCorrection: .high, pixels: 400, hasRoomForLogo: true)
        #expect(answer.body == (try QRPicture(of: link, style: style).png()))
        #expect(
            await code(service, "summer25/qr.png", "logo=false&size=400").body
                == (try QRPicture(of: link, style: QRStyle(errorCorrection: .low, pixels: 400)).png())
        )
    }

    @Test(
        "unreadable styles and unknown parameters are refused with advice",
        arguments: [
            ("size=57", "size", "58 to 4096"), ("size=4097", "size", "58 to 4096"),
            ("size=-1", "size", "58 to 4096"), ("size=1e3", "size", "58 to 4096"),
            ("size=99999999999999999999", "size", "58 to 4096"),
            ("size=60", "size", "choose 74 pixels or more"),
            ("quiet_zone=17", "quiet_zone", "0 to 16"),
            ("error_correction=X", "error_correction", "L, M, Q or H"),
            ("error_correction=l", "error_correction", "L, M, Q or H"),
            ("foreground=red", "foreground", "#1a2b3c"), ("background=12", "background", "#1a2b3c"),
            ("foreground=", "foreground", "without #"), ("background", "background", "without #"),
            ("foreground=eee", "foreground", "darker foreground"),
            ("foreground=fff&background=000", "foreground", "dark foreground on a light background"),
            ("logo=true&error_correction=Q", "logo", "level H"), ("logo=1", "logo", "true or false"),
            ("size=300&size=400", "size", "twice"),
            ("colour=000", "colour", "size, foreground, background, error_correction, quiet_zone, logo"),
        ]
    )
    func refused(query: String, field: String, advice: String) async throws {
        let service = try await shop()
        for format in ["svg", "png"] {
            let answer = await code(service, "summer25/qr.\(format)", query)
            #expect(answer.isRefusal(400, "INVALID_FIELD", field: field), "\(answer.text)")
            #expect(answer.member("message")?.contains(advice) == true, "\(answer.text)")
            #expect(answer.field("Cache-Control") == "no-store")
        }
    }

    @Test("all problems of a code's query are reported at once")
    func refusedAtOnce() async throws {
        let service = try await shop()
        let answer = await code(service, "summer25/qr.png", "size=1&quiet_zone=99&logo=yes")
        #expect(answer.status == 400)
        for field in ["size", "quiet_zone", "logo"] {
            #expect(answer.text.contains(#"{"field":"\#(field)""#), "\(answer.text)")
        }
    }

    @Test("a code without a link gets 404: for an unknown slug, another host, or a malformed path")
    func unknown() async throws {
        let service = try await shop()
        for (path, host) in [
            ("nothing/qr.svg", "go.shop.example"), ("summer25/qr.svg", "other.example"),
            ("Summer25/qr.svg", "go.shop.example"), ("admin/qr.svg", "go.shop.example"),
            ("a/b/c/d/e/qr.png", "go.shop.example"), ("%00/qr.png", "go.shop.example"),
            ("%ff/qr.png", "go.shop.example"), ("/qr.png", "go.shop.example"),
            ("qr.png", "go.shop.example"), ("summer25/qr.gif", "go.shop.example"),
            ("summer25/qr.svg/", "go.shop.example"),
        ] {
            let answer = await code(service, path, fields: ["Host": host])
            #expect(answer.isRefusal(404, "NOT_FOUND"), "\(answer.text)")
        }
    }

    @Test("the code of a link that was archived, has expired or has had its last click gets 410")
    func ended() async throws {
        let service = try await TestService(LinkScenario.shop)
        let end = service.clock.now.advanced(byMilliseconds: 60_000)
        let link = #""destination":"myapp://promo/item""#
        let archived = try await service.makeLink(#"{"slug":"archived",\#(link)}"#)
        try await service.makeLink(#"{"slug":"expired",\#(link),"expires_at":"\#(end.iso8601)"}"#)
        try await service.makeLink(#"{"slug":"used",\#(link),"maximum_clicks":1}"#)
        for slug in ["archived", "expired", "used"] {
            #expect(await code(service, "\(slug)/qr.svg").status == 200)
        }
        await service.admin(.post, "/links/\(archived)/archive")
        #expect(await service.click(#"{"fingerprint":"\#(hex)","link":"used"}"#).status == 201)
        service.clock.advance(seconds: 60)
        for slug in ["archived", "expired", "used"] {
            let answer = await code(service, "\(slug)/qr.svg")
            #expect(answer.isRefusal(410, "LINK_ENDED"), "\(answer.text)")
        }
    }

    @Test("the code is cached by browsers and proxies for an hour, then sent again only if it has changed")
    func cache() async throws {
        let service = try await shop()
        let first = await code(service)
        #expect(first.field("Cache-Control") == "public, max-age=3600")
        let tag = try #require(first.field("ETag"))
        #expect(await code(service).field("ETag") == tag)
        let again = await code(service, fields: ["Host": "go.shop.example", "If-None-Match": tag])
        #expect(again.status == 304 && again.body.isEmpty)
        #expect(again.field("ETag") == tag)
        #expect(await code(service, "summer25/qr.svg", "size=300").field("ETag") != tag)
        let id = try #require(
            await service.admin(.get, "/links").text.firstMatch(of: /lnk_[0-9a-z]+/)?.output
        )
        #expect(await service.admin(.patch, "/links/\(id)", ##"{"qr_foreground":"#400"}"##).status == 200)
        let changed = await code(service, fields: ["Host": "go.shop.example", "If-None-Match": tag])
        #expect(changed.status == 200 && changed.field("ETag") != tag)
    }

    @Test("the code may be shown as a picture by other sites, and loads nothing as a document")
    func security() async throws {
        let service = try await shop()
        for file in ["summer25/qr.svg", "summer25/qr.png"] {
            let answer = await code(service, file)
            let policy = answer.field("Content-Security-Policy")
            #expect(policy == "default-src 'none'; frame-ancestors 'none'")
            #expect(answer.field("Cross-Origin-Resource-Policy") == "cross-origin")
        }
    }

    @Test("the code of an app without a link host leads to the requested host, and is not cached")
    func withoutHost() async throws {
        let service = try await TestService(trustedProxies: ["10.0.0.0/8"])
        try await service.makeLink(#"{"slug":"try","destination":"myapp://promo/item"}"#)
        let proxy = PeerAddress(ipv4: 0x0A00_0001, port: 1)
        let forwarded = ["Host": "inside:80", "X-Forwarded-Host": "l.example", "X-Forwarded-Proto": "https"]
        let asked: [(fields: [String: String], peer: PeerAddress, origin: String)] = [
            (["Host": "192.0.2.7:8080"], TestService.peer, "http://192.0.2.7:8080"),
            (forwarded, proxy, "https://l.example"),
            (forwarded.merging(["X-Forwarded-Proto": "HTTPS"]) { $1 }, proxy, "https://l.example"),
            (forwarded, TestService.peer, "http://inside:80"),
        ]
        for (fields, peer, origin) in asked {
            let answer = await service.send(.get, "/try/qr.png", fields: fields, peer: peer)
            #expect(try answer.body == png("\(origin)/try?source=qr"))
            #expect(answer.field("Cache-Control") == "no-store")
        }
        let nowhere = await service.send(.get, "/try/qr.png", fields: ["Host": "a'b"])
        #expect(nowhere.status == 400 && nowhere.member("field") == "Host")
    }

    @Test("the code of an app with several link hosts leads to the requested host")
    func severalHosts() async throws {
        var settings = LinkScenario.shop
        settings.links.hosts += ["l.shop.example"].compactMap { LinkHost($0) }
        let service = try await TestService(settings)
        try await service.makeLink(#"{"slug":"a","destination":"myapp://promo/item"}"#)
        for host in ["go.shop.example", "l.shop.example"] {
            let answer = await code(service, "a/qr.png", fields: ["Host": "\(host):8443"])
            #expect(try answer.body == png("https://\(host)/a?source=qr"))
        }
    }

    @Test("codes are limited for each address, separately from clicks")
    func rateLimit() async throws {
        let service = try await TestService(LinkScenario.shop, rateLimits: RateLimits([.pictures], "1/s:2"))
        try await service.makeLink(#"{"slug":"a","destination":"myapp://promo/item"}"#)
        let moment = MonotonicTime.now()
        var statuses: [Int] = []
        for _ in 0..<3 {
            let answer = await service.send(.get, "/a/qr.svg", fields: Self.host, at: moment)
            statuses.append(answer.status)
        }
        #expect(statuses == [200, 200, 429])
        #expect(await service.click(#"{"fingerprint":"\#(hex)","link":"a"}"#).status == 201)
    }

    @Test(
        "a link is refused if scanners cannot read the colours of its code",
        arguments: [
            ##""qr_foreground":"#eeeeee""##, ##""qr_background":"#222222""##,
            ##""qr_foreground":"#ffffff","qr_background":"#000000""##, ##""qr_foreground":"red""##,
        ]
    )
    func refusedLinks(style: String) async throws {
        let service = try await TestService(LinkScenario.shop)
        let answer = await service.admin(
            .post,
            "/links",
            #"{"slug":"a","destination":"myapp://promo/item",\#(style)}"#
        )
        #expect(answer.status == 422, "\(answer.text)")
        #expect(answer.member("field")?.hasPrefix("qr_") == true)
    }
}
