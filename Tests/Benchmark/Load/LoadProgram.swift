import Foundation
import Glibc
import Support

/// Loads that run as processes of their own, so that they do not share a lock or a heap with what measures.
///
/// They are this program, started again.
enum LoadProgram: String {
    case constantRate = "load-constant-rate"
    case resumption = "load-resumption"

    /// Runs the load that the argument describes as JSON, and prints its result as JSON.
    func run(_ plan: String) throws {
        signal(SIGPIPE, SIG_IGN)
        switch self {
        case .constantRate: try Self.run(plan, ConstantRateLoad.run)
        case .resumption: try Self.run(plan, ResumptionPlan.run)
        }
    }

    private static func run<Plan: Decodable, Result: Encodable>(
        _ plan: String,
        _ load: (Plan) throws -> Result
    ) throws {
        let result = try load(JSONDecoder().decode(Plan.self, from: Data(plan.utf8)))
        print(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
    }

    /// Starts the load.
    func start(_ plan: some Encodable) throws -> ChildProcess {
        let text = String(decoding: try JSONEncoder().encode(plan), as: UTF8.self)
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return try ChildProcess(URL(filePath: program), [rawValue, text], endsWithStarter: true)
    }

    /// Waits for its end, and reads what it found.
    static func result<Result: Decodable>(of child: ChildProcess) throws -> Result {
        let output = try child.remainingOutput()
        guard child.waitUntilExit() == 0 else {
            throw BenchmarkError("A load failed: \(String(decoding: output, as: UTF8.self))")
        }
        return try JSONDecoder().decode(Result.self, from: output)
    }
}
