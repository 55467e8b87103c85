import Foundation
import Glibc

/// A program that runs beside this one and does not outlive it.
final class ChildProcess {
    private let process = Process()
    private let output = Pipe()

    var identifier: Int32 { process.processIdentifier }
    var isRunning: Bool { process.isRunning }

    /// Starts the program; its standard error goes to the file `errors`, or nowhere.
    init(_ program: String, _ arguments: [String], errors: String? = nil) throws {
        // The kernel ends the child when this process ends, however that comes about. It goes by the thread that
        // starts it: always the main one.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["setpriv", "--pdeathsig", "TERM", program] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = try errors.map(Self.emptyFile) ?? FileHandle.nullDevice
        try process.run()
        Interruption.add(identifier)
    }

    deinit {
        kill()
    }

    /// Its standard output, once it has ended well.
    static func output(_ program: String, _ arguments: [String]) throws -> String {
        let log = FileManager.default.temporaryDirectory.appending(path: "benchmark-\(getpid())-errors").path
        defer { try? FileManager.default.removeItem(atPath: log) }
        let child = try ChildProcess(program, arguments, errors: log)
        let text = child.rest()
        let status = child.waitUntilExit()
        guard status == 0 else {
            let errors = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            throw BenchmarkError(
                "\(program) ended with status \(status): \(errors.suffix(500)) \(text.suffix(500))"
            )
        }
        return text.trimmingCharacters(in: .newlines)
    }

    /// All that the child still writes, up to its end.
    func rest() -> String {
        let bytes = try? output.fileHandleForReading.readToEnd()
        return String(decoding: bytes ?? Data(), as: UTF8.self)
    }

    /// The next line of its standard output that holds a text; nil when there is none up to its end.
    func line(containing text: String) -> String? {
        var line: [UInt8] = []
        while let byte = try? output.fileHandleForReading.read(upToCount: 1)?.first {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            let found = String(decoding: line, as: UTF8.self)
            if found.contains(text) { return found }
            line = []
        }
        return nil
    }

    /// Asks it to end, and waits until it has.
    func stop() {
        guard process.isRunning else { return }
        Glibc.kill(identifier, SIGTERM)
        waitUntilExit()
    }

    /// Ends it at once.
    func kill() {
        guard process.isRunning else { return }
        Glibc.kill(identifier, SIGKILL)
        waitUntilExit()
    }

    @discardableResult
    func waitUntilExit() -> Int32 {
        process.waitUntilExit()
        Interruption.remove(identifier)
        return process.terminationStatus
    }

    private static func emptyFile(_ path: String) throws -> FileHandle {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        return try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }
}
