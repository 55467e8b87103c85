import AfterlinkClient
@testable import AfterlinkCore
import Foundation
import Support
import Testing

@Suite("A client on a bad network", .blocking(minutes: 20))
struct NetworkTests {
    static let match = #"{"status":"match","url":"myapp://promo/a","campaignKey":"A","confidence":0.9}"#

    enum Network: String, CaseIterable, Sendable {
        case portal, redirect, tooMany, busy, cut, drip, wrongTypes, matchWithoutLink, silent, gateway, huge
        case notOurError, emptyBody
    }

    private static func answer(_ network: Network) -> [HostileServer.Part] {
        switch network {
        case .portal: [HostileServer.response("200 OK", "<html><body>Sign in to the hotel</body></html>")]
        case .redirect:
            [HostileServer.response("302 Found", "", headers: ["Location: http://127.0.0.1:1/login"])]
        case .tooMany: [HostileServer.response("429 Too Many", "{}", headers: ["Retry-After: 1"])]
        case .busy: [HostileServer.response("503 Busy", "{}", headers: ["Retry-After: 1"])]
        case .cut: [.text("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + String(match.prefix(30)))]
        case .drip:
            [.text("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n")]
                + (0..<30).flatMap { _ in [HostileServer.Part.text(" "), .pause(seconds: 0.5)] }
        case .wrongTypes:
            [HostileServer.response("200 OK", #"{"status":"match","url":1,"confidence":"high"}"#)]
        case .matchWithoutLink: [HostileServer.response("200 OK", #"{"status":"match","confidence":0.9}"#)]
        case .silent: [.pause(seconds: 30)]
        case .gateway: [HostileServer.response("502 Bad Gateway", "upstream")]
        case .huge: [HostileServer.response("200 OK", match + String(repeating: " ", count: 200_000))]
        case .notOurError: [HostileServer.response("403 Forbidden", "<html>This network is filtered</html>")]
        case .emptyBody: [HostileServer.response("200 OK", "")]
        }
    }

    /// All networks for the Swift library, but only some for the Java core, because a virtual machine starts slowly.
    private static let cases = ClientKind.available.flatMap { kind in
        (kind == .swift || isLong ? Network.allCases : [.portal, .busy, .cut]).map { (kind, $0) }
    }

    @Test("answers in time, and gets its match later", arguments: cases)
    func outcomes(kind: ClientKind, network: Network) throws {
        let bad = try HostileServer { _, _ in Self.answer(network) }
        let good = try HostileServer { _, _ in [HostileServer.response("200 OK", Self.match)] }
        let app = try ClientApp(kind, server: bad.url)
        // A virtual machine may load its classes for the whole second, and then asks at a later launch.
        let hasAsked = try Polling.until {
            let launch = try app.launch("within=1")
            #expect(launch.first == "pending", "\(launch.lines) \(launch.errors)")
            #expect(launch.seconds < 2.5)
            return !bad.requests.isEmpty
        }
        #expect(hasAsked)
        let next = try app.launch("within=20", server: good.url)
        #expect(next.first?.hasPrefix("match myapp://promo/a") == true, "\(next.lines) \(app.state)")
        #expect(try app.launch(server: good.url).first == "settled")
        #expect(good.requests.count == 1)
        // Each request names the same installation.
        let ids = Set((bad.requests + good.requests).compactMap { $0.json["install_id"] as? String })
        #expect(ids.count == 1)
    }

    @Test(
        "asks again by itself after the pause that the server names, and returns the link late",
        arguments: ClientKind.available
    )
    func retryAfter(kind: ClientKind) throws {
        let server = try HostileServer { _, number in
            number == 0
                ? [HostileServer.response("503 Busy", "{}", headers: ["Retry-After: 1"])]
                : [HostileServer.response("200 OK", Self.match)]
        }
        let app = try ClientApp(kind, server: server.url)
        let start = ContinuousClock.now
        let launch = try app.launch("within=0.5", "links=1")
        #expect(launch.first == "pending")
        #expect(launch.line("link")?.hasPrefix("link myapp://promo/a deferred") == true, "\(launch.lines)")
        #expect(ContinuousClock.now - start >= .seconds(1))
        #expect(server.requests.count == 2)
        #expect(try app.launch().first == "settled")
    }

    @Test("returns a link that opened the app while a request is under way", arguments: ClientKind.available)
    func openedMeanwhile(kind: ClientKind) throws {
        let silent = try HostileServer { _, _ in [.untilClosed {}] }
        let app = try ClientApp(kind, server: silent.url)
        let launch = try app.launch("opened=myapp://a/b", "within=0.3", "links=1", "late=6")
        #expect(launch.first == "pending")
        #expect(launch.line("link") == "link myapp://a/b opened", "\(launch.lines)")
    }

    @Test("honours the pause at the next launch too", arguments: ClientKind.available)
    func pauseAcrossLaunches(kind: ClientKind) throws {
        let server = try HostileServer { _, _ in
            [HostileServer.response("429 Too Many", "{}", headers: ["Retry-After: 600"])]
        }
        let app = try ClientApp(kind, server: server.url)
        try app.launch { app.pauseEnd != nil }
        #expect(try app.launch("within=0.4").first == "pending")
        #expect(server.requests.count == 1)
        // A clock that was set back by years must not make the client wait for years.
        try app.launch("clock=-100000000") { server.requests.count == 2 }
    }

    @Test("reads Retry-After as a date, and pauses although it is 0", arguments: ClientKind.available)
    func unusualPauses(kind: ClientKind) throws {
        func answering(_ retryAfter: String) throws -> HostileServer {
            try HostileServer { _, _ in
                let headers = ["Date: Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After: \(retryAfter)"]
                return [HostileServer.response("503 Busy", "{}", headers: headers)]
            }
        }
        let late = try answering("Sun, 06 Nov 1994 08:59:37 GMT")
        let app = try ClientApp(kind, server: late.url)
        let start = Date()
        try app.launch { app.pauseEnd != nil }
        let end = try #require(app.pauseEnd)
        #expect(start + 599..<Date() + 601 ~= end, "ten minutes")
        #expect(late.requests.count == 1)
        let early = try answering("0")
        try ClientApp(kind, server: early.url).launch { early.requests.count >= 3 }
        let times = early.requests.map(\.time)
        #expect(times[1] - times[0] > .milliseconds(300) && times[2] - times[1] > .milliseconds(600))
    }

    @Test(
        "returns `none` or a campaign as the server answers, and `settled` after five launches without an answer",
        arguments: ClientKind.available
    )
    func answers(kind: ClientKind) throws {
        let server = try HostileServer { request, _ in
            let body = String(decoding: request.body, as: UTF8.self)
            return body.contains("Asia")
                ? [
                    HostileServer.response(
                        "200 OK",
                        #"{"status":"match","campaignOnly":true,"campaignKey":"C","url":"myapp://home/x"}"#
                    )
                ] : [HostileServer.response("200 OK", #"{"status":"no_match","matched":false}"#)]
        }
        let none = try ClientApp(kind, server: server.url)
        #expect(try none.launch("within=20").first == "none")
        #expect(try none.launch("within=20").first == "settled")
        let campaign = try ClientApp(kind, server: server.url)
        #expect(try campaign.launch("within=20", "timezone=Asia/Dubai").first == "campaign C")
        let update = try ClientApp(kind, server: server.url)
        #expect(try update.launch("update").first == "settled")
        #expect(try update.launch().first == "settled")
        #expect(server.requests.count == 2)

        let down = try ClientApp(kind, server: "http://127.0.0.1:1")
        // Only a launch that asks is counted.
        for number in 1...5 { try down.launch { down.launchCount == number } }
        #expect(try down.launch("within=20", server: server.url).first == "settled")
    }

    @Test("returns a match with numbers that no Double can hold", arguments: ClientKind.available)
    func extremeNumbers(kind: ClientKind) throws {
        let server = try HostileServer { _, _ in
            let metadata = #","metadata":{"a":[1e400,-1e400,{"b":1e-400}]}}"#
            return [HostileServer.response("200 OK", String(Self.match.dropLast()) + metadata)]
        }
        let app = try ClientApp(kind, server: server.url)
        let launch = try app.launch("within=20")
        #expect(launch.first?.hasPrefix("match myapp://promo/a") == true, "\(launch.lines) \(app.state)")
        #expect(try app.launch().first == "settled")
        #expect(server.requests.count == 1)
    }

    @Test("does not give up because a clock was years off", arguments: ClientKind.available)
    func wrongClock(kind: ClientKind) throws {
        let good = try HostileServer { _, _ in [HostileServer.response("200 OK", Self.match)] }
        for clock in ["clock=-800000000", "clock=800000000"] {
            let app = try ClientApp(kind, server: "http://127.0.0.1:1")
            #expect(try app.launch("within=0.3", clock).first == "pending")
            #expect(try app.launch("within=20", server: good.url).first?.hasPrefix("match") == true)
        }
    }

    @Test(
        "reaches a server that has only IPv6, and no server with a wrong certificate",
        arguments: ClientKind.available
    )
    func addresses(kind: ClientKind) throws {
        let modern = try HostileServer(isIPv6: true) { _, _ in [HostileServer.response("200 OK", Self.match)]
        }
        // Foundation on Linux refuses addresses in brackets as malformed, so the Swift library gets a name, for which
        // Foundation tries both families. On Apple's systems it takes both forms.
        let host = kind == .swift ? "localhost" : "[::1]"
        let app = try ClientApp(kind, server: "http://\(host):\(modern.port)")
        let launch = try app.launch("within=20")
        #expect(launch.first?.hasPrefix("match") == true, "\(launch.lines)")
        #expect(modern.requests.count == 1)

        let impostor = try RawTLSServer(TestCertificate()) { connection in
            connection.write(
                "HTTP/1.1 200 OK\r\nContent-Length: \(Self.match.utf8.count)\r\n\r\n\(Self.match)"
            )
        }
        let victim = try ClientApp(kind, server: "https://127.0.0.1:\(impostor.port)")
        // The second connection shows that the first one brought no result.
        try victim.launch { impostor.acceptedCount > 1 }
    }

    @Test(
        "sends nothing without a stored id, and continues when the disk has room",
        arguments: ClientKind.available
    )
    func fullDisk(kind: ClientKind) throws {
        let good = try HostileServer { _, _ in [HostileServer.response("200 OK", Self.match)] }
        let app = try ClientApp(kind, server: good.url)
        let launch = try app.launch("within=1", fileLimit: 0)
        #expect(launch.first == "pending", "\(launch.lines) \(launch.errors)")
        #expect(launch.seconds < 2.5)
        #expect(good.requests.isEmpty)
        #expect(try app.launch("within=20").first?.hasPrefix("match") == true)
        // A full disk later changes nothing: the stored answer is read.
        #expect(try app.launch("within=1", fileLimit: 0).first == "settled")
    }

    @Test("returns a match late that the disk did not store at first", arguments: ClientKind.available)
    func fullDiskForAMoment(kind: ClientKind) throws {
        let app = try ClientApp(kind, server: "http://127.0.0.1:1")
        try FileManager.default.createDirectory(atPath: app.stateFolder, withIntermediateDirectories: true)
        let answered: Data
        switch kind {
        case .swift:
            let link = Link(url: try #require(URL(string: "myapp://promo/a")))
            var state = LaunchState()
            (state.phase, state.answer) = (.answered, .match(link))
            // The library would write other bytes again, although the state is the same.
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            answered = try encoder.encode(state)
        case .java: answered = Data(#"{"installID":"a","phase":"answered","answer":\#(Self.match)}"#.utf8)
        }
        try answered.write(to: URL(filePath: app.stateFolder + "/state.json"))
        // A folder with the draft's name makes each write fail.
        let obstacle = app.stateFolder + "/state.json.new"
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: true)
        let process = try app.start("log", "within=20", "links=1", "late=20")
        #expect(process.line(containing: "pending") != nil)
        #expect(process.line(containing: "The disk failed") != nil)
        try FileManager.default.removeItem(atPath: obstacle)
        #expect(process.line(containing: "link myapp://promo/a deferred") != nil)
    }

    @Test("gets one match if it runs in three processes at once", arguments: ClientKind.available)
    func twoProcesses(kind: ClientKind) async throws {
        let server = try RealServer()
        let rounds = isLong ? 20 : 2
        for round in 0..<rounds {
            let app = try ClientApp(kind, server: server.url, key: server.installation.keys.app)
            let token = try await server.click("T\(round)")
            let evidence = KillTests.evidence(kind, token)
            if kind == .swift { _ = try app.launch("first=no", evidence) }
            let processes = try (0..<3).map { _ in try app.start("within=30", evidence) }
            let lines = try processes.map { String(decoding: try $0.remainingOutput(), as: UTF8.self) }
            let matches = lines.filter { $0.contains("match myapp://promo/T\(round)") }
            #expect(matches.count == 1, "\(lines)")
            #expect(lines.filter { $0.contains("settled") }.count == 2, "\(lines)")
        }
        #expect(try server.claimCount() == Int64(rounds))
    }

    @Test("is a new installation after a restore from a backup", arguments: ClientKind.available)
    func restored(kind: ClientKind) throws {
        let server = try HostileServer { _, _ in [HostileServer.response("200 OK", #"{"status":"no_match"}"#)]
        }
        let app = try ClientApp(kind, server: server.url)
        #expect(try app.launch("within=20").first == "none")
        // Backups leave the library's folder out.
        try FileManager.default.removeItem(atPath: app.stateFolder)
        #expect(try app.launch("within=20").first == "none")
        #expect(Set(server.requests.compactMap { $0.json["install_id"] as? String }).count == 2)
    }

    @Test(
        "gets a result although a link has an item `al` that is too long for a token",
        arguments: ClientKind.available
    )
    func longToken(kind: ClientKind) throws {
        let server = try RealServer()
        for count in [128, 129, 200] {
            let app = try ClientApp(kind, server: server.url, key: server.installation.keys.app)
            let link = "opened=myapp://a?al=" + String(repeating: "A", count: count)
            #expect(try app.launch(link, "within=20").first == "none", "\(count)")
        }
    }

    @Test("finds its click by raw signals alone", arguments: ClientKind.available)
    func signals(kind: ClientKind) async throws {
        let launch = try await launchAfterClick(
            kind,
            ["deeplink_url": "myapp://promo/raw", "campaign_key": "RAW"]
        )
        #expect(
            launch.first?.hasPrefix("match myapp://promo/raw") == true,
            "\(launch.lines) \(launch.errors)"
        )
    }

    @Test("gets the match of a click with the longest permitted texts", arguments: ClientKind.available)
    func longest(kind: ClientKind) async throws {
        let text = String(repeating: "\u{1F600}", count: 255)
        let launch = try await launchAfterClick(
            kind,
            [
                "deeplink_url": "myapp://a/" + String(repeating: "\u{1F600}", count: 2038),
                "campaign_key": text, "jid": text,
                "metadata": ["text": String(repeating: "a", count: 8000)],
            ]
        )
        #expect(launch.first?.hasPrefix("match myapp://a/%F0%9F%98%80") == true, "\(launch.errors)")
    }

    /// Launches a new installation after a click of its device's browser with these members.
    private func launchAfterClick(_ kind: ClientKind, _ members: [String: Any]) async throws
        -> ClientApp.Launch
    {
        let server = try RealServer()
        let browser: [String: Any] = [
            "signals": [
                "screenWidth": 390, "screenHeight": 844, "pixelRatio": 3, "timezone": "Europe/Istanbul",
                "language": "tr-TR", "languages": ["tr-TR"], "touchPoints": 5,
            ],
            "user_agent":
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) AppleWebKit/605.1.15 "
                + "(KHTML, like Gecko) Version/17.2 Mobile/15E148 Safari/604.1",
        ]
        let page = browser.merging(members) { $1 }
        let body = try JSONSerialization.data(withJSONObject: page)
        let path = server.url + "/v1/deferred-deeplink/click"
        _ = try await TestRequest.post(path, body, key: server.installation.keys.server)
        let app = try ClientApp(kind, server: server.url, key: server.installation.keys.app)
        return try app.launch("within=20", "platform=ios")
    }
}
