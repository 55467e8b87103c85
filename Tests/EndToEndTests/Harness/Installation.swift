import Foundation
import Support

/// A fresh folder with a database that `afterlink init` made, and the keys it printed.
final class Installation: Sendable {
    struct Keys: Decodable, Sendable {
        let app: String
        let server: String
        let test: String
        let admin: String
    }

    private struct Printed: Decodable {
        struct App: Decodable { let id: String }
        let app: App
        let keys: Keys
    }

    let folder: URL
    let appID: String
    let keys: Keys

    var database: URL { folder.appending(path: "afterlink.db") }

    /// The binary that was built together with the tests.
    static let binary: URL = {
        // The test runner lies beside the products of the same build.
        let runner = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        return runner.deletingLastPathComponent().appending(path: "afterlink")
    }()

    init() throws {
        folder = TemporaryFolder.fresh("afterlink")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let database = folder.appending(path: "afterlink.db")
        let output = try Self.run(["init", "--database", database.path, "--json"])
        guard output.status == 0 else {
            throw AfterlinkProcess.Failure(description: "init failed: \(output.errors)")
        }
        let printed = try JSONDecoder().decode(Printed.self, from: output.standardOutput)
        appID = printed.app.id
        keys = printed.keys
    }

    /// An empty folder; the server that starts in it first makes everything, with the keys of
    /// ``initialKeys``.
    init(unmadeWith keys: Keys) throws {
        folder = TemporaryFolder.fresh("afterlink")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        appID = ""
        self.keys = keys
    }

    /// Settings that bring the keys instead of making some.
    var initialKeys: [String: String] {
        ["AFTERLINK_INITIAL_APP_KEY": keys.app, "AFTERLINK_INITIAL_ADMIN_KEY": keys.admin]
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    struct Output {
        let status: Int32
        let standardOutput: Data
        let errors: String

        var text: String { String(decoding: standardOutput, as: UTF8.self) }
    }

    /// Runs a command of the binary, or of another program, to its end.
    static func run(
        _ arguments: [String],
        of program: URL = binary,
        environment: [String: String] = [:],
        in folder: String? = nil
    ) throws -> Output {
        let process = Process()
        if let folder { process.currentDirectoryURL = URL(filePath: folder) }
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return Output(status: process.terminationStatus, standardOutput: bytes, errors: text)
    }

    /// Runs a command on this installation's database.
    func run(_ arguments: [String]) throws -> Output {
        try Self.run(arguments + ["--database", database.path])
    }

    /// What the server wrote to its log.
    var log: String {
        (try? String(contentsOf: folder.appending(path: "server.log"), encoding: .utf8)) ?? ""
    }
}
