internal import Attribution
internal import SQLite
internal import Storage

/// The counters of clicks, robots' clicks, matches and delays compared with the facts that are held, and mended.
///
/// What happens without leaving a fact (checks that matched nothing, repeated posts, replays) cannot be counted again.
struct CounterRecount {
    private let connection: SQLiteConnection
    private let facts: FactCounting
    private let spans: HeldSpans
    /// What is left of the counters to be compared.
    let thinned: ThinnedSpans
    private let names: ScopeNames
    private let now: Timestamp

    /// Columns of the counters that the facts tell.
    private static let told = [Metric.clicks, .robots, .matches]

    init(_ connection: SQLiteConnection, at now: Timestamp) throws(SQLiteError) {
        self.connection = connection
        self.now = now
        spans = try HeldSpans(connection)
        thinned = try ThinnedSpans(connection, at: now)
        facts = try FactCounting(connection, at: now)
        names = try ScopeNames(connection)
    }

    /// A count that is not what the facts say.
    struct Difference {
        let table: CountingTable
        /// With what is right, where that is known.
        var row: CountingTable.Row
        let text: String
        /// Whether the facts are all held, so that they decide.
        let isDecided: Bool
    }

    func check() throws(SQLiteError) -> VerificationReport.Check {
        var check = VerificationReport.Check(
            "counters",
            "clicks, robots' clicks, matches and times to install are as many as the facts: \(spans.scope)"
        )
        try forEachDifference { difference in
            check.add(difference.text, difference.isDecided ? Advice.repair : Advice.undecidable)
        }
        return check
    }

    func liveCheck() throws(SQLiteError) -> VerificationReport.Check {
        var check = VerificationReport.Check(
            "live_clicks",
            "as many clicks can be matched as are counted, for every second and hour from now on"
        )
        try forEachLiveDifference { check.add($0.text, Advice.repair) }
        return check
    }

    func forEachDifference(_ body: (Difference) throws(SQLiteError) -> Void) throws(SQLiteError) {
        let table = CountingTable.counters
        try table.forEachPair(facts.counted, connection) { (expected, found) throws(SQLiteError) in
            let key = found.key
            guard thinned.isWhole(key) else { return }
            let isDecided = spans.cover(key[3].words, key[4].number)
            var right = found
            var words: [String] = []
            for metric in Self.told {
                let (expected, found) = (expected.counts[metric.column], found.counts[metric.column])
                guard isDecided ? expected != found : expected > found else { continue }
                right.counts[metric.column] = expected
                words.append(
                    "\(metric.rawValue) \(found) instead of \(isDecided ? "" : "at least ")\(expected)"
                )
            }
            guard !words.isEmpty else { return }
            let text = "\(names.counter(key)): \(words.joined(separator: ", "))"
            try body(Difference(table: table, row: right, text: text, isDecided: isDecided))
        }
        try forEachDelayDifference(body)
    }

    private func forEachDelayDifference(_ body: (Difference) throws(SQLiteError) -> Void) throws(SQLiteError)
    {
        let table = CountingTable.installDelays
        try table.forEachPair(facts.counted, connection) { (expected, found) throws(SQLiteError) in
            let key = found.key
            guard thinned.isWholeDelay(key) else { return }
            let isDecided = spans.cover(key[2].words, key[3].number)
            let (right, count) = (expected.counts[0], found.counts[0])
            guard isDecided ? right != count : right > count else { return }
            let text = "\(names.delay(key)): \(count) instead of \(isDecided ? "" : "at least ")\(right)"
            try body(
                Difference(
                    table: table,
                    row: CountingTable.Row(key: key, counts: [right]),
                    text: text,
                    isDecided: isDecided
                )
            )
        }
    }

    func forEachLiveDifference(_ body: (Difference) throws(SQLiteError) -> Void) throws(SQLiteError) {
        let second = LiveClicks.second(of: now)
        let hour = LiveClicks.hour(ofSecond: second)
        let table = CountingTable.liveClicks
        try table.forEachPair(facts.counted, connection) { (expected, found) throws(SQLiteError) in
            let (span, expiresIn) = (found.key[1].words, found.key[2].number)
            // The present figure is made of these; earlier ones are deleted some time.
            guard span == "second" ? expiresIn >= second : expiresIn > hour else { return }
            guard expected.counts != found.counts else { return }
            let start = Timestamp(milliseconds: expiresIn * (span == "second" ? 1000 : 3_600_000))
            let text =
                "live clicks of \(names.scope(found.key[0])) that expire in the \(span) \(start.iso8601):"
                + " \(found.counts[0]) instead of \(expected.counts[0])"
            try body(Difference(table: table, row: expected, text: text, isDecided: true))
        }
    }
}
