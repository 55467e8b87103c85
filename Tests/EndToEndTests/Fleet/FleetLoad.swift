#if PostgreSQL
import Foundation
import Support
import Synchronization
import Testing
import Threads

/// Clicks and checks to all servers of a fleet, on many connections of one thread.
final class FleetLoad {
    /// What was in flight when a fault struck: requests whose replies had not arrived.
    struct Hit {
        var clicks = 0
        var claims = 0

        /// Whether enough requests are in flight for the fault to strike.
        var isEnough: Bool { clicks >= 50 && claims >= 10 }
    }

    private enum Request {
        case click(Int)
        case check(Int, caller: Int)
    }

    private struct Connection {
        let server: Int
        let sendsChecks: Bool
        var client: HTTPTestClient?
        /// The program of the server that the client is connected to.
        var program: URL?
        var request: Request?
        var sentAt = ContinuousClock.now
        /// When the connection may send its next request, or try again to connect.
        var restsUntil = ContinuousClock.now
    }

    private let fleet: Fleet
    private(set) var ledger: FleetLedger
    private var random: SeededGenerator
    private var connections: [Connection]
    /// Requests that were not decided, with the time of the next attempt.
    private var clickRetries: [(click: Int, at: ContinuousClock.Instant)] = []
    private var checkRetries: [(click: Int, caller: Int, at: ContinuousClock.Instant)] = []
    /// For each server, the checks of clicks that another server was already asked about.
    private var groups: [[(click: Int, caller: Int)]]
    private var mode = Mode.steady
    /// The only server that bursts go to; nil for all servers.
    private var target: Int?
    private var firstClick: [ContinuousClock.Instant?]
    private var firstMatch: [ContinuousClock.Instant?]
    private var measuredFrom = ContinuousClock.now
    /// The time from the end of the clicks until every request was decided.
    private var drainTime = Duration.zero
    /// The longest time that a request waited for its reply.
    private(set) var longestWait = Duration.zero

    private enum Mode: Equatable {
        /// Some requests a second.
        case steady
        /// Every connection sends at once.
        case burst
        /// No new clicks; only checks for clicks that another caller has already asked some server about.
        case holding
        /// No new clicks.
        case draining
    }

    private static let clickConnections = 62
    private static let checkConnections = 18
    /// The number of clicks without a check that are kept for the claims of the next burst.
    private static let reserve = 40

    /// - Parameters:
    ///   - fleet: the servers.
    ///   - seed: the number of the load, which no other load on the fleet's database has.
    init(_ fleet: Fleet, seed: UInt64) {
        self.fleet = fleet
        ledger = FleetLedger(Int(seed))
        random = SeededGenerator(seed: seed)
        connections = (0..<Fleet.serverCount).flatMap { server in
            (0..<Self.clickConnections + Self.checkConnections).map { index in
                Connection(server: server, sendsChecks: index >= Self.clickConnections)
            }
        }
        groups = Array(repeating: [], count: Fleet.serverCount)
        (firstClick, firstMatch) = (groups.map { _ in nil }, groups.map { _ in nil })
    }

    // MARK: Phases

    func run(for duration: Duration) {
        let end = ContinuousClock.now + duration
        while ContinuousClock.now < end { turn() }
    }

    /// Runs the load while another thread does some work, and throws the error of that work.
    func run(during work: @escaping @Sendable () throws -> Void) throws {
        let result = Mutex<Result<Void, any Error>?>(nil)
        let shared = SharedResult(result)
        try SystemThread.start { shared.value.withLock { $0 = Result { try work() } } }
        while shared.value.withLockIfAvailable({ $0 == nil }) ?? true { turn() }
        try shared.value.withLock { $0 }?.get()
    }

    private final class SharedResult: Sendable {
        let value: Mutex<Result<Void, any Error>?>
        init(_ value: consuming sending Mutex<Result<Void, any Error>?>) { self.value = value }
    }

    /// Sends requests on all connections at once, and lets the fault strike while enough of them are in flight, at one
    /// server or at all together.
    func strike(_ server: Int? = nil, _ fault: () throws -> Void) throws -> Hit {
        target = server
        defer { (mode, target) = (.steady, nil) }
        let end = Polling.end
        var hit = Hit()
        while ContinuousClock.now < end {
            mode = .holding
            repeat { turn() } while connections.contains { $0.request != nil && $0.client != nil }
            mode = .burst
            turn()
            mode = .holding
            hit = inFlight(server)
            // The requests are at different steps when the fault strikes.
            for _ in 0..<Int.random(in: 0...4, using: &random) where hit.isEnough {
                turn()
                hit = inFlight(server)
            }
            guard hit.isEnough else { continue }
            try fault()
            return hit
        }
        throw ChildProcess.Failure(
            description: "too few requests are in flight: \(hit), \(ledger.violations.prefix(4))"
        )
    }

    private func inFlight(_ server: Int?) -> Hit {
        var hit = Hit()
        var claims: Set<Int> = []
        for connection in connections where server == nil || connection.server == server {
            guard let request = connection.request, let client = connection.client,
                client.client.isSilent(milliseconds: 0)
            else { continue }
            switch request {
            case .click: hit.clicks += 1
            case .check(let click, _): if ledger.entries[click].matched.isEmpty { claims.insert(click) }
            }
        }
        hit.claims = claims.count
        return hit
    }

    /// Waits until each server has acknowledged a click and given a match since now, and returns how long that took.
    func recover() -> Duration {
        let start = ContinuousClock.now
        measuredFrom = start
        for server in firstClick.indices { (firstClick[server], firstMatch[server]) = (nil, nil) }
        let end = Polling.end
        while ContinuousClock.now < end, (firstClick + firstMatch).contains(where: { $0 == nil }) { turn() }
        return ((firstClick + firstMatch).map { $0 ?? .now }.max() ?? .now) - start
    }

    /// Repeats undecided requests until all are decided, and compares the ledger with the database.
    ///
    /// - Parameters:
    ///   - clocksAgree: whether the servers have the machine's time.
    ///   - node: the server with the database at the end; nil for the fleet's first one.
    ///   - lostReads: the times, in milliseconds since 1970, at which a check may have read claims that were
    ///     lost later.
    /// - Throws: if the database cannot be read.
    func finish(
        clocksAgree: Bool = true,
        in node: (any DatabaseServer)? = nil,
        lostReads: ClosedRange<Int64>? = nil
    ) throws {
        mode = .draining
        let start = ContinuousClock.now
        let end = Polling.end + .milliseconds(10 * ledger.entries.count)
        while ContinuousClock.now < end {
            turn()
            let isIdle = connections.allSatisfy { $0.request == nil }
            if isIdle, clickRetries.isEmpty, checkRetries.isEmpty, ledger.isOver { break }
        }
        if !ledger.isOver { ledger.report("not all checks were decided") }
        drainTime = ContinuousClock.now - start
        if let citus = fleet.database as? CitusTestDatabase {
            // Citus ends the transactions whose worker failed between the two phases of a commit.
            let isRecovered = try Polling.until { try citus.preparedCount() == 0 }
            #expect(isRecovered, "no transaction stays prepared")
        }
        try ledger.compare(
            with: fleet,
            clocksAgree: clocksAgree,
            in: node ?? fleet.nodes[0],
            lostReads: lostReads
        )
        let violations = ledger.violations
        #expect(violations.isEmpty, "\(violations.count): \(violations.prefix(8).joined(separator: "; "))")
    }

    var summary: String {
        "\(ledger.acknowledgedCount) clicks acknowledged, \(ledger.matchCount) matches, \(ledger.refusalCount) refusals,"
            + " \(ledger.lostReplyCount) lost replies, \(ledger.violations.count) violations,"
            + " longest wait \(longestWait.inSeconds), decided after \(drainTime.inSeconds)"
    }

    // MARK: Requests

    /// Reads the replies that have come, sends what is due, and waits if there was neither.
    func turn() {
        let now = ContinuousClock.now
        let waiting = connections.indices.filter { connections[$0].request != nil }
        let resting = connections.indices.filter { connections[$0].request == nil }
        let clients = waiting.compactMap { connections[$0].client?.client }
        var isIdle = true
        for (index, hasReply) in zip(waiting, RawClient.areReadable(clients, milliseconds: 0)) {
            if hasReply {
                read(index)
                isIdle = false
            } else if now - connections[index].sentAt > Self.patience {
                giveUp(index)
            }
        }
        var next = now + Self.longestPause
        for index in resting {
            let isDue =
                connections[index].restsUntil <= now
                || mode != .steady && connections[index].client != nil
                    && target ?? connections[index].server == connections[index].server
            if isDue {
                if send(index, now) { isIdle = false }
            } else {
                next = min(next, connections[index].restsUntil)
            }
        }
        guard isIdle else { return }
        // Before a fault, the load looks every millisecond, so that requests are at different steps then.
        let mayRest = mode == .steady || mode == .draining
        let milliseconds = mayRest ? max((next - now) / .milliseconds(1), 1) : 1
        _ = RawClient.areReadable(clients, milliseconds: Int32(milliseconds.rounded(.up)))
    }

    /// The longest time without a look at requests that are due again.
    private static let longestPause = Duration.milliseconds(10)
    /// Each request has a reply or an error long before.
    private static let patience = Duration.seconds(20)

    private func read(_ index: Int) {
        guard let client = connections[index].client, let request = connections[index].request else { return }
        end(index, request, try? client.receive())
    }

    private func giveUp(_ index: Int) {
        guard let request = connections[index].request else { return }
        ledger.report("a request got no reply")
        end(index, request, nil)
    }

    private func end(_ index: Int, _ request: Request, _ reply: HTTPTestClient.Reply?) {
        let (server, sentAt, now) = (
            connections[index].server, connections[index].sentAt, ContinuousClock.now
        )
        let program = connections[index].program
        connections[index].request = nil
        if reply == nil { connections[index].client = nil }
        longestWait = max(longestWait, now - sentAt)
        // If too many clicks wait for a check, the connection sends its next check at once.
        let isBehind = connections[index].sendsChecks && ledger.unasked.count > 2 * Self.reserve
        let pace = (connections[index].sendsChecks ? 1 : 6) * (isLong ? 1 : 2)
        let rest = Int.random(in: 200...600, using: &random) * pace
        connections[index].restsUntil = now + .milliseconds(isBehind ? 0 : rest)
        let retryAt = now + .milliseconds(Int.random(in: 100...300, using: &random))
        switch request {
        case .click(let click):
            if reply == nil { ledger.didLose() }
            guard let reply, ledger.clickReply(reply, to: click, by: program) else {
                clickRetries.append((click, retryAt))
                return
            }
            if sentAt >= measuredFrom, firstClick[server] == nil { firstClick[server] = now }
        case .check(let click, let caller):
            guard ledger.checkReply(reply, to: click, from: caller, by: program) else {
                checkRetries.append((click, caller, retryAt))
                return
            }
            if sentAt >= measuredFrom, reply?.isMatch == true, firstMatch[server] == nil {
                firstMatch[server] = now
            }
        }
    }

    private func send(_ index: Int, _ now: ContinuousClock.Instant) -> Bool {
        let server = connections[index].server
        guard let process = fleet.server(server) else { return false }
        if connections[index].client == nil {
            guard let client = try? HTTPTestClient(port: process.port, key: fleet.keys.app, of: process)
            else {
                connections[index].restsUntil = now + .milliseconds(20)
                return false
            }
            (connections[index].client, connections[index].program) = (client, process.program)
        }
        let request = connections[index].sendsChecks ? nextCheck(of: server, now) : nextClick(now)
        guard let request, let client = connections[index].client else { return false }
        connections[index].request = request
        connections[index].sentAt = now
        switch request {
        case .click(let click): send(click, on: client)
        case .check(let click, let caller):
            ledger.didSend(check: click, from: caller, to: server)
            send(check: click, from: caller, on: client)
        }
        return true
    }

    private func nextClick(_ now: ContinuousClock.Instant) -> Request? {
        if let index = clickRetries.firstIndex(where: { $0.at <= now }) {
            return .click(clickRetries.remove(at: index).click)
        }
        return mode == .draining || mode == .holding ? nil : .click(ledger.makeClick())
    }

    private func nextCheck(of server: Int, _ now: ContinuousClock.Instant) -> Request? {
        if let next = groups[server].popLast() { return .check(next.click, caller: next.caller) }
        if let index = checkRetries.firstIndex(where: { $0.at <= now }) {
            let next = checkRetries.remove(at: index)
            return .check(next.click, caller: next.caller)
        }
        guard mode != .holding else { return nil }
        let count = [1, 1, 2, 3].randomElement(using: &random) ?? 1
        let reserve = mode == .steady ? Self.reserve : 0
        guard let click = ledger.takeUnasked(above: reserve, callerCount: count, &random) else { return nil }
        // The other callers ask other servers.
        for caller in 1..<max(count, 1) {
            groups[(server + caller) % Fleet.serverCount].append((click, caller))
        }
        return .check(click, caller: 0)
    }

    private func send(_ click: Int, on client: HTTPTestClient) {
        let fields = ["X-Forwarded-For": ledger.address(of: click, 0)]
        // The body is valid JSON, so this does not throw.
        try? client.sendClick(
            ledger.fingerprint(of: click),
            ["jid": ledger.journey(of: click)],
            fields: fields
        )
    }

    private func send(check click: Int, from caller: Int, on client: HTTPTestClient) {
        var fields = ["X-Forwarded-For": ledger.address(of: click, caller)]
        switch FleetLedger.way(of: click) {
        case .fingerprint: break
        case .install: fields["X-Install-ID"] = "install-\(ledger.journey(of: click))-\(caller)"
        case .token: fields["X-Install-Referrer"] = "al=\(ledger.entries[click].token)"
        }
        client.sendCheck(ledger.fingerprint(of: click), fields: fields)
    }
}

extension Duration {
    var inSeconds: String { formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 2))) }
}
#endif
