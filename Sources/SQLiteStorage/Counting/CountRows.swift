internal import Attribution
internal import SQLite
internal import Storage

/// Reads and writes the table of counts.
enum CountRows {
    /// Adds each number to every span that it is kept in.
    static func write(_ deltas: CountDeltas, to connection: SQLiteConnection) throws(SQLiteError) {
        let statement = try connection.statement(add)
        for (key, count) in deltas.counts {
            let (scope, label) = (key.scope.number, key.label)
            let campaign = label.campaign ?? ""
            // Bound once for all spans of a number, because binding a text copies it.
            try statement.bind(
                scope,
                campaign,
                label.dimension.rawValue,
                "",
                0,
                label.value,
                key.metric,
                count
            )
            for granularity in key.granularity.kept {
                let period = granularity.start(of: key.period).milliseconds
                try statement.bindText(granularity.rawValue, at: spanParameter)
                try statement.bindInteger(period, at: periodParameter)
                while try statement.step() {}
                statement.reset()
                guard key.namesCampaign else { continue }
                try connection.statement(addName).run(scope, campaign, granularity.rawValue, period)
            }
        }
        try LiveClicks.write(deltas.live, to: connection)
    }

    private static let spanParameter: Int32 = 4
    private static let periodParameter: Int32 = 5

    /// Adds up the counts of a query.
    static func add(_ query: CountQuery, to sum: inout CountSum, on connection: SQLiteConnection)
        throws(SQLiteError)
    {
        try connection.statement(sums).forEach(
            query.scope.number,
            query.campaign,
            query.dimension.rawValue,
            query.spans.granularity.rawValue,
            query.spans.first.milliseconds,
            query.spans.end.milliseconds
        ) { row in sum.add(row.integer(2), row.text(1), of: row.text(0)) }
    }

    /// Reads the names that a span has counts of.
    static func names(
        of dimension: Dimension,
        _ scope: Scope,
        in period: Timestamp,
        on connection: SQLiteConnection
    ) throws(SQLiteError) -> [String] {
        let (scope, period) = (scope.number, period.milliseconds)
        switch dimension {
        case .campaign:
            return try connection.statement(campaigns).all(scope, period) { $0.text(0) }
        case .launch, .click:
            let counted = try connection.statement(values)
                .all(scope, dimension.rawValue, Granularity.quarter.rawValue, period) { $0.text(0) }
            // Those that are watched already always have counts, so that invented names cannot crowd them out.
            return try counted
                + connection.statement(DriftRows.watched).all(scope, dimension.rawValue) { $0.text(0) }
        default:
            return try connection.statement(values)
                .all(scope, dimension.rawValue, Granularity.day.rawValue, period) { $0.text(0) }
        }
    }

    // The words of spans are not checked by the table: SQLite would look each one up in a table of its own.
    static let add: StaticString = """
        INSERT INTO counts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        ON CONFLICT DO UPDATE SET count = count + excluded.count
        """
    /// A campaign is known and ranked by its clicks, also where it has none.
    static let addName: StaticString = """
        INSERT INTO counts VALUES (?1, ?2, 'total', ?3, ?4, '', 'clicks', 0) ON CONFLICT DO NOTHING
        """
    static let sums: StaticString = """
        SELECT value, metric, sum(count) FROM counts
        WHERE scope = ?1 AND campaign = ?2 AND dimension = ?3 AND span = ?4 AND period >= ?5 AND period < ?6
        GROUP BY value, metric
        """
    static let series: StaticString = """
        SELECT period, metric, count FROM counts
        WHERE scope = ?1 AND campaign = ?2 AND dimension = 'total' AND span = ?3 AND period >= ?4 AND period < ?5
        """
    static let campaigns: StaticString = """
        SELECT campaign FROM counts
        WHERE scope = ?1 AND span = 'day' AND period = ?2 AND metric = 'clicks' AND dimension = 'total'
            AND campaign <> ''
        """
    static let values: StaticString = """
        SELECT DISTINCT value FROM counts
        WHERE scope = ?1 AND campaign = '' AND dimension = ?2 AND span = ?3 AND period = ?4
        """
    /// The most clicked campaigns of a span.
    static let top: StaticString = """
        SELECT campaign, count FROM counts
        WHERE scope = ?1 AND span = ?2 AND period = ?3 AND metric = 'clicks' AND dimension = 'total'
            AND campaign <> ''
        ORDER BY count DESC LIMIT ?4
        """
    static let periods: StaticString = """
        SELECT DISTINCT period FROM counts
        WHERE scope = ?1 AND campaign = '' AND dimension = 'total' AND span = ?2 AND period >= ?3 AND period < ?4
        """
}
