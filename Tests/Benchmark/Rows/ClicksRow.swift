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
                let turn = try ClickLoading.turn(server, seconds, bench) { .clicks(key: $0, series: $1) }
                batches.append(turn.batch)
                return turn.rate
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
                throw BenchmarkError(
                    "Only \(Int(matches)) of \(Int(result.requests)) checks matched: take fewer --seconds."
                )
            }
            return result.perSecond
        }
    }
}
