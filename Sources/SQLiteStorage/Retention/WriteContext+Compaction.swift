internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

extension SQLiteReader {
    func firstUncompactedDay() throws(SQLiteError) -> Timestamp? {
        let done = try connection.statement(CompactionSQL.thinnedBefore).first { $0.integer(0) }
        if let done { return Timestamp(milliseconds: done) }
        var days: [Int64] = []
        for scope in try numberedApps().flatMap(\.scopes) {
            let day = try connection.statement(CompactionSQL.firstDay).first(scope.number) {
                $0.optionalInteger(0)
            }
            if let day = day ?? nil { days.append(day) }
        }
        return days.min().map { Timestamp(milliseconds: $0) }
    }
}

extension WriteContext {
    /// Compacts the counts of a day, and those that are kept for all time, until a time of the monotonic clock.
    func compact(_ day: Timestamp, until deadline: UInt64) throws(SQLiteError) {
        for scope in try reader.numberedApps().flatMap(\.scopes) {
            for (granularity, period) in CounterCompaction.spans(of: day) {
                for dimension in CounterCompaction.dimensions {
                    while try compact(dimension, of: scope, granularity, period) {
                        if MonotonicTime.now().nanoseconds >= deadline { return }
                    }
                }
            }
        }
        let next = day.advanced(byMilliseconds: 86_400_000)
        try connection.statement(CompactionSQL.saveThinnedBefore).run(next.milliseconds)
    }

    /// Adds some rare names of a span to the name for everything else, and deletes them; false when there were none.
    private func compact(
        _ dimension: Dimension,
        of scope: Scope,
        _ granularity: Granularity,
        _ period: Timestamp
    )
        throws(SQLiteError) -> Bool
    {
        let (scope, span, period) = (scope.number, granularity.rawValue, period.milliseconds)
        let kept = CounterCompaction.keptNames(dimension, granularity)
        let limit = CounterCompaction.limit(dimension, granularity)
        let names = "[" + kept.map { "\"\($0)\"" }.joined(separator: ",") + "]"
        if dimension == .campaign {
            if !kept.isEmpty {
                try connection.statement(CompactionSQL.foldCampaigns).run(scope, span, period, limit, names)
                guard connection.changeCount > 0 else { return false }
            }
            try connection.statement(CompactionSQL.removeCampaigns).run(scope, span, period, limit, names)
        } else {
            let dimension = dimension.rawValue
            if !kept.isEmpty {
                try connection.statement(CompactionSQL.foldValues)
                    .run(scope, span, period, limit, names, dimension)
                guard connection.changeCount > 0 else { return false }
            }
            try connection.statement(CompactionSQL.removeValues)
                .run(scope, span, period, limit, names, dimension)
        }
        return connection.changeCount > 0
    }
}

/// Statements on the names of one span, ?1…?3: the ``CounterCompaction/namesAtOnce`` most clicked of those beyond the
/// first ?4.
///
/// The names of the JSON list ?5 are neither ranked nor touched; its first is the one for everything else.
enum CompactionSQL {
    static let foldCampaigns: SQL = """
        INSERT INTO counts
        SELECT scope, ?5 ->> '$[0]', dimension, span, period, value, metric, count FROM counts
        WHERE scope = ?1 AND dimension IN ('total', 'source', 'platform', 'method', 'time_to_install')
            AND span = ?2 AND period = ?3 AND campaign IN (
                SELECT campaign FROM counts
                WHERE scope = ?1 AND span = ?2 AND period = ?3 AND metric = 'clicks' AND dimension = 'total'
                    AND campaign <> '' AND campaign NOT IN (SELECT value FROM json_each(?5))
                ORDER BY count DESC LIMIT 32 OFFSET ?4
            )
        ON CONFLICT DO UPDATE SET count = count + excluded.count
        """
    static let removeCampaigns: SQL = """
        DELETE FROM counts
        WHERE scope = ?1 AND dimension IN ('total', 'source', 'platform', 'method', 'time_to_install')
            AND span = ?2 AND period = ?3 AND campaign IN (
                SELECT campaign FROM counts
                WHERE scope = ?1 AND span = ?2 AND period = ?3 AND metric = 'clicks' AND dimension = 'total'
                    AND campaign <> '' AND campaign NOT IN (SELECT value FROM json_each(?5))
                ORDER BY count DESC LIMIT 32 OFFSET ?4
            )
        """
    static let foldValues: SQL = """
        INSERT INTO counts
        SELECT scope, campaign, dimension, span, period, ?5 ->> '$[0]', metric, count FROM counts
        WHERE scope = ?1 AND campaign = '' AND dimension = ?6 AND span = ?2 AND period = ?3 AND value IN (
            SELECT value FROM counts
            WHERE scope = ?1 AND campaign = '' AND dimension = ?6 AND span = ?2 AND period = ?3
                AND value NOT IN (SELECT value FROM json_each(?5))
            GROUP BY value ORDER BY sum(iif(metric = 'clicks', count, 0)) DESC LIMIT 32 OFFSET ?4
        )
        ON CONFLICT DO UPDATE SET count = count + excluded.count
        """
    static let removeValues: SQL = """
        DELETE FROM counts
        WHERE scope = ?1 AND campaign = '' AND dimension = ?6 AND span = ?2 AND period = ?3 AND value IN (
            SELECT value FROM counts
            WHERE scope = ?1 AND campaign = '' AND dimension = ?6 AND span = ?2 AND period = ?3
                AND value NOT IN (SELECT value FROM json_each(?5))
            GROUP BY value ORDER BY sum(iif(metric = 'clicks', count, 0)) DESC LIMIT 32 OFFSET ?4
        )
        """
    static let firstDay: SQL = """
        SELECT min(period) FROM counts
        WHERE scope = ?1 AND campaign = '' AND dimension = 'total' AND span = 'day'
        """
    static let thinnedBefore: SQL = "SELECT value FROM progress WHERE name = 'thinned_before'"
    static let saveThinnedBefore: SQL = """
        INSERT INTO progress VALUES ('thinned_before', ?1) ON CONFLICT DO UPDATE SET value = excluded.value
        """
}
