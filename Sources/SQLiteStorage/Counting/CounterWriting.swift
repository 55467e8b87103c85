internal import Attribution
internal import SQLite

extension CounterBatch {
    /// Adds everything to the tables, each row once for each span that it belongs to.
    func write(to connection: Connection) throws(SQLiteError) {
        for (slot, counts) in counts {
            for granularity in Granularity.allCases {
                let place = CounterPlace(
                    scope: slot.scope,
                    campaign: slot.label.campaign ?? "",
                    dimension: slot.label.dimension,
                    granularity: granularity,
                    period: granularity.start(of: slot.hour)
                )
                try place.add(counts, to: slot.label.value, on: connection)
            }
        }
        let delay = try connection.statement(CounterSQL.addDelays)
        for (slot, count) in delays {
            let (scope, campaign, bin) = (slot.scope.number, slot.campaign ?? "", slot.bin)
            try delay.run(scope, campaign, Granularity.all.rawValue, Int64(0), bin, count)
            try delay.run(scope, campaign, Granularity.day.rawValue, slot.day.milliseconds, bin, count)
        }
        try LiveClicks.write(live, to: connection)
    }
}
