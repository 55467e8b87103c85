import Foundation
import Support
import Testing

@Suite("Claims whose sync failed", .blocking)
struct UnsyncedClaimTests {
    @Test("consume nothing, even if the process dies before the disk recovers", arguments: [1, 20])
    func consumeNothing(claims: Int) throws {
        let installation = try Installation()
        let disk = try FaultyDisk(in: installation.folder)
        let server = try AfterlinkProcess(
            installation,
            ["--replay-grace", "0"],
            environment: disk.environment
        )
        let connection = try server.connect()
        for number in 1...claims { #expect(try connection.click(fingerprint(number)).status == 201) }
        // Only the sync fails: the log has all writes of the commit.
        try disk.set(.syncError)
        for number in 1...claims { #expect(try connection.check(fingerprint(number)).status == 503) }
        server.kill()

        let second = try AfterlinkProcess(installation, ["--replay-grace", "0"])
        let again = try second.connect()
        for number in 1...claims { #expect(try again.check(fingerprint(number)).isMatch) }
    }
}
