import Foundation
import HTTPServer
import Support
import Testing
import Threads

/// A process of `EchoServer`, this package's test program, on a free port.
final class EchoProcess {
    let port: UInt16
    private let process: ChildProcess
    /// The folder with the certificate; nil without TLS.
    private var folder: TemporaryFolder?

    /// Starts the process and waits until it listens.
    init(
        descriptorLimit: Int? = nil,
        environment: [String: String] = [:],
        certificate: TestCertificate? = nil
    ) throws {
        let programs = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let limit = descriptorLimit.map { "ulimit -n \($0); " } ?? ""
        var arguments = [
            "-c", "\(limit)exec \"$0\" --listen 127.0.0.1:0 --loops 2 \"$@\"",
            programs.appending(path: "EchoServer").path,
        ]
        if let certificate {
            let folder = try TemporaryFolder()
            self.folder = folder
            let files = (certificate: folder.file("certificate.pem"), key: folder.file("key.pem"))
            try Data(certificate.certificate).write(to: URL(filePath: files.certificate))
            try Data(certificate.key).write(to: URL(filePath: files.key))
            arguments += ["--tls-certificate", files.certificate, "--tls-key", files.key]
        }
        process = try ChildProcess(URL(filePath: "/bin/sh"), arguments, environment: environment)
        let line = process.line(containing: ":")
        port = try #require(line?.split(separator: ":").last.flatMap { UInt16($0) })
    }

    var identifier: Int32 { process.identifier }
    /// The system's figures about the process.
    var figures: ProcessFigures { ProcessFigures(of: identifier) }

    /// Sends requests on an open connection for a second.
    ///
    /// - Returns: the processor time that the process used meanwhile, in hundredths of a second.
    func ticksOfServing(_ client: RawClient) throws -> Int {
        let before = figures.processorTicks
        let start = MonotonicTime.now()
        while MonotonicTime.now().nanoseconds(since: start) < 1_000_000_000 {
            #expect(try client.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status == 200)
            _ = client.isSilent(milliseconds: 50)
        }
        return figures.processorTicks - before
    }

    func send(_ signal: Int32) { process.send(signal) }

    func exitStatus() -> Int32 { process.waitUntilExit() }

    func kill() { process.kill() }
}
