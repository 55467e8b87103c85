import Foundation
import Support
import Testing

/// Power cuts, simulated by `SimulatedDisk`: they lose writes without a sync, which a kill does not.
@Suite("A power cut at any moment", .blocking(minutes: 60))
struct PowerCutTests {
    private static let rounds = isLong ? 300 : 4
    /// The number of other states in which each cut might have left the disk.
    private static let alternatives = isLong ? 12 : 4

    @Test("a power cut loses no acknowledged click and no match, and no click matches twice")
    func cutUnderLoad() throws {
        let installation = try Installation()
        var random = SeededGenerator(seed: 30)
        var load = ClickLoad(key: installation.keys.app, seed: 31)
        for round in 0..<Self.rounds {
            let before = load.acknowledged.count
            let cut = try PowerCut(of: installation)
            let server = try cut.start()
            try load.run(on: server)
            #expect(load.acknowledged.count - before >= 100)
            let remainder = SimulatedDisk.Remainder.allCases[round % 4]
            let disk = try cut.happen(leaving: remainder, using: &random)
            try examine(disk, load, &random)

            // Half of the clicks are checked now; the other half must survive the next cut as well.
            let second = try AfterlinkProcess(installation, ["--replay-grace", "0"])
            try load.verify(on: second, all: false)
            second.kill()
        }
        try load.expectNothingLost(in: installation)
    }

    @Test("a power cut after failed syncs, which lost writes, loses nothing that was acknowledged")
    func cutAfterFailedSyncs() throws {
        let installation = try Installation()
        var random = SeededGenerator(seed: 34)
        var load = ClickLoad(key: installation.keys.app, seed: 35)
        for round in 0..<Self.rounds / 2 {
            let cut = try PowerCut(of: installation)
            let server = try cut.start()
            let skipped = UInt32.random(in: 0...20, using: &random)
            try cut.faults.set(
                Fault(.sync, of: .log, .fail(EIO), skipped: skipped, times: 1),
                Fault(.sync, of: .log, .fail(EIO), skipped: 2 * skipped + 5, times: 2),
                Fault(.sync, of: .database, .fail(EIO), times: 1)
            )
            try load.run(on: server)
            #expect(try cut.faults.callCount() > Int(skipped))
            let disk = try cut.happen(leaving: SimulatedDisk.Remainder.allCases[round % 4], using: &random)
            try examine(disk, load, &random)
        }
        try load.expectNothingLost(in: installation)
    }

    /// Expects all acknowledged clicks and matches in an intact database on each disk that the cut might have left.
    private func examine(_ disk: SimulatedDisk, _ load: ClickLoad, _ random: inout SeededGenerator) throws {
        for number in 0..<Self.alternatives {
            let remainder = SimulatedDisk.Remainder.allCases[number % 4]
            let found = try inspect(disk, remainder, &random)
            #expect(found.integrity == ["ok"])
            #expect(found.clicks.isSuperset(of: load.acknowledged.values))
            let matched = load.matched.compactMap { load.acknowledged[$0] }
            #expect(found.claims.isSuperset(of: matched))
        }
    }

    private func inspect(
        _ disk: SimulatedDisk,
        _ remainder: SimulatedDisk.Remainder,
        _ random: inout SeededGenerator
    ) throws -> Inspection {
        let folder = try TemporaryFolder()
        let files = disk.files(after: remainder, using: &random)
        try SimulatedDisk.write(files, to: folder.url, using: &random)
        return try Inspection(folder.url.appending(path: "afterlink.db"))
    }

    /// Shows that the cuts above lose writes.
    @Test("with relaxed durability, a power cut loses the last clicks, and leaves an intact database")
    func relaxed() throws {
        let installation = try Installation()
        var random = SeededGenerator(seed: 32)
        var load = ClickLoad(key: installation.keys.app, seed: 33)
        var missing = 0
        for _ in 0..<2 {
            let cut = try PowerCut(of: installation)
            let server = try cut.start(["--durability", "relaxed"])
            try load.run(on: server)
            let disk = try cut.happen(leaving: .everything, using: &random)
            for remainder in SimulatedDisk.Remainder.allCases {
                let found = try inspect(disk, remainder, &random)
                #expect(found.integrity == ["ok"])
                missing += Set(load.acknowledged.values).subtracting(found.clicks).count
            }
            // If all writes came to the disk, nothing is missing, as after a kill.
            #expect(try Inspection(installation.database).clicks.isSuperset(of: load.acknowledged.values))
        }
        #expect(missing > 0)
    }
}
