import Attribution
import Foundation
import Support
import Testing

/// Clicks and checks on many connections, and the responses that the clients got.
struct ClickLoad {
    private let key: String
    private let connectionCount = 16
    private var random: SeededGenerator
    private var count = 0

    /// The row ids of acknowledged clicks, by the clicks' numbers.
    private(set) var acknowledged: [Int: Int64] = [:]
    /// The clicks that a check has asked for, with or without a response.
    private(set) var asked: Set<Int> = []
    private(set) var matched: Set<Int> = []
    /// The acknowledged clicks that no earlier check asked for, and that a check did not find.
    private(set) var lost: Set<Int> = []
    private(set) var matchedTwice: Set<Int> = []

    init(key: String, seed: UInt64) {
        self.key = key
        random = SeededGenerator(seed: seed)
    }

    /// Sends clicks and checks, and kills the server while requests are under way.
    mutating func run(on server: AfterlinkProcess, turns: ClosedRange<Int> = 12...24) throws {
        let connections = try (0..<connectionCount).map { _ in try server.connect() }
        let lastTurn = Int.random(in: turns, using: &random)
        for turn in 0...lastTurn {
            let underWay = try connections.map { ($0, try send(on: $0, isCheck: turn % 3 == 2)) }
            let readBeforeKill = turn == lastTurn ? Int.random(in: 0..<underWay.count, using: &random) : .max
            for (index, (connection, request)) in underWay.enumerated() {
                if index == readBeforeKill { server.kill() }
                // Responses that the server wrote before the kill can still be read afterwards.
                guard let reply = try? connection.receive() else {
                    #expect(turn == lastTurn, "the server stopped responding before the kill")
                    continue
                }
                note(reply, request)
            }
        }
    }

    private enum Request {
        case click(Int)
        case check(Int)
    }

    private mutating func send(on connection: HTTPTestClient, isCheck: Bool) throws -> Request {
        if isCheck, let number = unasked.randomElement(using: &random) {
            asked.insert(number)
            connection.sendCheck(fingerprint(number), key: key)
            return .check(number)
        }
        count += 1
        try connection.sendClick(fingerprint(count))
        return .click(count)
    }

    private var unasked: [Int] { acknowledged.keys.filter { !asked.contains($0) }.sorted() }

    private mutating func note(_ reply: HTTPTestClient.Reply, _ request: Request) {
        // A busy machine may need longer than a second for a request, which then gets 503.
        guard reply.status != 503 else { return }
        switch request {
        case .click(let number):
            #expect(reply.status == 201)
            let id = reply.string("click_id").flatMap { ClickID($0) }
            acknowledged[number] = Int64(bitPattern: id?.high ?? 0)
        case .check(let number):
            if reply.isMatch { matched.insert(number) } else { lost.insert(number) }
        }
    }

    /// Checks earlier clicks: all of them, or a random half, so that the other clicks must survive the next kill.
    mutating func verify(on server: AfterlinkProcess, all: Bool) throws {
        var connection = try server.connect()
        let numbers = acknowledged.keys.sorted()
        let chosen = numbers.filter { _ in all || Bool.random(using: &random) }
        for (index, number) in chosen.enumerated() {
            // A connection is closed after a thousand requests.
            if index.isMultiple(of: 500) { connection = try server.connect() }
            let reply = try decided(number, connection)
            if matched.contains(number) {
                if reply.isMatch { matchedTwice.insert(number) }
            } else if reply.isMatch {
                matched.insert(number)
            } else if !asked.contains(number) {
                lost.insert(number)
            }
            asked.insert(number)
        }
        // Forget half of the matched clicks.
        if !all { for number in matched.prefix(matched.count / 2) { acknowledged[number] = nil } }
    }

    /// Starts a server once more, and checks all clicks.
    mutating func expectNothingLost(in installation: Installation) throws {
        let server = try AfterlinkProcess(installation, ["--replay-grace", "0"])
        try verify(on: server, all: true)
        #expect(lost.isEmpty, "acknowledged clicks are lost")
        #expect(matchedTwice.isEmpty)
    }

    private func decided(_ number: Int, _ connection: HTTPTestClient) throws -> HTTPTestClient.Reply {
        let end = Polling.end
        var reply = try connection.check(fingerprint(number), key: key)
        while reply.status == 503, ContinuousClock.now < end {
            reply = try connection.check(fingerprint(number), key: key)
        }
        #expect(reply.isMatch || reply.isNoMatch, "\(reply.status) \(reply.text)")
        return reply
    }
}
