import SQLite
import Support

/// Clicks on disk before their answer, and matches, beside loops that do nothing but write the same rows.
enum ClicksRow: ComparableRow {
    static let name = "clicks"
    static let summary =
        "clicks on disk and matches, beside a plain SQLite loop and one with a commit per row"
    private static let clickRate = FigureName("clicks_per_second", "clicks on disk a second")
    private static let matchRate = FigureName("matches_per_second", "matches a second")

    static func measure(_ bench: Workbench) throws -> [Figure] {
        let template = try ClickTemplate(bench)
        let server = try bench.liveServer()
        // Each on a copy of the same clicks, which lives as long as the row.
        let copies = try (0..<2).map { _ in try bench.installation(.live(bench.scale.liveClicks)) }
        defer { withExtendedLifetime(copies) {} }
        let loops = try copies.map { try PlainLoop($0, template) }
        let matches = Matches(server, bench)
        var batches: [Double] = []
        let rates = try bench.interleaved([
            { seconds in
                let turn = try server.clickTurn(seconds) { .clicks(key: $0, series: $1) }
                batches.append(turn.batch)
                return turn.rate
            },
            { try loops[0].run(clicksPerCommit: max(1, Int((batches.last ?? 1).rounded())), seconds: $0) },
            { try loops[1].run(clicksPerCommit: 1, seconds: $0) },
            { try matches.turn($0, bench) },
        ])
        let syncs = [bench.syncMicroseconds, try DiskSync.medianMicroseconds(in: bench.folder.path)]
        return [
            FigureName("clicks_of_plain_loop", "clicks on disk, of the plain loop", .atLeast(0.50))
                .figure(rates[0], of: rates[1]),
            FigureName("clicks_of_commit_per_row", "clicks on disk, of a commit per row", .atLeast(4))
                .figure(rates[0], of: rates[2]),
            FigureName("matches_of_clicks", "matches, of clicks", .atLeast(0.6))
                .figure(rates[3], of: rates[0]),
            clickRate.figure(rates[0]),
            FigureName("plain_loop_per_second", "plain loop's rows a second").figure(rates[1]),
            FigureName("commit_per_row_per_second", "rows a second with a commit each").figure(rates[2]),
            matchRate.figure(rates[3]),
            FigureName("mean_batch", "the server's mean batch, clicks")
                .figure(batches.suffix(bench.options.rounds)),
            FigureName("sync_microseconds", "one sync to disk, µs")
                .figure(syncs, note: "before the run, after this row"),
        ]
    }

    static func contests(_ bench: Workbench) throws -> [Contest] {
        let server = try bench.liveServer()
        let matches = Matches(server, bench)
        return [
            Contest(clickRate) { [try server.clickTurn($0) { .clicks(key: $0, series: $1) }.rate] },
            Contest(matchRate) { [try matches.turn($0, bench)] },
        ]
    }

    /// Turns of checks that claim, each of stored clicks that no other turn asks for.
    private final class Matches {
        private let server: Server
        private let clicksPerTurn: Int
        private var turns = 0
        /// Of the last turn, a second.
        private var rate = Double.leastNonzeroMagnitude

        init(_ server: Server, _ bench: Workbench) {
            self.server = server
            clicksPerTurn = SeedPlan.live(bench.scale.liveClicks).recorded / (bench.options.rounds + 1)
        }

        func turn(_ seconds: Double, _ bench: Workbench) throws -> Double {
            let first = turns * clicksPerTurn
            turns += 1
            let before = try server.metrics()
            let wrk = Wrk(.matches(key: server.key, first: first, count: clicksPerTurn))
            // No longer than the turn's clicks last, with some to spare.
            let most = (0.9 * Double(clicksPerTurn) / rate).rounded(.down)
            let result = try wrk.run(server, min(seconds, most))
            let matches = try server.metrics().growth(of: "afterlink_matches_total", since: before)
            guard matches >= result.requests * 0.99 else {
                let count = "\(Int(matches)) of \(Int(result.requests))"
                throw BenchmarkError("Only \(count) checks matched: take fewer --seconds.")
            }
            rate = result.perSecond
            return rate
        }
    }
}

/// Clicks with the signals of a browser instead of a fingerprint, beside loops that do nothing but write the same rows.
enum SignalClicksRow: ComparableRow {
    static let name = "signal-clicks"
    static let summary = "clicks that bring an iPhone's or an Android's signals, beside a plain SQLite loop"

    static func measure(_ bench: Workbench) throws -> [Figure] {
        try SampleDevice.allCases.flatMap { device in
            let server = try bench.liveServer()
            let copy = try bench.installation(.live(bench.scale.liveClicks))
            defer { withExtendedLifetime(copy) {} }
            let template = try ClickTemplate(bench, from: device)
            let loop = try PlainLoop(copy, template)
            var batch = 1.0
            let rates = try bench.interleaved([
                { seconds in
                    let turn = try server.clickTurn(seconds) { .clicks(from: device, key: $0, series: $1) }
                    batch = turn.batch
                    return turn.rate
                },
                { try loop.run(clicksPerCommit: max(1, Int(batch.rounded())), seconds: $0) },
            ])
            let title = "clicks with an \(device.rawValue)'s signals on disk, of the plain loop"
            let rows = "\(template.fingerprintCount) fingerprints in the loop's clicks"
            return [
                FigureName("\(device.rawValue.lowercased())_clicks_of_plain_loop", title)
                    .figure(rates[0], of: rates[1], note: rows),
                rate(device).figure(rates[0], note: try rowsOfEach(server)),
            ]
        }
    }

    static func contests(_ bench: Workbench) throws -> [Contest] {
        let server = try bench.liveServer()
        return SampleDevice.allCases.map { device in
            Contest(rate(device)) { seconds in
                [try server.clickTurn(seconds) { .clicks(from: device, key: $0, series: $1) }.rate]
            }
        }
    }

    private static func rate(_ device: SampleDevice) -> FigureName {
        let title = "clicks with an \(device.rawValue)'s signals on disk a second"
        return FigureName("\(device.rawValue.lowercased())_clicks_per_second", title)
    }

    /// How many hashes the newest clicks have.
    private static func rowsOfEach(_ server: Server) throws -> String {
        let mean = try server.installation.open().statement(
            """
            SELECT avg(length(fingerprints) / 16.0) FROM clicks
            WHERE id > (SELECT max(id) FROM clicks) - 65536 * 2000
            """
        ).first { $0.real(0) }
        return "\(NumberText.short(mean ?? .nan)) fingerprints each"
    }
}
