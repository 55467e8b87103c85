import Foundation
import Support
import Testing

@Suite("kill -9 at any moment", .blocking(minutes: 60))
struct KillTests {
    /// The number of kills.
    private static let rounds = isLong ? 300 : 10

    @Test("a kill loses no acknowledged click, and no click matches twice")
    func killedUnderLoad() throws {
        let installation = try Installation()
        var load = ClickLoad(key: installation.keys.app, seed: 20)
        for _ in 0..<Self.rounds {
            let before = load.acknowledged.count
            let server = try AfterlinkProcess(installation, ["--replay-grace", "0"])
            try load.run(on: server)
            #expect(load.acknowledged.count - before >= 100)
            let second = try AfterlinkProcess(installation, ["--replay-grace", "0"])
            try load.verify(on: second, all: false)
            second.kill()
            let inspection = try Inspection(installation.database)
            #expect(inspection.integrity == ["ok"])
            #expect(inspection.matchRecords.count == inspection.claims.count)
            #expect(Set(inspection.matchRecords) == inspection.claims, "each claim has its record")
            #expect(inspection.recordCounts.counted == inspection.recordCounts.stored)
        }
        try load.expectNothingLost(in: installation)
    }

    @Test("a response is repeated after a kill, within the grace period and by install id")
    func replayAfterKill() throws {
        let (installation, server, connection) = try Installation.serving()
        for number in 1...2 { #expect(try connection.click(fingerprint(number)).status == 201) }
        let install = ["X-Install-ID": "install-1"]
        let first = try connection.check(fingerprint(1), key: installation.keys.app)
        let second = try connection.check(fingerprint(2), key: installation.keys.app, fields: install)
        #expect(first.isMatch && second.isMatch)
        server.kill()
        #expect(try Inspection(installation.database).matchRecords.count == 2)

        let again = try installation.serve().connection
        #expect(try again.check(fingerprint(1), key: installation.keys.app).text == first.text)
        let replay = try again.check(fingerprint(2), key: installation.keys.app, fields: install)
        #expect(replay.text == second.text)
        let stranger = ["X-Install-ID": "install-2"]
        #expect(try again.check(fingerprint(2), key: installation.keys.app, fields: stranger).isNoMatch)
        let totals = try again.totals(installation.keys.admin)
        #expect(totals["matches"] as? Int == 2)
        #expect(totals["replays"] as? Int == 2)
    }
}
