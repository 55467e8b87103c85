import Attribution
import Foundation
import Support
import Testing

/// The certain ways to recognise a launch, with the real binary.
@Suite("Tokens, ids and raw signals through the whole program", .blocking)
struct LadderTests {
    private func resolve(
        _ connection: HTTPTestClient,
        _ body: String,
        key: String,
        fields: [String: String] = [:]
    ) throws -> HTTPTestClient.Reply {
        let usual = ["Content-Type": "application/json", "Authorization": "Bearer \(key)"]
        let path = HTTPTestClient.prefix + "/resolve"
        return try connection.call("POST", path, fields: usual.merging(fields) { $1 }, body: body)
    }

    @Test("a token matches once, in whichever field the launch sends it, and remains used after a kill")
    func tokens() throws {
        let installation = try Installation()
        let options = ["--unsafe-test-clock", "--replay-grace", "0"]
        let (server, connection) = try installation.serve(options)
        let key = installation.keys.app
        let ways: [(String) throws -> HTTPTestClient.Reply] = [
            { try connection.get("\(HTTPTestClient.prefix)?token=\($0)", key: key, fields: at(60)) },
            {
                try connection.check(
                    fingerprint(99),
                    key: key,
                    fields: at(60).merging(["X-Install-Referrer": "al=\($0)&utm_source=x"]) { $1 }
                )
            },
            { try resolve(connection, #"{"token":"\#($0)"}"#, key: key, fields: at(60)) },
            { try resolve(connection, #"{"referrer":"al%3D\#($0)"}"#, key: key, fields: at(60)) },
            {
                let text = "https://go.example/summer25?al=\($0)"
                return try resolve(connection, #"{"pasteboard":"\#(text)"}"#, key: key, fields: at(60))
            },
        ]
        var tokens: [String] = []
        for (number, ask) in ways.enumerated() {
            let click = try connection.click(fingerprint(number), ["jid": "j\(number)"], fields: at(0))
            #expect(click.status == 201)
            let token = try #require(click.string("token"))
            let reply = try ask(token)
            #expect(reply.isMatch && reply.string("jid") == "j\(number)", "\(reply.text)")
            #expect(reply.string("attributionMethod") == "signed_token")
            #expect(reply.json["guaranteed"] as? Bool == true)
            #expect(try ask(token).text == #"{"status":"no_match","matched":false}"#)
            tokens.append(token)
        }
        server.kill()
        let after = try installation.serve(options).connection
        for token in tokens {
            #expect(
                try after.get("\(HTTPTestClient.prefix)?token=\(token)", key: key, fields: at(61)).isNoMatch
            )
        }
    }

    @Test("a token matches only unaltered, in its app and window; a test key gets the reason")
    func refusedTokens() throws {
        let (installation, _, connection) = try Installation.serving(["--unsafe-test-clock"])
        let test = ["Authorization": "Bearer \(installation.keys.test)"]
        let click = try connection.click(
            fingerprint(1),
            ["attribution_window_seconds": 3600],
            fields: at(0).merging(test) { $1 }
        )
        let token = try #require(click.string("token"))
        let altered = (token.first == "A" ? "B" : "A") + token.dropFirst()
        func reason(_ token: String, _ seconds: Double) throws -> String? {
            let target = "\(HTTPTestClient.prefix)?token=\(token)"
            return try connection.get(target, key: installation.keys.test, fields: at(seconds)).string(
                "reason"
            )
        }
        #expect(try reason(altered, 10) == "token_invalid")
        #expect(try reason(token, 3600.001) == "expired")
        let made = try installation.run(["apps", "create", "Other", "--json"])
        #expect(made.status == 0)
        let other = try installation.run(["keys", "create", "--app", "Other", "--kind", "test", "--json"])
        let object = try JSONSerialization.jsonObject(with: other.standardOutput) as? [String: Any]
        let text = try #require((object?["key"] as? [String: Any])?["text"] as? String)
        let target = "\(HTTPTestClient.prefix)?token=\(token)"
        let isToldWhose = try Polling.until {
            try connection.get(target, key: text, fields: at(10)).string("reason") == "other_app"
        }
        #expect(isToldWhose)
        #expect(try connection.get(target, key: installation.keys.test, fields: at(3600)).isMatch)
        #expect(try reason(token, 3600) == nil, "a repeated response")
    }

    @Test("raw signals and advertising ids find their click")
    func resolves() throws {
        let (installation, _, connection) = try Installation.serving(["--unsafe-test-clock"])
        let signals: [String: Any] = [
            "model": "iPhone", "osVersion": "17_2", "screenWidth": 390, "screenHeight": 844, "pixelRatio": 3,
            "timezone": "Europe/Istanbul", "language": "tr-TR",
        ]
        let page: [String: Any] = ["signals": signals, "deeplink_url": "myapp://promo/item", "jid": "j1"]
        let body = String(decoding: try JSONSerialization.data(withJSONObject: page), as: UTF8.self)
        let fields = ["Content-Type": "application/json"].merging(at(0)) { $1 }
        let path = HTTPTestClient.prefix + "/click"
        #expect(try connection.call("POST", path, fields: fields, body: body).status == 201)
        let native =
            #"{"platform":"ios","signals":{"model":"iPhone","osVersion":"17.2","screen":{"width":390,"height":844},"#
            + #""scale":3,"timezone":"Europe/Istanbul","language":"tr"}}"#
        let found = try resolve(connection, native, key: installation.keys.app, fields: at(30))
        #expect(found.isMatch && found.string("jid") == "j1", "\(found.text)")
        #expect((found.json["confidence"] as? Double).map { (0...0.99).contains($0) } == true)
        #expect(found.json["guaranteed"] as? Bool == false)

        let id = "6D92078A-8246-4BA4-AE5B-76104861E7DC"
        _ = try connection.click(fingerprint(2), ["gaid": id.lowercased(), "jid": "j2"], fields: at(0))
        let headers = at(30).merging(["X-GAID": id]) { $1 }
        let byID = try connection.check(fingerprint(3), fields: headers)
        #expect(byID.string("attributionMethod") == "gaid" && byID.string("jid") == "j2", "\(byID.text)")
    }

    @Test(
        "a report of Google Play that contradicts a token removes the match's guarantee, by the bounds of the setting"
    )
    func playReport() throws {
        let options = ["--unsafe-test-clock", "--play-bounds", "60:600"]
        let (installation, _, connection) = try Installation.serving(options)
        let key = installation.keys.app
        let start = 1_780_000_000
        func launch(_ token: String, storeClick: Int, asField: Bool) throws -> HTTPTestClient.Reply {
            let (click, begin) = (start + storeClick, start + 700)
            let report =
                #"{"installReferrer":"al=\#(token)","referrerClickTimestampServerSeconds":\#(click),"#
                + #""installBeginTimestampServerSeconds":\#(begin)}"#
            var fields = at(900).merging(["X-Request-ID": "launch-\(storeClick)"]) { $1 }
            guard asField else {
                return try resolve(connection, #"{"play":\#(report)}"#, key: key, fields: fields)
            }
            fields["X-Play-Referrer"] = Base64URL.text(of: Array(report.utf8))
            return try connection.get(HTTPTestClient.prefix, key: key, fields: fields)
        }
        for (storeClick, finding) in [
            (600, nil), (601, "click_spamming"), (-61, "click_spamming"), (701, "click_injection"),
        ] {
            let click = try connection.click(fingerprint(storeClick + 100), fields: at(0))
            let token = try #require(click.string("token"))
            let reply = try launch(token, storeClick: storeClick, asField: storeClick > 600)
            #expect(reply.isMatch && reply.string("attributionMethod") == "signed_token", "\(reply.text)")
            #expect(reply.json["guaranteed"] as? Bool == (finding == nil))
            #expect(reply.json["confidence"] as? Double == (finding == nil ? 0.99 : 0.5))
            let why = try installation.run(["explain", "launch-\(storeClick)"])
            #expect(
                why.status == 0 && why.text.contains("2026-05-28T20:38:20.000Z"),
                "the time at which the installation began"
            )
            for word in ["click_spamming", "click_injection"] {
                #expect(why.text.contains(word) == (word == finding), "\(why.text)")
            }
        }
        let statistics = try installation.run(["stats"]).text
        #expect(statistics.contains("GOOGLE PLAY'S FINDING") && statistics.contains("click_spamming"))
        #expect(statistics.contains("11 min"), "the time to install ends when the installation began")
    }

    @Test("a serving process stops matching by fingerprint when the app's setting forbids it")
    func withoutFingerprints() throws {
        let (installation, _, connection) = try Installation.serving()
        #expect(try installation.run(["apps", "set", "--fingerprinting", "off"]).status == 0)
        let key = installation.keys.test
        let follows = try Polling.until {
            try connection.check(fingerprint(1), key: key).string("reason") == "fingerprint_disabled"
        }
        #expect(follows)
        let test = ["Authorization": "Bearer \(key)"]
        let token = try #require(try connection.click(fingerprint(1), fields: test).string("token"))
        #expect(try connection.check(fingerprint(1), key: key).isNoMatch)
        #expect(try connection.get("\(HTTPTestClient.prefix)?token=\(token)", key: key).isMatch)
    }
}
