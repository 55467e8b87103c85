#if PostgreSQL
import Foundation
import Glibc
import Support
import Testing

/// Faults of three servers on one database under load; the clients keep every acknowledgement.
@Suite(
    "Three servers on one database of PostgreSQL or Citus, with faults under load",
    .serialized,
    .blocking(minutes: 120, first: true),
    .onPostgreSQL
)
struct FleetTests {
    /// The maximum time from the end of a fault until every server works again.
    static let recoveryLimit = Duration.seconds(10)

    /// The number of kills of each kind.
    private static let kills = requestedKills ?? (isLong ? 100 : 1)
    private static let requestedKills =
        ProcessInfo.processInfo.environment["AFTERLINK_FLEET_KILLS"].flatMap { Int($0) }

    /// The servers of a database whose processes are killed.
    enum Nodes: String, CaseIterable, CustomTestStringConvertible {
        case postgreSQL = "PostgreSQL"
        case coordinator = "Citus's coordinator"
        case worker = "a worker of Citus"

        var testDescription: String { rawValue }

        /// Citus is included only if the environment has `AFTERLINK_FLEET_KILLS`, because other tests use the nodes too.
        static let available = allCases.filter {
            $0 == .postgreSQL || CitusCluster.address != nil && requestedKills != nil
        }

        func fleet() throws -> Fleet { self == .postgreSQL ? try .shared().fleet : try .onCitus() }

        func any(of fleet: Fleet, _ random: inout SeededGenerator) -> any DatabaseServer {
            guard self == .worker else { return fleet.nodes[0] }
            return fleet.nodes[Int.random(in: 1..<fleet.nodes.count, using: &random)]
        }
    }

    /// Repeats a kill under load, and expects that it loses no acknowledged click, matches none twice, and hides none.
    ///
    /// - Parameters:
    ///   - victim: what is killed, in words.
    ///   - nodes: the servers of the database.
    ///   - seed: a number below 20, which no other test of a fleet has.
    ///   - kill: kills the victim while enough requests are in flight, and starts it again.
    /// - Throws: the error of a kill, or of a database that cannot be read.
    private func expectNothingLost(
        _ victim: String,
        of nodes: Nodes,
        seed: UInt64,
        _ kill: (Fleet, FleetLoad, inout SeededGenerator) throws -> FleetLoad.Hit
    ) throws {
        let fleet = try nodes.fleet()
        // The cases `coordinator` and `worker` use one database, so their seeds must differ.
        let seed = nodes == .worker ? seed + 20 : seed
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
            "\(hits.count) kills of \(victim) of \(nodes.rawValue),"
                + " with \(clicks.min() ?? 0)–\(clicks.max() ?? 0) clicks and"
                + " \(claims.min() ?? 0)–\(claims.max() ?? 0) claims in flight; success after \(longest.inSeconds);"
                + " \(load.summary)"
        )
    }

    @Test("lose no click if one of them is killed", arguments: Nodes.available.filter { $0 != .worker })
    func killedServer(_ nodes: Nodes) throws {
        try expectNothingLost("an Afterlink server", of: nodes, seed: 1) { fleet, load, random in
            let index = Int.random(in: 0..<Fleet.serverCount, using: &random)
            let hit = try load.strike(index) { fleet.kill(index) }
            load.run(for: .milliseconds(Int.random(in: 0...300, using: &random)))
            try load.run { try fleet.start(index) }
            return hit
        }
    }

    @Test("lose no click if a backend is killed", arguments: Nodes.available)
    func killedBackend(_ nodes: Nodes) throws {
        try expectNothingLost("a backend", of: nodes, seed: 2) { fleet, load, random in
            let node = nodes.any(of: fleet, &random)
            let backend = try #require(fleet.backends(of: node).randomElement(using: &random))
            let hit = try load.strike { kill(backend, SIGKILL) }
            try load.run { try node.waitUntilServing() }
            return hit
        }
    }

    @Test("lose no click if a postmaster is killed", arguments: Nodes.available)
    func killedPostmaster(_ nodes: Nodes) throws {
        try expectNothingLost("the postmaster", of: nodes, seed: 10) { fleet, load, random in
            let node = nodes.any(of: fleet, &random)
            let postmaster = try #require(node.postmaster)
            let hit = try load.strike { kill(postmaster, SIGKILL) }
            load.run(for: .milliseconds(Int.random(in: 0...300, using: &random)))
            try load.run { try node.startAfterKill() }
            return hit
        }
    }
}
#endif
