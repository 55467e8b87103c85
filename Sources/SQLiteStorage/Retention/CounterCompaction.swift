internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

/// Keeps counters by free text bounded, however many names strangers invent: once a day, what is old and rare is
/// added up under the name for everything else.
///
/// Totals and platforms are kept for ever, hour by hour.
enum CounterCompaction {
    /// So long, every name that a day admitted keeps its counts by the day and by the hour.
    static let keptDays: Int64 = 30

    /// Earlier days are due.
    static func end(at now: Timestamp) -> Timestamp {
        Granularity.day.start(of: now.advanced(byMilliseconds: -keptDays * 86_400_000))
    }

    /// Names that keep counts of their own on a day that is older, the most clicked ones.
    static func limitOfDay(_ dimension: Dimension) -> Int { dimension == .campaign ? 1_000 : 100 }

    static func limit(_ dimension: Dimension, _ granularity: Granularity) -> Int {
        switch granularity {
        case .all: dimension.dailyLimit ?? .max
        case .day: limitOfDay(dimension)
        case .hour: 0
        }
    }

    static let firstDay: StaticString = """
        SELECT min(period) FROM counters
        WHERE scope = ?1 AND campaign = '' AND dimension = 'total' AND granularity = 'day'
        """
    static let thinnedBefore: StaticString = "SELECT value FROM progress WHERE name = 'thinned_before'"
    static let saveThinnedBefore: StaticString = """
        INSERT INTO progress VALUES ('thinned_before', ?1) ON CONFLICT DO UPDATE SET value = excluded.value
        """
    /// The least clicked campaigns of a span, beyond so many.
    static let rareCampaigns: StaticString = """
        SELECT campaign FROM counters
        WHERE scope = ?1 AND granularity = ?2 AND period = ?3 AND dimension = 'total' AND campaign <> ''
        ORDER BY clicks DESC LIMIT ?5 OFFSET ?4
        """
    static let rareValues: StaticString = """
        SELECT value FROM counters
        WHERE scope = ?1 AND campaign = '' AND dimension = ?6 AND granularity = ?2 AND period = ?3
        ORDER BY clicks DESC LIMIT ?5 OFFSET ?4
        """
    static let delays: StaticString = """
        SELECT bin, count FROM install_delays
        WHERE scope = ?1 AND campaign = ?2 AND granularity = ?3 AND period = ?4
        """
    static let removeDelays: StaticString = """
        DELETE FROM install_delays WHERE scope = ?1 AND campaign = ?2 AND granularity = ?3 AND period = ?4
        """
}

extension WriteContext {
    /// Thins out the oldest day that is due, and what is kept for all time.
    ///
    /// - Returns: whether there may be more.
    func thinCounters(of scopes: [Scope], at now: Timestamp, limit: Int, until deadline: UInt64)
        throws(SQLiteError) -> Bool
    {
        let end = CounterCompaction.end(at: now)
        guard let day = try oldestDay(of: scopes), day < end else { return false }
        var spans: [(Granularity, Timestamp)] = [(.all, Timestamp(milliseconds: 0)), (.day, day)]
        for hour in 0..<24 as Range<Int64> {
            spans.append((.hour, day.advanced(byMilliseconds: hour * 3_600_000)))
        }
        for scope in scopes {
            for (granularity, period) in spans {
                for dimension in [Dimension.campaign, .source, .osVersion] {
                    let place = CounterPlace(
                        scope: scope,
                        campaign: "",
                        dimension: dimension,
                        granularity: granularity,
                        period: period
                    )
                    if try thin(place, limit: limit, until: deadline) { return true }
                }
            }
        }
        let next = day.advanced(byMilliseconds: 86_400_000)
        try connection.statement(CounterCompaction.saveThinnedBefore).run(next.milliseconds)
        return next < end
    }

    /// The first day that has not been thinned out.
    private func oldestDay(of scopes: [Scope]) throws(SQLiteError) -> Timestamp? {
        let done = try connection.statement(CounterCompaction.thinnedBefore).first { $0.integer(0) }
        if let done { return Timestamp(milliseconds: done) }
        var first: Int64?
        for scope in scopes {
            let day = try connection.statement(CounterCompaction.firstDay).first(scope.number) {
                $0.optionalInteger(0)
            }
            if let day = day ?? nil { first = min(first ?? day, day) }
        }
        return first.map { Timestamp(milliseconds: $0) }
    }

    /// Adds the rare names of a span up; true when there may be more of them.
    private func thin(_ place: CounterPlace, limit: Int, until deadline: UInt64) throws(SQLiteError) -> Bool {
        let (dimension, granularity) = (place.dimension, place.granularity)
        let kept = CounterCompaction.limit(dimension, granularity)
        let values = (place.scope.number, granularity.rawValue, place.period.milliseconds)
        let found =
            dimension == .campaign
            ? try connection.statement(CounterCompaction.rareCampaigns).all(
                values.0,
                values.1,
                values.2,
                kept,
                limit
            ) { $0.text(0) }
            : try connection.statement(CounterCompaction.rareValues).all(
                values.0,
                values.1,
                values.2,
                kept,
                limit,
                dimension.rawValue
            ) { $0.text(0) }
        let rare = found.filter { granularity == .hour || !dimension.isKept($0) }
        for (index, name) in rare.enumerated() {
            if index > 0, MonotonicTime.now().nanoseconds >= deadline { return true }
            if dimension == .campaign {
                try thinCampaign(name, place)
            } else if granularity == .hour {
                try place.remove(name, on: connection)
            } else {
                try place.move(name, to: place, as: dimension.overflowValue, on: connection)
            }
        }
        return !rare.isEmpty && found.count == limit
    }

    private func thinCampaign(_ campaign: String, _ span: CounterPlace) throws(SQLiteError) {
        let (granularity, period, overflow) = (span.granularity, span.period, span.dimension.overflowValue)
        for dimension in [Dimension.total, .source, .platform, .method] {
            let place = CounterPlace(
                scope: span.scope,
                campaign: campaign,
                dimension: dimension,
                granularity: granularity,
                period: period
            )
            if granularity == .hour {
                try place.remove(nil, on: connection)
            } else {
                try place.move(nil, to: place.inCampaign(overflow), as: nil, on: connection)
            }
        }
        let (scope, word, start) = (span.scope.number, granularity.rawValue, period.milliseconds)
        let delays = try connection.statement(CounterCompaction.delays).all(scope, campaign, word, start) {
            (bin: $0.integer(0), count: $0.integer(1))
        }
        for delay in delays {
            try connection.statement(CounterSQL.addDelays)
                .run(scope, overflow, word, start, delay.bin, delay.count)
        }
        try connection.statement(CounterCompaction.removeDelays).run(scope, campaign, word, start)
        let other = granularity == .hour ? nil : overflow
        try ProbabilityBatch.move(campaign, to: other, scope, word, start, on: connection)
    }
}

extension Dimension {
    /// Names of our own, which strangers cannot multiply.
    func isKept(_ name: String) -> Bool {
        name == overflowValue || (self == .source && SourceToken(rawValue: name) != nil)
    }
}
