import Attribution
import Foundation
import Support
import Testing

/// The clock that tests set, and that no real service has.
@Suite("The test clock", .blocking)
struct TestClockTests {
    @Test("the test clock causes a warning in the log and in the statistics")
    func banner() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation, ["--unsafe-test-clock"])
        let stats = try server.connect().get("/admin/stats", key: installation.keys.admin)
        let warnings = try #require(stats.json["warnings"] as? [String])
        #expect(warnings.contains { $0.contains("test clock is on") })
        let log = installation.folder.appending(path: "server.log")
        #expect(
            try Polling.until {
                try String(contentsOf: log, encoding: .utf8).contains("UNSAFE: the test clock is on")
            }
        )
    }

    @Test("the test clock sets the time of clicks, checks, windows and expiry, to the millisecond")
    func sets() throws {
        let (installation, _, connection) = try Installation.serving([
            "--unsafe-test-clock", "--rate-limit", "off",
        ])
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

    @Test(
        "with the test clock, addresses distinguish visitors today, and 400 days before and after",
        arguments: [-400, 0, 400]
    )
    func addresses(daysFromToday: Int64) throws {
        let installation = try Installation()
        let options = ["--unsafe-test-clock", "--rate-limit", "off", "--trusted-proxy", "127.0.0.1/32"]
        let (_, connection) = try installation.serve(options)
        let day = 86_400_000 as Int64
        let today = Int64(Date().timeIntervalSince1970 * 1000) / day * day
        let midnight = Timestamp(milliseconds: today + daysFromToday * day)
        func fields(minute: Int64, _ address: String) -> [String: String] {
            let moment = midnight.advanced(byMilliseconds: minute * 60_000)
            return ["X-Test-Time": moment.iso8601, "X-Forwarded-For": address]
        }
        // On the day before, the model learns how rarely strangers share an address.
        for number in 0..<40 {
            let fields = fields(minute: Int64(2 * number) - 240, "81.0.\(number).1")
            let launch = try connection.check(fingerprint(100 + number), fields: fields)
            #expect(launch.isNoMatch)
        }
        for number in 0..<40 {
            _ = try connection.click(
                fingerprint(1),
                ["deeplink_url": "myapp://promo/\(number)"],
                fields: fields(minute: 2, "82.0.\(number).1")
            )
        }
        let launch = try connection.check(fingerprint(1), fields: fields(minute: 10, "82.0.5.1"))
        #expect(launch.string("url")?.hasPrefix("myapp://promo/5") == true)
    }

    @Test("without the setting for a test clock, the header has no effect")
    func ignored() throws {
        let (_, _, connection) = try Installation.serving()
        let fields = ["X-Test-Time": "2031-05-06T07:08:09.123Z"]
        let click = try connection.click(fingerprint(1), fields: fields)
        #expect(click.status == 201)
        #expect(click.string("expires_at")?.hasPrefix("2031") == false)
    }
}
