import Attribution
import Foundation
import Simulation
import Support

/// Sends a world's events in order to a server that takes each event's time for the current time.
///
/// Clicks are sent as a customer's server sends them, launches as released clients do.
struct TracePlayer {
    private struct ClickAnswer: Decodable { let token: String? }

    private let server: Server
    private let client: RawClient
    private let decoder = JSONDecoder()
    private var tokens: [Int: String] = [:]
    private var score = PlayedScore(beginning: TraceGenerator.beginning)

    private init(_ server: Server) throws {
        self.server = server
        client = try server.connect()
    }

    /// - Throws: when the server refuses an event.
    static func play(_ events: [TraceEvent], on server: Server) throws -> PlayedScore {
        var player = try TracePlayer(server)
        for event in events { try player.play(event) }
        return player.score
    }

    private mutating func play(_ event: TraceEvent) throws {
        switch event {
        case .click(let click):
            let answer: ClickAnswer = try ask(request(click))
            tokens[click.number] = answer.token
            score.add(click)
        case .launch(let launch):
            let token = launch.token.flatMap { tokens[$0] }
            score.add(launch, try ask(request(launch, token: token)))
        }
    }

    /// How often the player repeats a request after 503, as clients do.
    private static let maximumRepetitions = 30

    private func ask<Answer: Decodable>(_ request: String) throws -> Answer {
        client.send(request)
        var answer = try client.answer()
        for _ in 0..<Self.maximumRepetitions where answer.status == 503 {
            sleep(1)
            client.send(request)
            answer = try client.answer()
        }
        guard 200..<300 ~= answer.status else {
            throw BenchmarkError(
                "The server refuses an event of the trace with \(answer.status): \(answer.body)"
            )
        }
        return try decoder.decode(Answer.self, from: Data(answer.body.utf8))
    }

    private func request(_ click: TracedClick) -> String {
        let body =
            #"{\#(click.members),"ip_address":"\#(Self.address(click.address, of: click.person))","#
            + #""user_agent":"\#(click.userAgent)","click_timestamp":"\#(click.at.iso8601)","#
            + #""metadata":{"click":\#(click.number)}}"#
        return SampleRequests.click(body: body, key: server.installation.keys.server, time: click.at)
    }

    /// Returns a released client's check; `token` is the token of a click, if the launch brings one.
    private func request(_ launch: TracedLaunch, token: String?) -> String {
        let fingerprint = Fingerprint(of: launch.fingerprintText).hex
        let token = token.map { "&token=\($0)" } ?? ""
        return """
            GET \(SampleRequests.checkPath)\(fingerprint)\(token) HTTP/1.1\r
            Host: 127.0.0.1\r
            Authorization: Bearer \(server.key)\r
            X-Test-Time: \(launch.at.iso8601)\r
            X-Forwarded-For: \(Self.address(launch.address, of: launch.person))\r
            User-Agent: \(launch.agent)\r
            \r

            """
    }

    /// Returns an address as text; an unknown address becomes a private one that belongs to one person.
    private static func address(_ bits: UInt32?, of person: UInt64) -> String {
        NetworkAddress(ipv4: bits ?? 0x0a00_0000 | UInt32(truncatingIfNeeded: person) & 0x00ff_ffff).text
    }
}
