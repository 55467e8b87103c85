import Foundation
import Support
import Synchronization

/// The built binary as a running server, on a database of its own.
final class AfterlinkProcess: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let port: UInt16
    private let process: RunningProcess

    var identifier: Int32 { process.identifier }

    /// Starts `afterlink serve` and waits until it says that it listens.
    init(_ installation: Installation, _ arguments: [String] = [], environment: [String: String] = [:]) throws
    {
        let all = ["serve", "--listen", "127.0.0.1:0", "--database", installation.database.path] + arguments
        process = try RunningProcess(
            Installation.binary,
            all,
            environment: environment,
            errorLog: installation.folder.appending(path: "server.log")
        )
        guard let line = process.line(containing: "listening on http"),
            let port = line.split(separator: ":").last.flatMap({ UInt16($0) })
        else {
            process.kill()
            let log =
                (try? String(contentsOf: installation.folder.appending(path: "server.log"), encoding: .utf8))
                ?? ""
            throw Failure(description: "the server did not start: \(log.suffix(2000))")
        }
        self.port = port
    }

    deinit {
        process.kill()
    }

    /// Ends the process as a power switch would: at once, nothing told.
    func kill() {
        process.kill()
    }

    /// Asks for a graceful stop, without waiting.
    func terminate(with signal: Int32 = SIGTERM) {
        process.send(signal)
    }

    /// - Returns: the exit status.
    func waitUntilExit() -> Int32 {
        process.waitUntilExit()
    }

    /// - Returns: the exit status; nil where it has not ended in time.
    func exitStatus(withinSeconds limit: Int) -> Int32? {
        let end = ContinuousClock.now + .seconds(limit)
        _ = Polling.until { !isRunning || ContinuousClock.now > end }
        return isRunning ? nil : waitUntilExit()
    }

    var isRunning: Bool { process.isRunning }

    func connect() throws -> HTTPTestClient {
        try HTTPTestClient(port: port)
    }

    func connect(tls settings: TLSClientSettings) throws -> HTTPTestClient {
        try HTTPTestClient(port: port, tls: settings)
    }
}

/// A child process whose standard output is read line by line.
final class RunningProcess: Sendable {
    private let process: Mutex<Process>
    private let output: Mutex<FileHandle>
    let identifier: Int32

    init(_ binary: URL, _ arguments: [String], environment: [String: String] = [:], errorLog: URL) throws {
        let process = Process()
        process.executableURL = binary
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        if !FileManager.default.fileExists(atPath: errorLog.path) {
            _ = FileManager.default.createFile(atPath: errorLog.path, contents: nil)
        }
        let log = try FileHandle(forWritingTo: errorLog)
        try log.seekToEnd()
        process.standardError = log
        process.standardInput = FileHandle.nullDevice
        try process.run()
        identifier = process.processIdentifier
        output = Mutex(pipe.fileHandleForReading)
        self.process = Mutex(process)
    }

    /// Reads standard output until a line holds the text; nil when the output ends before.
    func line(containing text: String) -> String? {
        output.withLock { output in
            var line: [UInt8] = []
            while let byte = try? output.read(upToCount: 1), let first = byte.first {
                guard first == UInt8(ascii: "\n") else {
                    line.append(first)
                    continue
                }
                let read = String(decoding: line, as: UTF8.self)
                if read.contains(text) { return read }
                line.removeAll()
            }
            return nil
        }
    }

    func send(_ signal: Int32) {
        _ = Glibc.kill(identifier, signal)
    }

    var isRunning: Bool { process.withLock(\.isRunning) }

    func kill() {
        process.withLock { process in
            guard process.isRunning else { return }
            send(SIGKILL)
            process.waitUntilExit()
        }
    }

    func waitUntilExit() -> Int32 {
        process.withLock { process in
            process.waitUntilExit()
            return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        }
    }
}
