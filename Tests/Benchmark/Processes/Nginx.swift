import Foundation
import Support

/// nginx that gives one static answer: the bytes that the server would give, as far as it can be told to.
final class Nginx {
    enum Log { case eachRequest, buffered }

    let port: UInt16
    let figures: ProcessFigures
    private let process: ChildProcess
    private let folder: String

    /// Starts it, to give one answer to everything.
    init(_ answer: StaticAnswer, _ bench: Workbench, log: Log = .eachRequest, certificate: Certificate? = nil)
        throws
    {
        folder = bench.folder.makeFolder("nginx")
        port = try FreePort.find()
        let configuration = Self.configuration(
            answer,
            folder: folder,
            port: port,
            workers: bench.options.workers,
            log: log,
            certificate: certificate
        )
        let path = folder + "/nginx.conf"
        try configuration.write(toFile: path, atomically: false, encoding: .utf8)
        process = try ChildProcess("nginx", ["-c", path, "-p", folder], errors: folder + "/errors")
        figures = ProcessFigures(of: process.identifier)
        try FreePort.waitUntilAnswered(port, by: process, log: folder + "/errors")
    }

    deinit {
        process.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static func configuration(
        _ answer: StaticAnswer,
        folder: String,
        port: UInt16,
        workers: Int,
        log: Log,
        certificate: Certificate?
    ) -> String {
        let fields = answer.fields.map { "add_header \($0.name) \"\($0.value)\";" }.joined(separator: "\n")
        let tls = certificate.map {
            "ssl_certificate \($0.certificatePath); ssl_certificate_key \($0.keyPath); ssl_protocols TLSv1.3;"
        }
        return """
            worker_processes \(workers);
            daemon off;
            pid \(folder)/pid;
            error_log \(folder)/error.log;
            events { worker_connections 4096; }
            http {
                access_log \(folder)/access.log\(log == .buffered ? " combined buffer=64k flush=1s" : "");
                server_tokens off;
                keepalive_requests 1000000;
                client_body_temp_path \(folder); proxy_temp_path \(folder); fastcgi_temp_path \(folder);
                uwsgi_temp_path \(folder); scgi_temp_path \(folder);
                server {
                    listen 127.0.0.1:\(port) reuseport backlog=4096 \(certificate == nil ? "" : "ssl");
                    \(tls ?? "")
                    default_type "\(answer.contentType)";
                    \(fields)
                    location / { return 200 '\(answer.body)'; }
                }
            }
            """
    }
}
