#if PostgreSQL
import Foundation
import Glibc
import Support
import Testing

/// Faults of three servers on one database under load; the clients keep every acknowledgement.
@Suite(
    "Three servers on one PostgreSQL database, with faults under load",
    .serialized,
    .blocking(minutes: 120, first: true),
    .enabled(if: PostgreSQLCluster.isInstalled, "\(PostgreSQLCluster.missing)")
)
struct FleetTests {
    /// After this time every server works again.
    static let recoveryLimit = Duration.seconds(10)

    /// The number of kills of each kind.
    static let kills =
        ProcessInfo.processInfo.environment["AFTERLINK_FLEET_KILLS"].flatMap { Int($0) } ?? (isLong ? 100 : 1)

    /// Repeats a kill under load, and expects that it loses no acknowledged click, matches none twice, and hides none.
    private func expectNothingLost(
        _ victim: String,
        seed: UInt64,
        _ kill: (Fleet, FleetLoad, inout SeededGenerator) throws -> FleetLoad.Hit
    ) throws {
        let fleet = try Fleet.shared().fleet
        let load = FleetLoad(fleet, seed: seed)
        var random = SeededGenerator(seed: seed)
        var (hits, longest): ([FleetLoad.Hit], Duration) = ([], .zero)
        load.run(for: .milliseconds(600))
        for _ in 0..<Self.kills {
            hits.append(try kill(fleet, load, &random))
            let recovery = load.recover()
            longest = max(longest, recovery)
            #expect(recovery < Self.recoveryLimit, "after kill \(hits.count)")
        }
        try load.finish()
        let (clicks, claims) = (hits.map(\.clicks), hits.map(\.claims))
        #expect(hits.allSatisfy { $0.isEnough })
        print(
            "\(hits.count) kills of \(victim), with \(clicks.min() ?? 0)–\(clicks.max() ?? 0) clicks and"
                + " \(claims.min() ?? 0)–\(claims.max() ?? 0) claims in flight; success after \(longest.inSeconds);"
                + " \(load.summary)"
        )
    }

    @Test("kill -9 of a server")
    func killedServer() throws {
        try expectNothingLost("an Afterlink server", seed: 1) { fleet, load, random in
            let index = Int.random(in: 0..<Fleet.serverCount, using: &random)
            let hit = try load.strike(index) { fleet.kill(index) }
            load.run(for: .milliseconds(Int.random(in: 0...300, using: &random)))
            try load.run { try fleet.start(index) }
            return hit
        }
    }

    @Test("kill -9 of a backend of PostgreSQL")
    func killedBackend() throws {
        try expectNothingLost("a PostgreSQL backend", seed: 2) { fleet, load, random in
            let backend = try #require(fleet.backends().randomElement(using: &random))
            let hit = try load.strike { kill(backend, SIGKILL) }
            try load.run { try fleet.database.cluster.waitUntilServing() }
            return hit
        }
    }

    @Test("kill -9 of PostgreSQL's postmaster")
    func killedPostmaster() throws {
        try expectNothingLost("a PostgreSQL postmaster", seed: 10) { fleet, load, random in
            let postmaster = try #require(fleet.database.cluster.postmaster)
            let hit = try load.strike { kill(postmaster, SIGKILL) }
            load.run(for: .milliseconds(Int.random(in: 0...300, using: &random)))
            try load.run { try fleet.database.cluster.startAfterKill() }
            return hit
        }
    }
}
#endif
