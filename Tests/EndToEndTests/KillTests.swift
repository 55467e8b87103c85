import Foundation
import Support
import Testing

/// What the world was told before the server died.
private struct Ledger {
    var acknowledged: Set<Int> = []
    var asked: Set<Int> = []
    var matched: Set<Int> = []
}

@Suite("kill -9 at any moment", .blocking, .timeLimit(.minutes(10)))
struct KillTests {
    /// More in the long mode.
    private static let rounds = ProcessInfo.processInfo.environment["AFTERLINK_LONG"] == nil ? 20 : 300
    private static let connectionCount = 16

    @Test("loses no acknowledged click and matches none twice")
    func killedUnderLoad() throws {
        let installation = try Installation()
        var random = SeededGenerator(seed: 20)
        var next = 0
        for _ in 0..<Self.rounds {
            let server = try AfterlinkProcess(installation, ["--replay-grace", "0"])
            var ledger = Ledger()
            try load(server, installation.keys.app, &next, &ledger, &random)
            #expect(ledger.acknowledged.count >= 100)
            let second = try AfterlinkProcess(installation, ["--replay-grace", "0"])
            try verify(ledger, second, installation.keys.app)
            second.kill()
        }
    }

    /// Clicks and checks on many connections, until the server is killed with requests under way.
    private func load(
        _ server: AfterlinkProcess,
        _ key: String,
        _ next: inout Int,
        _ ledger: inout Ledger,
        _ random: inout SeededGenerator
    ) throws {
        let connections = try (0..<Self.connectionCount).map { _ in try server.connect() }
        let lastTurn = Int.random(in: 12...24, using: &random)
        for turn in 0... {
            var underWay: [(connection: Connection, number: Int, isClick: Bool)] = []
            for connection in connections {
                let unasked = ledger.acknowledged.subtracting(ledger.asked)
                if turn % 3 == 2, let number = unasked.randomElement(using: &random) {
                    ledger.asked.insert(number)
                    connection.sendCheck(fingerprint(number), key: key)
                    underWay.append((connection, number, false))
                } else {
                    next += 1
                    try connection.sendClick(fingerprint(next))
                    underWay.append((connection, next, true))
                }
            }
            let isLast = turn == lastTurn
            let readBeforeKill = isLast ? Int.random(in: 0..<underWay.count, using: &random) : .max
            for (index, request) in underWay.enumerated() {
                if index == readBeforeKill { server.kill() }
                // What was written before the end can still be read after it.
                guard let reply = try? request.connection.receive() else {
                    #expect(isLast, "the server stopped answering before it was killed")
                    continue
                }
                note(reply, request.number, request.isClick, &ledger)
            }
            if isLast { return }
        }
    }

    private func note(_ reply: Connection.Reply, _ number: Int, _ isClick: Bool, _ ledger: inout Ledger) {
        if isClick {
            #expect(reply.status == 201)
            ledger.acknowledged.insert(number)
        } else {
            #expect(reply.isMatch, "an acknowledged click was not found: \(reply.text)")
            ledger.matched.insert(number)
        }
    }

    private func verify(_ ledger: Ledger, _ server: AfterlinkProcess, _ key: String) throws {
        let connection = try server.connect()
        for number in ledger.acknowledged {
            let reply = try connection.check(fingerprint(number), key: key)
            if ledger.matched.contains(number) {
                #expect(reply.isNoMatch, "click \(number) was matched twice")
            } else if ledger.asked.contains(number) {
                // Asked, but never answered: consumed or not, and certainly not in error.
                #expect(reply.isMatch || reply.isNoMatch)
            } else {
                #expect(reply.isMatch, "click \(number) was acknowledged and is lost")
            }
        }
    }
}
