import Foundation
import Support
import Synchronization
import Testing

/// Debian's Chromium without a window, controlled through its DevTools pipe.
///
/// `chromium-headless-shell`, which is built without windows, is preferred: it needs a quarter of the time.
///
/// Messages are JSON documents, each ended by a zero byte, on the browser's descriptors 3 and 4. Source: Chromium's
/// `--remote-debugging-pipe`, and the DevTools Protocol, chromedevtools.github.io/devtools-protocol.
final class Chromium: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The environment variable that names another browser.
    static let variable = "AFTERLINK_TEST_BROWSER"

    private let state: Mutex<DevToolsPipe>
    private let profile: TemporaryFolder
    let identifier: Int32

    /// Starts the browser with an empty profile.
    ///
    /// - Parameters:
    ///   - hosts: the names that resolve to this machine; no others resolve.
    ///   - port: the port of all hosts.
    ///   - program: the path of the browser, or its name in `PATH`; nil for the default one.
    /// - Throws: ``Failure`` if there is no browser, or if it does not respond.
    init(hosts: [String], port: UInt16, program: String? = nil) throws {
        profile = try TemporaryFolder()
        let named = program ?? ProcessInfo.processInfo.environment[Self.variable]
        let program = try Self.path(of: named.map { [$0] } ?? Self.programs)
        let rules = hosts.map { "MAP \($0) 127.0.0.1:\(port)" } + ["MAP * ~NOTFOUND"]
        let (input, output) = (Pipe(), Pipe())
        let log = profile.file("log")
        // A write to a browser that has ended must fail, and not end the tests.
        _ = signal(SIGPIPE, SIG_IGN)
        let process = try SpawnedProgram(
            URL(filePath: "/bin/sh"),
            ["-c", #"exec "$@" 3<&0 4>&1 </dev/null >/dev/null"#, "sh", program]
                + Self.options(profile: profile.file("profile"), rules: rules),
            // Crash reports and caches go to the profile, which is deleted.
            environment: ["HOME": profile.path],
            (.pipe(input.fileHandleForReading), .pipe(output.fileHandleForWriting), .file(log))
        )
        identifier = process.identifier
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
            // The sandbox needs rights that containers lack; the browser opens only pages of the tests.
            "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-crash-reporter",
            "--disable-breakpad", "--disable-sync", "--disable-extensions",
            // Pages of public hosts may call this machine, because all hosts are this machine.
            "--disable-features=LocalNetworkAccessChecks",
            "--ignore-certificate-errors", "--host-resolver-rules=\(rules.joined(separator: ", "))",
        ]
    }

    private static let programs = ["chromium-headless-shell", "chromium"]

    /// Whether a browser exists, or ``variable`` names one.
    ///
    /// There may be none, because Ubuntu has no package of Chromium.
    static var isThere: Bool {
        ProcessInfo.processInfo.environment[variable] != nil || (try? path(of: programs)) != nil
    }

    /// Returns the path of the first program that exists; a name is searched in `PATH`.
    private static func path(of programs: [String]) throws -> String {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let places = programs.flatMap { program in
            program.contains("/") ? [program] : folders.map { "\($0)/\(program)" }
        }
        if let place = places.first(where: FileManager.default.isExecutableFile) { return place }
        throw Failure(
            description: "there is no \(programs.joined(separator: " and no ")). The README's test command "
                + "installs what the tests need. The variable \(variable) can name another Chromium."
        )
    }

    /// Sends a command and waits for its result.
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

    /// Waits for the first event of a session that fulfils a condition.
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

    /// The events of a session so far.
    func events(of session: String) -> [DevToolsMessage] { state.withLock { $0.events[session] ?? [] } }

    /// Sets the responses to a session's requests, by the prefix of the URL; they replace the network's responses.
    func answer(_ pages: [String: OutsidePage], in session: String) {
        state.withLock { $0.pages[session] = pages }
    }

    /// Removes a session that has ended.
    func forget(_ session: String) { state.withLock { $0.forget(session) } }

    /// The directory of all files of the browser.
    var profilePath: String { profile.path }

    /// Ends the browser with all its processes, and deletes its profile.
    func close() {
        state.withLock { $0.close() }
        try? FileManager.default.removeItem(atPath: profile.path)
    }
}

extension Trait where Self == ConditionTrait {
    /// The tests need a browser, and are skipped without one.
    static var inBrowser: Self {
        .enabled(if: Chromium.isThere, "there is no Chromium; \(Chromium.variable) can name one")
    }
}
