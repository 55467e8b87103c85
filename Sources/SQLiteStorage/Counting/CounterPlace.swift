internal import Attribution
internal import SQLite
internal import Storage

/// Where counts stand in their table, but for the value that tells them apart.
struct CounterPlace {
    let scope: Scope
    /// Empty: all campaigns together.
    let campaign: String
    let dimension: Dimension
    let granularity: Granularity
    let period: Timestamp

    func add(_ counts: MetricCounts, to value: String, on connection: SQLiteConnection) throws(SQLiteError) {
        try connection.statement(CounterSQL.add).run(
            scope.number,
            campaign,
            dimension.rawValue,
            granularity.rawValue,
            period.milliseconds,
            value,
            counts[.clicks],
            counts[.duplicates],
            counts[.robots],
            counts[.checks],
            counts[.matches],
            counts[.replays],
            counts[.noMatchNoClick],
            counts[.noMatchExpired],
            counts[.noMatchAlreadyClaimed],
            counts[.noMatchRobotClick],
            counts[.noMatchBelowThreshold],
            counts[.noMatchAmbiguous],
            counts[.noMatchOtherApp],
            counts[.noMatchTokenInvalid],
            counts[.noMatchTokenUsed],
            counts[.noMatchFingerprintDisabled]
        )
    }

    /// Adds the counts of one value, or of all where it is nil, to another place and takes them from here.
    ///
    /// `renamed` is the value that they are added to; nil keeps their own.
    func move(_ value: String?, to other: CounterPlace, as renamed: String?, on connection: SQLiteConnection)
        throws(SQLiteError)
    {
        let rows = try connection.statement(CounterSQL.rows).all(
            scope.number,
            campaign,
            dimension.rawValue,
            granularity.rawValue,
            period.milliseconds,
            value
        ) { row in
            var counts = MetricCounts()
            for metric in Metric.allCases { counts[metric] = row.integer(1 + Int32(metric.column)) }
            return (value: row.text(0), counts: counts)
        }
        for row in rows { try other.add(row.counts, to: renamed ?? row.value, on: connection) }
        try remove(value, on: connection)
    }

    /// Deletes the counts of one value, or of all where it is nil.
    func remove(_ value: String?, on connection: SQLiteConnection) throws(SQLiteError) {
        try connection.statement(CounterSQL.remove).run(
            scope.number,
            campaign,
            dimension.rawValue,
            granularity.rawValue,
            period.milliseconds,
            value
        )
    }

    /// The same place of another campaign.
    func inCampaign(_ campaign: String) -> CounterPlace {
        CounterPlace(
            scope: scope,
            campaign: campaign,
            dimension: dimension,
            granularity: granularity,
            period: period
        )
    }
}

enum CounterSQL {
    static let add: StaticString = """
        INSERT INTO counters VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
            ?17, ?18, ?19, ?20, ?21, ?22)
        ON CONFLICT DO UPDATE SET
            clicks = clicks + excluded.clicks,
            duplicates = duplicates + excluded.duplicates,
            robots = robots + excluded.robots,
            checks = checks + excluded.checks,
            matches = matches + excluded.matches,
            replays = replays + excluded.replays,
            no_match_no_click = no_match_no_click + excluded.no_match_no_click,
            no_match_expired = no_match_expired + excluded.no_match_expired,
            no_match_already_claimed = no_match_already_claimed + excluded.no_match_already_claimed,
            no_match_robot_click = no_match_robot_click + excluded.no_match_robot_click,
            no_match_below_threshold = no_match_below_threshold + excluded.no_match_below_threshold,
            no_match_ambiguous = no_match_ambiguous + excluded.no_match_ambiguous,
            no_match_other_app = no_match_other_app + excluded.no_match_other_app,
            no_match_token_invalid = no_match_token_invalid + excluded.no_match_token_invalid,
            no_match_token_used = no_match_token_used + excluded.no_match_token_used,
            no_match_fingerprint_disabled = no_match_fingerprint_disabled + excluded.no_match_fingerprint_disabled
        """
    static let rows: StaticString = """
        SELECT value, clicks, duplicates, robots, checks, matches, replays,
            no_match_no_click, no_match_expired, no_match_already_claimed, no_match_robot_click,
            no_match_below_threshold, no_match_ambiguous, no_match_other_app,
            no_match_token_invalid, no_match_token_used, no_match_fingerprint_disabled
        FROM counters
        WHERE scope = ?1 AND campaign = ?2 AND dimension = ?3 AND granularity = ?4 AND period = ?5
            AND (?6 IS NULL OR value = ?6)
        """
    static let remove: StaticString = """
        DELETE FROM counters
        WHERE scope = ?1 AND campaign = ?2 AND dimension = ?3 AND granularity = ?4 AND period = ?5
            AND (?6 IS NULL OR value = ?6)
        """
    static let addDelays: StaticString = """
        INSERT INTO install_delays VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT DO UPDATE SET count = count + excluded.count
        """
}
