import Foundation
import Support
import Testing

@Suite("A wall clock that leaps", .blocking)
struct WallClockTests {
    /// Seconds from now to the middle of a year, roughly.
    private func seconds(to year: Int) -> Int64 {
        Int64(Double(year - 1970) * 31_556_952 - Date().timeIntervalSince1970)
    }

    @Test("to 1986, 2041 and back causes no error; clicks of the future match; timeouts do not mind")
    func leaps() throws {
        let (installation, disk, server) = try AfterlinkProcess.onFaultyDisk()
        defer { server.kill() }
        // Open over all leaps: a timeout by the wall clock would close it.
        let idle = try server.connect()
        #expect(try idle.get("/healthz").status == 200)
        let connection = try server.connect()
        let key = installation.keys.app
        for (number, year) in [(1, 2041), (2, 1986), (3, 2026)] {
            try disk.setClock(offBySeconds: seconds(to: year))
            let click = try connection.click(fingerprint(number))
            #expect(click.status == 201)
            #expect(click.string("expires_at")?.hasPrefix("\(year)") == true, "\(click.text)")
            let answer = try connection.check(fingerprint(number), key: key)
            #expect(answer.isMatch, "in \(year): \(answer.status) \(answer.text)")
            #expect(try connection.click(fingerprint(10 + number)).status == 201)
            #expect(try connection.get("/readyz").status == 200)
        }
        // Set back once more: what was clicked in 2041 and 2026 is in the future now.
        try disk.setClock(offBySeconds: seconds(to: 1986))
        for number in [11, 12, 13] {
            #expect(try connection.check(fingerprint(number), key: key).isMatch)
        }
        #expect(try idle.get("/healthz").status == 200)
        #expect(!installation.log.contains("\"level\":\"error\""))
        server.terminate()
        #expect(server.waitUntilExit() == 0)
    }
}
