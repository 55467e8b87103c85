internal import Attribution
internal import SQLite
internal import Storage

/// The most clicked campaigns of one scope, found by an index however many campaigns there are.
///
/// Over all time they are read off. Over a range, the most clicked of each span compete: a campaign that is never
/// among a span's first hundred is not in the report, though it might have come in by its sum.
struct CampaignRanking {
    let connection: SQLiteConnection
    let spans: [CountedSpans]
    let scope: Scope

    private static let limit = StatisticsReport.campaignLimit

    func top() throws(SQLiteError) -> [String: Tally] {
        var candidates: [String: Int64] = [:]
        for span in spans {
            for period in try periods(of: span) {
                try connection.statement(Self.top)
                    .forEach(scope.number, span.granularity.rawValue, period, Self.limit) { row in
                        candidates[row.text(0), default: 0] += row.integer(1)
                    }
            }
        }
        let best = candidates.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(2 * Self.limit)
        var tallies: [String: Tally] = [:]
        for (campaign, _) in best { tallies[campaign] = try tally(of: campaign) }
        return tallies
    }

    /// The starts of the spans in which anything was counted.
    private func periods(of span: CountedSpans) throws(SQLiteError) -> [Int64] {
        guard span.granularity != .all else { return [0] }
        return try connection.statement(Self.periods).all(
            scope.number,
            span.granularity.rawValue,
            span.first.milliseconds,
            span.end.milliseconds
        ) { $0.integer(0) }
    }

    private func tally(of campaign: String) throws(SQLiteError) -> Tally {
        var tally = Tally()
        for span in spans {
            try connection.statement(StatisticsSQL.groups).forEach(
                scope.number,
                campaign,
                Dimension.total.rawValue,
                span.granularity.rawValue,
                span.first.milliseconds,
                span.end.milliseconds
            ) { row in tally.add(row, from: 1) }
        }
        return tally
    }

    static let top: StaticString = """
        SELECT campaign, clicks FROM counters
        WHERE scope = ?1 AND granularity = ?2 AND period = ?3 AND dimension = 'total' AND campaign <> ''
        ORDER BY clicks DESC LIMIT ?4
        """
    static let periods: StaticString = """
        SELECT period FROM counters
        WHERE scope = ?1 AND campaign = '' AND dimension = 'total' AND granularity = ?2
            AND period >= ?3 AND period < ?4
        """
}
