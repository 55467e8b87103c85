internal import Attribution
internal import SQLite
internal import Storage

/// Whether the counts of the parts add up to the counts of the whole, over all time.
struct CounterParts {
    private let connection: SQLiteConnection
    private let names: ScopeNames

    init(_ connection: SQLiteConnection, _ names: ScopeNames) {
        self.connection = connection
        self.names = names
    }

    func differences() throws(SQLiteError) -> [String] {
        var wholes: [(key: [RowKeyPart], whole: Tally, byPart: [Dimension: Tally])] = []
        try connection.prepare(Self.parts).forEach { row throws(SQLiteError) in
            let key: [RowKeyPart] = [.integer(row.integer(0)), .text(row.bytes(1))]
            guard let dimension = Dimension(rawValue: row.text(2)) else {
                throw .damaged("adding up counters")
            }
            if wholes.last?.key != key { wholes.append((key, Tally(), [:])) }
            var tally = Tally()
            tally.add(row, from: 3)
            if dimension == .total {
                wholes[wholes.count - 1].whole = tally
            } else {
                wholes[wholes.count - 1].byPart[dimension] = tally
            }
        }
        return wholes.flatMap { differences($0.key, $0.whole, $0.byPart) }
    }

    private func differences(_ key: [RowKeyPart], _ whole: Tally, _ byPart: [Dimension: Tally]) -> [String] {
        let total = RowKeyPart.text(Array(Dimension.total.rawValue.utf8))
        let name = names.label(scope: key[0], campaign: key[1], dimension: total, value: total)
        var lines: [String] = []
        for (dimension, metrics) in [
            (Dimension.platform, Metric.allCases),
            (.source, [.clicks, .duplicates, .robots, .matches, .replays]),
            (.method, [.matches]),
        ] {
            let part = byPart[dimension] ?? Tally()
            for metric in metrics where part[metric] != whole[metric] {
                lines.append(
                    "\(name): \(metric.rawValue) \(whole[metric]), and \(part[metric]) by \(dimension.rawValue)"
                )
            }
        }
        let outcomes = [Metric.matches, .replays] + NoMatchReason.allCases.map { Metric($0) }
        let ended = outcomes.reduce(0) { $0 + whole[$1] }
        // Within a campaign, only those checks are counted that found one of its clicks.
        if key[1].words.isEmpty, ended != whole[.checks] {
            lines.append("\(name): checks \(whole[.checks]), and \(ended) that ended in one way or another")
        }
        return lines
    }

    private static let parts: StaticString = """
        SELECT scope, campaign, dimension, sum(clicks), sum(duplicates), sum(robots), sum(checks), sum(matches),
            sum(replays), sum(no_match_no_click), sum(no_match_expired), sum(no_match_already_claimed),
            sum(no_match_robot_click),
            sum(no_match_below_threshold), sum(no_match_ambiguous), sum(no_match_other_app),
            sum(no_match_token_invalid), sum(no_match_token_used), sum(no_match_fingerprint_disabled)
        FROM counters WHERE granularity = 'all' AND dimension IN ('total', 'platform', 'source', 'method')
        GROUP BY scope, campaign, dimension ORDER BY scope, campaign, dimension
        """
}
