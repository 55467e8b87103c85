/// Clicks on disk before their answer, and matches, beside loops that do nothing but write the same rows.
enum ClicksRow {
    static func measure(_ bench: Workbench) throws -> [Figure] {
        let plan = SeedPlan.live(bench.scale.liveClicks)
        let template = try bench.template()
        let server = try Server(bench.installation(plan), bench)
        // Each on a copy of the same clicks.
        let (copy, otherCopy) = (try bench.installation(plan), try bench.installation(plan))
        let loop = try PlainLoop(copy.database, template)
        let loopOfOnes = try PlainLoop(otherCopy.database, template)
        let matches = Matches(server, clicks: bench.scale.liveClicks, turns: bench.options.rounds + 1)
        var batches: [Double] = []
        let rates = try bench.interleaved([
            { seconds in
                let (rate, batch) = try clicks(server, seconds, bench)
                batches.append(batch)
                return rate
            },
            { try loop.run(rowsPerCommit: max(1, Int((batches.last ?? 1).rounded())), seconds: $0) },
            { try loopOfOnes.run(rowsPerCommit: 1, seconds: $0) },
            { try matches.turn($0, bench) },
        ])
        let sync = try DiskSync.medianMicroseconds(in: bench.folder.path)
        return [
            Figure(.clicksOfPlainLoop, rates[0], of: rates[1]),
            Figure(.clicksOfCommitPerRow, rates[0], of: rates[2]),
            Figure(.matchesOfClicks, rates[3], of: rates[0]),
            Figure(.clicksPerSecond, rates[0]),
            Figure(.plainLoopPerSecond, rates[1]),
            Figure(.commitPerRowPerSecond, rates[2]),
            Figure(.matchesPerSecond, rates[3]),
            Figure(.meanBatch, batches.suffix(bench.options.rounds)),
            Figure(
                .syncMicroseconds,
                [bench.syncMicroseconds, sync],
                note: "before the run, after this row"
            ),
        ]
    }

    /// Clicks a second, and how many of them the server put into one commit.
    private static func clicks(_ server: Server, _ seconds: Double, _ bench: Workbench) throws -> (
        rate: Double, batch: Double
    ) {
        let script = WrkScript.clicks(key: server.installation.keys.app, series: bench.nextSeries())
        let before = try server.metrics()
        let result = try Wrk(script: script, connections: 256).run(port: server.port, seconds: seconds, bench)
        let after = try server.metrics()
        guard try after.growth(of: "afterlink_clicks_total", since: before) >= result.requests else {
            throw Trouble("The server acknowledged clicks that it has not counted.")
        }
        let sum = try after.growth(of: "afterlink_store_batch_size_sum", since: before)
        let count = try after.growth(of: "afterlink_store_batch_size_count", since: before)
        return (result.perSecond, sum / max(count, 1))
    }

    /// Turns of checks that claim, each of stored clicks that no other turn asks for.
    private final class Matches {
        private let server: Server
        private let clicksOfTurn: Int
        private var turns = 0

        init(_ server: Server, clicks: Int, turns: Int) {
            self.server = server
            clicksOfTurn = clicks / turns
        }

        func turn(_ seconds: Double, _ bench: Workbench) throws -> Double {
            let script = WrkScript.matches(
                key: server.installation.keys.app,
                first: turns * clicksOfTurn,
                count: clicksOfTurn
            )
            turns += 1
            let before = try server.metrics()
            let result = try Wrk(script: script).run(port: server.port, seconds: seconds, bench)
            let matches = try server.metrics().growth(of: "afterlink_matches_total", since: before)
            guard matches >= result.requests * 0.99 else {
                throw Trouble(
                    "Only \(Int(matches)) of \(Int(result.requests)) checks matched: take fewer --seconds."
                )
            }
            return result.perSecond
        }
    }
}
