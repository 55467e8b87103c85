/// A row of the table: what is measured together, in turns.
struct Row: Sendable {
    let name: String
    let summary: String
    /// What two binaries are compared by; nil where the row cannot compare them.
    let contests: (@Sendable (Workbench) throws -> [Contest])?
    /// Measures one binary, beside reference programs where there are some.
    let measure: @Sendable (Workbench) throws -> [Figure]

    /// Creates a row that measures in a way of its own.
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

    /// Measures two binaries turn by turn, and returns how good `bench`'s one is, as a share of the rival's.
    ///
    /// Each round has a share of its own, so that a machine whose speed changes does not hide a change of the binary.
    /// - Returns: nil where the row cannot compare.
    func compare(_ bench: Workbench, with rival: Workbench) throws -> [Figure]? {
        guard let contests else { return nil }
        // The rival comes first, and sets the rates of loads that do not wait for the responses.
        let (old, new) = (try contests(rival), try contests(bench))
        return try zip(old, new).flatMap { old, new in
            let rounds = try bench.interleaved([old.turn, new.turn])
            return zip(old.figures(rounds[0]), new.figures(rounds[1])).prefix(new.names.count).map {
                old,
                new in
                let (better, worse) = new.isRate ? (new, old) : (old, new)
                let note = "\(NumberText.short(old.median)) → \(NumberText.short(new.median))"
                // What a change must keep of the other binary's speed.
                return FigureName("\(new.name)_of_old", "\(new.title): new of old", .atLeast(0.97))
                    .figure(better.rounds, of: worse.rounds, note: note)
            }
        }
    }

    /// All rows, in the order of the table.
    static let all = [
        checks, clicks, signalClicks, hotKey, checkLatency, checkLatencyLive, statistics, start, memory,
        mixed, retention, newConnections, tls, tlsResumption, landing, soak, simulation, simulationLarge,
    ]
    /// The rows that are measured when none is named: ten million live clicks take long to store.
    static let standard = all.filter { $0.name != checkLatencyLive.name }
    /// The rows that compare two binaries.
    static let comparable = all.filter { $0.contests != nil }
}

/// Figures that one turn measures together.
struct Contest {
    /// The figures that two binaries are compared by.
    let names: [FigureName]
    /// The figures that explain the others.
    var explaining: [FigureName] = []
    /// Returns what a reader must know beside the figures, given the rounds' values.
    var note: (_ rounds: [[Double]]) -> String? = { _ in nil }
    /// Measures for about the given number of seconds.
    ///
    /// Returns a value for each of the names and for each explaining one; values after those serve the note.
    let turn: (_ seconds: Double) throws -> [Double]

    /// Returns the figures of what the rounds' turns returned.
    func figures(_ rounds: [[Double]]) -> [Figure] {
        (names + explaining).enumerated().map { index, name in
            name.figure(rounds.map { $0[index] }, note: index < names.count ? note(rounds) : nil)
        }
    }
}

/// A figure that divides one figure of a row's contests by another one, round by round.
struct Share: Sendable {
    private let name: FigureName
    /// The positions of both among the figures of all contests.
    private let positions: (Int, Int)

    init(_ name: String, _ title: String, _ bar: Bar? = nil, of positions: (Int, Int)) {
        (self.name, self.positions) = (FigureName(name, title, bar), positions)
    }

    func figure(_ figures: [Figure]) -> Figure {
        name.figure(figures[positions.0].rounds, of: figures[positions.1].rounds)
    }
}
