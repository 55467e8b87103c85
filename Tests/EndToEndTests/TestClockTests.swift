import Foundation
import Support
import Testing

/// The clock that judges and tests set, and that no real service has.
@Suite("The test clock", .blocking, .timeLimit(.minutes(10)))
struct TestClockTests {
    @Test("is told loudly in the log and in the statistics")
    func banner() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation, ["--unsafe-test-clock"])
        defer { server.kill() }
        let stats = try server.connect().get("/admin/stats", key: installation.keys.admin)
        let warnings = try #require(stats.json["warnings"] as? [String])
        #expect(warnings.contains { $0.contains("test clock is on") })
        let log = installation.folder.appending(path: "server.log")
        #expect(
            try Patience.until {
                try String(contentsOf: log, encoding: .utf8).contains("UNSAFE: the test clock is on")
            }
        )
    }

    @Test("sets the time of clicks, checks, windows and expiry, to the millisecond")
    func sets() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation, ["--unsafe-test-clock", "--rate-limit", "off"])
        defer { server.kill() }
        let connection = try server.connect()
        let click = try connection.click(
            fingerprint(1),
            ["attribution_window_seconds": 60],
            fields: ["X-Test-Time": "2031-05-06T07:08:09.123Z"]
        )
        #expect(click.string("expires_at") == "2031-05-06T07:09:09.123Z")
        let test = installation.keys.app
        let late = ["X-Test-Time": "2031-05-06T07:09:09.124Z"]
        #expect(try connection.check(fingerprint(1), key: test, fields: late).isNoMatch)
        let last = ["X-Test-Time": "2031-05-06T07:09:09.123Z"]
        let match = try connection.check(fingerprint(1), key: test, fields: last)
        #expect(match.string("clickTimestamp") == "2031-05-06T07:08:09.123Z")
        let wrong = try connection.check(fingerprint(1), key: test, fields: ["X-Test-Time": "noon"])
        #expect(wrong.status == 400 && wrong.string("field") == "X-Test-Time")
    }

    @Test("is none where it was not asked for: the header says nothing")
    func ignored() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        defer { server.kill() }
        let connection = try server.connect()
        let fields = ["X-Test-Time": "2031-05-06T07:08:09.123Z"]
        let click = try connection.click(fingerprint(1), fields: fields)
        #expect(click.status == 201)
        #expect(click.string("expires_at")?.hasPrefix("2031") == false)
    }

    @Test("does not start with TLS or on an address that others reach")
    func refused() throws {
        let installation = try Installation()
        for more in [
            ["--listen", "0.0.0.0:0"], ["--metrics-listen", "0.0.0.0:0"],
            ["--tls-certificate", "chain.pem", "--tls-key", "key.pem"],
        ] {
            let listen = more[0] == "--listen" ? [] : ["--listen", "127.0.0.1:0"]
            let output = try Installation.run(
                ["serve", "--unsafe-test-clock", "--database", installation.database.path] + listen + more
            )
            #expect(output.status == 78, "\(more)")
            #expect(output.errors.contains("--unsafe-test-clock"))
        }
    }
}
