/// Figures of one binary that one turn measures together.
struct Contest {
    let names: [FigureName]
    /// Measures for about the given number of seconds, and returns a value for each name.
    let turn: (_ seconds: Double) throws -> [Double]

    init(_ names: FigureName..., turn: @escaping (_ seconds: Double) throws -> [Double]) {
        self.names = names
        self.turn = turn
    }
}

/// Two binaries of the server side by side: a change of speed that the machine's own changes cannot hide.
enum Comparison {
    /// What a change must keep of the other binary's speed.
    private static let bar = Bar.atLeast(0.97)

    /// Measures both binaries turn by turn, and returns how good `bench`'s one is, of the rival's.
    static func measure(_ row: RowName, _ bench: Workbench, against rival: Workbench) throws -> [Figure] {
        let rates = MixedRow.Rates()
        // The rival comes first, and sets the rates of loads that do not follow the answers.
        let (old, new) = (try row.contests(rival, rates), try row.contests(bench, rates))
        return try zip(old, new).flatMap { old, new in
            let rounds = try bench.interleaved([old.turn, new.turn])
            return new.names.enumerated().map { index, name in
                figure(name, old: rounds[0].map { $0[index] }, new: rounds[1].map { $0[index] })
            }
        }
    }

    private static func figure(_ name: FigureName, old: [Double], new: [Double]) -> Figure {
        let (better, worse) = name.isRate ? (new, old) : (old, new)
        let title = "\(name.title): new of old"
        return Figure(
            FigureName("\(name.name)_of_old", title, bar),
            better,
            of: worse,
            note: "\(NumberText.short(old.median)) → \(NumberText.short(new.median))"
        )
    }
}
