import Foundation
import SQLite
import Support
import Testing

/// The client library of a test app: the Swift library or the Java core.
///
/// Tests start the app as a process of its own.
enum ClientKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case swift
    case java

    var testDescription: String { rawValue }

    /// The kinds that this machine can run.
    static let available: [ClientKind] = JavaCore.isAvailable ? [.swift, .java] : [.swift]
}

/// One installation of the app.
final class ClientApp: Sendable {
    let kind: ClientKind
    let folder: TemporaryFolder
    let server: String
    let key: String

    init(_ kind: ClientKind = .swift, server: String, key: String = "app_test") throws {
        (self.kind, self.server, self.key, folder) = (kind, server, key, try TemporaryFolder())
    }

    var stateFolder: String { folder.file("state") }
    var state: String { (try? String(contentsOfFile: stateFolder + "/state.json", encoding: .utf8)) ?? "" }
    /// The number of launches that sent a request.
    var launchCount: Int { Int(number("launches") ?? 0) }

    /// When the server permits the next request, by the client's clock; nil for at once.
    var pauseEnd: Date? {
        number("notBefore").map {
            kind == .swift
                ? Date(timeIntervalSinceReferenceDate: $0) : Date(timeIntervalSince1970: $0 / 1000)
        }
    }

    private func number(_ name: String) -> Double? {
        let object = try? JSONSerialization.jsonObject(with: Data(state.utf8)) as? [String: Any]
        return object?[name] as? Double
    }

    /// What a launch printed.
    struct Launch: Sendable {
        let lines: [String]
        let status: Int32
        let errors: String

        func line(_ name: String) -> String? { lines.first { $0.hasPrefix(name + " ") || $0 == name } }

        var steps: Int { line("steps").flatMap { Int($0.dropFirst(6)) } ?? 0 }
        var seconds: Double { line("seconds").flatMap { Double($0.dropFirst(8)) } ?? .infinity }
        /// The number of times that the app got the link.
        var deliveries: Int { lines.filter { $0.hasPrefix("match ") || $0.hasPrefix("link ") }.count }
        var first: String? { lines.first { !$0.hasPrefix("Afterlink:") } }
    }

    /// Launches the app, and waits for its end.
    ///
    /// - Parameters:
    ///   - arguments: further arguments of `ClientProcess`, after the server, the key and the folder.
    ///   - server: another server than the installation's.
    ///   - fileLimit: the largest size of a file, in blocks of 1024 bytes; nil for no limit.
    /// - Returns: what the app printed.
    /// - Throws: when the app cannot be started.
    func launch(_ arguments: String..., server: String? = nil, fileLimit: Int? = nil) throws -> Launch {
        let (program, ownArguments) = try command(server: server ?? self.server)
        let all = ownArguments + arguments
        let output =
            if let fileLimit {
                try ChildProcess.run(
                    URL(filePath: "/bin/bash"),
                    ["-c", "trap '' XFSZ; ulimit -f \(fileLimit); exec \"$0\" \"$@\"", program.path] + all
                )
            } else {
                try ChildProcess.run(program, all)
            }
        let lines = output.text.split(separator: "\n").map(String.init)
        return Launch(lines: lines, status: output.status, errors: output.errors)
    }

    /// Starts the app, without waiting for its end.
    func start(_ arguments: String...) throws -> ChildProcess { try start(arguments) }

    private func start(_ arguments: [String]) throws -> ChildProcess {
        let (program, ownArguments) = try command(server: server)
        return try ChildProcess(program, ownArguments + arguments)
    }

    /// Launches the app, ends it once a condition holds, and expects that it has no result by then.
    func launch(_ arguments: String..., until condition: () throws -> Bool) throws {
        let process = try start(["within=600"] + arguments)
        let isFulfilled = try Polling.until(condition)
        process.kill()
        let output = String(decoding: try process.remainingOutput(), as: UTF8.self)
        #expect(isFulfilled && output.isEmpty, "\(output) \(state)")
    }

    private func command(server: String) throws -> (URL, [String]) {
        let named = ["server=\(server)", "key=\(key)", "folder=\(stateFolder)"]
        switch kind {
        case .swift:
            let binary = Installation.binary.deletingLastPathComponent().appending(path: "ClientProcess")
            return (binary, named)
        case .java: return (URL(filePath: "/usr/bin/env"), try JavaCore.command.get() + named)
        }
    }
}

/// The Java core, compiled together with the program that runs it.
enum JavaCore {
    static let isAvailable = FileManager.default.isExecutableFile(atPath: "/usr/bin/javac")

    /// The arguments of `env` that run the program.
    static let command = Result {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
        let sources = tests.appending(path: "../../Sources/AfterlinkClient/Android").standardizedFileURL
        let classes = TemporaryFolder.place.appending(
            path: "afterlink-java-\(ProcessInfo.processInfo.processIdentifier)"
        )
        try FileManager.default.createDirectory(at: classes, withIntermediateDirectories: true)
        let files = [
            sources.appending(path: "AfterlinkCore.java"), tests.appending(path: "Java/ClientMain.java"),
        ]
        _ = try ExternalProgram.run(
            "javac",
            ["--release", "8", "-Xlint:all,-options", "-Werror", "-d", classes.path] + files.map(\.path)
        )
        // A launch is short, so a small heap and only the first, fast compiler are best.
        return [
            "java", "-XX:-UsePerfData", "-XX:TieredStopAtLevel=1", "-Xmx64m", "-cp", classes.path,
            "ClientMain",
        ]
    }
}

/// The real server with an app.
final class RealServer: Sendable {
    let installation: Installation
    let process: AfterlinkProcess

    init() throws {
        installation = try Installation()
        process = try AfterlinkProcess(installation)
    }

    var url: String { "http://127.0.0.1:\(process.port)" }

    /// Records a click on a link of the app, and returns the click's token.
    func click(_ campaign: String, query: String = "") async throws -> String {
        struct Answer: Decodable { let token: String }
        let fingerprint = (0..<8).map { _ in String(format: "%08x", UInt32.random(in: 0 ... .max)) }.joined()
        let body = [
            "fingerprint": fingerprint, "deeplink_url": "myapp://promo/\(campaign)", "campaign_key": campaign,
            "query": query,
        ]
        let data = try await post("/v1/deferred-deeplink/click", body, key: installation.keys.server)
        return try JSONDecoder().decode(Answer.self, from: data).token
    }

    func post(_ path: String, _ body: [String: String], key: String) async throws -> Data {
        try await TestRequest.post(url + path, try JSONEncoder().encode(body), key: key)
    }

    /// The number of claims, one for each click that was matched.
    func claimCount() throws -> Int64 { try installation.open().integer("SELECT count(*) FROM claims") }
}
