import Attribution
import HTTPServer
import Server
import Testing

@Suite("Google Play's report on an installation")
struct PlayReportTests {
    private let service: TestService

    init() async throws { service = try await TestService(replayGrace: 0) }

    /// The time of the service's clock, in seconds since 1970.
    private var seconds: Int64 { service.clock.now.milliseconds / 1000 }

    /// Returns a report in JSON, with Google's times.
    private func report(_ token: String, click: Int64, begin: Int64, _ more: String = "") -> String {
        #"{"installReferrer":"al=\#(token)&utm_source=x","referrerClickTimestampSeconds":\#(click),"#
            + #""installBeginTimestampSeconds":\#(begin),"referrerClickTimestampServerSeconds":\#(click),"#
            + #""installBeginTimestampServerSeconds":\#(begin),"installVersion":"3.2 <b>","#
            + #""googlePlayInstantParam":true\#(more)}"#
    }

    /// Where a launch sends the report: in the body, or in the header field of a GET, padded or not, or of a POST.
    enum Place: String, CaseIterable, Sendable {
        case body, field, paddedField, fieldOfResolve

        func ask(_ service: TestService, _ report: String, fields: [String: String] = [:]) async -> Answer {
            let text = Base64URL.text(of: Array(report.utf8))
            switch self {
            case .body: return await service.resolve(#"{"play":\#(report)}"#, fields: fields)
            case .field:
                return await service.check(
                    query: "",
                    fields: fields.merging(["X-Play-Referrer": text]) { $1 }
                )
            case .paddedField:
                let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
                let all = fields.merging(["x-play-referrer": text + padding]) { $1 }
                return await service.check(hex, fields: all)
            case .fieldOfResolve:
                let all = fields.merging(["X-Play-Referrer": text]) { $1 }
                return await service.resolve(#"{"platform":"android"}"#, fields: all)
            }
        }

        /// The prefix that errors put before the names of the report's values.
        var path: String { self == .body ? "play." : "X-Play-Referrer." }
    }

    @Test("a report without a finding leaves the match of its token guaranteed", arguments: Place.allCases)
    func sure(place: Place) async throws {
        let token = try #require(await service.click().member("token"))
        let answer = await place.ask(service, report(token, click: seconds + 20, begin: seconds + 40))
        #expect(answer.member("attributionMethod") == "signed_token" && answer.flag("guaranteed") == true)
        #expect(answer.number("confidence") == 0.99)
    }

    @Test(
        "a finding lowers the confidence, and appears in the explanation, the statistics and the metrics",
        arguments: Place.allCases
    )
    func findings(place: Place) async throws {
        let start = seconds
        let cases: [(PlayFinding, click: Int64, begin: Int64)] = [
            (.clickInjection, start + 40, start + 39), (.clickSpamming, start - 121, start),
            (.noServerTimes, 0, start + 60), (.noServerTimes, start + 40, start + 301),
        ]
        for (number, (finding, click, begin)) in cases.enumerated() {
            let agent = ["User-Agent": "visitor \(number)"]
            let token = try #require(await service.click(fields: agent).member("token"))
            let id = "launch-\(number)"
            let answer = await place.ask(
                service,
                report(token, click: click, begin: begin),
                fields: ["X-Request-ID": id]
            )
            #expect(answer.member("status") == "match", "\(answer.text)")
            #expect(answer.member("attributionMethod") == "signed_token")
            #expect(answer.number("confidence") == 0.5 && answer.flag("guaranteed") == false)
            let path = "/admin/api/checks/\(id)/explain"
            let why = await service.send(.get, path, fields: service.bearer(.admin)).text
            #expect(why.contains(#""play":{"finding":"\#(finding.rawValue)""#), "\(why)")
            #expect(why.contains("(\(finding.rawValue)), so the match is not guaranteed."))
            #expect(why.contains(#""install_version":"3.2 \u003cb>","instant":true"#))
            #expect(!why.contains(token), "the referrer is not stored")
        }
        let statistics = await service.statistics()
        let metrics = await service.send(.get, "/metrics", fields: service.bearer(.admin)).text
        for finding in PlayFinding.allCases {
            let count = cases.count { $0.0 == finding }
            #expect(statistics.text.contains(#"{"finding":"\#(finding.rawValue)","matches":\#(count)}"#))
            let line = #"afterlink_play_findings_total{finding="\#(finding.rawValue)"} \#(count)"#
            #expect(metrics.contains(line))
        }
    }

    @Test("a launch page shows the report and the finding, and markup in the report stays text")
    func page() async throws {
        let browser = await DashboardBrowser.signedIn(to: service)
        let token = try #require(await service.click().member("token"))
        let text = report(token, click: seconds + 40, begin: seconds + 28)
        await service.resolve(#"{"play":\#(text)}"#, fields: ["X-Request-ID": "launch-1"])
        let page = await browser.get("/launches/launch-1").text
        #expect(page.contains("click injection") && page.contains("3.2 &lt;b&gt;"))
        #expect(page.contains("the installation began 12 s before the click that led to the store"))
        #expect(page.contains("Store click, by Google&#39;s clock"))
        await service.check(hex, fields: ["X-Request-ID": "launch-2"])
        #expect(!(await browser.get("/launches/launch-2").text.contains("Google")))
        // The overview counts the finding as `/admin/stats` does.
        try service.catchUp()
        #expect(await service.statistics().text.contains(#"{"finding":"click_injection","matches":1}"#))
        let rows = await browser.table("Google Play findings", at: "/")
        #expect(rows == [["Finding", "Matches"], ["click injection", "1"]])
    }

    @Test("the bounds of the store click are settable")
    func bounds() async throws {
        let bounds = try #require(PlayBounds("0:5"))
        let service = try await TestService(configure: { $0.playBounds = bounds })
        for (delay, isGuaranteed) in [(5, true), (6, false), (-1, false)] as [(Int64, Bool)] {
            let agent = ["User-Agent": "visitor \(delay)"]
            let token = try #require(await service.click(fields: agent).member("token"))
            let time = service.clock.now.milliseconds / 1000 + delay
            let answer = await service.resolve(#"{"play":\#(report(token, click: time, begin: time))}"#)
            #expect(answer.flag("guaranteed") == isGuaranteed, "\(delay)")
        }
    }

    @Test("a report without times, and an organic report, cause no error", arguments: Place.allCases)
    func sparse(place: Place) async throws {
        let organic = #"{"installReferrer":"utm_source=google-play&utm_medium=organic"}"#
        #expect(await place.ask(service, organic).member("status") == "no_match")
        let token = try #require(await service.click().member("token"))
        let bare =
            #"{"installReferrer":"al=\#(token)","installVersion":null,"googlePlayInstantParam":null,"x":[]}"#
        let answer = await place.ask(service, bare)
        #expect(answer.member("attributionMethod") == "signed_token" && answer.flag("guaranteed") == false)
    }

    @Test("a referrer without a report, as released clients send it, leaves the match guaranteed")
    func released() async throws {
        let token = try #require(await service.click().member("token"))
        let answer = await service.check(query: "", fields: ["X-Install-Referrer": "al=\(token)"])
        #expect(answer.flag("guaranteed") == true)
        let other = try #require(await service.click(fields: ["User-Agent": "b"]).member("token"))
        #expect(await service.resolve(#"{"referrer":"al=\#(other)"}"#).flag("guaranteed") == true)
    }

    @Test("a launch with two referrers is refused unless these are the same text", arguments: Place.allCases)
    func twoReferrers(place: Place) async throws {
        let token = try #require(await service.click().member("token"))
        let text = report(token, click: seconds + 40, begin: seconds + 28)
        let differing = await place.ask(service, text, fields: ["X-Install-Referrer": "al=\(token)"])
        let isRefused = differing.isRefusal(400, "INVALID_FIELD", field: place.path + "installReferrer")
        #expect(isRefused, "\(differing.text)")
        let same = ["X-Install-Referrer": "al=\(token)&utm_source=x"]
        #expect(await place.ask(service, text, fields: same).number("confidence") == 0.5)
        guard place == .body else { return }
        let next = try #require(await service.click(fields: ["User-Agent": "b"]).member("token"))
        let body = #"{"referrer":"al=\#(next)","play":{"installReferrer":"al=x"}}"#
        let refused = await service.resolve(body)
        #expect(refused.isRefusal(400, "INVALID_FIELD", field: "play.installReferrer"))
        // The report may lack the referrer if the older member has it.
        let split = await service.resolve(#"{"referrer":"al=\#(next)","play":{"installVersion":"1"}}"#)
        #expect(split.number("confidence") == 0.5)
    }

    private static let long = String(repeating: "a", count: 5000)
    private static let malformed: [(name: String, value: String)] =
        PlayInstall.Time.allCases.flatMap { time in
            ["-1", "1.5", "253402300800", "1784716205000", #""1784716205""#, "true", "[]", "1e999"]
                .map { (time.rawValue, $0) }
        }
        + ["7", "{}", "\"\(long)\""].map { ("installReferrer", $0) }
        + ["7", "\"\(long)\""].map { ("installVersion", $0) }
        + ["7", #""true""#].map { ("googlePlayInstantParam", $0) }

    @Test(
        "a malformed value is refused with its name, and consumes nothing",
        arguments: [Place.body, .field]
    )
    func refusals(place: Place) async throws {
        let token = try #require(await service.click().member("token"))
        let reference = ["X-Install-Referrer": "al=\(token)"]
        for (name, value) in Self.malformed {
            let answer = await place.ask(service, #"{"\#(name)":\#(value)}"#, fields: reference)
            #expect(answer.isRefusal(400, "INVALID_FIELD", field: place.path + name), "\(name) \(value)")
        }
        let sure = await place.ask(service, "{}", fields: reference)
        #expect(sure.member("status") == "match")
    }

    @Test("a malformed field, a member that is no object, and a report alone without a referrer are refused")
    func noObject() async throws {
        for text in [
            "", "x", "e30.", "e30===", "W10", "bnVsbA", "e3", "{}", Base64URL.text(of: Array("{".utf8)),
        ] {
            let answer = await service.check(hex, fields: ["X-Play-Referrer": text])
            #expect(answer.isRefusal(400, "INVALID_FIELD", field: "X-Play-Referrer"), "\(text)")
        }
        let body = await service.resolve(#"{"fingerprint":"\#(hex)","play":[]}"#)
        #expect(body.isRefusal(400, "INVALID_FIELD", field: "play"))
        for body in ["{}", #"{"play":{"installVersion":"1"}}"#, #"{"play":{"installReferrer":""}}"#] {
            let missing = await service.resolve(body)
            #expect(missing.isRefusal(400, "MISSING_REQUIRED_FIELD", field: "signals"), "\(body)")
        }
        let query = await service.check(query: "", fields: ["X-Play-Referrer": "e30"])
        #expect(query.isRefusal(400, "INVALID_FINGERPRINT"))
        // A member of the body takes precedence.
        let both = await service.resolve(
            #"{"fingerprint":"\#(hex)","play":{}}"#,
            fields: ["X-Play-Referrer": "x"]
        )
        #expect(both.member("status") == "no_match")
    }
}
