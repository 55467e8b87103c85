internal import Attribution
internal import SQLite
internal import Storage

extension CounterBatch {
    /// Adds everything to the tables, each row once for each span that it belongs to.
    func write(to connection: SQLiteConnection) throws(SQLiteError) {
        for (slot, counts) in counts { try write(counts, of: slot, to: connection) }
        let delay = try connection.statement(CounterSQL.addDelays)
        for (slot, count) in delays {
            let (scope, campaign, bin) = (slot.scope.number, slot.campaign ?? "", slot.bin)
            try delay.run(scope, campaign, Granularity.all.rawValue, Int64(0), bin, count)
            try delay.run(scope, campaign, Granularity.day.rawValue, slot.day.milliseconds, bin, count)
        }
        try LiveClicks.write(live, to: connection)
        try probabilities.write(to: connection)
    }

    private func write(_ counts: MetricCounts, of slot: Slot, to connection: SQLiteConnection)
        throws(SQLiteError)
    {
        let increment = try CounterIncrement(counts).map { (increment) throws(SQLiteError) in
            try increment.statement(for: counts, of: slot, on: connection)
        }
        for granularity in Granularity.allCases {
            let period = granularity.start(of: slot.hour)
            if let increment, try CounterIncrement.run(increment, granularity, period, on: connection) {
                continue
            }
            let place = CounterPlace(
                scope: slot.scope,
                campaign: slot.label.campaign ?? "",
                dimension: slot.label.dimension,
                granularity: granularity,
                period: period
            )
            try place.add(counts, to: slot.label.value, on: connection)
        }
    }
}
