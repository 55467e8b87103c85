import Foundation
import Support
import Testing

/// The values that a launch sends in addition to its fingerprint, with the real binary.
@Suite("Signals beside a fingerprint", .blocking)
struct SignalsTests {
    /// SHA-256 of `iPhone|Europe/Istanbul|tr`, which SDKs of form D send on either phone.
    private static let formD = "aabeebd3dcfbcad8006c62b8f7832154c39b7f81d461d1cd53ae5176173489cd"

    private struct Phone {
        let name: String
        let width: Int
        let height: Int

        /// The values that newer SDKs send in addition to the hash.
        var field: [String: String] {
            let text =
                #"{"model":"iPhone","screenWidth":"\#(width * 3)","osMajor":"17","tz":"Europe/Istanbul","lang":"tr"}"#
            return ["X-Device-Signals": text, "X-Device-Platform": "ios"]
        }
        var page: String {
            #"{"signals":{"model":"iPhone","osVersion":"17_2","screenWidth":\#(width),"screenHeight":\#(height),"#
                + #""pixelRatio":3,"timezone":"Europe/Istanbul","language":"tr-TR"},"#
                + #""deeplink_url":"myapp://promo/\#(name)","jid":"\#(name)"}"#
        }
        var native: String {
            #"{"platform":"ios","signals":{"model":"iPhone","osVersion":"17.2","scale":3,"screen":{"width":\#(width),"#
                + #""height":\#(height)},"timezone":"Europe/Istanbul","language":"tr"}}"#
        }
    }
    private static let pro = Phone(name: "pro", width: 393, height: 852)
    private static let max = Phone(name: "max", width: 430, height: 932)

    /// Two people with equal browsers follow two links, from an address that distinguishes no visitors.
    private func click(_ connection: HTTPTestClient, _ key: String, at seconds: Double) throws {
        for (number, phone) in [Self.pro, Self.max].enumerated() {
            let usual = ["Content-Type": "application/json", "Authorization": "Bearer \(key)"]
            let fields = usual.merging(at(seconds + Double(number) * 20)) { $1 }
            let path = HTTPTestClient.prefix + "/click"
            #expect(try connection.call("POST", path, fields: fields, body: phone.page).status == 201)
        }
    }

    @Test("signals decide which of two clicks led to a launch, after a kill and in a backtest, too")
    func decide() throws {
        let installation = try Installation()
        let options = ["--unsafe-test-clock", "--replay-grace", "0"]
        let first = try AfterlinkProcess(installation, options)
        let key = installation.keys.test
        let before = try first.connect()
        // Launches without a click, so that the model does not match the newest click for lack of data.
        for number in 0..<12 {
            let fields = at(Double(number - 60) * 120).merging(["User-Agent": "Shop/\(number)"]) { $1 }
            #expect(try before.check(fingerprint(number), key: key, fields: fields).isNoMatch)
        }
        try click(before, key, at: 0)
        // The response comes when the pending records of checks are on disk.
        _ = try before.get("/admin/api/checks", key: installation.keys.admin)
        first.kill()
        let (_, connection) = try installation.serve(options)

        let untold = try connection.check(Self.formD, key: key, fields: at(300))
        #expect(untold.isNoMatch && untold.string("reason") == "ambiguous", "\(untold.text)")
        // A match is recorded at once, but other checks a little later. With equal times, the match would come
        // first, so this check is a second later.
        let asked = at(301).merging(Self.pro.field) { $1 }.merging(["X-Request-ID": "explained"]) { $1 }
        let answer = try connection.check(Self.formD, key: key, fields: asked)
        #expect(answer.isMatch && answer.string("jid") == "pro", "not the older click: \(answer.text)")
        #expect(answer.string("attributionMethod") == "probabilistic")
        #expect((answer.json["confidence"] as? Double ?? 0) > 0.9)
        let explained = try connection.get(
            "/admin/api/checks/explained/explain",
            key: installation.keys.admin
        )
        #expect(explained.text.contains(#""screen":"same""#), "\(explained.text)")
        #expect(explained.text.contains("The launch reported the same screen as the click's page."))

        // This client sends its values instead of a hash.
        try click(connection, key, at: 7200)
        let fields = ["Content-Type": "application/json", "Authorization": "Bearer \(key)"]
        let resolved = try connection.call(
            "POST",
            HTTPTestClient.prefix + "/resolve",
            fields: fields.merging(at(7200 + 300)) { $1 },
            body: Self.pro.native
        )
        #expect(resolved.isMatch && resolved.string("jid") == "pro", "\(resolved.text)")

        _ = try connection.get("/admin/api/checks", key: installation.keys.admin)
        let again = try installation.run(["backtest", "--test", "--warm-up-days", "0"])
        #expect(
            again.text.contains("15 of 15 launches (100.0 %) get their recorded response."),
            "\(again.text)"
        )
    }
}
