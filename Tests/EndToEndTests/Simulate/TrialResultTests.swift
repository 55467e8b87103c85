import Attribution
import Server
import Testing
import afterlink

@Suite("The end of a simulated launch")
struct TrialResultTests {
    private static let recorded = ClientResponse(
        status: 201,
        body: #"{"status":"success","click_id":"clk_1","expires_at":"2026-01-02T00:00:00.000Z"}"#
    )

    private func result(
        _ words: String = "",
        click: ClientResponse = recorded,
        _ answer: (Trial) -> String,
        launchedAt: Timestamp? = nil,
        token: TrialResult.Token = .notWanted
    ) throws -> TrialResult {
        let trial = try Trials.trial(words)
        let launch = ClientResponse(status: 200, body: answer(trial))
        return TrialResult(trial, click: click, launch: launch, launchedAt: launchedAt, token: token)
    }

    private func match(_ journey: String, _ more: String = "") -> String {
        #"{"status":"match","matched":true,"url":"myapp://x/y","jid":"\#(journey)"\#(more)}"#
    }

    private func noMatch(_ reason: String? = nil) -> String {
        #"{"status":"no_match","matched":false\#(reason.map { #","reason":"\#($0)""# } ?? "")}"#
    }

    @Test("a trial matches if the launch got the trial's click; form and confidence are shown")
    func matched() throws {
        let result = try result {
            match(
                $0.journey,
                #","attributionMethod":"probabilistic","confidence":0.83,"competingClicks":2,"guaranteed":false"#
            )
        }
        #expect(result.isMatched && result.isAsExpected && result.word == "match")
        let text = result.explanation.joined(separator: "\n")
        #expect(text.contains("Form D") && text.contains("iPhone|Europe/Istanbul|tr"))
        #expect(text.contains("method probabilistic, confidence 83 %, competing clicks 2"))
        #expect(!text.contains("guaranteed"))
    }

    @Test("a trial does not match if the launch got another click")
    func another() throws {
        let result = try result { _ in match("j_other") }
        #expect(!result.isMatched && !result.isAsExpected && result.word == "another click")
        #expect(result.explanation.joined().contains("not this click"))
        #expect(try self.result("--profile preview-robot") { _ in match("j_other") }.isAsExpected)
    }

    @Test("the result no_match is expected if a component differs, which is named with both values")
    func differs() throws {
        let result = try result("--device-timezone Asia/Dubai") { _ in noMatch("no_click") }
        #expect(!result.isMatched && result.isAsExpected)
        let text = result.explanation.joined(separator: "\n")
        #expect(text.contains("timezone: the click says Europe/Istanbul, the launch hashes Asia/Dubai"))
        #expect(text.contains("reason is no_click"))
    }

    @Test("the result no_match is unexpected if the values agree")
    func unexplained() throws {
        let result = try result { _ in noMatch("below_threshold") }
        #expect(!result.isAsExpected)
        let text = result.explanation.joined(separator: "\n")
        #expect(text.contains("is below the app's minimum"))
        #expect(text.contains("should have got this click"))
        #expect(try self.result { _ in noMatch() }.explanation.joined().contains("test keys only"))
    }

    @Test("the result no_match is expected for a robot's click and an expired click; a robot's match is not")
    func neverMatching() throws {
        let robot = try result("--profile preview-robot") { _ in noMatch("robot_click") }
        #expect(robot.isAsExpected && robot.explanation.joined().contains("robot"))
        #expect(try !result("--profile preview-robot") { match($0.journey) }.isAsExpected)
        let late = Timestamp(milliseconds: 1_767_312_000_001)
        let expired = try result("", { _ in noMatch("expired") }, launchedAt: late)
        #expect(expired.isAsExpected && expired.explanation.joined().contains("attribution window"))
        let inTime = Timestamp(milliseconds: 1_767_312_000_000)
        let byMethod = try result("", { _ in noMatch("expired") }, launchedAt: inTime)
        #expect(byMethod.isAsExpected)
        #expect(byMethod.explanation.joined().contains("--fingerprint-window"))
        #expect(try !result("", { _ in noMatch("no_click") }, launchedAt: inTime).isAsExpected)
        // Without a test clock there is no delay after which a window could end.
        #expect(try !result { _ in noMatch("expired") }.isAsExpected)
    }

    @Test("a missing fingerprint of a browser without a model is reported; a token finds the click")
    func hiddenModel() throws {
        let trial = try Trials.trial("--profile firefox-android")
        let body = #"{"message":"No fingerprint","field":"signals"}"#
        let result = TrialResult(trial, click: ClientResponse(status: 400, body: body), launch: nil)
        #expect(result.isAsExpected && result.word == "click refused")
        #expect(result.explanation.joined().contains("does not report model"))
        let brought = try self.result("--profile firefox-android", { match($0.journey) }, token: .brought)
        #expect(brought.isAsExpected)
        let lacking = try self.result("--token", { match($0.journey) }, token: .missing)
        #expect(lacking.isAsExpected && lacking.explanation.joined().contains("made no token"))
    }

    @Test("a link that the app does not allow gets advice, and a refused launch is reported")
    func refused() throws {
        let trial = try Trials.trial("--url other://x/y")
        let body = #"{"message":"leads outside","field":"deeplink_url"}"#
        let outside = TrialResult(trial, click: ClientResponse(status: 400, body: body), launch: nil)
        #expect(!outside.isAsExpected && outside.explanation.joined().contains("--url"))
        let busy = ClientResponse(status: 503, body: #"{"message":"busy"}"#)
        let unanswered = TrialResult(trial, click: Self.recorded, launch: busy)
        #expect(!unanswered.isAsExpected && unanswered.word == "launch refused")
        #expect(unanswered.explanation.joined().contains("busy"))
    }
}
