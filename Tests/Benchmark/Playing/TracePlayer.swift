import Attribution
import Foundation
import Simulation
import Support

/// Sends a world's events, one after the other, to servers that use each event's time as the current time.
///
/// The servers get the events in turn, as from a proxy. Clicks are sent as a customer's server sends them,
/// launches as released clients send them.
struct TracePlayer {
    private struct ClickAnswer: Decodable { let token: String? }

    private let keys: Installation.Keys
    private let clients: [RawClient]
    private var requestCount = 0
    private let decoder = JSONDecoder()
    private var tokens: [Int: String] = [:]
    private var score = PlayedScore(beginning: TraceGenerator.beginning)

    private init(_ servers: [Server]) throws {
        keys = servers[0].installation.keys
        clients = try servers.map { try $0.connect() }
    }

    /// - Throws: when a server refuses an event.
    static func play(_ events: [TraceEvent], on servers: [Server]) throws -> PlayedScore {
        var player = try TracePlayer(servers)
        for event in events { try player.play(event) }
        return player.score
    }

    private mutating func play(_ event: TraceEvent) throws {
        let keys = keys
        switch event {
        case .click(let click):
            let answer: ClickAnswer = try ask { Self.request(click, keys, delayed: $0) }
            tokens[click.number] = answer.token
            score.add(click)
        case .launch(let launch):
            let token = launch.token.flatMap { tokens[$0] }
            let answer: PlayedAnswer = try ask { Self.request(launch, keys, token: token, delayed: $0) }
            score.add(launch, answer)
        }
    }

    /// How often the player repeats a request after 503, as clients do.
    private static let maximumRepetitions = 30

    /// Sends the request that a closure makes from the milliseconds since the event.
    private mutating func ask<Answer: Decodable>(_ request: (Int64) -> String) throws -> Answer {
        var (answer, repetitions) = (try send(request(0)), 0)
        while answer.status == 503, repetitions < Self.maximumRepetitions {
            sleep(1)
            repetitions += 1
            answer = try send(request(Int64(repetitions) * 1000))
        }
        guard 200..<300 ~= answer.status else {
            throw BenchmarkError(
                "The server refuses an event of the trace with \(answer.status): \(answer.body)"
            )
        }
        return try decoder.decode(Answer.self, from: Data(answer.body.utf8))
    }

    private mutating func send(_ request: String) throws -> RawClient.Answer {
        let client = clients[requestCount % clients.count]
        requestCount += 1
        client.send(request)
        return try client.answer()
    }

    private static func request(
        _ click: TracedClick,
        _ keys: Installation.Keys,
        delayed milliseconds: Int64
    ) -> String {
        let time = click.at.advanced(byMilliseconds: milliseconds)
        let body =
            #"{\#(click.members),"ip_address":"\#(address(click.address, of: click.person))","#
            + #""user_agent":"\#(click.userAgent)","click_timestamp":"\#(click.at.iso8601)","#
            + #""metadata":{"click":\#(click.number)}}"#
        return SampleRequests.click(body: body, key: keys.server, time: time)
    }

    /// Returns a released client's check; `token` is the token of a click, if the launch brings one.
    private static func request(
        _ launch: TracedLaunch,
        _ keys: Installation.Keys,
        token: String?,
        delayed milliseconds: Int64
    ) -> String {
        let time = launch.at.advanced(byMilliseconds: milliseconds)
        let fingerprint = Fingerprint(of: launch.fingerprintText).hex
        let token = token.map { "&token=\($0)" } ?? ""
        return """
            GET \(SampleRequests.checkPath)\(fingerprint)\(token) HTTP/1.1\r
            Host: 127.0.0.1\r
            Authorization: Bearer \(keys.app)\r
            X-Test-Time: \(time.iso8601)\r
            X-Forwarded-For: \(address(launch.address, of: launch.person))\r
            User-Agent: \(launch.agent)\r
            \r

            """
    }

    /// Returns an address as text; an unknown address becomes a private one that belongs to one person.
    private static func address(_ bits: UInt32?, of person: UInt64) -> String {
        NetworkAddress(ipv4: bits ?? 0x0a00_0000 | UInt32(truncatingIfNeeded: person) & 0x00ff_ffff).text
    }
}
