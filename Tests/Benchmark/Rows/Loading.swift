import Support

/// What several rows do with wrk.
enum Loading {
    /// One turn of a contestant.
    struct Turn {
        let perSecond: Double
        /// Processor time of the server for each answer, in microseconds.
        let coreMicroseconds: Double
        let latency: Wrk.Result
    }

    /// Loads a server for so long.
    static func turn(
        _ wrk: Wrk,
        on port: UInt16,
        of figures: ProcessFigures,
        seconds: Double,
        isEncrypted: Bool = false,
        _ bench: Workbench
    ) throws -> Turn {
        let before = try figures.processorSeconds()
        let result = try wrk.run(port: port, seconds: seconds, isEncrypted: isEncrypted, bench)
        let used = try figures.processorSeconds() - before
        return Turn(
            perSecond: result.perSecond,
            coreMicroseconds: used / max(result.requests, 1) * 1e6,
            latency: result
        )
    }

    /// The most checks that end in no match, over a keep-alive connection each.
    static func highestCheckRate(_ server: Server, _ bench: Workbench) throws -> Double {
        try Wrk(script: .misses(key: server.installation.keys.app))
            .run(port: server.port, seconds: bench.options.seconds, bench).perSecond
    }

    /// The most clicks on disk.
    static func highestClickRate(_ server: Server, _ bench: Workbench) throws -> Double {
        let script = WrkScript.clicks(key: server.installation.keys.app, series: bench.nextSeries())
        return try Wrk(script: script, connections: 256)
            .run(port: server.port, seconds: bench.options.seconds, bench).perSecond
    }

    /// The server's answer to a check that finds nothing: what nginx is to repeat.
    static func noMatch(of server: Server) throws -> StaticAnswer {
        let fingerprint = String(repeating: "f", count: 64)
        let answer = try server.answer(
            SampleRequests.check(fingerprint: fingerprint, key: server.installation.keys.app)
        )
        guard answer.status == 200, answer.body.contains("no_match") else {
            throw BenchmarkError("The server answers a check with \(answer.status): \(answer.body)")
        }
        return StaticAnswer(answer)
    }
}
