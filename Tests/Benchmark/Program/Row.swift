/// A row of the benchmark: a group of figures that are measured together, in turns.
struct Row: Sendable {
    let name: String
    let summary: String
    /// Returns the contests by which two binaries are compared; nil if the row cannot compare binaries.
    let contests: (@Sendable (Workbench) throws -> [Contest])?
    /// Measures one binary, and the row's reference programs if it has some.
    let measure: @Sendable (Workbench) throws -> [Figure]

    /// Creates a row with its own way to measure, which cannot compare two binaries.
    init(custom name: String, _ summary: String, measure: @escaping @Sendable (Workbench) throws -> [Figure])
    {
        (self.name, self.summary, contests, self.measure) = (name, summary, nil, measure)
    }

    /// Creates a row that measures contests in turns.
    ///
    /// For a comparison of two binaries, `contests` leaves out reference programs (``Workbench/comparesBinaries``).
    init(
        _ name: String,
        _ summary: String,
        isComparable: Bool = false,
        shares: [Share] = [],
        contests: @escaping @Sendable (Workbench) throws -> [Contest]
    ) {
        (self.name, self.summary, self.contests) = (name, summary, isComparable ? contests : nil)
        measure = { bench in
            let contests = try contests(bench)
            let rounds = try bench.interleaved(contests.map(\.turn))
            let figures = zip(contests, rounds).flatMap { $0.figures($1) }
            return shares.map { $0.figure(figures) } + figures
        }
    }

    /// Measures two binaries in turns, and returns the performance of `bench`'s binary as a share of the rival's.
    ///
    /// Each round has its own share, so that a change of the machine's speed does not hide a change of the binary.
    /// - Returns: a share for each figure; nil if the row cannot compare binaries.
    func compare(_ bench: Workbench, with rival: Workbench) throws -> [Figure]? {
        guard let contests else { return nil }
        // The rival's contests are created first: they set the rates of the loads that send without waiting
        // for responses.
        let (old, new) = (try contests(rival), try contests(bench))
        return try zip(old, new).flatMap { old, new in
            let rounds = try bench.interleaved([old.turn, new.turn])
            return zip(old.figures(rounds[0]), new.figures(rounds[1])).prefix(new.names.count).map {
                old,
                new in
                let (better, worse) = new.isRate ? (new, old) : (old, new)
                let note = "\(NumberText.short(old.median)) → \(NumberText.short(new.median))"
                // A change must keep 97 % of the rival's speed.
                return FigureName("\(new.name)_of_old", "\(new.title): new of old", .atLeast(0.97))
                    .figure(better.rounds, of: worse.rounds, note: note)
            }
        }
    }

    /// All rows, in the order of the table.
    static let all = onSQLite + postgreSQL
    private static let onSQLite = [
        checks, clicks, signalClicks, hotKey, checkLatency, checkLatencyLive, statistics, start, memory,
        mixed, retention, newConnections, tls, tlsResumption, landing, dashboard, dashboardGrowth,
        openDashboards, liveStreams, outbox, events, deliveries, deadReceiver, clientLaunch, soak, simulation,
        simulationLarge,
    ]
    /// The rows that are measured when none is named, without `checkLatencyLive`, whose clicks take long to store.
    static let standard = onSQLite.filter { $0.name != checkLatencyLive.name }
    #if !PostgreSQL
    static let postgreSQL: [Row] = []
    #endif
    /// The rows that compare two binaries.
    static let comparable = all.filter { $0.contests != nil }
}

/// Figures that one turn (one measurement of a few seconds) measures together.
struct Contest {
    /// The names of the figures by which two binaries are compared.
    let names: [FigureName]
    /// The names of the figures that only explain the others.
    var explaining: [FigureName] = []
    /// Returns a note for the reader of the figures, from the values of the rounds.
    var note: (_ rounds: [[Double]]) -> String? = { _ in nil }
    /// Measures for about the given number of seconds.
    ///
    /// Returns a value for each of the names, then one for each of `explaining`. The note may use further
    /// values.
    let turn: (_ seconds: Double) throws -> [Double]

    /// Returns the figures from the values that the turns of the rounds returned.
    func figures(_ rounds: [[Double]]) -> [Figure] {
        (names + explaining).enumerated().map { index, name in
            name.figure(rounds.map { $0[index] }, note: index < names.count ? note(rounds) : nil)
        }
    }
}

/// A figure that is the ratio of two figures of a row's contests, round by round.
struct Share: Sendable {
    private let name: FigureName
    /// The positions of the two figures among the figures of all contests.
    private let positions: (Int, Int)

    init(_ name: String, _ title: String, _ bar: Bar? = nil, of positions: (Int, Int)) {
        (self.name, self.positions) = (FigureName(name, title, bar), positions)
    }

    func figure(_ figures: [Figure]) -> Figure {
        name.figure(figures[positions.0].rounds, of: figures[positions.1].rounds)
    }
}
