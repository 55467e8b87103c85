internal import Attribution
internal import SQLite
internal import Storage

/// A rule for every click, claim or count, with queries that select the exceptions.
struct Invariant: Sendable {
    let name: String
    let scope: String
    /// The kind of row that the queries' only column identifies.
    var subject = "click"
    /// The queries, each by a description of the rows that it selects.
    let exceptions: KeyValuePairs<String, SQL>

    /// Counts the exceptions, and reports the first of each kind.
    func verify(_ connection: SQLiteConnection, _ check: inout VerificationReport.Check) throws(SQLiteError) {
        for (what, query) in exceptions {
            let sql: SQL = "WITH found (subject) AS (\(query)) SELECT count(*), min(subject) FROM found"
            let (count, first) =
                try connection.prepare(sql).first { ($0.integer(0), $0.integer(1)) } ?? (0, 0)
            guard count > 0 else { continue }
            check.add("\(count) \(what) (the first one: \(subject) \(first))")
        }
    }

    static let all = [claims, fingerprints, states, links, counts]

    private static let claims = Invariant(
        name: "claims",
        scope: "every claim belongs to a click of the same app, and was made before the click expired",
        exceptions: [
            "claims have no click":
                "SELECT click FROM claims WHERE NOT EXISTS (SELECT 1 FROM clicks WHERE id = claims.click)",
            "claims are of another app's click":
                "SELECT click FROM claims CROSS JOIN clicks ON id = click WHERE claims.scope <> clicks.scope",
            "claims were made after their click had expired":
                "SELECT click FROM claims CROSS JOIN clicks ON id = click WHERE claimed_at > expires_at",
            "clicks are of an app that does not exist":
                "SELECT id FROM clicks WHERE scope / 2 NOT IN (SELECT number FROM apps)",
        ]
    )

    private static let fingerprints = Invariant(
        name: "fingerprints",
        scope: "the index that checks read agrees with the clicks, and no row of it is missing",
        exceptions: [
            "open fingerprints differ from their click, or have none": """
            SELECT f.click FROM click_index AS f LEFT JOIN clicks AS c ON c.id = f.click
            WHERE state = 0 AND (c.id IS NULL OR f.scope <> c.scope OR f.since <> c.clicked_at
                OR f.expires_at IS NOT c.expires_at OR f.visit IS NOT c.visit
                OR f.clicked_at IS NOT NULL OR f.closed_as IS NOT NULL
                OR f.near_address IS NOT c.near_address OR f.exact_address IS NOT c.exact_address)
            """,
            "closed fingerprints differ from their click, or have none": """
            SELECT f.click FROM click_index AS f LEFT JOIN clicks AS c ON c.id = f.click
            WHERE state = 1 AND (c.id IS NULL OR f.scope <> c.scope OR f.clicked_at IS NOT c.clicked_at
                OR f.closed_as IS NULL OR f.expires_at IS NOT NULL OR f.visit IS NOT NULL)
            """,
            "clicks are not found by as many fingerprints as they have": """
            SELECT id FROM clicks
            LEFT JOIN (SELECT click, count(*) AS rows FROM click_index GROUP BY click) ON click = id
            WHERE ifnull(rows, 0) <> length(fingerprints) / 16
            """,
            "rows of addresses differ from their click, or have no click": """
            SELECT a.click FROM click_addresses AS a LEFT JOIN clicks AS c ON c.id = a.click
            WHERE c.id IS NULL OR a.scope <> c.scope OR a.clicked_at <> c.clicked_at
                OR a.near_address IS NOT c.near_address OR a.exact_address IS NOT c.exact_address
            """,
            "clicks that can be matched have an address but no row of addresses": """
            SELECT f.click FROM click_index AS f
            WHERE state = 0 AND near_address IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM click_addresses AS a
                WHERE a.scope = f.scope AND a.near_address = f.near_address AND a.clicked_at = f.since
                    AND a.click = f.click
            )
            """,
        ]
    )

    private static let states = Invariant(
        name: "open_and_closed",
        scope: "claimed clicks, robots' clicks and long expired clicks cannot be matched",
        exceptions: [
            "clicks are claimed and can still be found": """
            SELECT f.click FROM click_index AS f CROSS JOIN claims ON claims.click = f.click WHERE state = 0
            """,
            "clicks are open under one fingerprint and closed under another":
                "SELECT click FROM click_index GROUP BY click HAVING min(state) <> max(state)",
            "robots' clicks can be found": """
            SELECT f.click FROM click_index AS f CROSS JOIN clicks AS c ON c.id = f.click
            WHERE state = 0 AND c.is_robot = 1
            """,
            "closed fingerprints are marked as a robot's although their click is not, or the reverse": """
            SELECT f.click FROM click_index AS f CROSS JOIN clicks AS c ON c.id = f.click
            WHERE state = 1 AND (c.is_robot = 1) <> (f.closed_as = 'robot_click')
            """,
            "fingerprints were closed at a time at which nothing happened to their click": """
            SELECT f.click FROM click_index AS f
            CROSS JOIN clicks AS c ON c.id = f.click LEFT JOIN claims ON claims.click = f.click
            WHERE state = 1 AND f.since NOT IN (c.expires_at, c.clicked_at, ifnull(claimed_at, c.clicked_at))
            """,
            "fingerprints are open, although all clicks that expired at their time are closed": """
            SELECT click FROM click_index
            WHERE state = 0 AND expires_at < (SELECT value FROM progress WHERE name = 'closed_before')
            """,
        ]
    )

    /// Counts of links remain when clicks are deleted: they may be higher than the stored numbers, and never lower.
    private static let links = Invariant(
        name: "links",
        scope:
            "the link of a click belongs to the click's app, and links count at least the clicks and matches"
            + " that are stored",
        exceptions: [
            "clicks have a link that does not exist or belongs to another app": """
            SELECT clicks.id FROM clicks LEFT JOIN links ON links.number = link
            WHERE link IS NOT NULL AND links.app IS NOT scope / 2
            """,
            "links count fewer clicks than they have": """
            SELECT min(id) FROM clicks
            LEFT JOIN link_counts AS c ON c.link = clicks.link AND c.variant = ''
            WHERE clicks.link IS NOT NULL AND scope % 2 = 0 GROUP BY clicks.link
            HAVING ifnull(c.clicks, -1) < sum(is_robot = 0) OR ifnull(c.robots, -1) < sum(is_robot)
            """,
            "links count fewer matches than they have": """
            SELECT min(id) FROM claims CROSS JOIN clicks ON id = click
            LEFT JOIN link_counts AS c ON c.link = clicks.link AND c.variant = ''
            WHERE clicks.link IS NOT NULL AND clicks.scope % 2 = 0 GROUP BY clicks.link
            HAVING ifnull(c.matches, -1) < count(*)
            """,
            "links count fewer clicks than their variants together": """
            SELECT min(id) FROM clicks JOIN link_counts AS c ON c.link = clicks.link AND c.variant = ''
            GROUP BY clicks.link
            HAVING c.clicks < (SELECT ifnull(sum(clicks), 0) FROM link_counts AS v
                WHERE v.link = clicks.link AND v.variant <> '')
            """,
        ]
    )

    /// Counts by hour, day, four weeks and all time also remain when clicks and claims are deleted.
    ///
    /// A count changes in the transaction that stores the click or claim, so a wrong count means a defect or damage.
    /// Compaction merges the counts of rare names within a span, and deletes hourly counts by name. Sums over all names
    /// remain, and so do the hourly counts of totals and platforms.
    private static let counts = Invariant(
        name: "counts",
        scope:
            "hours count at least the clicks and matches that are stored, hours add up to days, days to four"
            + " weeks and to all time, and as many records of checks are stored as are counted",
        subject: "scope",
        exceptions: [
            "hours count fewer clicks, or robots' clicks, than are stored": """
            SELECT facts.scope FROM (
                SELECT scope, recorded_at - (recorded_at % 3600000 + 3600000) % 3600000 AS hour,
                    iif(is_robot, 'robots', 'clicks') AS metric, count(*) AS held
                FROM clicks GROUP BY 1, 2, 3
            ) AS facts LEFT JOIN \(countOfHour)
            WHERE ifnull(c.count, 0) < held
            """,
            "hours count fewer matches than are stored": """
            SELECT facts.scope FROM (
                SELECT scope, claimed_at - (claimed_at % 3600000 + 3600000) % 3600000 AS hour,
                    'matches' AS metric, count(*) AS held
                FROM claims GROUP BY 1, 2
            ) AS facts LEFT JOIN \(countOfHour)
            WHERE ifnull(c.count, 0) < held
            """,
            "counts by the hour do not add up to those by the day": """
            SELECT scope FROM counts
            WHERE campaign = '' AND dimension IN (\(Dimension.total), \(Dimension.platform))
                AND span IN (\(Granularity.hour), \(Granularity.day))
            GROUP BY scope, dimension, value, metric
            HAVING sum(iif(span = \(Granularity.hour), count, 0))
                <> sum(iif(span = \(Granularity.day), count, 0))
            """,
            "counts by the day do not add up to those of four weeks": """
            SELECT scope FROM counts WHERE span IN (\(Granularity.day), \(Granularity.fourWeeks))
            GROUP BY scope, campaign = '', dimension, metric
            HAVING \(daysDiffer)
            """,
            "counts by the day do not add up to those of all time": """
            SELECT scope FROM counts WHERE span IN (\(Granularity.day), \(Granularity.all))
            GROUP BY scope, campaign = '', dimension, metric
            HAVING \(daysDiffer)
            """,
            "counts of records of checks differ from the number of stored records": """
            SELECT 0 WHERE (SELECT count(*) FROM checks)
                <> ifnull((SELECT value FROM progress WHERE name = 'kept_checks'), 0)
            """,
        ]
    )

    /// Whether the sum of a group's daily counts differs from the sum of its counts of longer spans.
    ///
    /// A clamped count is not the sum of the counts of shorter spans, so its group is left out. SQLite fails on a sum
    /// beyond the range of 64 bits, so the millions of the counts and the remainders are summed separately.
    private static let daysDiffer: SQL = """
        max(count) < 9223372036854775807 AND min(count) > -9223372036854775808
            AND sum(iif(span = \(Granularity.day), 1, -1) * (count / 1000000)) * 1000000
                + sum(iif(span = \(Granularity.day), 1, -1) * (count % 1000000)) <> 0
        """

    /// The table and condition of a join to the count of a row's hour and metric.
    private static let countOfHour: SQL = """
        counts AS c ON c.scope = facts.scope AND c.campaign = '' AND c.dimension = \(Dimension.total)
            AND c.span = \(Granularity.hour) AND c.period = hour AND c.value = '' AND c.metric = facts.metric
        """
}
