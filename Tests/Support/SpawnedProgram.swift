internal import CSpawn
public import Foundation
internal import Synchronization

/// A program that this process has started, and whose end a thread awaits.
///
/// Foundation's `Process` is not used: before it starts a program, it lists `/proc/self/fd`, and copies the last entry
/// with the maximum length of an entry. These tests have so many descriptors that the copy can read beyond the heap,
/// which ends the tests.
public final class SpawnedProgram: Sendable {
    /// Where one of the first three descriptors of the program leads.
    public enum Stream {
        /// To `/dev/null`.
        case none
        /// To a file, to which the program appends.
        case file(String)
        /// To an end of a pipe, which this process closes when the program has it.
        case pipe(FileHandle)
    }

    public let identifier: Int32
    private let status = Mutex<Int32?>(nil)
    private let end = DispatchGroup()

    /// Starts a program, which gets no other descriptors than its three streams.
    ///
    /// - Parameters:
    ///   - program: the program's file.
    ///   - arguments: the program's arguments.
    ///   - environment: variables in addition to those of this process.
    ///   - folder: the program's current folder; nil for the current folder of this process.
    ///   - streams: the program's input, output and errors.
    /// - Throws: ``ChildProcess/Failure`` if the program cannot be started.
    public init(
        _ program: URL,
        _ arguments: [String],
        environment: [String: String] = [:],
        in folder: String? = nil,
        _ streams: (input: Stream, output: Stream, errors: Stream)
    ) throws {
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        // The list is initialized before its use and destroyed after it. The calls copy the paths that they get, and
        // `posix_spawn` keeps no pointer after it returns.
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let folder { unsafe posix_spawn_file_actions_addchdir_np(&actions, folder) }
        for (number, stream) in [streams.input, streams.output, streams.errors].enumerated() {
            let number = Int32(number)
            switch stream {
            case .none: unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
            case .file(let path):
                let flags = O_WRONLY | O_APPEND | O_CREAT
                unsafe posix_spawn_file_actions_addopen(&actions, number, path, flags, 0o644)
            case .pipe(let end):
                unsafe posix_spawn_file_actions_adddup2(&actions, end.fileDescriptor, number)
            }
        }
        unsafe posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        var identifier: Int32 = 0
        let words = [program.path] + arguments
        let result = unsafe Self.withPointers(words) { words in
            unsafe Self.withPointers(variables.map { "\($0)=\($1)" }) { variables in
                unsafe posix_spawn(&identifier, program.path, &actions, nil, words, variables)
            }
        }
        guard result == 0 else {
            throw ChildProcess.Failure(description: "\(program.path) does not start: error \(result)")
        }
        self.identifier = identifier
        for case .pipe(let end) in [streams.input, streams.output, streams.errors] { try end.close() }
        awaitEnd()
    }

    /// Calls a function with a list of C strings that ends with a null pointer.
    private static func withPointers(
        _ texts: [String],
        _ call: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Int32
    ) -> Int32 {
        // The copies are released after the call, which does not keep them.
        let copies = unsafe texts.map { unsafe strdup($0) } + [nil]
        defer { unsafe copies.forEach { unsafe free($0) } }
        return unsafe call(copies)
    }

    /// A child must be awaited soon after its end: until then, swift-testing's exit tests, which wait for any child
    /// process, see it again and again.
    private func awaitEnd() {
        end.enter()
        Thread.detachNewThread { [self] in
            var result: Int32 = 0
            // The call fills the local value.
            while unsafe waitpid(identifier, &result, 0) < 0, errno == EINTR {}
            // As the macros of wait(2): the lowest seven bits are the signal, the next byte the exit status.
            let signal = result & 0x7f
            status.withLock { $0 = signal == 0 ? result >> 8 & 0xff : -signal }
            end.leave()
        }
    }

    public var isRunning: Bool { status.withLock { $0 == nil } }

    public func send(_ signal: Int32) { _ = Foundation.kill(identifier, signal) }

    /// - Returns: the exit status, or the negative number of the signal that ended the program.
    @discardableResult
    public func waitUntilExit() -> Int32 {
        end.wait()
        return status.withLock { $0 } ?? 0
    }
}
