import Foundation
import HTTPServer
import Support
import Testing
import Threads

/// An EchoServer of its own process, on a free port.
final class EchoProcess {
    let port: UInt16
    private let process = Process()
    /// Holds the certificate, if there is one.
    private var folder: TemporaryFolder?

    /// Starts it and waits until it listens.
    init(
        descriptorLimit: Int? = nil,
        environment: [String: String] = [:],
        certificate: TestCertificate? = nil
    ) throws {
        let programs = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let limit = descriptorLimit.map { "ulimit -n \($0); " } ?? ""
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "\(limit)exec \"$0\" --listen 127.0.0.1:0 --loops 2 \"$@\"",
            programs.appending(path: "EchoServer").path,
        ]
        if let certificate {
            let folder = try TemporaryFolder()
            self.folder = folder
            let files = (certificate: folder.file("certificate.pem"), key: folder.file("key.pem"))
            try Data(certificate.certificate).write(to: URL(filePath: files.certificate))
            try Data(certificate.key).write(to: URL(filePath: files.key))
            process.arguments? += ["--tls-certificate", files.certificate, "--tls-key", files.key]
        }
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        port = try #require(line.split(separator: ":").last.flatMap { UInt16($0.dropLast()) })
    }

    /// What the system says of it.
    var figures: ProcessFigures {
        ProcessFigures(of: process.processIdentifier)
    }

    /// Asks on an established connection for a second.
    ///
    /// - Returns: the processor time that passed meanwhile, in hundredths of a second.
    func ticksOfServing(_ client: RawClient) throws -> Int {
        let before = figures.processorTicks
        let start = MonotonicTime.now()
        while MonotonicTime.now().nanoseconds(since: start) < 1_000_000_000 {
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.answer().status == 200)
            _ = client.isSilent(milliseconds: 50)
        }
        return figures.processorTicks - before
    }

    func send(_ signal: Int32) {
        _ = Foundation.kill(process.processIdentifier, signal)
    }

    func exitStatus() -> Int32 {
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : -1
    }

    func kill() {
        guard process.isRunning else { return }
        send(SIGKILL)
        process.waitUntilExit()
    }
}
