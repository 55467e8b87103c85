import Foundation
import SQLite
import Support
import Testing

@Suite(
    "The core for Android",
    .blocking,
    .enabled(if: JavaCore.isAvailable, "there is no javac: install default-jdk-headless, as .ci/run does")
)
struct JavaTests {
    /// The other suites run the core too, if this one is not skipped.
    @Test("compiles as Java 8 without a warning")
    func compiles() throws { _ = try JavaCore.command.get() }

    @Test("continues after a failure of the app's code")
    func failures() throws {
        let server = try HostileServer { _, number in
            number == 0
                ? [HostileServer.response("503 Busy", "{}")]
                : [HostileServer.response("200 OK", #"{"status":"no_match"}"#)]
        }
        let app = try ClientApp(.java, server: server.url)
        let launch = try app.launch("failing", "opened=myapp://a", "within=20", "links=1")
        #expect(launch.lines.contains("none") && launch.lines.contains("link myapp://a opened"), "\(launch)")
    }

    @Test("takes a response that was cut for none")
    func cut() throws {
        let server = try HostileServer { _, _ in
            [.text("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + #"{"status":"no_match"}"#)]
        }
        try ClientApp(.java, server: server.url).launch { server.requests.count > 1 }
    }

    @Test("sends no events during the pause that the server requests, and sends them after it")
    func pause() throws {
        for (seconds, isOver) in [("600", false), ("1", true)] {
            let server = try HostileServer { _, number in
                number == 0
                    ? [HostileServer.response("503 Busy", "{}", headers: ["Retry-After: \(seconds)"])]
                    : [HostileServer.response("202 Accepted", #"{"results":[{"outcome":"accepted"}]}"#)]
            }
            let app = try ClientApp(.java, server: server.url)
            let launch = try app.launch("first=no", "events=open", "flush", "again=1.5")
            #expect(launch.lines.contains("flushed false"), "\(launch)")
            #expect(launch.lines.contains("again \(isOver)"), "\(launch)")
            #expect(server.requests.count == (isOver ? 2 : 1))
        }
    }

    @Test("sends a refund with its purchase, which the server accepts")
    func refund() throws {
        let server = try RealServer()
        let app = try ClientApp(.java, server: server.url, key: server.installation.keys.app)
        #expect(try app.launch("first=no", "events=refund", "flush").lines.contains("flushed true"))
        let count = try server.installation.open().integer(
            "SELECT count(*) FROM events WHERE name = 'refund'"
        )
        #expect(count == 1)
    }

    @Test("returns within its limit although Play is slow, and gets the match late")
    func slowPlay() throws {
        let server = try HostileServer { _, _ in [HostileServer.response("200 OK", NetworkTests.match)] }
        let app = try ClientApp(.java, server: server.url)
        let launch = try app.launch("slow=5", "referrer=al=a", "within=1", "links=1")
        #expect(launch.first == "pending" && launch.seconds < 4, "\(launch)")
        #expect(launch.lines.contains("link myapp://promo/a deferred"), "\(launch)")
        #expect(server.requests.count == 1 && server.requests.first?.json["play"] != nil)
    }

    @Test("sends all values that Google Play reports, and the app's events")
    func evidence() throws {
        let server = try HostileServer { request, _ in
            request.path == "/v1/events"
                ? [HostileServer.response("202 Accepted", #"{"results":[{"outcome":"accepted"}]}"#)]
                : [HostileServer.response("200 OK", #"{"status":"no_match"}"#)]
        }
        let app = try ClientApp(.java, server: server.url)
        let referrer = "referrer=al=\(String(repeating: "A", count: 44))&utm_source=instagram"
        let launch = try app.launch("within=20", referrer, "events=open", "flush")
        #expect(launch.lines.contains("none") && launch.lines.contains("flushed true"), "\(launch)")
        let body = try #require(server.requests.first { $0.path.hasSuffix("/resolve") }?.json)
        let play = try #require(body["play"] as? [String: Any])
        #expect(
            Set(play.keys) == [
                "installReferrer", "referrerClickTimestampSeconds", "installBeginTimestampSeconds",
                "referrerClickTimestampServerSeconds", "installBeginTimestampServerSeconds", "installVersion",
                "googlePlayInstantParam",
            ]
        )
        #expect(body["platform"] as? String == "android")
        let events = server.requests.filter { $0.path == "/v1/events" }.flatMap {
            $0.json["events"] as? [[String: Any]] ?? []
        }
        #expect(events.first?["install_id"] as? String == body["install_id"] as? String)
    }
}
