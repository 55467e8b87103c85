public import Foundation
internal import Synchronization

/// A child process whose standard output tests can read; it is killed when this value is released.
public final class ChildProcess: Sendable {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String

        public init(description: String) { self.description = description }
    }

    private let process: Mutex<Process>
    private let output: Mutex<FileHandle>
    public let identifier: Int32

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - program: the program's file.
    ///   - arguments: the program's arguments.
    ///   - environment: variables in addition to those of this process.
    ///   - errorLog: the file to which the program's standard error is appended; nil drops the standard error.
    ///   - endsWithStarter: whether the kernel ends the program when the thread that started it ends (prctl(2),
    ///     PR_SET_PDEATHSIG). Set it only in a program whose main thread starts all child processes.
    /// - Throws: when the program cannot be started.
    public init(
        _ program: URL,
        _ arguments: [String],
        environment: [String: String] = [:],
        errorLog: URL? = nil,
        endsWithStarter: Bool = false
    ) throws {
        let process = Process()
        process.executableURL = endsWithStarter ? URL(filePath: "/usr/bin/setpriv") : program
        process.arguments = endsWithStarter ? ["--pdeathsig", "TERM", program.path] + arguments : arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = try errorLog.map(Self.openForAppending) ?? FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        identifier = process.processIdentifier
        output = Mutex(pipe.fileHandleForReading)
        self.process = Mutex(process)
    }

    deinit { kill() }

    private static func openForAppending(_ file: URL) throws -> FileHandle {
        if !FileManager.default.fileExists(atPath: file.path) {
            _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        }
        let log = try FileHandle(forWritingTo: file)
        try log.seekToEnd()
        return log
    }

    /// Returns the next line of standard output that contains the text; nil when the output ends first.
    public func line(containing text: String) -> String? { lines(through: text)?.last }

    /// Returns the next lines of standard output up to one that contains the text; nil when the output ends first.
    public func lines(through text: String) -> [String]? {
        output.withLock { output in
            var (lines, line): ([String], [UInt8]) = ([], [])
            while let byte = try? output.read(upToCount: 1), let first = byte.first {
                guard first == UInt8(ascii: "\n") else {
                    line.append(first)
                    continue
                }
                lines.append(String(decoding: line, as: UTF8.self))
                if lines.last?.contains(text) == true { return lines }
                line.removeAll()
            }
            return nil
        }
    }

    /// Returns all further output of the program, up to its end.
    public func remainingOutput() throws -> Data { try output.withLock { try $0.readToEnd() ?? Data() } }

    public var isRunning: Bool { process.withLock(\.isRunning) }

    public func send(_ signal: Int32) { _ = Foundation.kill(identifier, signal) }

    /// Ends the program at once, without a signal that it could handle, and waits until it is gone.
    public func kill() {
        process.withLock { process in
            guard process.isRunning else { return }
            send(SIGKILL)
            process.waitUntilExit()
        }
    }

    /// - Returns: the exit status, or the negative number of the signal that ended the program.
    @discardableResult
    public func waitUntilExit() -> Int32 {
        process.withLock { process in
            process.waitUntilExit()
            return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        }
    }
}

extension ChildProcess {
    /// The exit status and the output of a program; for a signal, the status is its negative number.
    public struct Output: Sendable {
        public let status: Int32
        public let standardOutput: Data
        public let errors: String

        public var text: String { String(decoding: standardOutput, as: UTF8.self) }
    }

    /// Runs a program to its end, by default in the current folder of this process.
    public static func run(
        _ program: URL,
        _ arguments: [String],
        environment: [String: String] = [:],
        in folder: String? = nil
    ) throws -> Output {
        let process = Process()
        if let folder { process.currentDirectoryURL = URL(filePath: folder) }
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        // A file, and not a second pipe: a program that fills one pipe would wait while the other one is read.
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: file)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let status = process.terminationStatus
        let signed = process.terminationReason == .exit ? status : -status
        return Output(status: signed, standardOutput: bytes, errors: text)
    }
}
