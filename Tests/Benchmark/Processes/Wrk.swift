import Foundation

/// One run of wrk: as many requests as the server answers.
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

    let script: WrkScript
    var connections = 64
    var threads = 2

    /// Runs it, and refuses figures of failed requests.
    func run(port: UInt16, seconds: Double, isEncrypted: Bool = false, _ bench: Workbench) throws -> Result {
        let path = bench.folder.path + "/wrk.lua"
        try script.text.write(toFile: path, atomically: false, encoding: .utf8)
        let address = "\(isEncrypted ? "https" : "http")://127.0.0.1:\(port)"
        // wrk counts whole seconds; less than one is none to it.
        let length = max(1, Int(seconds.rounded()))
        let output = try ChildProcess.output(
            "wrk",
            [
                "-t", String(min(threads, connections)), "-c", String(connections), "-d", "\(length)s", "-s",
                path,
                "--timeout", "10s", address,
            ]
        )
        guard let line = output.split(separator: "\n").first(where: { $0.hasPrefix("{") }),
            let result = try? JSONDecoder().decode(Result.self, from: Data(line.utf8))
        else { throw BenchmarkError("wrk gave no figures: \(output.suffix(500))") }
        guard result.failures <= result.requests / 1000 else {
            throw BenchmarkError("\(Int(result.failures)) of \(Int(result.requests)) requests failed.")
        }
        return result
    }
}
