import Support

/// Resident memory of a server with much stored: when nothing happens, with many connections, and under load.
enum MemoryRow {
    static func measure(_ bench: Workbench) throws -> [Figure] {
        let installation = try installation(bench)
        let turns = try (0..<bench.options.rounds).map { _ in try turn(installation, bench) }
        let connections = Double(bench.scale.idleConnections)
        return [
            Figure(.idleMegabytes, turns.map(\.idle)),
            Figure(.idleConnectionsMegabytes, turns.map(\.connected)),
            Figure(.bytesPerConnection, turns.map { ($0.connected - $0.idle) * 1e6 / connections }),
            Figure(.loadedMegabytes, turns.map(\.loaded), note: "the most since the start"),
        ]
    }

    static func contests(_ bench: Workbench) throws -> [Contest] {
        let installation = try installation(bench)
        return [
            Contest(.idleMegabytes, .idleConnectionsMegabytes, .loadedMegabytes) { _ in
                let turn = try turn(installation, bench)
                return [turn.idle, turn.connected, turn.loaded]
            }
        ]
    }

    private static func installation(_ bench: Workbench) throws -> Installation {
        try bench.installation(
            SeedPlan(stored: bench.scale.storedClicks, live: bench.scale.liveOfStored)
        )
    }

    /// Megabytes in each situation.
    private static func turn(_ installation: Installation, _ bench: Workbench) throws
        -> (idle: Double, connected: Double, loaded: Double)
    {
        let server = try Server(installation, bench)
        _ = try server.noMatch()
        let idle = try server.figures.residentBytes()
        let connected = try residentBytes(server, withIdleConnections: bench.scale.idleConnections)
        server.stop()
        return (idle / 1e6, connected / 1e6, try peakBytesUnderLoad(installation, bench) / 1e6)
    }

    /// The peak of another server, in which idle connections left no trace.
    private static func peakBytesUnderLoad(_ installation: Installation, _ bench: Workbench) throws -> Double
    {
        let server = try Server(installation, bench)
        _ = try server.highestClickRate(bench.options.seconds, bench)
        _ = try server.highestCheckRate(bench.options.seconds, bench)
        return try server.figures.peakResidentBytes()
    }

    /// Opens connections, sends a check on each, and leaves them idle after the response.
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
