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
    .onPostgreSQL,
    .sharedFleet
)
struct FleetTests {
    /// The maximum time from the end of a fault until every server works again.
    static let recoveryLimit = Duration.seconds(10)

    /// The number of kills of each kind.
    private static let kills = requestedKills ?? (isLong ? 100 : 1)
    private static let requestedKills =
        ProcessInfo.processInfo.environment["AFTERLINK_FLEET_KILLS"].flatMap { Int($0) }

    /// The servers of a database that faults hit.
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

    /// Repeats a fault under load, and expects that it loses no acknowledged click, matches none twice, and hides none.
    ///
    /// - Parameters:
    ///   - faults: the repeated fault, in words.
    ///   - nodes: the servers of the database.
    ///   - seed: a number below 20, which no other test of a fleet has.
    ///   - strike: causes the fault while enough requests are in flight, and ends it.
    /// - Throws: the error of a fault, or of a database that cannot be read.
    private func expectNothingLost(
        after faults: String,
        of nodes: Nodes,
        seed: UInt64,
        _ strike: (Fleet, FleetLoad, inout SeededGenerator) throws -> FleetLoad.Hit
    ) throws {
        let fleet = try nodes.fleet()
        // The cases `coordinator` and `worker` use one database, so their seeds must differ.
        let seed = nodes == .worker ? seed + 20 : seed
        let load = FleetLoad(fleet, seed: seed)
        var random = SeededGenerator(seed: seed)
        var (hits, longest): ([FleetLoad.Hit], Duration) = ([], .zero)
        load.run(for: .milliseconds(600))
        for _ in 0..<Self.kills {
            hits.append(try strike(fleet, load, &random))
            let recovery = load.recover()
            longest = max(longest, recovery)
            #expect(recovery < Self.recoveryLimit, "after fault \(hits.count)")
        }
        try load.finish()
        let (clicks, claims) = (hits.map(\.clicks), hits.map(\.claims))
        #expect(hits.allSatisfy { $0.isEnough })
        print(
            "\(hits.count) \(faults) of \(nodes.rawValue),"
                + " with \(clicks.min() ?? 0)–\(clicks.max() ?? 0) clicks and"
                + " \(claims.min() ?? 0)–\(claims.max() ?? 0) claims in flight; success after \(longest.inSeconds);"
                + " \(load.summary)"
        )
    }

    @Test("lose no click if one of them is killed", arguments: Nodes.available.filter { $0 != .worker })
    func killedServer(_ nodes: Nodes) throws {
        try expectNothingLost(after: "kills of Afterlink", of: nodes, seed: 1) { fleet, load, random in
            let index = Int.random(in: 0..<Fleet.serverCount, using: &random)
            let hit = try load.strike(index) { fleet.kill(index) }
            load.run(for: .milliseconds(Int.random(in: 0...300, using: &random)))
            try load.run { try fleet.start(index) }
            return hit
        }
    }

    @Test("lose no click if a backend is killed", arguments: Nodes.available)
    func killedBackend(_ nodes: Nodes) throws {
        try expectNothingLost(after: "kills of a backend", of: nodes, seed: 2) { fleet, load, random in
            let node = nodes.any(of: fleet, &random)
            let backend = try #require(fleet.backends(of: node).randomElement(using: &random))
            let hit = try load.strike { kill(backend, SIGKILL) }
            try load.run { try node.waitUntilServing() }
            return hit
        }
    }

    @Test("lose no click if a postmaster is killed", arguments: Nodes.available)
    func killedPostmaster(_ nodes: Nodes) throws {
        try expectNothingLost(after: "kills of the postmaster", of: nodes, seed: 10) { fleet, load, random in
            let node = nodes.any(of: fleet, &random)
            let postmaster = try #require(node.postmaster)
            let hit = try load.strike { kill(postmaster, SIGKILL) }
            load.run(for: .milliseconds(Int.random(in: 0...300, using: &random)))
            try load.run { try node.startAfterKill() }
            return hit
        }
    }

    @Test("lose no click if Citus moves shards", arguments: Nodes.available.filter { $0 == .worker })
    func movedShards(_ nodes: Nodes) throws {
        try expectNothingLost(after: "moves of shards", of: nodes, seed: 13) { fleet, load, _ in
            let hit = try load.strike {}
            try load.run { _ = try fleet.database.execute(Self.moveShards) }
            return hit
        }
    }

    /// Moves the shards of some buckets to the other worker.
    private static let moveShards = """
        SELECT citus_move_shard_placement(s.shardid, s.nodename, s.nodeport, n.nodename, n.nodeport)
        FROM (SELECT * FROM citus_shards WHERE table_name = 'buckets'::regclass ORDER BY random() LIMIT 1) s
        JOIN pg_dist_node n ON n.groupid > 0 AND n.nodeport <> s.nodeport
        """
}
#endif
