import Foundation
import Support

/// The server's program, as it was built.
struct ServerBinary {
    let file: URL
    let version: String
    /// The flags that `serve` knows.
    private let flags: Set<String>

    /// Finds it at `path`, or beside this program.
    init(_ path: String?) throws {
        file = path.map { URL(filePath: $0) } ?? Installation.binary
        guard FileManager.default.isExecutableFile(atPath: file.path) else {
            let build = "`swift build -c release --static-swift-stdlib --product afterlink`"
            throw BenchmarkError(
                "There is no program \(file.path): build it with \(build), or name it with --binary."
            )
        }
        version = try Self.run(file, ["version"]).trimmingCharacters(in: .newlines)
        flags = Set(
            try Self.run(file, ["help", "settings", "--markdown"]).split(separator: "`").compactMap { part in
                part.hasPrefix("--") ? part.split(separator: " ").first.map(String.init) : nil
            }
        )
    }

    func knows(_ flag: String) -> Bool { flags.contains(flag) }

    /// Refuses to measure a binary without the flag.
    func require(_ flag: String) throws {
        guard knows(flag) else { throw NotMeasurable("the server has no setting \(flag)") }
    }

    private static func run(_ file: URL, _ arguments: [String]) throws -> String {
        String(decoding: try ExternalProgram.run(file.path, arguments), as: UTF8.self)
    }
}

extension Installation {
    /// Runs a command on the database, which must succeed.
    func configure(_ arguments: [String]) throws {
        let output = try run(arguments)
        guard output.status == 0 else {
            throw BenchmarkError("\(arguments.joined(separator: " ")) failed: \(output.errors)")
        }
    }
}

/// A program that serves requests and is measured.
protocol Listener {
    var port: UInt16 { get }
    var figures: ProcessFigures { get }
    var isEncrypted: Bool { get }
    var bench: Workbench { get }
}

/// The server under measurement: keys checked, request log on and written to a file, every click on disk before
/// its answer.
final class Server: Listener {
    let bench: Workbench
    let installation: Installation
    let figures: ProcessFigures
    let isEncrypted: Bool
    /// From before the process was started to its first answer that it is ready.
    let secondsToReady: Double
    private let process: AfterlinkProcess
    private let logPath: String

    var port: UInt16 { process.port }
    /// The key of an app's clients.
    var key: String { installation.keys.app }

    /// Starts it and waits until it is ready.
    ///
    /// Expired clicks are kept for `retentionSeconds`, by default ten years; `extra` arguments come after the others.
    init(
        _ installation: Installation,
        _ bench: Workbench,
        retentionSeconds: Int = 315_360_000,
        certificate: CertificateFiles? = nil,
        isDurable: Bool = true,
        extra: [String] = []
    ) throws {
        (self.installation, self.bench, isEncrypted) = (installation, bench, certificate != nil)
        logPath = installation.folder.appending(path: "requests.log").path
        var arguments = [
            "--durability", isDurable ? "full" : "relaxed", "--threads", String(bench.options.workers),
            "--log-format", "json", "--log-file", logPath, "--limit-requests", "1000000",
            "--retention", String(retentionSeconds), "--trusted-proxy", "127.0.0.1/32",
        ]
        if bench.binary.knows("--rate-limit") { arguments += ["--rate-limit", "off"] }
        // The clock has not leapt: stored clicks may be some days old.
        if bench.binary.knows("--accept-clock") { arguments.append("--accept-clock") }
        let watch = Stopwatch()
        process = try AfterlinkProcess(
            installation,
            arguments + (certificate?.arguments ?? []) + extra,
            endsWithStarter: true
        )
        figures = ProcessFigures(of: process.identifier)
        try Self.awaitReady(process, isEncrypted: isEncrypted)
        secondsToReady = watch.seconds
    }

    private static func awaitReady(_ process: AfterlinkProcess, isEncrypted: Bool) throws {
        let watch = Stopwatch()
        while watch.seconds < 60, process.isRunning {
            if let client = try? connect(process.port, isEncrypted: isEncrypted) {
                client.send("GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                if try client.answer().status == 200 { return }
            }
            usleep(500)
        }
        throw BenchmarkError("The server did not become ready.")
    }

    deinit { stop() }

    /// Stops it as an operator does.
    func stop() {
        if process.isRunning {
            process.terminate()
            process.waitUntilExit()
        }
        try? FileManager.default.removeItem(atPath: logPath)
    }

    /// Ends it as a power switch would.
    func kill() { process.kill() }

    /// The size of the write-ahead log's file.
    func logBytes() -> Double {
        let path = installation.database.path + "-wal"
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.doubleValue ?? 0
    }

    /// The answer to one request on a connection of its own.
    func answer(_ request: String) throws -> RawClient.Answer {
        let client = try connect()
        client.send(request)
        return try client.answer()
    }

    /// Reads the metrics; right after a load, the server may be too busy to count at once.
    func metrics() throws -> PrometheusText {
        let request = SampleRequests.get("/metrics", key: installation.keys.admin)
        var answer = try answer(request)
        for _ in 0..<40 where answer.status == 503 {
            usleep(250_000)
            answer = try self.answer(request)
        }
        guard answer.status == 200 else {
            throw BenchmarkError("/metrics responds with \(answer.status): \(answer.body)")
        }
        return PrometheusText(answer.body)
    }

    func connect() throws -> RawClient { try Self.connect(port, isEncrypted: isEncrypted) }

    private static func connect(_ port: UInt16, isEncrypted: Bool) throws -> RawClient {
        isEncrypted ? try RawClient(port: port, tls: TLSClientSettings()) : try RawClient(port: port)
    }
}

/// What the kernel reports of a process that runs.
extension ProcessFigures {
    /// Resident memory in bytes.
    func residentBytes() throws -> Double { try known(residentByteCount) }

    /// The largest resident memory since the start, in bytes.
    func peakResidentBytes() throws -> Double { try known(peakResidentByteCount) }

    func descriptors() throws -> Double { try known(descriptorCount) }

    /// Processor time used so far by the process and its children that still run, in seconds.
    func processorSeconds() throws -> Double {
        _ = try known(residentByteCount)
        return ([self] + children).reduce(0) { $0 + Double($1.processorTicks) } / 100
    }

    private func known(_ value: Int) throws -> Double {
        guard value > 0 else { throw BenchmarkError("The process is gone.") }
        return Double(value)
    }
}

extension PrometheusText {
    /// How much a metric without labels has grown; throws when the server does not report it.
    func growth(of name: String, since earlier: PrometheusText) throws -> Double {
        guard let value = value(name), let before = earlier.value(name) else {
            throw BenchmarkError("/metrics has no \(name).")
        }
        return value - before
    }
}
