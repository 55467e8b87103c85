import Foundation
import HTTPServer
import Support
import Testing

/// One request, and what its response must and must not be.
struct Step: Sendable, CustomTestStringConvertible {
    var name: String
    var method: Method = .get
    var path: String
    var query: String?
    var fields: [String: String] = [:]
    var body: String = ""
    var status: Int
    /// Texts that the body or a field line must contain.
    var holds: [String] = []
    /// Texts that neither may contain.
    var lacks: [String] = []

    var testDescription: String { name }
}

extension TestService {
    /// Sends the request and verifies its response.
    @discardableResult
    func play(_ step: Step, sourceLocation: SourceLocation = #_sourceLocation) async -> Answer {
        let answer = await send(
            step.method,
            step.path,
            query: step.query,
            fields: step.fields,
            body: step.body
        )
        let whole = answer.fieldLines + "\n" + answer.text
        #expect(answer.status == step.status, "\(step.name): \(answer.text)", sourceLocation: sourceLocation)
        for text in step.holds {
            #expect(whole.contains(text), "\(step.name): lacks \(text)", sourceLocation: sourceLocation)
        }
        // Texts that no response may contain, because they reveal the inside of the server.
        for text in step.lacks + ["SQLITE", "sqlite", "SELECT", ".swift", TemporaryFolder.place.path + "/"] {
            #expect(!whole.contains(text), "\(step.name): holds \(text)", sourceLocation: sourceLocation)
        }
        return answer
    }
}
