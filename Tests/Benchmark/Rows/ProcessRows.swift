import Glibc
import Support

// Rows that measure the server's process: its time to start, its memory, and its growth under a long load.
extension Row {
    /// The time from the start of the process until it is ready, with a warm page cache.
    static let start = Row(
        "start",
        "start to ready with 10 M stored clicks, after a stop and after a kill",
        isComparable: true
    ) { bench in
        let installation = try bench.installation(bench.scale.yearOfClicks)
        // The first start reads the database into the page cache.
        try Server(installation, bench).stop()
        let names = [
            FigureName("clean_start_milliseconds", "start to ready after a stop, ms", .below(150)),
            FigureName("start_after_kill_milliseconds", "start to ready after a kill, ms", .below(2000)),
        ]
        let log = FigureName("start_after_kill_wal_megabytes", "write-ahead log at the kill, MB")
        return [
            Contest(names: names, explaining: [log]) { _ in
                let server = try Server(installation, bench)
                let clean = server.secondsToReady * 1000
                // Kill the server right after a load, so that its log is as long as it can be.
                _ = try server.highestClickRate()
                let logMegabytes = server.logBytes() / 1e6
                server.kill()
                return [clean, try Server(installation, bench).secondsToReady * 1000, logMegabytes]
            }
        ]
    }

    /// The resident memory with many stored clicks: idle, with idle connections, and under load.
    static let memory = Row(
        "memory",
        "memory idle, with 10,000 idle connections, and under load, with 10 M stored clicks",
        isComparable: true
    ) { bench in
        let installation = try bench.installation(bench.scale.yearOfClicks)
        let names = [
            FigureName("idle_megabytes", "memory idle, MB", .below(30)),
            FigureName("idle_connections_megabytes", "memory with 10,000 idle connections, MB", .below(120)),
            FigureName("loaded_megabytes", "memory under load, the most since the start, MB", .below(300)),
        ]
        let connection = FigureName("bytes_per_idle_connection", "bytes of an idle connection")
        return [
            Contest(names: names, explaining: [connection]) { _ in
                let count = bench.scale.idleConnections
                let (idle, connected) = try idleBytes(Server(installation, bench), connections: count)
                // Measure the load on another server, in which idle connections left no trace.
                let server = try Server(installation, bench)
                _ = try settledBytes(server)
                _ = try server.highestClickRate()
                _ = try server.highestCheckRate()
                let loaded = try server.figures.running(\.peakResidentByteCount)
                return [idle / 1e6, connected / 1e6, loaded / 1e6, (connected - idle) / Double(count)]
            }
        ]
    }

    /// Returns the resident memory after the jobs of the start: once it was stable for 2 s, or after 20 s.
    private static func settledBytes(_ server: Server) throws -> Double {
        var (settled, unchanged) = (try server.figures.running(\.residentByteCount), 0)
        for _ in 0..<80 where unchanged < 8 {
            usleep(250_000)
            let bytes = try server.figures.running(\.residentByteCount)
            let isStable = abs(bytes - settled) <= settled / 100
            (settled, unchanged) = isStable ? (settled, unchanged + 1) : (bytes, 0)
        }
        return settled
    }

    /// Returns the resident memory after one check, and with connections that stay idle after a check on each.
    private static func idleBytes(_ server: Server, connections: Int) throws -> (Double, Double) {
        _ = try server.noMatch()
        let idle = try settledBytes(server)
        let request = SampleRequests.check(SampleRequests.unknown, key: server.key)
        let clients = try (0..<connections).map { _ in
            let client = try RawClient(port: server.port)
            client.send(request)
            _ = try client.answer().expecting(200)
            return client
        }
        // The connections are open until the memory has been read.
        let connected = try withExtendedLifetime(clients) { try server.figures.running(\.residentByteCount) }
        server.stop()
        return (idle, connected)
    }

    /// The growth of memory, descriptors and log under a long load of clicks, matches and misses.
    static let soak = Row(
        custom: "soak",
        "ten minutes of mixed load at a tenth of the highest rate: memory, descriptors, log"
    ) { bench in
        let server = try bench.liveServer()
        // Both measurements fill the caches too: only growth beyond that counts.
        let checks = try server.highestCheckRate() / 10
        let clicks = try server.highestClickRate() / 10
        // Both loads start before the first sample and end after the last one.
        let seconds = bench.scale.soakSeconds
        var plan = server.plan(.clicks, rate: clicks, seconds: seconds + 3)
        var loads = [try plan.start()]
        (plan.kind, plan.clickRate, plan.rate) = (.missesAndMatches, clicks, checks)
        loads.append(try plan.start())
        // Take one sample a second.
        var (residentBytes, descriptors, logBytes) = ([Double](), [Double](), [Double]())
        sleep(1)
        let watch = Stopwatch()
        while watch.seconds < seconds {
            residentBytes.append(try server.figures.running(\.residentByteCount))
            descriptors.append(try server.figures.running(\.descriptorCount))
            logBytes.append(server.logBytes())
            sleep(1)
        }
        let results: [ConstantRateResult] = try loads.map { try LoadProgram.result(of: $0) }
        let mean = NumberText.short(residentBytes.reduce(0, +) / Double(residentBytes.count) / 1e6)
        let growth = "growth of descriptors under mixed load, %"
        return [
            FigureName("soak_memory_growth_percent", "growth of memory under mixed load, %", .atMost(5))
                .figure([Trend.growthPercent(residentBytes)], note: "mean \(mean) MB"),
            FigureName("soak_descriptor_growth_percent", growth, .atMost(5))
                .figure([Trend.growthPercent(descriptors)]),
            FigureName("soak_wal_megabytes", "largest write-ahead log under mixed load, MB", .below(128))
                .figure([(logBytes.max() ?? .nan) / 1e6]),
            FigureName("soak_requests", "requests of the mixed load")
                .figure([Double(results.reduce(0) { $0 + $1.intended })]),
            FigureName("soak_failures", "mixed-load requests that failed")
                .figure([Double(results.reduce(0) { $0 + $1.failures })]),
        ]
    }
}
