import Support

/// Resident memory of a server with much stored: when nothing happens, with many connections, and under load.
enum MemoryRow: ComparableRow {
    static let name = "memory"
    static let summary = "memory idle, with 10,000 idle connections, and under load, with 10 M stored clicks"

    static func contests(_ bench: Workbench) throws -> [Contest] {
        let installation = try bench.installation(bench.scale.yearOfClicks)
        return [
            Contest(
                FigureName("idle_megabytes", "memory idle, MB", .below(30)),
                FigureName(
                    "idle_connections_megabytes",
                    "memory with 10,000 idle connections, MB",
                    .below(120)
                ),
                FigureName(
                    "loaded_megabytes",
                    "memory under load, the most since the start, MB",
                    .below(300)
                ),
                beside: [FigureName("bytes_per_idle_connection", "bytes of an idle connection")]
            ) { _ in
                let server = try Server(installation, bench)
                _ = try server.noMatch()
                let idle = try server.figures.residentBytes()
                let connections = bench.scale.idleConnections
                let connected = try residentBytes(server, withIdleConnections: connections)
                server.stop()
                let loaded = try peakBytesUnderLoad(installation, bench)
                return [idle / 1e6, connected / 1e6, loaded / 1e6, (connected - idle) / Double(connections)]
            }
        ]
    }

    /// The peak of another server, in which idle connections left no trace.
    private static func peakBytesUnderLoad(_ installation: Installation, _ bench: Workbench) throws -> Double
    {
        let server = try Server(installation, bench)
        _ = try server.highestClickRate()
        _ = try server.highestCheckRate()
        return try server.figures.peakResidentBytes()
    }

    /// Opens connections, sends a check on each, and leaves them idle after the response.
    private static func residentBytes(_ server: Server, withIdleConnections count: Int) throws -> Double {
        let request = SampleRequests.check(fingerprint: String(repeating: "f", count: 64), key: server.key)
        let clients = try (0..<count).map { _ in
            let client = try RawClient(port: server.port)
            client.send(request)
            guard try client.answer().status == 200 else {
                throw BenchmarkError("An idle connection was refused.")
            }
            return client
        }
        // They are open until the memory has been read.
        return try withExtendedLifetime(clients) { try server.figures.residentBytes() }
    }
}
