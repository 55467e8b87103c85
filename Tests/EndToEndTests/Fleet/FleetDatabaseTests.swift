#if PostgreSQL
import Attribution
import Foundation
import Glibc
import Server
import Support
import Testing

/// Faults of PostgreSQL, and acts of its operator, while servers are under load.
extension FleetTests {
    /// Runs a fault on another thread while the load continues, and waits for the recovery.
    private func run(
        _ name: String,
        _ load: FleetLoad,
        _ fault: @escaping @Sendable () throws -> Void
    ) throws {
        try load.run(during: fault)
        let recovery = load.recover()
        #expect(recovery < Self.recoveryLimit, "\(name)")
        print("\(name): success after \(recovery.inSeconds)")
    }

    @Test(
        "lose no click if tables or rows are locked, connections are used up, commits hang or PostgreSQL restarts"
    )
    func operatorsFaults() throws {
        let (fleet, cluster, _) = try Fleet.shared()
        let database = fleet.database
        let load = FleetLoad(fleet, seed: 5)
        load.run(for: .milliseconds(600))
        for _ in 0..<(isLong ? 20 : 1) {
            try run("a locked table", load) {
                try database.execute("BEGIN; LOCK TABLE clicks; SELECT pg_sleep(\(isLong ? 3 : 1.5)); COMMIT")
            }
            try run("rows locked for a second", load) {
                let rows = "SELECT 1 FROM clicks WHERE claimed_at IS NULL LIMIT 40 FOR UPDATE"
                try database.execute("BEGIN; \(rows); SELECT pg_sleep(1); COMMIT")
            }
            try run("no connection left for a second", load) {
                try cluster.execute("ALTER ROLE afterlink CONNECTION LIMIT 0")
                try cluster.execute(Self.terminate)
                try cluster.execute("SELECT pg_sleep(1)")
                try cluster.execute("ALTER ROLE afterlink CONNECTION LIMIT -1")
            }
            try run("commits that wait for a standby, and are cancelled", load) {
                try Self.set("synchronous_standby_names = 'missing'", on: cluster)
                for _ in 0..<(isLong ? 40 : 12) {
                    try cluster.execute("SELECT pg_sleep(0.1)")
                    try cluster.execute(
                        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
                    )
                }
                try Self.set("synchronous_standby_names = ''", on: cluster)
            }
            for mode in [PostgreSQLCluster.StopMode.fast, .immediate] {
                try run("a restart, \(mode.rawValue)", load) {
                    try cluster.stop(mode)
                    try cluster.start()
                }
            }
        }
        try load.finish()
        #expect(load.longestWait < .seconds(4), "every request has a response in time, possibly 503")
        print("operator's faults: \(load.summary)")
    }

    private static let terminate =
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'afterlink'"

    private static func set(_ setting: String, on cluster: PostgreSQLCluster) throws {
        try cluster.execute("ALTER SYSTEM SET \(setting)")
        try cluster.execute("SELECT pg_reload_conf()")
    }

    @Test("lose no click if PostgreSQL's disk is full")
    func fullDisk() throws {
        let (fleet, cluster, disk) = try Fleet.shared()
        let load = FleetLoad(fleet, seed: 9)
        load.run(for: .milliseconds(600))
        for _ in 0..<(isLong ? 20 : 1) {
            // A table that cannot grow fails a statement; a log that cannot be written ends all processes of the server.
            for files in [Fault.Files.database, .log] {
                try disk.set(Fault(.write, of: files, .fail(ENOSPC)))
                let end = Polling.end
                // On a busy machine the load needs time until PostgreSQL writes.
                repeat {
                    load.run(for: .seconds(1))
                } while try disk.callCount() == 0 && ContinuousClock.now < end
                #expect(try disk.callCount() > 0)
                try disk.set()
                try load.run {
                    if (try? cluster.execute("SELECT 1")) == nil { _ = try? cluster.start() }
                    try cluster.waitUntilServing()
                }
                let recovery = load.recover()
                #expect(recovery < Self.recoveryLimit)
                print("a full disk, \(files == .log ? "log" : "tables"): success after \(recovery.inSeconds)")
            }
        }
        try load.finish()
        print("full disks: \(load.summary)")
    }

    @Test("lose no click if a synchronous standby is promoted")
    func promotion() throws {
        for round in 0..<(isLong ? 20 : 1) {
            let primary = try Fleet.makeCluster([
                "synchronous_standby_names = '*'", "synchronous_commit = local",
            ])
            let standby = try PostgreSQLCluster(standbyOf: primary)
            let fleet = try Fleet(on: primary, standby: standby)
            let load = FleetLoad(fleet, seed: 6 + UInt64(round))
            load.run(for: .milliseconds(600))
            let postmaster = try #require(primary.postmaster)
            var struckAt: Int64 = 0
            let hit = try load.strike {
                struckAt = WallClock.system.now().milliseconds
                kill(postmaster, SIGKILL)
            }
            try load.run { try standby.promote() }
            let recovery = load.recover()
            #expect(recovery < Self.recoveryLimit)
            // A backend whose postmaster is gone stops waiting for the standby. Until the other backends end
            // too, they see its commits, so a check may read a claim that the standby does not have.
            try load.finish(in: standby, lostReads: struckAt...struckAt + 500)
            print(
                "promotion of a synchronous standby, with \(hit.clicks) clicks and \(hit.claims) claims in flight:"
                    + " success after \(recovery.inSeconds); \(load.summary)"
            )
        }
    }

    @Test("lose no click if the clocks of two servers are an hour off, in opposite directions, and leap")
    func clocks() throws {
        var clocks: [FaultyDisk] = []
        let fleet = try Fleet(on: Fleet.shared().cluster) { _, folder in
            let clock = try FaultyDisk(in: folder)
            clocks.append(clock)
            return clock.environment
        }
        let load = FleetLoad(fleet, seed: 7)
        load.run(for: .milliseconds(600))
        for hours in [1, -1] as [Int64] {
            for (index, clock) in clocks.enumerated() where index > 0 {
                try clock.setClock(offBySeconds: index == 1 ? hours * 3600 : -hours * 3600)
            }
            load.run(for: .seconds(isLong ? 20 : 1))
            let recovery = load.recover()
            #expect(recovery < Self.recoveryLimit, "a server with a wrong clock serves its requests")
            for index in 1..<Fleet.serverCount {
                let server = try #require(fleet.server(index))
                let isNotReady = try Polling.until { try server.connect().get("/readyz").status == 503 }
                #expect(isNotReady)
            }
        }
        for clock in clocks { try clock.setClock(offBySeconds: 0) }
        let recovery = load.recover()
        #expect(recovery < Self.recoveryLimit)
        try load.finish(clocksAgree: false)
        print("clocks off by an hour: success after \(recovery.inSeconds); \(load.summary)")
    }

    @Test("lose no click at midnight, when new clicks go to other partitions")
    func midnight() throws {
        var made: FaultyDisk?
        let cluster = try Fleet.makeCluster { data in
            let disk = try FaultyDisk(ofClusterIn: data)
            made = disk
            return disk.environment
        }
        let clock = try #require(made)
        defer { clock.remove() }
        // The servers have the database server's clock.
        let fleet = try Fleet(on: cluster) { _, _ in clock.environment }
        let load = FleetLoad(fleet, seed: 14)
        let day = 86_400_000 as Int64
        let now = WallClock.system.now().milliseconds
        // The clock leaps before the first click, because a click matches for a day only.
        try clock.setClock(offBySeconds: (day - now % day) / 1000 - (isLong ? 20 : 2))
        load.run(for: .seconds(isLong ? 40 : 4))
        let recovery = load.recover()
        #expect(recovery < Self.recoveryLimit)
        try load.finish(clocksAgree: false)
        #expect(load.longestWait < .seconds(4), "every request has a response in time, possibly 503")
        let midnight = (now / day + 1) * day
        let counts = try fleet.database.execute(
            """
            SELECT count(*) FILTER (WHERE recorded_at < \(midnight) AND claimed_at >= \(midnight)),
                count(*) FILTER (WHERE recorded_at >= \(midnight))
            FROM clicks
            """
        )
        let (_, across, after) = try #require(counts.wholeMatch(of: /(\d+)\|(\d+)/)).output
        #expect(across != "0" && after != "0")
        print("midnight, \(across) clicks of the day before matched after it: \(load.summary)")
    }

    @Test("lose no click if the server key is rotated")
    func rotation() throws {
        let fleet = try Fleet.shared().fleet
        let load = FleetLoad(fleet, seed: 8)
        load.run(for: .milliseconds(600))
        // A check looks up at most four server keys, so a fourth rotation is refused.
        // The second rotation shows that the command does not count itself among the servers that lack the last key.
        for round in 1...(isLong ? 3 : 2) {
            let output = try fleet.run(["server-key", "rotate"])
            #expect(output.status == 0, "\(output.errors)")
            let end = Polling.end
            func isRotated(_ index: Int) -> Bool {
                fleet.log(index).components(separatedBy: "the server key was rotated").count > round
            }
            while !(0..<Fleet.serverCount).allSatisfy(isRotated), ContinuousClock.now < end {
                load.run(for: .milliseconds(100))
            }
            #expect((0..<Fleet.serverCount).allSatisfy(isRotated))
            load.run(for: .milliseconds(500))
        }
        try load.finish()
        print("rotation of the server key: \(load.summary)")
    }
}
#endif
