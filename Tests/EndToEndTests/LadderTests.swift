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
