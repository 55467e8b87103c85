import Attribution
import Simulation
import Testing

/// Tests how often the alarm is wrong, and how late it is; `Simulate drift` measures both with more traffic.
@Suite("The alarm on match rates in simulated traffic")
struct DriftSimulationTests {
    @Test(
        "is silent in a month of steady or lively traffic",
        arguments: [DriftWorlds.steady, DriftWorlds.lively]
    )
    func quiet(world: DriftWorld) { #expect(DriftPlay(world, days: 65, seed: 1, from: 35).alarms.isEmpty) }

    @Test("is silent when marketing stops, a release spreads or a trend is slow", arguments: [3] as [UInt64])
    func harmless(seed: UInt64) {
        for world in DriftWorlds.harmless {
            #expect(DriftPlay(world, days: 48, seed: seed, from: 40).alarms.isEmpty, "\(world.name)")
        }
    }

    @Test(
        "reports within two days that the rate of 1 of 15 groups fell from 70 % to 40 %",
        arguments: 1...6 as ClosedRange<UInt64>
    )
    func fall(seed: UInt64) throws {
        let day = 40 + Double(seed) / 8
        let world = DriftWorlds.fall(of: DriftWorlds.steady, at: day)
        let group = DriftPlay.group(DriftWorld.watched, of: world)
        let play = DriftPlay(world, days: 43, seed: seed, from: 39)
        let delay = try #require(play.delay(after: day) { $0 == group })
        #expect(delay <= 2)
        #expect(play.alarms.count == 1)
    }

    @Test("reports that a browser's clicks match half as often")
    func browser() throws {
        let play = DriftPlay(DriftWorlds.broken[0], days: 46, seed: 5, from: 40)
        _ = try #require(play.delay(after: 40) { $0.client == .value(BrowserFamily.instagram.rawValue) })
    }

    @Test("is the same for the same seed, in every process")
    func deterministic() {
        let world = DriftWorlds.fall(of: DriftWorlds.lively, at: 20)
        // The expected values come from another process: two plays of one process share the order of dictionaries.
        let alarms = DriftPlay(world, days: 23, seed: 9, from: 19).events
        #expect(alarms.map(\.day) == [21.5])
        #expect(alarms.map { $0.alarm?.group.name } == ["ios/26.1/1.8.8"])
        #expect(alarms.allSatisfy { abs(($0.alarm?.rate ?? 0) - 0.343137) < 1e-6 })
    }
}
