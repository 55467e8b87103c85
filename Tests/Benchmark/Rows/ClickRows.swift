import SQLite
import Support

// Rows that measure clicks (each on disk before its response), next to loops that only write the same rows.
extension Row {
    /// The rates of clicks with ready-made fingerprints, and of matches of these clicks.
    static let clicks = Row(
        "clicks",
        "clicks on disk and matches, beside a plain SQLite loop and one with a commit per row",
        isComparable: true,
        shares: [
            Share("clicks_of_plain_loop", "clicks on disk, of the plain loop", .atLeast(0.5), of: (0, 5)),
            Share("clicks_of_commit_per_row", "clicks on disk, of a commit per row", .atLeast(4), of: (0, 6)),
            Share("matches_of_clicks", "matches, of clicks", .atLeast(0.6), of: (3, 0)),
        ]
    ) { bench in
        let server = try bench.liveServer()
        let matches = Matches(server)
        var batch = 1.0
        let contests = [
            Contest(
                names: [
                    FigureName("clicks_per_second", "clicks on disk a second"),
                    FigureName("click_core_microseconds", "one of them, µs of a core"),
                ],
                explaining: [FigureName("mean_batch", "the server's mean batch, clicks")]
            ) { seconds in
                let turn = try server.clickTurn(seconds)
                batch = turn.batch
                return [turn.rate, turn.core, turn.batch]
            },
            Contest(
                names: [
                    FigureName("matches_per_second", "matches a second"),
                    FigureName("match_core_microseconds", "one of them, µs of a core"),
                ]
            ) { seconds in
                let turn = try matches.turn(seconds)
                return [turn.rate, turn.core]
            },
        ]
        guard !bench.comparesBinaries else { return contests }
        let template = try ClickTemplate(bench)
        let loops = try (0..<2).map { _ in try PlainLoop(bench, template) }
        return contests + [
            Contest(names: [FigureName("plain_loop_per_second", "plain loop's rows a second")]) { seconds in
                [try loops[0].run(clicksPerCommit: max(1, Int(batch.rounded())), seconds: seconds)]
            },
            Contest(names: [FigureName("commit_per_row_per_second", "rows a second with a commit each")]) {
                [try loops[1].run(clicksPerCommit: 1, seconds: $0)]
            },
            Contest(names: [FigureName("sync_microseconds", "one sync to disk, µs")]) { _ in
                [try DiskSync.medianMicroseconds(in: bench.folder.path)]
            },
        ]
    }

    /// The rate of clicks with the signals of a browser instead of a fingerprint.
    static let signalClicks = Row(
        "signal-clicks",
        "clicks that bring an iPhone's or an Android's signals, beside a plain SQLite loop",
        isComparable: true,
        shares: SampleDevice.allCases.enumerated().map { index, device in
            let title = "clicks with an \(device.rawValue)'s signals on disk, of the plain loop"
            let name = "\(device.rawValue.lowercased())_clicks_of_plain_loop"
            return Share(name, title, of: (2 * index, 2 * index + 1))
        }
    ) { bench in
        let shared = bench.comparesBinaries ? try bench.liveServer() : nil
        return try SampleDevice.allCases.flatMap { device in
            let server = try shared ?? bench.liveServer()
            let name = device.rawValue.lowercased()
            let title = "clicks with an \(device.rawValue)'s signals on disk a second"
            var batch = 1.0
            let clicks = Contest(
                names: [FigureName("\(name)_clicks_per_second", title)],
                note: { rounds in "\(NumberText.short(rounds.last?.last ?? .nan)) fingerprints each" }
            ) { seconds in
                let turn = try server.clickTurn(from: device, seconds)
                batch = turn.batch
                return [turn.rate, try fingerprintsOfNewestClicks(server)]
            }
            guard !bench.comparesBinaries else { return [clicks] }
            let template = try ClickTemplate(bench, from: device)
            let loop = try PlainLoop(bench, template)
            let ofLoop = FigureName("\(name)_plain_loop_per_second", "plain loop's rows a second")
            let note = "\(template.fingerprintCount) fingerprints in the loop's clicks"
            return [
                clicks,
                Contest(names: [ofLoop], note: { _ in note }) { seconds in
                    [try loop.run(clicksPerCommit: max(1, Int(batch.rounded())), seconds: seconds)]
                },
            ]
        }
    }

    /// Returns the mean number of fingerprint hashes of the newest clicks.
    private static func fingerprintsOfNewestClicks(_ server: Server) throws -> Double {
        try server.installation.open().statement(
            """
            SELECT avg(length(fingerprints) / 16.0) FROM clicks
            WHERE id > (SELECT max(id) FROM clicks) - 65536 * 2000
            """
        ).first { $0.real(0) } ?? .nan
    }
}

/// Measures checks that match; each turn checks stored clicks that no other turn checks.
final class Matches {
    private let server: Server
    private let clicksPerTurn: Int
    private var turns = 0
    /// The matches a second in the last turn.
    private var rate = Double.leastNonzeroMagnitude

    /// Divides the `clicks` recorded clicks among the turns; without `turns`, among the rounds and one
    /// warm-up.
    init(_ server: Server, clicks: Int? = nil, turns: Int? = nil) {
        self.server = server
        let recorded = clicks ?? SeedPlan.live(server.bench.scale.liveClicks).recorded
        clicksPerTurn = recorded / (turns ?? server.bench.options.rounds + 1)
    }

    /// Returns the matches a second, and the server's processor time for one, in microseconds of a core.
    func turn(_ seconds: Double) throws -> (rate: Double, core: Double) {
        let first = turns * clicksPerTurn
        turns += 1
        let before = try server.metrics()
        let ticks = try server.figures.running(\.processorTicks)
        let wrk = Wrk(WrkScript.matches(key: server.key, first: first, count: clicksPerTurn))
        // Limit the duration, so that the turn ends before its clicks are used up.
        let maximum = (0.9 * Double(clicksPerTurn) / rate).rounded(.down)
        let result = try wrk.run(server, min(seconds, maximum))
        let used = try server.figures.running(\.processorTicks) - ticks
        let matches = try server.metrics().growth(of: "afterlink_matches_total", since: before)
        guard matches >= result.requests * 0.99 else {
            let count = "\(Int(matches)) of \(Int(result.requests))"
            throw BenchmarkError("Only \(count) checks matched: use fewer --seconds.")
        }
        rate = result.perSecond
        return (rate, used * 10_000 / max(matches, 1))
    }
}
