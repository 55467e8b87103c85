import Glibc
import SQLite
import Support

// Rows that measure postbacks: what they cost matches, how fast they are sent, and what a dead receiver costs.
extension Row {
    /// The rate of matches with and without an endpoint.
    static let outbox = Row(
        "outbox",
        "matches of an app without an endpoint, with one whose postbacks wait, and with one whose postbacks are sent",
        shares: [
            Share(
                "matches_with_outbox",
                "matches with an endpoint whose postbacks wait, as a share of matches without an endpoint",
                .atLeast(0.85),
                of: (2, 0)
            ),
            Share(
                "match_core_with_outbox",
                "µs of a core for such a match, as a share of a match without an endpoint",
                .atMost(1.15),
                of: (3, 1)
            ),
            Share(
                "matches_beside_sending",
                "matches while postbacks are sent, as a share of matches without an endpoint",
                of: (4, 0)
            ),
        ]
    ) { bench in
        let cases = [
            ("without_endpoint", "without an endpoint"), ("with_waiting_postbacks", "whose postbacks wait"),
            ("beside_sent_postbacks", "while postbacks are sent"),
        ]
        var shared: Nginx?
        return try cases.enumerated().map { index, names in
            let installation = try bench.installation(.live(bench.scale.liveClicks))
            let server = try Server(installation, bench, extra: Receivers.allowance)
            let receiver = try shared ?? Receivers.start(beside: server)
            shared = receiver
            if index > 0 {
                let endpoint = try installation.addEndpoint(["match.*"], port: receiver.port)
                if index == 1 { try installation.set([endpoint], to: "held") }
            }
            let matches = Matches(server)
            let name = FigureName("matches_\(names.0)_per_second", "matches a second \(names.1)")
            let core = FigureName("match_\(names.0)_core_microseconds", "one of them, µs of a core")
            return Contest(names: [name], explaining: [core]) { seconds in
                let turn = try withExtendedLifetime(receiver) { try matches.turn(seconds) }
                // Pending deliveries must not disturb the next turn.
                try installation.removePending()
                return [turn.rate, turn.core]
            }
        }
    }

    /// The rate at which postbacks are delivered.
    static let deliveries = Row(
        "deliveries",
        "deliveries a second to one receiver and to ten, from a queue of stored events"
    ) { bench in
        let outbox = try FullOutbox(bench, bench.emptyInstallation(), facts: bench.scale.queuedFacts / 20) {
            receiver in (0..<11).map { _ in receiver }
        }
        let server = try outbox.start()
        func contest(_ name: String, _ title: String, _ endpoints: ArraySlice<Int64>) -> Contest {
            let rate = FigureName("deliveries_to_\(name)_per_second", "deliveries a second to \(title)")
            let core = FigureName("delivery_to_\(name)_core_microseconds", "one of them, µs of a core")
            return Contest(names: [rate], explaining: [core]) { seconds in
                try outbox.refill()
                try outbox.installation.set(endpoints, to: "enabled")
                // Once a second, the server reads what other processes have changed.
                usleep(1_500_000)
                let (before, ticks) = (
                    try server.deliveredCount(), try server.figures.running(\.processorTicks)
                )
                let watch = Stopwatch()
                usleep(UInt32(seconds * 1e6))
                let count = try server.deliveredCount() - before
                let perSecond = count / watch.seconds
                let used = try server.figures.running(\.processorTicks) - ticks
                guard try outbox.installation.pendingCount(of: endpoints) > 0 else {
                    throw BenchmarkError("All postbacks were sent in a round: use fewer --seconds.")
                }
                try outbox.installation.set(endpoints, to: "held")
                usleep(1_500_000)
                return [perSecond, used * 10_000 / max(count, 1)]
            }
        }
        return [
            contest("one", "one receiver", outbox.endpoints[..<1]),
            contest("ten", "ten receivers", outbox.endpoints[1...]),
        ]
    }

    /// The rates of requests with a dead receiver that has a long queue.
    static let deadReceiver = Row(
        "dead-receiver",
        "checks, clicks and matches with three endpoints, one of them dead with a million deliveries in its queue",
        shares: zip(["checks", "clicks", "matches"], 0...).map { name, index in
            Share(
                "\(name)_with_dead_receiver",
                "\(name) with a dead receiver, as a share of \(name) with healthy receivers",
                .atLeast(0.95),
                of: (2 * index + 1, 2 * index)
            )
        }
    ) { bench in
        let installation = try bench.installation(.live(bench.scale.liveClicks))
        guard let deadPort = Loopback.freePort() else { throw BenchmarkError("No port is free.") }
        let dead = try FullOutbox(bench, installation, facts: bench.scale.queuedFacts) { _ in [deadPort] }
        for _ in 0..<2 { _ = try installation.addEndpoint(["match.created"], port: dead.receiver.port) }
        let setting = "UPDATE postback_endpoints SET types = 'match.created', state = 'enabled'"
        try installation.open().execute("\(setting); PRAGMA wal_checkpoint(TRUNCATE);")
        let copy = try bench.copy(installation)
        let moving = "url = replace(url, ':\(deadPort)/', ':\(dead.receiver.port)/')"
        try copy.open().execute(
            "DELETE FROM deliveries; \(setting), \(moving); PRAGMA wal_checkpoint(TRUNCATE);"
        )
        let servers = [try Server(copy, bench, extra: Receivers.allowance), try dead.start()]
        let queue = try installation.pendingCount(of: dead.endpoints)
        let matches = servers.map { Matches($0) }
        func contests(_ name: String, _ rate: @escaping (Int, Double) throws -> Double) -> [Contest] {
            [("healthy", "three healthy receivers"), ("dead", "a dead receiver")].enumerated().map {
                index,
                kind in
                let name = FigureName("\(name)_with_\(kind.0)_per_second", "\(name) a second with \(kind.1)")
                let note = index == 0 ? nil : "\(queue) deliveries in its queue"
                return Contest(names: [name], note: { _ in note }) { [try rate(index, $0)] }
            }
        }
        return contests("checks") { try servers[$0].highestCheckRate($1) }
            + contests("clicks") { try servers[$0].clickTurn($1).rate }
            + contests("matches") { index, seconds in
                let rate = try matches[index].turn(seconds).rate
                try servers[index].installation.removePending(except: index == 0 ? nil : dead.endpoints[0])
                return rate
            }
    }
}

/// Receivers of postbacks on this machine, which answer 200 to all.
enum Receivers {
    /// The arguments that let a server send to this machine.
    static let allowance = ["--postback-allow", "127.0.0.0/8"]

    static func start(beside server: Server) throws -> Nginx {
        try Nginx(server.noMatch(), server.bench, log: .buffered)
    }
}

/// A database with events that wait for endpoints: a server records a part of them, and the others are copies.
final class FullOutbox {
    let installation: Installation
    let endpoints: [Int64]
    let receiver: Nginx
    private let bench: Workbench
    private static let copies = 10

    /// Lets a server record clicks, and an event of each click for held endpoints at the ports that `ports`
    /// returns.
    init(
        _ bench: Workbench,
        _ installation: Installation,
        facts: Int,
        ports: (_ receiver: UInt16) -> [UInt16]
    )
        throws
    {
        (self.bench, self.installation) = (bench, installation)
        let server = try Server(installation, bench, isDurable: false)
        let receiver = try Receivers.start(beside: server)
        self.receiver = receiver
        endpoints = try ports(receiver.port).map { port in
            try installation.addEndpoint(["click.recorded"], port: port)
        }
        try installation.set(endpoints[...], to: "held")
        bench.say("storing \(facts) events for \(endpoints.count) endpoints …")
        var plan = server.plan(.clicks, rate: Double(facts / Self.copies), seconds: 1, connections: 256)
        plan.patience = 3600
        let result = try plan.run()
        guard result.failures <= result.intended / 1000 else {
            throw BenchmarkError("The server refused \(result.failures) of \(result.intended) clicks.")
        }
        server.stop()
        try multiply()
    }

    /// Copies each event with its deliveries, under other identifiers.
    private func multiply() throws {
        // `id_low` XOR the number of the copy, so that an event's deliveries have its identifier.
        let id = "id_high, (id_low | number) - (id_low & number)"
        try installation.open().execute(
            """
            PRAGMA synchronous = OFF; PRAGMA cache_size = -500000; BEGIN;
            CREATE TEMP TABLE copies AS
            WITH RECURSIVE n (number) AS (VALUES (1) UNION ALL SELECT number + 1 FROM n WHERE number < \(Self.copies - 1))
            SELECT number FROM n;
            INSERT INTO outbox_events (scope, id_high, id_low, type, data, click)
            SELECT scope, \(id), type, data, click FROM outbox_events CROSS JOIN copies;
            INSERT INTO deliveries (endpoint, id_high, id_low, sequence, state, attempts, due_at)
            SELECT endpoint, \(id), sequence, state, attempts, due_at FROM deliveries CROSS JOIN copies;
            COMMIT; PRAGMA wal_checkpoint(TRUNCATE);
            """
        )
    }

    /// Makes all deliveries wait for their first attempt again.
    func refill() throws {
        try installation.open().execute(
            "UPDATE deliveries SET sequence = 0, state = 0, attempts = 0, attempted_at = NULL WHERE state <> 0"
        )
    }

    func start() throws -> Server { try Server(installation, bench, extra: Receivers.allowance) }
}

extension Installation {
    /// Creates an endpoint at a port of this machine, and returns the number by which deliveries name it.
    func addEndpoint(_ types: [String], port: UInt16) throws -> Int64 {
        let url = "http://127.0.0.1:\(port)/hook"
        try configure(["postbacks", "create", "--url", url] + types.flatMap { ["--type", $0] })
        return try open().integer("SELECT id_low FROM postback_endpoints ORDER BY created_at DESC LIMIT 1")
    }

    func set(_ endpoints: some Sequence<Int64>, to state: String) throws {
        let statement = try open().statement("UPDATE postback_endpoints SET state = ?2 WHERE id_low = ?1")
        for endpoint in endpoints { try statement.run(endpoint, state) }
    }

    func pendingCount(of endpoints: some Sequence<Int64>) throws -> Int64 {
        let sql: SQL = "SELECT count(*) FROM deliveries WHERE endpoint = ?1 AND state = 0"
        let statement = try open().statement(sql)
        return try endpoints.reduce(0) { sum, endpoint in
            sum + (try statement.all(endpoint) { $0.integer(0) }.first ?? 0)
        }
    }

    /// Deletes the pending deliveries to enabled endpoints, except the deliveries to one endpoint.
    func removePending(except endpoint: Int64? = nil) throws {
        try open().statement(
            """
            DELETE FROM deliveries WHERE state = 0
            AND endpoint IN (SELECT id_low FROM postback_endpoints WHERE id_low IS NOT ?1 AND state = 'enabled')
            """
        ).run(endpoint)
    }
}

extension Server {
    /// The number of postbacks that receivers have accepted from this server.
    fileprivate func deliveredCount() throws -> Double {
        let name = "afterlink_postback_attempts_total"
        guard let count = try metrics().value(name, ["result": "delivered"]) else {
            throw BenchmarkError("/metrics has no \(name).")
        }
        return count
    }
}
