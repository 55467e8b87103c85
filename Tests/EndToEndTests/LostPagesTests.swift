import Foundation
import Support
import Testing

/// Writes that a failed sync lost can still be read until a power cut, and later syncs do not bring them to disk.
@Suite("Writes that a failed sync lost", .blocking(minutes: 60))
struct LostPagesTests {
    private static let rounds = isLong ? 40 : 1

    private func click(_ numbers: ClosedRange<Int>, _ connection: HTTPTestClient) throws {
        for number in numbers { #expect(try connection.click(fingerprint(number)).status == 201) }
    }

    @Test("the next start repeats writes that a failed sync lost, so a power cut loses no acknowledged click")
    func foundByAStart() throws {
        var random = SeededGenerator(seed: 60)
        for round in 0..<Self.rounds {
            let installation = try Installation()
            let cut = try PowerCut(of: installation)
            let first = try cut.start()
            let connection = try first.connect()
            try click(1...3, connection)
            // The log contains a whole commit. No start can notice that the commit is not on disk.
            try cut.faults.set(Fault(.sync, of: .log, .fail(EIO)))
            #expect(try connection.click(fingerprint(4)).status == 503)
            first.kill()

            try cut.faults.set()
            let second = try cut.start()
            try click(11...13, try second.connect())
            second.kill()
            _ = try cut.happen(leaving: SimulatedDisk.Remainder.allCases[round % 4], using: &random)

            let again = try installation.serve(["--replay-grace", "0"]).connection
            for number in [1, 2, 3, 11, 12, 13] { #expect(try again.check(fingerprint(number)).isMatch) }
        }
    }

    @Test("writes to the database that a failed sync lost are copied again before the log restarts")
    func copiedBefore() throws {
        var random = SeededGenerator(seed: 61)
        for _ in 0..<Self.rounds {
            let installation = try Installation()
            let cut = try PowerCut(of: installation)
            // Slow writes let the log grow while it is copied. In this case, the copy does not end with a
            // sync of its own.
            try cut.faults.set(
                Fault(.sync, of: .database, .fail(EIO), times: 1),
                Fault(.write, of: .database, .wait(milliseconds: 5))
            )
            let server = try cut.start()
            var count = 0
            let isCopying = try Polling.until {
                count += 1
                try click(count...count, try server.connect())
                return try cut.faults.callCount(ofFault: 1) > 0
            }
            try click(count + 1...count + 5, try server.connect())
            // The first of two syncs has failed.
            let isCopied = try Polling.until {
                _ = try server.connect().get("/healthz")
                return try cut.faults.callCount() > 1
            }
            #expect(isCopying && isCopied)
            try click(count + 6...count + 20, try server.connect())
            server.kill()
            _ = try cut.happen(leaving: .nothing, using: &random)
            let found = try Inspection(installation.database)
            #expect(found.integrity == ["ok"])
            #expect(found.clicks.count == count + 20)
        }
    }
}
