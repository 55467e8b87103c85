@testable import AfterlinkCore
import Foundation
import Support
import Synchronization
import Testing

@Suite("The first launch in an app's tests", .blocking)
struct LaunchTests {
    private static let link = URL(string: "myapp://promo/summer").map {
        Link(url: $0, campaign: "SUMMER", metadata: ["utm_source": "instagram"])
    }

    @Test("returns a match to one of two callers, and stores it for later reads")
    func match() async throws {
        let link = try #require(Self.link)
        let afterlink = Afterlink.test(matching: link)
        async let (one, two) = (afterlink.firstLaunch(), afterlink.firstLaunch())
        let answers = await [one, two]
        #expect(answers.count { if case .match = $0 { true } else { false } } == 1, "\(answers)")
        #expect(answers.contains(.settled))
        let stored = try #require(await afterlink.match)
        #expect(stored.url == link.url && stored.campaign == "SUMMER" && stored.metadata == link.metadata)
        #expect(await Afterlink.test(matching: nil).firstLaunch() == .none)
    }

    @Test("returns the fake server's link with all its members")
    func members() async throws {
        var link = try #require(Self.link)
        #expect(await Afterlink.test(matching: link).firstLaunch() == .match(link))
        (link.confidence, link.isGuaranteed, link.method) = (0.75, false, "probabilistic")
        (link.journey, link.clickID) = ("j_1", "clk_1")
        link.clickedAt = Date(timeIntervalSince1970: 1_800_000_000.5)
        #expect(await Afterlink.test(matching: link).firstLaunch() == .match(link))
    }

    @Test("a late match comes as a link, also after several requests that failed")
    func late() async throws {
        let link = try #require(Self.link)
        let server = FakeServer(.unreachable, .portal, .busy(retryAfter: 0), .match(link))
        let afterlink = Afterlink.test(server: server)
        #expect(await afterlink.firstLaunch(within: .milliseconds(20)) == .pending)
        for await late in afterlink.links {
            #expect(late.url == link.url && late.origin == .deferred)
            break
        }
        #expect(await afterlink.firstLaunch() == .settled)
        #expect(await server.launchCount == 4)
    }

    @Test("takes a limit that is no number for none")
    func noNumber() async {
        #expect(TimeLimit.seconds(.nan) == .seconds(0) && TimeLimit.milliseconds(-1) == .seconds(0))
        let silent = Afterlink.test(server: FakeServer(.silent))
        #expect(await silent.firstLaunch(within: .seconds(.nan)) == .pending)
    }

    @Test("returns within its limit while the server is silent")
    func silent() async throws {
        let clock = HeldClock(holding: 0.2)
        let afterlink = Afterlink.test(server: FakeServer(.silent), clock: clock)
        async let answer = afterlink.firstLaunch(within: .milliseconds(200))
        try #require(await Polling.eventually { clock.heldCount == 1 }, "the limit is a pause of the clock")
        // Now the limit has passed.
        clock.release()
        #expect(await answer == .pending)
    }

    @Test(
        "a link that opened the app is returned once, without its token, and its match credits the campaign"
    )
    func opened() async throws {
        let token = String(repeating: "A", count: 44)
        let link = try #require(Self.link)
        let server = FakeServer(.match(link))
        let afterlink = Afterlink.test(server: server)
        await afterlink.opened(try #require(URL(string: "myapp://promo/summer?a=1&al=\(token)&b=2")))
        #expect(await afterlink.firstLaunch() == .campaign("SUMMER"))
        for await opened in afterlink.links {
            #expect(opened.url.absoluteString == "myapp://promo/summer?a=1&b=2" && opened.origin == .opened)
            break
        }
    }

    @Test("a link that opened the app is returned at once, while the first launch waits for the server")
    func openedAtOnce() async throws {
        let afterlink = Afterlink.test(server: FakeServer(.silent))
        async let answer = afterlink.firstLaunch(within: .seconds(3600))
        await afterlink.opened(try #require(URL(string: "myapp://a/b")))
        for await opened in afterlink.links {
            #expect(opened.url.absoluteString == "myapp://a/b")
            break
        }
        await afterlink.optOut()
        #expect(await answer == .settled)
    }

    @Test("a token is read only from a pasted link to one of the app's hosts")
    func pasted() async throws {
        let token = String(repeating: "B", count: 44)
        let link = try #require(Self.link)
        let server = FakeServer(.noMatch, .match(link))
        var options = Options()
        options.linkHosts = ["go.example"]
        let afterlink = Afterlink.test(server: server, options: options)
        #expect(await afterlink.firstLaunch() == .none)
        #expect(await !afterlink.shouldOfferPaste(isLinkProbable: false))
        #expect(await afterlink.shouldOfferPaste(isLinkProbable: true))
        #expect(await !afterlink.shouldOfferPaste(isLinkProbable: true))
        #expect(await !afterlink.pasted("my password"))
        #expect(await !afterlink.pasted("https://other.example/a?al=\(token)"))
        #expect(await server.launchCount == 1)
        #expect(await afterlink.pasted(" https://go.example/summer?al=\(token)\n"))
        for await late in afterlink.links {
            #expect(late.url == link.url)
            break
        }
        #expect(await server.launchCount == 2)
    }

    @Test("two links with tokens that wait for another process of the app are both returned")
    func openedTogether() async throws {
        let folder = try TemporaryFolder()
        var options = Options()
        options.folder = folder.url
        let clock = HeldClock(holding: Engine.lockPause)
        let afterlink = Afterlink.test(server: FakeServer(.noMatch), options: options, clock: clock)
        var lock = try StateFolder(url: folder.url, willTakeStep: { _ in }).lock("state.lock")
        #expect(lock != nil)
        let urls = ["a", "b"].map { "myapp://\($0)?al=" + String(repeating: $0, count: 44) }
        let calls = try urls.map { text in
            let url = try #require(URL(string: text))
            return Task { await afterlink.opened(url) }
        }
        // Both calls now wait for the lock, and each has both tokens to store.
        #expect(await Polling.eventually { clock.heldCount == 2 })
        lock = nil
        clock.release()
        for call in calls { await call.value }
        var opened: Set<String> = []
        for await link in afterlink.links.prefix(2) { opened.insert(link.url.absoluteString) }
        #expect(opened == ["myapp://a", "myapp://b"])
        #expect(await afterlink.firstLaunch() == .none)
    }

    @Test("the state gives up after five launches, or after a week and two launches")
    func givingUp() {
        var state = LaunchState()
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        for launch in 0..<5 {
            guard case .ask = state.nextStep(at: start, isNewLaunch: true) else {
                Issue.record("launch \(launch)")
                return
            }
            #expect(state.take() == .pending)
        }
        guard case .finished = state.nextStep(at: start, isNewLaunch: true) else {
            Issue.record("a sixth launch asked")
            return
        }
        #expect(state.take() == .settled)

        var old = LaunchState()
        let late = start.addingTimeInterval(8 * 86_400)
        _ = old.nextStep(at: start, isNewLaunch: true)
        guard case .ask = old.nextStep(at: late, isNewLaunch: true) else {
            Issue.record("the second launch did not ask")
            return
        }
        guard case .finished = old.nextStep(at: late, isNewLaunch: true) else {
            Issue.record("the third launch asked")
            return
        }
    }

    @Test("pauses grow, follow Retry-After, and last an hour at most", arguments: [0.0, 1.0])
    func pauses(random: Double) {
        let pauses = (1...12).map { Retry.seconds(after: $0, retryAfter: nil, random: random) }
        #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(pauses[0] < 0.5 && pauses[11] < 73)
        #expect(Retry.seconds(after: 1, retryAfter: " 7 ", random: random) == 7)
        #expect(Retry.seconds(after: 1, retryAfter: "999999999", random: random) == Retry.maximumSeconds)
        #expect(Retry.seconds(after: 1, retryAfter: "Fri, 31 Dec 1999 23:59:59 GMT", random: random) < 1)
        #expect(Retry.seconds(after: 1, retryAfter: "0", random: random) > 0.3)
        #expect(Retry.seconds(after: 1, retryAfter: "nan", random: random) > 0.3)
    }

    @Test("the log has neither key nor token nor identifier nor value of the device")
    func log() throws {
        let token = String(repeating: "C", count: 44)
        let bad = try HostileServer { _, number in
            number == 0
                ? [HostileServer.response("503 Busy", "")]
                : [HostileServer.response("401 No", #"{"status":"error","error_code":"INVALID_API_KEY"}"#)]
        }
        let app = try ClientApp(server: bad.url, key: "app_secretsecret")
        let launch = try app.launch(
            "log",
            "within=20",
            "opened=myapp://a/b?al=\(token)",
            "events=open",
            "flush"
        )
        let log = launch.lines.filter { $0.hasPrefix("Afterlink:") }
        #expect(log.count >= 3, "\(launch.lines)")
        #expect(log.contains { $0.contains("Check `appKey`") })
        let state = try #require(
            try JSONSerialization.jsonObject(with: Data(app.state.utf8)) as? [String: Any]
        )
        let id = try #require(state["installID"] as? String)
        for secret in ["secretsecret", token, id, "iPhone", "Istanbul", "myapp"] {
            #expect(!log.contains { $0.contains(secret) }, "\(secret): \(log)")
        }
    }

    @Test("a folder that exists already is excluded from backups, too, before its first file")
    func exclusion() throws {
        let folder = try TemporaryFolder()
        let steps = Mutex<[String]>([])
        let state = StateFolder(url: folder.url) { step in steps.withLock { $0.append(step) } }
        try state.create()
        #expect(steps.withLock { $0 } == ["create the folder"])
        let lock = try state.lock(StateFolder.stateLock)
        #expect(lock != nil)
        try state.create()
        #expect(steps.withLock { $0.count } == 1)
    }

    @Test("a damaged state file does not end the app")
    func damage() async throws {
        for content in ["", "{", #"{"phase":"unknown"}"#, String(repeating: "\u{0}", count: 500)] {
            let folder = try TemporaryFolder()
            try content.write(toFile: folder.file("state.json"), atomically: false, encoding: .utf8)
            var options = Options()
            options.folder = folder.url
            #expect(
                await Afterlink.test(server: FakeServer(.noMatch), options: options).firstLaunch() == .none
            )
        }
    }
}
