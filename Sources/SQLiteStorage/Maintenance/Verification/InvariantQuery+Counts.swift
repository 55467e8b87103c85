internal import SQLite
internal import Storage

extension InvariantQuery {
    /// Counts outlive their facts, so that they may be higher than what is held, and never lower.
    ///
    /// They move in the transaction of the fact: wrong ones mean a defect or damage.
    ///
    /// Compaction adds names up within a span and deletes hours by name: sums over all names stay, and hours of totals and
    /// platforms.
    static let counts = InvariantQuery(
        name: "counts",
        scope:
            "no hour counts fewer clicks and matches than are held, hours add up to days, days to the whole, and as many"
            + " records of checks are held as are counted",
        subject: "scope",
        exceptions: [
            (
                "hours count fewer clicks, or robots' clicks, than are held",
                """
                SELECT count(*), min(facts.scope) FROM (
                    SELECT scope, recorded_at - (recorded_at % 3600000 + 3600000) % 3600000 AS hour,
                        iif(is_robot, 'robots', 'clicks') AS metric, count(*) AS held
                    FROM clicks GROUP BY 1, 2, 3
                ) AS facts LEFT JOIN counts AS c ON c.scope = facts.scope AND c.campaign = '' AND c.dimension = 'total'
                    AND c.span = 'hour' AND c.period = hour AND c.value = '' AND c.metric = facts.metric
                WHERE ifnull(c.count, 0) < held
                """
            ),
            (
                "hours count fewer matches than are held",
                """
                SELECT count(*), min(facts.scope) FROM (
                    SELECT scope, claimed_at - (claimed_at % 3600000 + 3600000) % 3600000 AS hour, count(*) AS held
                    FROM claims GROUP BY 1, 2
                ) AS facts LEFT JOIN counts AS c ON c.scope = facts.scope AND c.campaign = '' AND c.dimension = 'total'
                    AND c.span = 'hour' AND c.period = hour AND c.value = '' AND c.metric = 'matches'
                WHERE ifnull(c.count, 0) < held
                """
            ),
            (
                "counts by the hour do not add up to those by the day",
                """
                SELECT count(*), min(scope) FROM (
                    SELECT scope FROM counts
                    WHERE campaign = '' AND dimension IN ('total', 'platform') AND span IN ('hour', 'day')
                    GROUP BY scope, dimension, value, metric
                    HAVING sum(iif(span = 'hour', count, 0)) <> sum(iif(span = 'day', count, 0))
                )
                """
            ),
            (
                "counts by the day do not add up to those of all time",
                """
                SELECT count(*), min(scope) FROM (
                    SELECT scope FROM counts WHERE span IN ('day', 'all')
                    GROUP BY scope, campaign = '', dimension, metric
                    HAVING sum(iif(span = 'day', count, 0)) <> sum(iif(span = 'all', count, 0))
                )
                """
            ),
            (
                "counts of records of checks are not as many as there are",
                """
                SELECT count(*), 0 FROM (SELECT count(*) AS held FROM checks) AS facts
                WHERE held <> ifnull((SELECT value FROM progress WHERE name = 'kept_checks'), 0)
                """
            ),
        ]
    )
}
