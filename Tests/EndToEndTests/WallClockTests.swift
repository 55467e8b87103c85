import Foundation
import SQLite
import Support
import Testing

@Suite("A wall clock that leaps", .blocking)
struct WallClockTests {
    /// Returns the seconds from now to about the start of a year, at most a day before it.
    private func seconds(to year: Int) -> Int64 {
        Int64(Double(year - 1970) * 31_556_952 - Date().timeIntervalSince1970)
    }

    @Test("a leap of the clock to 2041, 1986 and 2026 causes no error; clicks of the future match")
    func leaps() throws {
        let (installation, disk, server) = try AfterlinkProcess.onFaultyDisk()
        // The connection stays open over all leaps: a timeout by the wall clock would close it.
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
        // After this step back, the clicks of 2041 and 2026 are in the future.
        try disk.setClock(offBySeconds: seconds(to: 1986))
        for number in [11, 12, 13] { #expect(try connection.check(fingerprint(number), key: key).isMatch) }
        #expect(try idle.get("/healthz").status == 200)
        #expect(!installation.log.contains("\"level\":\"error\""))
        server.terminate()
        #expect(server.waitUntilExit() == 0)
    }

    @Test("after a leap of the clock, jobs delete nothing until an operator accepts the clock")
    func jobsWait() throws {
        let (installation, disk, first) = try AfterlinkProcess.onFaultyDisk(["--retention", "1"])
        func integer(_ sql: SQL) throws -> Int64 {
            try installation.open(.readOnly)
                .integer(sql)
        }
        func clickCount() throws -> Int64 { try integer("SELECT count(*) FROM clicks") }
        func wait(on server: AfterlinkProcess, until isSo: () throws -> Bool) throws {
            // The server writes its log after a request.
            let isFulfilled = try Polling.until {
                #expect(try server.connect().get("/healthz").status == 200)
                return try isSo()
            }
            #expect(isFulfilled)
        }
        func warnings() -> Int { installation.log.split(separator: "--accept-clock").count - 1 }
        #expect(try first.connect().click(fingerprint(1)).status == 201)
        // The start has recorded its clock, so a leap before the first job is noticed at the next start, too.
        try disk.setClock(offBySeconds: seconds(to: 2041))
        try wait(on: first) { warnings() == 1 }
        #expect(try first.connect().click(fingerprint(2)).status == 201)
        first.terminate()
        #expect(first.waitUntilExit() == 0)

        let options = ["--retention", "1"]
        let second = try AfterlinkProcess(installation, options, environment: disk.environment)
        try wait(on: second) { warnings() == 2 }
        #expect(try clickCount() == 2)
        second.terminate()
        #expect(second.waitUntilExit() == 0)

        let words = options + ["--accept-clock"]
        let third = try AfterlinkProcess(installation, words, environment: disk.environment)
        try wait(on: third) { try clickCount() == 1 }
    }
}
