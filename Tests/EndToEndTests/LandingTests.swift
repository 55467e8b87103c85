import Attribution
import Foundation
import Support
import Testing

/// The path from a tap on a link to the first launch with the real binary, with the requests of a browser and an app.
@Suite("A tap on a link", .blocking)
struct LandingTests {
    private static let android =
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36"
    private static let iPhone =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1"

    private func shop() throws -> Installation {
        let installation = try Installation()
        for words in [
            [
                "apps", "set", "--link-host", "go.shop.example", "--ios-scheme", "shopapp",
                "--android-scheme", "shopapp", "--ios-store-id", "1234567890", "--android-package",
                "com.example.shop",
            ],
            ["links", "create", "summer25", "--destination", "/promo/summer", "--pasteboard", "true"],
        ] {
            let output = try installation.run(words)
            #expect(output.status == 0, "\(output.errors)")
        }
        return installation
    }

    private func visitor(_ agent: String) -> [String: String] {
        ["User-Agent": agent, "Accept": "text/html", "X-Forwarded-Host": "go.shop.example"]
    }

    private func attribute(_ name: String, _ page: String) throws -> String {
        let range = try #require(page.range(of: " \(name)=\""))
        let value = String(page[range.upperBound...].prefix { $0 != "\"" })
        return value.replacing("&amp;", with: "&")
    }

    private func click(_ page: String, _ agent: String, _ connection: HTTPTestClient) throws -> String {
        let body = """
            {"link":"\(try attribute("data-link", page))","signals":{"screenWidth":390,"screenHeight":844,\
            "pixelRatio":3,"timezone":"Europe/Istanbul","language":"tr-TR"}}
            """
        let fields = visitor(agent).merging(["Content-Type": "text/plain;charset=UTF-8"]) { $1 }
        let reply = try connection.call(
            "POST",
            try attribute("data-endpoint", page),
            fields: fields,
            body: body
        )
        #expect(reply.status == 201, "\(reply.text)")
        return try #require(reply.string("token"))
    }

    private func launch(
        _ evidence: [String: String],
        _ connection: HTTPTestClient,
        _ installation: Installation
    ) throws -> HTTPTestClient.Reply {
        let body = try JSONSerialization.data(withJSONObject: evidence)
        return try connection.call(
            "POST",
            HTTPTestClient.prefix + "/resolve",
            fields: ["Content-Type": "application/json", "Authorization": "Bearer \(installation.keys.app)"],
            body: String(decoding: body, as: UTF8.self)
        )
    }

    @Test("a tap ends in a certain match by a token from store, pasteboard, QR code or the app's scheme")
    func tokens() throws {
        let installation = try shop()
        let (_, connection) = try installation.serve(["--trusted-proxy", "127.0.0.1/32"])
        func page(_ agent: String) throws -> String {
            let reply = try connection.get("/summer25?x=1", fields: visitor(agent))
            #expect(reply.status == 200)
            return reply.text
        }
        let ways: [(agent: String, evidence: (String, String) throws -> [String: String])] = [
            (
                Self.android,
                { page, token in
                    let link = try self.attribute("data-play", page).replacing(
                        PlayStoreLink.place,
                        with: token
                    )
                    let query = try #require(link.split(separator: "?").last)
                    return ["referrer": try #require(QueryItem.value(of: "referrer", inQuery: String(query)))]
                }
            ),
            (
                Self.iPhone,
                { page, token in
                    ["pasteboard": "\(try self.attribute("data-pasteboard", page))?al=\(token)"]
                }
            ),
            (
                Self.iPhone,
                { _, token in ["pasteboard": "https://go.shop.example/summer25?source=qr&al=\(token)"] }
            ),
            (
                Self.android,
                { page, token in
                    let link = DeepLinkURL(stored: try self.attribute("data-open", page) + "?al=\(token)")
                    return ["token": try #require(link.queryItems.first { $0.name == "al" }).value]
                }
            ),
        ]
        for (number, way) in ways.enumerated() {
            // Use a new visitor each time, because a repeated post would return the first click.
            let agent = "\(way.agent) Visitor/\(number)"
            let text = try page(agent)
            let token = try click(text, agent, connection)
            let reply = try launch(try way.evidence(text, token), connection, installation)
            #expect(reply.isMatch && reply.json["guaranteed"] as? Bool == true, "\(number): \(reply.text)")
            #expect(reply.string("url")?.hasPrefix("shopapp://promo/summer") == true)
        }
    }

    @Test("a tap without a script is redirected to the store, and ends in a certain match")
    func withoutScript() throws {
        let installation = try shop()
        let (_, connection) = try installation.serve(["--trusted-proxy", "127.0.0.1/32"])
        let page = try connection.get("/summer25", fields: visitor(Self.android)).text
        let button = try #require(page.range(of: "id=\"store\""))
        let address = try attribute("href", String(page[button.upperBound...]))
        let reply = try connection.get(address, fields: visitor(Self.android))
        #expect(reply.status == 302)
        let location = try #require(reply.fields["location"])
        let query = try #require(location.split(separator: "?").last)
        let referrer = try #require(QueryItem.value(of: "referrer", inQuery: String(query)))
        let match = try launch(["referrer": referrer], connection, installation)
        #expect(match.isMatch && match.json["guaranteed"] as? Bool == true, "\(match.text)")
    }
}
