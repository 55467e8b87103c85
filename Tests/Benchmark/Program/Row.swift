/// A row of the table: what is measured together, in turns.
protocol Row: SendableMetatype {
    static var name: String { get }
    static var summary: String { get }

    /// Measures the binary, beside the yardsticks where there are some.
    static func measure(_ bench: Workbench) throws -> [Figure]
}

/// A row that can compare two binaries.
protocol ComparableRow: Row {
    /// What the row measures of one binary alone.
    static func contests(_ bench: Workbench) throws -> [Contest]
}

/// Figures of one binary that one turn measures together.
struct Contest {
    /// Those that two binaries are compared by.
    let names: [FigureName]
    /// Those that explain them.
    let others: [FigureName]
    /// Measures for about the given number of seconds, and returns a value for each name, and for each of the others.
    let turn: (_ seconds: Double) throws -> [Double]

    init(
        _ names: FigureName...,
        beside others: [FigureName] = [],
        turn: @escaping (_ seconds: Double) throws -> [Double]
    ) { (self.names, self.others, self.turn) = (names, others, turn) }

    /// The figures of what the rounds' turns returned.
    func figures(_ rounds: [[Double]]) -> [Figure] {
        (names + others).enumerated().map { index, name in name.figure(rounds.map { $0[index] }) }
    }
}

/// All rows, in the order of the table.
enum Rows {
    static let all: [any Row.Type] = [
        ChecksRow.self, ClicksRow.self, SignalClicksRow.self, HotKeyRow.self, CheckLatencyRow.self,
        CheckLatencyLiveRow.self, StatisticsRow.self, StartRow.self, MemoryRow.self, MixedRow.self,
        RetentionRow.self, NewConnectionsRow.self, TLSRow.self, TLSResumptionRow.self, LandingRow.self,
        SoakRow.self, SimulationRow.self, SimulationLargeRow.self,
    ]

    /// Those that are measured when none is named: ten million live clicks take long to store.
    static let standard = all.filter { $0 != CheckLatencyLiveRow.self }
    /// Those that compare two binaries.
    static let comparable = all.filter { $0 is any ComparableRow.Type }
}

extension ComparableRow {
    /// Rows without a yardstick measure what they compare.
    static func measure(_ bench: Workbench) throws -> [Figure] {
        try contests(bench).flatMap { $0.figures(try bench.interleaved([$0.turn])[0]) }
    }

    /// Measures both binaries turn by turn, and returns how good `bench`'s one is, of the rival's: a change of speed
    /// that the machine's own changes cannot hide.
    static func compare(_ bench: Workbench, with rival: Workbench) throws -> [Figure] {
        // The rival comes first, and sets the rates of loads that do not follow the answers.
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
}
