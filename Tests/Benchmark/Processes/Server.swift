import Foundation
import Support

/// The server's binary, and the flags that it accepts.
struct ServerBinary {
    let file: URL
    let version: String
    /// The flags that `serve` knows.
    private let flags: Set<String>

    /// Finds the binary at `path`; nil means in the folder of this program.
    init(_ path: String?) throws {
        file = path.map { URL(filePath: $0) } ?? Installation.binary
        guard FileManager.default.isExecutableFile(atPath: file.path) else {
            let build = "`swift build -c release --static-swift-stdlib --product afterlink`"
            throw BenchmarkError("There is no program \(file.path). Build it with \(build), or use --binary.")
        }
        version = try Self.run(file, ["version"]).trimmingCharacters(in: .newlines)
        let settings = try Self.run(file, ["help", "settings", "--markdown"])
        flags = Set(
            settings.split(separator: "`").filter { $0.hasPrefix("--") }
                .compactMap { $0.split(separator: " ").first.map(String.init) }
        )
    }

    func knows(_ flag: String) -> Bool { flags.contains(flag) }

    /// Throws if the binary does not have the flag.
    func require(_ flag: String) throws {
        guard knows(flag) else { throw NotMeasurable(reason: "the server has no setting \(flag)") }
    }

    private static func run(_ file: URL, _ arguments: [String]) throws -> String {
        String(decoding: try ExternalProgram.run(file.path, arguments), as: UTF8.self)
    }
}

extension Installation {
    /// Runs a command on the database, and throws if it fails.
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

/// The server under measurement: it checks keys, writes its request log to a file, and responds to a click once the
/// click is on disk, unless it is started with `isDurable` false.
final class Server: Listener {
    let bench: Workbench
    let installation: Installation
    let figures: ProcessFigures
    let isEncrypted: Bool
    /// The seconds from before the process was started until it reported that it was ready.
    let secondsToReady: Double
    private let process: AfterlinkProcess
    private let logPath: String
    /// The database of the server, if it must exist until the server has stopped.
    private let database: AnyObject?

    var port: UInt16 { process.port }
    /// What the server has logged so far.
    var log: String { (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? "" }
    /// The key of an app's clients.
    var key: String { installation.keys.app }

    /// Starts the server and waits until it is ready.
    ///
    /// The server retains expired clicks for `retentionSeconds`, by default ten years; `extra` arguments come last. A
    /// `database` is released after the server has stopped.
    init(
        _ installation: Installation,
        _ bench: Workbench,
        retentionSeconds: Int = 315_360_000,
        certificate: CertificateFiles? = nil,
        isDurable: Bool = true,
        extra: [String] = [],
        on database: AnyObject? = nil
    ) throws {
        self.database = database
        (self.installation, self.bench, isEncrypted) = (installation, bench, certificate != nil)
        logPath = installation.folder.appending(path: "requests.log").path
        var arguments = [
            "--durability", isDurable ? "full" : "relaxed", "--threads", String(bench.options.workers),
            "--log-format", "json", "--log-file", logPath, "--limit-requests", "1000000",
            "--retention", String(retentionSeconds), "--trusted-proxy", "127.0.0.1/32",
        ]
        if bench.binary.knows("--rate-limit") { arguments += ["--rate-limit", "off"] }
        // Stored clicks may be some days old, although the clock is right.
        if bench.binary.knows("--accept-clock") { arguments.append("--accept-clock") }
        arguments += (certificate?.arguments ?? []) + extra
        let watch = Stopwatch()
        process = try AfterlinkProcess(installation, arguments, endsWithStarter: true)
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

    /// Stops the server gracefully, as an operator does.
    func stop() {
        if process.isRunning {
            process.terminate()
            process.waitUntilExit()
        }
        try? FileManager.default.removeItem(atPath: logPath)
    }

    /// Ends the process without a signal that it could handle.
    func kill() { process.kill() }

    /// The size of the write-ahead log's file in bytes; 0 if there is no file.
    func logBytes() -> Double {
        let path = installation.database.path + "-wal"
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.doubleValue ?? 0
    }

    /// Sends a request on a new connection, and returns the response; throws if its status is not `status`.
    func response(to request: String, status: Int = 200) throws -> RawClient.Answer {
        let client = try connect()
        client.send(request)
        return try client.answer().expecting(status)
    }

    /// Reads the metrics; repeats the request while the server is too busy right after a load.
    func metrics() throws -> PrometheusText {
        for _ in 0..<40 {
            let client = try connect()
            client.send(SampleRequests.get("/metrics", key: installation.keys.admin))
            let answer = try client.answer()
            if answer.status != 503 { return PrometheusText(try answer.expecting(200).body) }
            usleep(250_000)
        }
        throw BenchmarkError("The server is too busy to report its metrics.")
    }

    func connect() throws -> RawClient { try Self.connect(port, isEncrypted: isEncrypted) }

    private static func connect(_ port: UInt16, isEncrypted: Bool) throws -> RawClient {
        isEncrypted ? try RawClient(port: port, tls: TLSClientSettings()) : try RawClient(port: port)
    }
}

extension RawClient.Answer {
    /// Returns this response; throws if its status is not `status`.
    func expecting(_ status: Int) throws -> Self {
        guard self.status == status else {
            throw BenchmarkError("The server responds with \(self.status) instead of \(status): \(body)")
        }
        return self
    }
}

extension ProcessFigures {
    /// Returns what the kernel reports of the process; throws once the process is gone.
    func running(_ figure: KeyPath<ProcessFigures, Int>) throws -> Double {
        guard residentByteCount > 0 else { throw BenchmarkError("The process is gone.") }
        return Double(self[keyPath: figure])
    }

    /// Processor time used so far by the process and its running children, in hundredths of a second.
    var ticksWithChildren: Int { ([self] + children).reduce(0) { $0 + $1.processorTicks } }
}

extension PrometheusText {
    /// Returns how much a metric without labels has grown; throws when the server does not report it.
    func growth(of name: String, since earlier: PrometheusText) throws -> Double {
        guard let value = value(name), let before = earlier.value(name) else {
            throw BenchmarkError("/metrics has no \(name).")
        }
        return value - before
    }
}
