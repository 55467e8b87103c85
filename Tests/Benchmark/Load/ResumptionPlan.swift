/// Checks on new TLS 1.3 connections, each of which resumes the session of the one before.
struct ResumptionPlan: Codable {
    var port: UInt16
    var key: String
    var seconds: Double
    /// Connections at a time, a thread for each.
    var connections = 32

    func run() throws -> ResumptionResult {
        try LoadProgram.result(of: LoadProgram.start(.resumption, self))
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
