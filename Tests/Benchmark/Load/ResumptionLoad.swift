import Foundation
import Support
import Synchronization

/// Checks on new TLS 1.3 connections, each of which resumes the session of the one before.
struct ResumptionPlan: Codable {
    var port: UInt16
    var key: String
    var seconds: Double
    /// Connections at a time, a thread for each.
    var connections = 32

    /// Runs threads that connect, ask, read the answer, and connect again.
    static func run(_ plan: ResumptionPlan) throws -> ResumptionResult {
        let fingerprint = String(repeating: "f", count: 64)
        let request = SampleRequests.check(fingerprint: fingerprint, key: plan.key, isClosing: true)
        let total = Mutex(ResumptionResult())
        let watch = Stopwatch()
        let group = DispatchGroup()
        for _ in 0..<plan.connections {
            group.enter()
            Thread {
                var result = ResumptionResult()
                var session: SavedTLSSession?
                while watch.seconds < plan.seconds {
                    do {
                        let client = try RawClient(
                            port: plan.port,
                            tls: TLSClientSettings(.tls13, resuming: session)
                        )
                        client.send(request)
                        guard try client.answer().status == 200 else { throw RawClient.Failure.cannotConnect }
                        result.answered += 1
                        if client.isResumed { result.resumed += 1 }
                        // Tickets of TLS 1.3 come after the handshake, with the answer.
                        session = client.tlsSession
                    } catch {
                        result.failures += 1
                    }
                }
                let found = result
                total.withLock { $0.add(found) }
                group.leave()
            }.start()
        }
        group.wait()
        let seconds = watch.seconds
        return total.withLock {
            $0.seconds = seconds
            return $0
        }
    }
}

struct ResumptionResult: Codable {
    var answered = 0
    /// Of them on connections that resumed a session.
    var resumed = 0
    var failures = 0
    var seconds = 0.0

    var perSecond: Double { seconds > 0 ? Double(answered) / seconds : 0 }

    mutating func add(_ other: ResumptionResult) {
        answered += other.answered
        resumed += other.resumed
        failures += other.failures
    }
}
