import Foundation
import Support
import Synchronization

/// Debian's Chromium without a window, told what to do through its DevTools pipe.
///
/// Best the one that is made without windows, `chromium-headless-shell`: it has a quarter of the work.
///
/// Messages are JSON documents, each ended by a zero byte, on the browser's descriptors 3 and 4. Source: Chromium's
/// `--remote-debugging-pipe`, and the DevTools Protocol, chromedevtools.github.io/devtools-protocol.
final class Chromium: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// What it is called where tests run that bring another one.
    static let variable = "AFTERLINK_TEST_BROWSER"

    private let state: Mutex<DevToolsPipe>
    private let profile: TemporaryFolder
    let identifier: Int32

    /// Starts it with an empty profile.
    ///
    /// - Parameters:
    ///   - hosts: names that are taken for this machine; all others lead nowhere.
    ///   - port: at which all of them answer.
    ///   - program: its path, or its name as the shell finds it; nil for the usual one.
    /// - Throws: ``Failure`` where there is none, or where it does not speak.
    init(hosts: [String], port: UInt16, program: String? = nil) throws {
        profile = try TemporaryFolder()
        let named = program ?? ProcessInfo.processInfo.environment[Self.variable]
        let program = try Self.path(of: named.map { [$0] } ?? Self.programs)
        let rules = hosts.map { "MAP \($0) 127.0.0.1:\(port)" } + ["MAP * ~NOTFOUND"]
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        // Foundation gives a child the first three descriptors alone.
        process.arguments =
            ["-c", #"exec "$@" 3<&0 4>&1 </dev/null >/dev/null"#, "sh", program]
            + Self.options(profile: profile.file("profile"), rules: rules)
        // Crash reports, caches and the like go where they are deleted.
        process.environment = ProcessInfo.processInfo.environment.merging(["HOME": profile.path]) { $1 }
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        let log = profile.file("log")
        try Data().write(to: URL(filePath: log))
        process.standardError = try FileHandle(forWritingTo: URL(filePath: log))
        // A browser that is gone is told by the end of its pipe.
        _ = signal(SIGPIPE, SIG_IGN)
        try process.run()
        identifier = process.processIdentifier
        state = Mutex(
            DevToolsPipe(
                process,
                input: input.fileHandleForWriting,
                output: output.fileHandleForReading,
                log: log
            )
        )
        _ = try call("Browser.getVersion")
    }

    deinit { close() }

    private static func options(profile: String, rules: [String]) -> [String] {
        [
            "--headless=new", "--remote-debugging-pipe", "--user-data-dir=\(profile)",
            // Its sandbox needs rights that containers do not give; it opens nothing here but our own pages.
            "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-crash-reporter",
            "--disable-breakpad", "--disable-sync", "--disable-extensions",
            // Pages of public hosts may ask this machine: all hosts are this machine.
            "--disable-features=LocalNetworkAccessChecks",
            "--ignore-certificate-errors", "--host-resolver-rules=\(rules.joined(separator: ", "))",
        ]
    }

    private static let programs = ["chromium-headless-shell", "chromium"]

    /// Whether there is one to be tried, or should be: Ubuntu has no package of it.
    static var isThere: Bool {
        ProcessInfo.processInfo.environment[variable] != nil || (try? path(of: programs)) != nil
    }

    /// Where the first of some programs lies that is there; a name is looked for where the shell looks.
    private static func path(of programs: [String]) throws -> String {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let places = programs.flatMap { program in
            program.contains("/") ? [program] : folders.map { "\($0)/\(program)" }
        }
        if let place = places.first(where: FileManager.default.isExecutableFile) { return place }
        throw Failure(
            description: "there is no \(programs.joined(separator: " and no ")): the README's test command "
                + "installs what the tests need; another Chromium is named by \(variable)"
        )
    }

    /// Sends a command and waits for what it gives back.
    @discardableResult
    func call(_ method: String, _ parameters: [String: Any] = [:], in session: String? = nil) throws
        -> DevToolsMessage
    {
        try state.withLock { pipe in
            let id = try pipe.send(method, parameters, in: session)
            while true {
                if let reply = pipe.takeReply(to: id) {
                    guard let problem = reply.string("error", "message") else { return reply }
                    throw Failure(description: "\(method): \(problem)")
                }
                try pipe.receive()
            }
        }
    }

    /// The first event of a session's for which a condition holds, waited for if need be.
    func event(of session: String, where isMeant: (DevToolsMessage) -> Bool) throws -> DevToolsMessage {
        try state.withLock { pipe in
            var seen = 0
            while true {
                let events = pipe.events[session] ?? []
                if let event = events[seen...].first(where: isMeant) { return event }
                seen = events.count
                try pipe.receive(for: session)
            }
        }
    }

    /// What has happened in a session so far.
    func events(of session: String) -> [DevToolsMessage] { state.withLock { $0.events[session] ?? [] } }

    /// Says what requests of a session get whose addresses begin so, instead of what the network has.
    func answer(_ pages: [String: OutsidePage], in session: String) {
        state.withLock { $0.pages[session] = pages }
    }

    /// Forgets a session that is over.
    func forget(_ session: String) { state.withLock { $0.forget(session) } }

    /// Where it keeps all that it keeps.
    var profilePath: String { profile.path }

    /// Ends it with all its processes, and deletes its profile.
    func close() {
        state.withLock { $0.close() }
        try? FileManager.default.removeItem(atPath: profile.path)
    }
}
