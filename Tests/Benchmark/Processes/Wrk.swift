import Foundation
import Support

/// Runs wrk, which sends as many requests as the server can serve.
struct Wrk {
    struct Result: Decodable {
        let requests: Double
        let microseconds: Double
        /// Responses with a status above 399, and failed connections, reads, writes and timeouts.
        let failures: Double
        let p50: Double
        let p99: Double

        var perSecond: Double { microseconds > 0 ? requests / microseconds * 1_000_000 : 0 }
    }

    /// The Lua script, from ``WrkScript``.
    private let script: String
    private let connections: Int

    /// - Parameters:
    ///   - script: the Lua script, which makes the requests.
    ///   - connections: the number of connections.
    ///   - server: a second server, which gets the requests of the second thread.
    init(_ script: String, connections: Int = 64, alsoOn server: Server? = nil) {
        let setup = server.map { #"second = wrk.lookup("127.0.0.1", "\#($0.port)")[1]"# } ?? ""
        (self.script, self.connections) = ("\(setup)\n\(script)", connections)
    }

    /// Runs wrk, and throws if more than one request in a thousand failed.
    func run(_ target: some Listener, _ seconds: Double) throws -> Result {
        let path = target.bench.folder.path + "/wrk.lua"
        try (WrkScript.common + script).write(toFile: path, atomically: false, encoding: .utf8)
        // wrk counts whole seconds, and refuses zero.
        let length = max(1, Int(seconds.rounded()))
        let arguments = [
            "-t", String(min(WrkScript.threadCount, connections)), "-c", String(connections), "-d",
            "\(length)s", "-s", path, "--timeout", "10s",
            "\(target.isEncrypted ? "https" : "http")://127.0.0.1:\(target.port)",
        ]
        let output = String(decoding: try ExternalProgram.run("wrk", arguments), as: UTF8.self)
        guard let line = output.split(separator: "\n").first(where: { $0.hasPrefix("{") }),
            let result = try? JSONDecoder().decode(Result.self, from: Data(line.utf8))
        else { throw BenchmarkError("wrk reported no figures: \(output.suffix(500))") }
        guard result.failures <= result.requests / 1000 else {
            throw BenchmarkError("\(Int(result.failures)) of \(Int(result.requests)) requests failed.")
        }
        return result
    }

    /// Runs wrk, and measures how many microseconds of a core the target used for each response.
    func turn(_ target: some Listener, _ seconds: Double) throws -> (result: Result, coreMicroseconds: Double)
    {
        let before = try target.figures.running(\.ticksWithChildren)
        let result = try run(target, seconds)
        let ticks = try target.figures.running(\.ticksWithChildren) - before
        return (result, ticks * 10_000 / max(result.requests, 1))
    }
}

extension Server {
    /// Returns the highest rate of checks that end in no match, over keep-alive connections.
    func highestCheckRate(_ seconds: Double? = nil) throws -> Double {
        try Wrk(WrkScript.misses(key: key)).run(self, seconds ?? bench.options.seconds).perSecond
    }

    /// Returns the highest rate of clicks.
    func highestClickRate() throws -> Double {
        let script = WrkScript.clicks(key: key, series: bench.nextSeries())
        return try Wrk(script, connections: 256).run(self, bench.options.seconds).perSecond
    }

    /// Sends clicks as fast as the server records them: with ready-made fingerprints, or with a device's signals.
    ///
    /// - Returns: the clicks a second, the server's processor time for one click in microseconds of a core,
    ///   and how many clicks it put into one commit on average.
    func clickTurn(from device: SampleDevice? = nil, _ seconds: Double) throws -> (
        rate: Double, core: Double, batch: Double
    ) {
        let series = bench.nextSeries()
        let script =
            device.map { WrkScript.clicks(from: $0, key: key, series: series) }
            ?? WrkScript.clicks(key: key, series: series)
        let before = try metrics()
        let (result, core) = try Wrk(script, connections: 256).turn(self, seconds)
        let after = try metrics()
        // A few clicks with signals repeat the values and the address of another click; the server counts both once.
        guard try after.growth(of: "afterlink_clicks_total", since: before) >= result.requests * 0.99 else {
            throw BenchmarkError("The server acknowledged clicks that it has not counted.")
        }
        let sum = try after.growth(of: "afterlink_store_batch_size_sum", since: before)
        let count = try after.growth(of: "afterlink_store_batch_size_count", since: before)
        return (result.perSecond, core, sum / max(count, 1))
    }

    /// Returns a load of requests at a constant rate, with a new series.
    func plan(_ kind: ConstantRatePlan.Kind, rate: Double, seconds: Double, connections: Int = 64)
        -> ConstantRatePlan
    {
        var plan = ConstantRatePlan(kind, port: port, key: key, rate: rate, seconds: seconds)
        (plan.series, plan.connections) = (bench.nextSeries(), connections)
        return plan
    }

    /// Returns the server's response to a check that finds nothing, for nginx to repeat.
    func noMatch() throws -> RawClient.Answer {
        let answer = try response(to: SampleRequests.check(SampleRequests.unknown, key: key))
        guard answer.body.contains("no_match") else {
            throw BenchmarkError("The server responds to a check with \(answer.body)")
        }
        return answer
    }
}
