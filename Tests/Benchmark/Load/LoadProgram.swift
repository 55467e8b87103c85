import Foundation
import Glibc
import Support
import Synchronization

/// The loads and the proxy that run in child processes, to share no lock and no heap with the measuring
/// process.
///
/// Each child process runs this program again, with the load's name as an argument.
enum LoadProgram: String {
    case constantRate = "load-constant-rate"
    case resumption = "load-resumption"
    #if PostgreSQL
    case delay = "delay-proxy"
    #endif

    /// Runs the load that the argument describes as JSON, and prints its result as JSON.
    func run(_ plan: String) throws {
        signal(SIGPIPE, SIG_IGN)
        switch self {
        case .constantRate: try Self.run(plan, ConstantRateLoad.run)
        case .resumption: try Self.run(plan, ResumptionPlan.run)
        #if PostgreSQL
        case .delay: try JSONDecoder().decode(DelayProxy.self, from: Data(plan.utf8)).run()
        #endif
        }
    }

    private static func run<Plan: Decodable, Result: Encodable>(
        _ plan: String,
        _ load: (Plan) throws -> Result
    ) throws {
        let result = try load(JSONDecoder().decode(Plan.self, from: Data(plan.utf8)))
        print(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
    }

    /// Starts the load in a child process.
    func start(_ plan: some Encodable) throws -> ChildProcess {
        let text = String(decoding: try JSONEncoder().encode(plan), as: UTF8.self)
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return try ChildProcess(URL(filePath: program), [rawValue, text], endsWithStarter: true)
    }

    /// Waits for the end of a load, and returns its result.
    static func result<Result: Decodable>(of child: ChildProcess) throws -> Result {
        let output = try child.remainingOutput()
        guard child.waitUntilExit() == 0 else {
            throw BenchmarkError("A load failed: \(String(decoding: output, as: UTF8.self))")
        }
        return try JSONDecoder().decode(Result.self, from: output)
    }
}

/// Checks on new TLS 1.3 connections, each of which resumes the session of the one before.
struct ResumptionPlan: Codable {
    var port: UInt16
    var key: String
    var seconds: Double
    /// The number of simultaneous connections, each on a thread of its own.
    var connections = 32

    /// Runs threads that connect, send a check, read the response, and connect again.
    static func run(_ plan: ResumptionPlan) throws -> ResumptionResult {
        let request = SampleRequests.check(SampleRequests.unknown, key: plan.key, isClosing: true)
        let total = Mutex(ResumptionResult())
        let watch = Stopwatch()
        let group = DispatchGroup()
        for _ in 0..<plan.connections {
            group.enter()
            Thread {
                var session: SavedTLSSession?
                while watch.seconds < plan.seconds {
                    do {
                        let settings = TLSClientSettings(.tls13, resuming: session)
                        let client = try RawClient(port: plan.port, tls: settings)
                        client.send(request)
                        _ = try client.answer().expecting(200)
                        let resumed = client.isResumed ? 1 : 0
                        total.withLock {
                            $0.answered += 1
                            $0.resumed += resumed
                        }
                        // Tickets of TLS 1.3 come after the handshake, with the response.
                        session = client.tlsSession
                    } catch {
                        total.withLock { $0.failures += 1 }
                    }
                }
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
    /// The number of responses on connections that resumed a session.
    var resumed = 0
    var failures = 0
    var seconds = 0.0

    var perSecond: Double { seconds > 0 ? Double(answered) / seconds : 0 }
}
