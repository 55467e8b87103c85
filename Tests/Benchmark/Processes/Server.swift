import Foundation
import HTTPServer
import Support
import Threads

/// The server under measurement: keys checked, request log on and written to a file, every click on disk before
/// its answer.
final class Server {
    let port: UInt16
    let installation: Installation
    let figures: ProcessFigures
    /// From the moment before it was started to its first answer that it is ready.
    private(set) var secondsToReady = 0.0
    private let process: ChildProcess
    private let logPath: String
    private let isEncrypted: Bool

    /// Starts it and waits until it is ready.
    ///
    /// Expired clicks are kept for `retentionSeconds`, by default ten years; `extra` arguments come behind the others.
    init(
        _ installation: Installation,
        _ bench: Workbench,
        retentionSeconds: Int = 315_360_000,
        certificate: Certificate? = nil,
        isDurable: Bool = true,
        extra: [String] = []
    ) throws {
        self.installation = installation
        isEncrypted = certificate != nil
        logPath = installation.folder + "/requests.log"
        port = try FreePort.find()
        var arguments = [
            "serve", "--listen", "127.0.0.1:\(port)", "--database", installation.database, "--durability",
            isDurable ? "full" : "relaxed",
            "--threads", String(bench.options.workers), "--log-format", "json", "--log-file", logPath,
            "--limit-requests", "1000000", "--retention", String(retentionSeconds),
            "--trusted-proxy", "127.0.0.1/32",
        ]
        if bench.binary.knows("--rate-limit") { arguments += ["--rate-limit", "off"] }
        if let certificate {
            arguments += ["--tls-certificate", certificate.certificatePath, "--tls-key", certificate.keyPath]
        }
        arguments += extra
        let errors = installation.folder + "/server.errors"
        let start = MonotonicTime.now()
        process = try ChildProcess(bench.binary.path, arguments, errors: errors)
        figures = ProcessFigures(of: process.identifier)
        try awaitReady(errors, since: start)
        secondsToReady = Double(MonotonicTime.now().nanoseconds(since: start)) / 1e9
    }

    deinit {
        stop()
    }

    /// Ends it as an operator does.
    func stop() {
        process.stop()
        try? FileManager.default.removeItem(atPath: logPath)
    }

    /// Ends it as a power switch would.
    func kill() {
        process.kill()
    }

    /// The size of the write-ahead log's file.
    func logBytes() -> Double {
        let path = installation.database + "-wal"
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.doubleValue ?? 0
    }

    /// An answer to one request on a connection of its own.
    func answer(_ request: String) throws -> RawClient.Answer {
        let client = try connect()
        client.send(request)
        return try client.answer()
    }

    func metrics() throws -> Metrics {
        Metrics(try answer(SampleRequests.get("/metrics", key: installation.keys.admin)).body)
    }

    func connect() throws -> RawClient {
        isEncrypted ? try RawClient(port: port, tls: TLSClientSettings()) : try RawClient(port: port)
    }

    private func awaitReady(_ errors: String, since start: MonotonicTime) throws {
        let end = start.advanced(by: .seconds(60))
        while MonotonicTime.now() < end, process.isRunning {
            if let client = try? connect() {
                client.send("GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                if try client.answer().status == 200 { return }
            }
            usleep(500)
        }
        let text = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
        throw BenchmarkError("The server did not become ready: \(text.suffix(500))")
    }
}
