import Foundation
import Glibc
import Support

/// nginx with one static response, which equals the server's as far as nginx's configuration allows.
final class Nginx: Listener {
    enum Log { case eachRequest, buffered }

    let bench: Workbench
    let port: UInt16
    let figures: ProcessFigures
    let isEncrypted: Bool
    private let process: ChildProcess
    private let folder: URL
    /// The fields that nginx writes by itself.
    private static let ownFields: Set = ["date", "content-length", "content-type", "server", "connection"]

    /// Starts nginx so that it sends one response to every request.
    init(
        _ response: RawClient.Answer,
        _ bench: Workbench,
        log: Log = .eachRequest,
        certificate: CertificateFiles? = nil
    ) throws {
        (self.bench, isEncrypted, folder) = (bench, certificate != nil, bench.folder.makeFolder("nginx"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        guard let port = Loopback.freePort() else { throw BenchmarkError("No port is free.") }
        self.port = port
        let fields = response.fields.compactMap { line -> String? in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, !Self.ownFields.contains(parts[0].lowercased()) else { return nil }
            return "add_header \(parts[0]) \"\(parts[1].drop { $0 == " " })\";"
        }
        let tls = certificate.map {
            "ssl_certificate \($0.certificate); ssl_certificate_key \($0.key); ssl_protocols TLSv1.3;"
        }
        let path = folder.path
        let configuration = """
            worker_processes \(bench.options.workers);
            daemon off;
            pid \(path)/pid;
            error_log \(path)/error.log;
            events { worker_connections 4096; }
            http {
                access_log \(path)/access.log\(log == .buffered ? " combined buffer=64k flush=1s" : "");
                server_tokens off;
                keepalive_requests 1000000;
                client_body_temp_path \(path); proxy_temp_path \(path); fastcgi_temp_path \(path);
                uwsgi_temp_path \(path); scgi_temp_path \(path);
                server {
                    listen 127.0.0.1:\(port) reuseport backlog=4096 \(certificate == nil ? "" : "ssl");
                    \(tls ?? "")
                    default_type "\(response.field("content-type") ?? "text/plain")";
                    \(fields.joined(separator: "\n"))
                    location / { return 200 '\(response.body)'; }
                }
            }
            """
        let file = folder.appending(path: "nginx.conf")
        try configuration.write(to: file, atomically: false, encoding: .utf8)
        let errors = folder.appending(path: "errors")
        let (program, arguments) = (URL(filePath: "/usr/bin/env"), ["nginx", "-c", file.path, "-p", path])
        process = try ChildProcess(program, arguments, errorLog: errors, endsWithStarter: true)
        figures = ProcessFigures(of: process.identifier)
        let isListening = try Polling.until {
            guard process.isRunning else {
                throw BenchmarkError("nginx: \(try String(contentsOf: errors, encoding: .utf8))")
            }
            return (try? RawClient(port: port)) != nil
        }
        guard isListening else { throw BenchmarkError("nginx does not accept connections.") }
    }

    deinit {
        process.send(SIGTERM)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Returns the versions of nginx and of wrk; throws when one is not installed.
    static func referenceVersions() throws -> [String] {
        let commands = ["nginx": "nginx -v 2>&1", "wrk": "wrk -v 2>&1 | head -n 1 | cut -d' ' -f1,2"]
        return try commands.sorted(by: <).map { name, command in
            let script = "command -v \(name) >/dev/null && \(command)"
            let output = try ExternalProgram.run("sh", ["-c", script], statuses: [0, 1, 127])
            guard !output.isEmpty else {
                throw BenchmarkError("\(name) not found: run Tests/Benchmark/install-yardsticks first.")
            }
            return String(decoding: output, as: UTF8.self)
                .replacingOccurrences(of: "nginx version: ", with: "")
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }
}
