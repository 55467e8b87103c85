import SQLite
import Support

extension Row {
    /// The rate of events after the match.
    static let events = Row(
        "events",
        "events of matched installations on disk, one and a hundred in a request, beside clicks",
        shares: [
            Share("events_of_clicks", "events, one in a request, of clicks", of: (1, 0)),
            Share("batched_events_of_clicks", "events, a hundred in a request, of clicks", of: (2, 0)),
        ]
    ) { bench in
        let server = try bench.liveServer()
        let installs = bench.scale.installs
        try server.matchInstalls(installs)
        func contest(_ name: String, _ title: String, _ count: Int, connections: Int) -> Contest {
            Contest(names: [
                FigureName("\(name)_per_second", "events on disk a second, \(title) in a request")
            ]) {
                seconds in
                let before = try server.eventCount()
                let script = WrkScript.events(
                    key: server.key,
                    series: bench.nextSeries(),
                    count: count,
                    installs: installs
                )
                let result = try Wrk(script, connections: connections).run(server, seconds)
                guard try server.eventCount() - before >= result.requests * Double(count) * 0.99 else {
                    throw BenchmarkError("The server acknowledged events that it has not stored.")
                }
                return [result.perSecond * Double(count)]
            }
        }
        let clicks = FigureName("clicks_beside_events_per_second", "clicks on disk a second")
        return [
            Contest(names: [clicks]) { [try server.clickTurn($0).rate] },
            contest("events", "one", 1, connections: 256),
            contest("batched_events", "a hundred", 100, connections: 16),
        ]
    }
}

extension Server {
    /// Matches the first stored clicks, each with an installation of its own.
    fileprivate func matchInstalls(_ count: Int) throws {
        let client = try connect()
        for number in 0..<count {
            let digits = String(number, radix: 16)
            let padded = String(repeating: "0", count: 16 - digits.count) + digits
            client.send(
                SampleRequests.check(
                    SeedPlan.fingerprintPrefix + padded,
                    key: key,
                    address: SampleAddress.bytes(number),
                    install: "install-\(number)"
                )
            )
            _ = try client.answer().expecting(200)
        }
        let matched = try installation.open().integer("SELECT count(*) FROM attributed_installs")
        guard matched >= count * 99 / 100 else {
            throw BenchmarkError("Only \(matched) of \(count) installations matched.")
        }
    }

    fileprivate func eventCount() throws -> Double {
        Double(try installation.open().integer("SELECT count(*) FROM events"))
    }
}
