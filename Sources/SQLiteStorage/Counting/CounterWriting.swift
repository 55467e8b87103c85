internal import Attribution
internal import SQLite

extension CounterBatch {
    /// Adds everything to the tables, each row once for each span that it belongs to.
    func write(to connection: Connection) throws(SQLiteError) {
        let counter = try connection.statement(SQL.addToCounter)
        for (slot, counts) in counts {
            for granularity in Granularity.allCases {
                try counter.run(
                    slot.scope.number,
                    slot.label.campaign ?? "",
                    slot.label.dimension.rawValue,
                    granularity.rawValue,
                    granularity.start(of: slot.hour).milliseconds,
                    slot.label.value,
                    counts[.clicks],
                    counts[.duplicates],
                    counts[.robots],
                    counts[.checks],
                    counts[.matches],
                    counts[.replays],
                    counts[.noMatchNoClick],
                    counts[.noMatchExpired],
                    counts[.noMatchAlreadyClaimed],
                    counts[.noMatchRobotClick]
                )
            }
        }
        let delay = try connection.statement(SQL.addToDelays)
        for (slot, count) in delays {
            let (scope, campaign, bin) = (slot.scope.number, slot.campaign ?? "", slot.bin)
            try delay.run(scope, campaign, Granularity.all.rawValue, Int64(0), bin, count)
            try delay.run(scope, campaign, Granularity.day.rawValue, slot.day.milliseconds, bin, count)
        }
        try LiveClicks.write(live, to: connection)
    }
}

private enum SQL {
    static let addToCounter: StaticString = """
        INSERT INTO counters VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
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
            no_match_robot_click = no_match_robot_click + excluded.no_match_robot_click
        """
    static let addToDelays: StaticString = """
        INSERT INTO install_delays VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT DO UPDATE SET count = count + excluded.count
        """
}
