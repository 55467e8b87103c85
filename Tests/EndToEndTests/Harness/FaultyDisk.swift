import Foundation

/// A disk that fails on command: a library preloaded into the server, which makes the database's writes and
/// syncs fail or wait.
final class FaultyDisk {
    enum Fault {
        case none
        case noSpace
        case writeError
        case syncError
        case slowSync(milliseconds: Int)

        fileprivate var command: String {
            switch self {
            case .none: "0"
            case .noSpace: "F"
            case .writeError: "W"
            case .syncError: "S"
            case .slowSync(let milliseconds): "D\(milliseconds)"
            }
        }
    }

    /// What the server is to be started with.
    let environment: [String: String]
    private let command: FileHandle
    private static let commandLength = 64

    init(in folder: URL) throws {
        let library = folder.appending(path: "faults.so")
        let source = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Faults/faults.c")
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        compiler.arguments = ["gcc", "-shared", "-fPIC", "-O1", "-o", library.path, source.path, "-ldl"]
        try compiler.run()
        compiler.waitUntilExit()
        guard compiler.terminationStatus == 0 else {
            throw AfterlinkProcess.Failure(description: "gcc could not build the fault library")
        }
        let file = folder.appending(path: "faults")
        try Data(repeating: 0x30, count: Self.commandLength).write(to: file)
        command = try FileHandle(forWritingTo: file)
        environment = ["LD_PRELOAD": library.path, "AFTERLINK_FAULTS": file.path]
    }

    /// From now on, at once: the server reads the command through shared memory.
    func set(_ fault: Fault) throws {
        let text = fault.command.padding(toLength: Self.commandLength, withPad: "\0", startingAt: 0)
        try command.seek(toOffset: 0)
        try command.write(contentsOf: Data(text.utf8))
    }
}
