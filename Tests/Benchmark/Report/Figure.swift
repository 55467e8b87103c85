/// One number of each round.
struct Figure {
    let name: FigureName
    /// In the order of the rounds; at least one.
    let rounds: [Double]
    /// What must be known to read it.
    var note: String?
    /// What it must reach; nil where any value will do.
    let bar: Bar.Requirement?

    init(_ name: FigureName, _ rounds: [Double], note: String? = nil, bar: Bar.Requirement? = nil) {
        self.name = name
        self.rounds = rounds
        self.note = note
        self.bar = bar ?? Bar.of(name)
    }

    /// A contestant's figures as shares of another's, round by round.
    init(_ name: FigureName, _ rounds: [Double], of others: [Double], note: String? = nil) {
        self.init(name, zip(rounds, others).map { $1 == 0 ? .nan : $0 / $1 }, note: note)
    }

    var median: Double { rounds.median }

    enum Verdict: String { case pass = "PASS", miss = "MISS" }

    /// Nil without a bar.
    var verdict: Verdict? {
        bar.map { $0.isReached(by: median) ? .pass : .miss }
    }
}

extension [Double] {
    /// The middle one; of an even number the mean of both.
    package var median: Double {
        guard !isEmpty else { return .nan }
        let sorted = sorted()
        let middle = count / 2
        return count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}
