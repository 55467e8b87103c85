import Foundation
import Simulation
import Support

/// Plays a world's events against a server that takes their time for its own: one after another, as they came.
struct TracePlayer {
    private struct ClickAnswer: Decodable {
        let token: String?
    }

    private let requests: TraceRequests
    private let client: RawClient
    private let decoder = JSONDecoder()
    private var tokens: [Int: String] = [:]
    private var score = PlayedScore(beginning: TraceGenerator.beginning)

    private init(_ server: Server) throws {
        requests = TraceRequests(keys: server.installation.keys)
        client = try server.connect()
    }

    /// - Throws: where the server refuses an event.
    static func play(_ events: [TraceEvent], on server: Server) throws -> PlayedScore {
        var player = try TracePlayer(server)
        for event in events { try player.play(event) }
        return player.score
    }

    private mutating func play(_ event: TraceEvent) throws {
        switch event {
        case .click(let click):
            let answer: ClickAnswer = try ask(requests.click(click))
            tokens[click.number] = answer.token
            score.note(click)
        case .launch(let launch):
            let token = launch.token.flatMap { tokens[$0] }
            score.note(launch, try ask(requests.check(launch, token: token)))
        }
    }

    /// How often a request is sent again that the server could not serve at the moment, as clients do.
    private static let mostRepetitions = 30

    private func ask<Answer: Decodable>(_ request: String) throws -> Answer {
        client.send(request)
        var answer = try client.answer()
        for _ in 0..<Self.mostRepetitions where answer.status == 503 {
            sleep(1)
            client.send(request)
            answer = try client.answer()
        }
        guard 200..<300 ~= answer.status else {
            throw BenchmarkError(
                "The server answers an event of the trace with \(answer.status): \(answer.body)"
            )
        }
        return try decoder.decode(Answer.self, from: Data(answer.body.utf8))
    }
}
