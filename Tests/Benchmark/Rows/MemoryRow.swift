import Support

/// Resident memory of a server with much stored: when nothing happens, with many connections, and under load.
enum MemoryRow {
    static func measure(_ bench: Workbench) throws -> [Figure] {
        let plan = SeedPlan(stored: bench.scale.storedClicks, live: bench.scale.liveOfStored)
        let installation = try bench.installation(plan)
        var (idle, connected, each, loaded) = ([Double](), [Double](), [Double](), [Double]())
        for _ in 0..<bench.options.rounds {
            let server = try Server(installation, bench)
            _ = try Loading.noMatch(of: server)
            let before = try server.figures.residentBytes()
            idle.append(before / 1e6)
            let after = try residentBytes(server, withIdleConnections: bench.scale.idleConnections)
            connected.append(after / 1e6)
            each.append((after - before) / Double(bench.scale.idleConnections))
            server.stop()
            loaded.append(try peakBytesUnderLoad(installation, bench) / 1e6)
        }
        return [
            Figure(.idleMegabytes, idle),
            Figure(.idleConnectionsMegabytes, connected),
            Figure(.bytesPerConnection, each),
            Figure(.loadedMegabytes, loaded, note: "the most since the start"),
        ]
    }

    /// The most that a server of its own had since its start: connections that were idle leave no trace in it.
    private static func peakBytesUnderLoad(_ installation: Installation, _ bench: Workbench) throws -> Double
    {
        let server = try Server(installation, bench)
        _ = try Loading.highestClickRate(server, bench)
        _ = try Loading.highestCheckRate(server, bench)
        return try server.figures.peakResidentBytes()
    }

    /// Opens connections, has a check answered on each, and leaves them idle.
    private static func residentBytes(_ server: Server, withIdleConnections count: Int) throws -> Double {
        let fingerprint = String(repeating: "f", count: 64)
        let request = SampleRequests.check(fingerprint: fingerprint, key: server.installation.keys.app)
        var clients: [RawClient] = []
        for _ in 0..<count {
            let client = try RawClient(port: server.port)
            client.send(request)
            guard try client.answer().status == 200 else {
                throw BenchmarkError("An idle connection was refused.")
            }
            clients.append(client)
        }
        // They are open until the memory has been read.
        return try withExtendedLifetime(clients) { try server.figures.residentBytes() }
    }
}
