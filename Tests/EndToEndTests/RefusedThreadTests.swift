import Foundation
import Support
import Testing

/// What a service does that the system refuses a thread.
@Suite("A refused thread", .blocking)
struct RefusedThreadTests {
    /// Of nobody else: the limit counts all that a user runs.
    private static let user = 20_000 + Int(getpid()) % 40_000

    private enum Outcome: Hashable {
        case served
        case refused
        /// Ended otherwise than by a thread's refusal.
        case ended
        case stuck
    }

    /// Starts under a limit, and stops where it serves.
    private func outcome(of nobody: UnprivilegedUser, limit: String) throws -> Outcome {
        try Data().write(to: nobody.errorLog)
        let server = try nobody.serve("127.0.0.1:0", ["--threads", "2"], limit: limit)
        func log() -> String { (try? String(contentsOf: nobody.errorLog, encoding: .utf8)) ?? "" }
        let answers = Polling.until { !server.isRunning || log().contains("listens on") }
        guard answers else { return .stuck }
        if server.isRunning { server.send(SIGTERM) }
        guard Polling.until({ !server.isRunning }) else { return .stuck }
        let status = server.waitUntilExit()
        guard !log().contains("listens on") else { return status == 0 ? .served : .ended }
        let isRefused = status == 1 && log().contains("refused a thread") && log().contains("ulimit -a")
        return isRefused ? .refused : .ended
    }

    @Test(
        "refuses the start and says what to raise; with as many threads as are needed, none is wanted for the stop",
        .enabled(if: UnprivilegedUser.isPossible, "root alone can become a user of whom threads are counted")
    )
    func everyNumberOfThreads() throws {
        let nobody = try UnprivilegedUser(Self.user)
        var (outcomes, logs): ([Outcome], [String]) = ([], [])
        for number in 1...13 {
            outcomes.append(try outcome(of: nobody, limit: "--nproc=\(number)"))
            logs.append(try String(contentsOf: nobody.errorLog, encoding: .utf8))
        }
        #expect(outcomes.prefix(7).allSatisfy { $0 == .refused }, "\(outcomes)")
        // With eight to eleven, it depends on whether threads that there are at the start only have ended by then.
        #expect(outcomes.suffix(2).allSatisfy { $0 == .served }, "\(outcomes)")
        #expect(!outcomes.contains(.stuck) && !outcomes.contains(.ended), "\(outcomes)")
        #expect(logs.count { $0.contains("were not shown") } == 1, "keys are created once, and reported")
    }

    @Test(
        "cannot keep a service from stopping that has no room left for one",
        .enabled(if: FileManager.default.isExecutableFile(atPath: UnprivilegedUser.prlimit), "no prlimit(1)")
    )
    func stopWithoutRoom() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        #expect(try server.connect().click(fingerprint(1)).status == 201)
        // Room for what it does, and none for a thread's stack of eight megabytes.
        let limit = ProcessFigures(of: server.identifier).virtualByteCount + 4_000_000
        let limited = try Installation.run(
            ["--pid", "\(server.identifier)", "--as=\(limit)"],
            of: URL(fileURLWithPath: UnprivilegedUser.prlimit)
        )
        #expect(limited.status == 0, "\(limited.errors)")
        server.terminate()
        #expect(Polling.until { !server.isRunning })
        server.kill()
        #expect(server.waitUntilExit() == 0)
        #expect(installation.log.contains("stopped"))
    }
}
