import Foundation
import HTTPServer
import Support
import Testing

/// One request, and what its response must and must not contain.
struct Step: Sendable, CustomTestStringConvertible {
    let name: String
    let method: HTTPServer.Method
    let path: String
    let query: String?
    let fields: [String: String]
    let body: String
    let status: Int
    /// Texts that the body or a field line must contain.
    let holds: [String]
    /// Texts that neither the body nor a field line may contain.
    let lacks: [String]

    init(
        _ name: String,
        _ path: String,
        _ method: HTTPServer.Method = .get,
        query: String? = nil,
        fields: [String: String] = [:],
        body: String = "",
        status: Int,
        holds: [String] = [],
        lacks: [String] = []
    ) {
        (self.name, self.method, self.path, self.query, self.fields) = (name, method, path, query, fields)
        (self.body, self.status, self.holds, self.lacks) = (body, status, holds, lacks)
    }

    var testDescription: String { name }

    /// Sends the request and verifies its response.
    @discardableResult
    func play(on service: TestService, sourceLocation: SourceLocation = #_sourceLocation) async -> Answer {
        let answer = await service.send(method, path, query: query, fields: fields, body: body)
        answer.expect(status, holds: holds, lacks: lacks, name, sourceLocation: sourceLocation)
        return answer
    }
}

extension Answer {
    /// Verifies the status, the texts that the body or a field line must contain, and the texts that neither may.
    func expect(
        _ status: Int,
        holds: [String] = [],
        lacks: [String] = [],
        _ name: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let whole = fieldLines + "\n" + text
        #expect(self.status == status, "\(name): \(text)", sourceLocation: sourceLocation)
        for text in holds {
            #expect(whole.contains(text), "\(name): lacks \(text)", sourceLocation: sourceLocation)
        }
        // Texts that no response may contain, because they reveal internals of the server.
        for text in lacks + ["SQLITE", "sqlite", "SELECT", ".swift", TemporaryFolder.place.path + "/"] {
            #expect(!whole.contains(text), "\(name): holds \(text)", sourceLocation: sourceLocation)
        }
    }
}
