import Foundation
import Synchronization

/// Checks on new TLS 1.3 connections, each of which resumes the session of the one before.
struct ResumptionPlan: Codable {
    var port: UInt16
    var key: String
    var seconds: Double
    /// Connections at a time, a thread for each.
    var connections = 32

    func run() throws -> ResumptionResult {
        try LoadProgram.result(of: LoadProgram.resumption.start(self))
    }
}

struct ResumptionResult: Codable {
    var answered = 0
    /// Of them on connections that resumed a session.
    var resumed = 0
    var failures = 0
    var seconds = 0.0

    var perSecond: Double { seconds > 0 ? Double(answered) / seconds : 0 }
}

/// Runs a ``ResumptionPlan``: threads that connect, ask, read to the end, and connect again.
enum ResumptionLoad {
    static func run(_ plan: ResumptionPlan) throws -> ResumptionResult {
        let request = Array(
            SampleRequests.check(
                fingerprint: String(repeating: "f", count: 64),
                key: plan.key,
                isClosing: true
            ).utf8
        )
        let total = Mutex(ResumptionResult())
        let watch = Stopwatch()
        withThreads(plan.connections) {
            var result = ResumptionResult()
            do {
                let client = try ResumingClient(port: plan.port)
                while watch.seconds < plan.seconds {
                    switch client.ask(request) {
                    case .answered(let isResumed):
                        result.answered += 1
                        if isResumed { result.resumed += 1 }
                    case .failed: result.failures += 1
                    }
                }
            } catch {
                result.failures += 1
            }
            let found = result
            total.withLock {
                $0.answered += found.answered
                $0.resumed += found.resumed
                $0.failures += found.failures
            }
        }
        let seconds = watch.seconds
        return total.withLock {
            $0.seconds = seconds
            return $0
        }
    }

    /// Runs `body` on the given number of threads, and returns when all have ended.
    private static func withThreads(_ count: Int, _ body: @escaping @Sendable () -> Void) {
        let group = DispatchGroup()
        for _ in 0..<count {
            group.enter()
            Thread {
                body()
                group.leave()
            }.start()
        }
        group.wait()
    }
}
