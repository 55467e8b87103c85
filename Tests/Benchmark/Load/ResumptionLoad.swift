import Foundation
import HTTPServer
import Synchronization
import Threads

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
        let start = MonotonicTime.now()
        let end = start.advanced(by: .seconds(plan.seconds))
        withThreads(plan.connections) {
            var result = ResumptionResult()
            do {
                let client = try ResumingClient(port: plan.port)
                while MonotonicTime.now() < end {
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
        let seconds = Double(MonotonicTime.now().nanoseconds(since: start)) / 1e9
        return total.withLock {
            $0.seconds = seconds
            return $0
        }
    }

    /// Runs `body` on so many threads, and returns when all have.
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
