import Foundation
import Support

/// A run of wrk: as many requests as the server answers.
struct Wrk {
    struct Result: Decodable {
        let requests: Double
        let microseconds: Double
        /// Answers other than 2xx and 3xx, and connections that failed.
        let failures: Double
        let p50: Double
        let p99: Double

        var perSecond: Double { microseconds > 0 ? requests / microseconds * 1_000_000 : 0 }
    }

    private let script: WrkScript
    private let connections: Int

    init(_ script: WrkScript, connections: Int = 64) {
        (self.script, self.connections) = (script, connections)
    }

    /// Runs it, and refuses figures of failed requests.
    func run(_ target: some Listener, _ seconds: Double) throws -> Result {
        let path = target.bench.folder.path + "/wrk.lua"
        try script.text.write(toFile: path, atomically: false, encoding: .utf8)
        // wrk counts whole seconds, and takes less than one for none.
        let length = max(1, Int(seconds.rounded()))
        let arguments = [
            "-t", String(min(WrkScript.threadCount, connections)), "-c", String(connections), "-d",
            "\(length)s", "-s", path, "--timeout", "10s",
            "\(target.isEncrypted ? "https" : "http")://127.0.0.1:\(target.port)",
        ]
        let output = String(decoding: try ExternalProgram.run("wrk", arguments), as: UTF8.self)
        guard let line = output.split(separator: "\n").first(where: { $0.hasPrefix("{") }),
            let result = try? JSONDecoder().decode(Result.self, from: Data(line.utf8))
        else { throw BenchmarkError("wrk gave no figures: \(output.suffix(500))") }
        guard result.failures <= result.requests / 1000 else {
            throw BenchmarkError("\(Int(result.failures)) of \(Int(result.requests)) requests failed.")
        }
        return result
    }

    /// A result with the processor time that the server took.
    struct Turn {
        let result: Result
        /// Processor time of the server for each answer, in microseconds.
        let coreMicroseconds: Double

        var perSecond: Double { result.perSecond }
    }

    /// Runs it, and reads how much processor time the server's process took meanwhile.
    func turn(_ target: some Listener, _ seconds: Double) throws -> Turn {
        let before = try target.figures.processorSeconds()
        let result = try run(target, seconds)
        let used = try target.figures.processorSeconds() - before
        return Turn(result: result, coreMicroseconds: used / max(result.requests, 1) * 1e6)
    }
}

extension Server {
    /// The rate of checks that end in no match, as many as there can be over keep-alive connections.
    func highestCheckRate(_ seconds: Double? = nil) throws -> Double {
        try Wrk(.misses(key: key)).run(self, seconds ?? bench.options.seconds).perSecond
    }

    /// The rate of clicks, as many as there can be.
    func highestClickRate() throws -> Double {
        let script = WrkScript.clicks(key: key, series: bench.nextSeries())
        return try Wrk(script, connections: 256).run(self, bench.options.seconds).perSecond
    }

    /// Clicks as fast as they can be written, and how many of them the server put into one commit; `script` makes
    /// them for a key and a series.
    func clickTurn(
        _ seconds: Double,
        _ script: (_ key: String, _ series: UInt32) -> WrkScript
    ) throws -> (rate: Double, batch: Double) {
        let before = try metrics()
        let result = try Wrk(script(key, bench.nextSeries()), connections: 256).run(self, seconds)
        let after = try metrics()
        // Of clicks that bring signals, a very few have the values and the address of another one.
        guard try after.growth(of: "afterlink_clicks_total", since: before) >= result.requests * 0.99 else {
            throw BenchmarkError("The server acknowledged clicks that it has not counted.")
        }
        let sum = try after.growth(of: "afterlink_store_batch_size_sum", since: before)
        let count = try after.growth(of: "afterlink_store_batch_size_count", since: before)
        return (result.perSecond, sum / max(count, 1))
    }

    /// A load of requests at a constant rate, with a series of its own.
    func plan(
        _ kind: ConstantRatePlan.Kind,
        rate: Double,
        seconds: Double,
        connections: Int = 64
    ) -> ConstantRatePlan {
        ConstantRatePlan(
            kind: kind,
            port: port,
            key: key,
            series: bench.nextSeries(),
            rate: rate,
            seconds: seconds,
            connections: connections
        )
    }

    /// The server's answer to a check that finds nothing: what nginx is to repeat.
    func noMatch() throws -> StaticAnswer {
        let request = SampleRequests.check(fingerprint: String(repeating: "f", count: 64), key: key)
        let answer = try answer(request)
        guard answer.status == 200, answer.body.contains("no_match") else {
            throw BenchmarkError("The server answers a check with \(answer.status): \(answer.body)")
        }
        return StaticAnswer(answer)
    }
}
