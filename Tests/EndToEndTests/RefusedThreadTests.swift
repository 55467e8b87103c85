import Foundation
import Support
import Testing

/// A service in a system that refuses a thread.
@Suite("A refused thread", .blocking)
struct RefusedThreadTests {
    /// The id of a user without other processes, because the limit counts all threads of a user.
    private static let user = 20_000 + Int(getpid()) % 40_000

    private enum Outcome: Hashable {
        case served
        case refused
        /// The process ended for another reason.
        case ended
        case stuck
    }

    /// Starts a server under a limit, stops the server if it serves, and returns how it ended.
    private func outcome(of account: UnprivilegedUser, limit: String) throws -> Outcome {
        try Data().write(to: account.errorLog)
        let server = try account.serve("127.0.0.1:0", ["--threads", "2"], limit: limit)
        func log() -> String { (try? String(contentsOf: account.errorLog, encoding: .utf8)) ?? "" }
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
        "if the system refuses a thread, the start fails and names the limit; a stop needs no further thread",
        .enabled(if: UnprivilegedUser.isPossible, "only root can switch to a user whose threads are limited")
    )
    func everyNumberOfThreads() throws {
        let account = try UnprivilegedUser(Self.user)
        var (outcomes, logs): ([Outcome], [String]) = ([], [])
        for number in 1...13 {
            outcomes.append(try outcome(of: account, limit: "--nproc=\(number)"))
            logs.append(try String(contentsOf: account.errorLog, encoding: .utf8))
        }
        #expect(outcomes.prefix(7).allSatisfy { $0 == .refused }, "\(outcomes)")
        // With a limit of eight to eleven threads, the result depends on whether the temporary threads of the
        // start have ended.
        #expect(outcomes.suffix(2).allSatisfy { $0 == .served }, "\(outcomes)")
        #expect(!outcomes.contains(.stuck) && !outcomes.contains(.ended), "\(outcomes)")
        #expect(logs.count { $0.contains("were not shown") } == 1, "keys are created once")
    }

    @Test(
        "a service without memory for another thread can stop",
        .enabled(if: FileManager.default.isExecutableFile(atPath: UnprivilegedUser.prlimit), "no prlimit(1)")
    )
    func stopWithoutRoom() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        #expect(try server.connect().click(fingerprint(1)).status == 201)
        // The limit leaves room for the service's work, and none for a thread's stack of eight megabytes.
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
