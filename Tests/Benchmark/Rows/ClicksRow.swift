import SQLite
import Support

/// Clicks on disk before their answer, and matches, beside loops that do nothing but write the same rows.
enum ClicksRow {
    static func measure(_ bench: Workbench) throws -> [Figure] {
        let plan = SeedPlan.live(bench.scale.liveClicks)
        let template = try bench.template()
        let server = try Server(bench.installation(plan), bench)
        // Each on a copy of the same clicks, which lives as long as the row.
        let (copy, otherCopy) = (try bench.installation(plan), try bench.installation(plan))
        defer { withExtendedLifetime((copy, otherCopy)) {} }
        let (loop, loopOfOnes) = (try PlainLoop(copy, template), try PlainLoop(otherCopy, template))
        let matches = Matches(server, bench)
        var batches: [Double] = []
        let rates = try bench.interleaved([
            { seconds in
                let turn = try server.clickTurn(seconds, bench) { .clicks(key: $0, series: $1) }
                batches.append(turn.batch)
                return turn.rate
            },
            { try loop.run(clicksPerCommit: max(1, Int((batches.last ?? 1).rounded())), seconds: $0) },
            { try loopOfOnes.run(clicksPerCommit: 1, seconds: $0) },
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

    static func contests(_ bench: Workbench) throws -> [Contest] {
        let server = try Server(bench.installation(.live(bench.scale.liveClicks)), bench)
        let matches = Matches(server, bench)
        return [
            Contest(.clicksPerSecond) { seconds in
                [try server.clickTurn(seconds, bench) { .clicks(key: $0, series: $1) }.rate]
            },
            Contest(.matchesPerSecond) { [try matches.turn($0, bench)] },
        ]
    }

    /// Turns of checks that claim, each of stored clicks that no other turn asks for.
    private final class Matches {
        private let server: Server
        private let clicksPerTurn: Int
        private var turns = 0

        init(_ server: Server, _ bench: Workbench) {
            self.server = server
            clicksPerTurn = SeedPlan.live(bench.scale.liveClicks).recorded / (bench.options.rounds + 1)
        }

        func turn(_ seconds: Double, _ bench: Workbench) throws -> Double {
            let script = WrkScript.matches(
                key: server.installation.keys.app,
                first: turns * clicksPerTurn,
                count: clicksPerTurn
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

/// Clicks with the signals of a browser instead of a fingerprint, beside loops that do nothing but write the same rows.
enum SignalClicksRow {
    private static let devices = [SampleDevice.iphone, .android]

    static func measure(_ bench: Workbench) throws -> [Figure] {
        let plan = SeedPlan.live(bench.scale.liveClicks)
        return try devices.flatMap { device in
            let (server, copy) = (try Server(bench.installation(plan), bench), try bench.installation(plan))
            defer { withExtendedLifetime(copy) {} }
            let template = try ClickTemplate(bench, from: device)
            let loop = try PlainLoop(copy, template)
            var batch = 1.0
            let rates = try bench.interleaved([
                { seconds in
                    let turn = try server.clickTurn(seconds, bench) {
                        .clicks(from: device, key: $0, series: $1)
                    }
                    batch = turn.batch
                    return turn.rate
                },
                { try loop.run(clicksPerCommit: max(1, Int(batch.rounded())), seconds: $0) },
            ])
            let rows = "\(template.fingerprintCount) fingerprints in the loop's clicks"
            return [
                Figure(.clicksOfPlainLoop(from: device), rates[0], of: rates[1], note: rows),
                Figure(.clicksPerSecond(from: device), rates[0], note: try rowsOfEach(server)),
            ]
        }
    }

    static func contests(_ bench: Workbench) throws -> [Contest] {
        let server = try Server(bench.installation(.live(bench.scale.liveClicks)), bench)
        return devices.map { device in
            Contest(.clicksPerSecond(from: device)) { seconds in
                [try server.clickTurn(seconds, bench) { .clicks(from: device, key: $0, series: $1) }.rate]
            }
        }
    }

    /// How many hashes the newest clicks have.
    private static func rowsOfEach(_ server: Server) throws -> String {
        let database = try server.installation.open()
        let mean = try database.statement(
            """
            SELECT avg(length(fingerprints) / 16.0) FROM clicks
            WHERE id > (SELECT max(id) FROM clicks) - 65536 * 2000
            """
        ).first { $0.real(0) }
        return "\(NumberText.short(mean ?? .nan)) fingerprints each"
    }
}
