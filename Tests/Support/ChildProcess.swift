public import Foundation
internal import Synchronization

/// A child process whose standard output tests can read; it is killed when this value is released.
public final class ChildProcess: Sendable {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String

        public init(description: String) { self.description = description }
    }

    private let program: SpawnedProgram
    private let output: Mutex<FileHandle>
    public var identifier: Int32 { program.identifier }

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
        let pipe = Pipe()
        self.program = try SpawnedProgram(
            endsWithStarter ? URL(filePath: "/usr/bin/setpriv") : program,
            (endsWithStarter ? ["--pdeathsig", "TERM", program.path] : []) + arguments,
            environment: environment,
            (.none, .pipe(pipe.fileHandleForWriting), errorLog.map { .file($0.path) } ?? .none)
        )
        output = Mutex(pipe.fileHandleForReading)
    }

    deinit { kill() }

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

    public var isRunning: Bool { program.isRunning }

    public func send(_ signal: Int32) { program.send(signal) }

    /// Ends the program at once, without a signal that it could handle, and waits until it is gone.
    public func kill() {
        guard isRunning else { return }
        send(SIGKILL)
        program.waitUntilExit()
    }

    /// - Returns: the exit status, or the negative number of the signal that ended the program.
    @discardableResult
    public func waitUntilExit() -> Int32 { program.waitUntilExit() }
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
        let output = Pipe()
        // A file, and not a second pipe: a program that fills one pipe would wait while the other one is read.
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = try SpawnedProgram(
            program,
            arguments,
            environment: environment,
            in: folder,
            (.none, .pipe(output.fileHandleForWriting), .file(file.path))
        )
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        let status = process.waitUntilExit()
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        return Output(status: status, standardOutput: bytes, errors: text)
    }
}
