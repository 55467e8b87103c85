#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// A rule for every click, claim or count, with queries that select the exceptions.
struct Invariant: Sendable {
    enum Query: Sendable {
        /// A query of one slot; the slot's number is a constant in the query.
        case ofSlot(@Sendable (_ slot: SQLText) -> SQLText)
        /// A query of one slot about rows that no job deletes yet, because their time is later than $1.
        case ofSlotLater(@Sendable (_ slot: SQLText) -> SQLText)
        case ofAll(SQLText)
        /// A query that reads the counts by the hour from `counted`, including counts that no job has added yet.
        case ofHours(SQLText)
        /// A query that reads the counts of links from `counted`, including counts that no job has added yet.
        case ofLinks(SQLText)
        /// A query about the number of stored records of checks; $1 is the part of that number that no job has added
        /// yet.
        case ofChecks(SQLText)
    }

    let name: String
    let scope: String
    /// The kind of row that the queries' only column identifies.
    var subject = "click"
    /// The queries, each by a description of the rows that it selects.
    let exceptions: KeyValuePairs<String, Query>

    /// Counts the exceptions, and reports the first of each kind.
    func verify(
        _ connection: BlockingConnection,
        _ slots: [Int64],
        _ pending: CountPayload,
        at now: Timestamp,
        _ check: inout VerificationReport.Check
    ) throws(PostgreSQLError) {
        for (what, query) in exceptions {
            var (count, first): (Int64, Int64?) = (0, nil)
            let isCitus = try connection.isCitus()
            for (text, parameters) in query.statements(slots, pending, at: now) {
                let distributed: SQLText = isCitus ? text.rows : ""
                let statement: PreparedStatement =
                    "WITH \(distributed)\(text.with) found (subject) AS (\(text.query)) SELECT count(*), min(subject)::int8 FROM found"
                let rows = try connection.execute(statement, parameters)
                count += try rows.value(0, 0, as: Int64.self)
                first = [first, try rows.value(0, 1, as: Int64?.self)].compactMap(\.self).min()
            }
            guard count > 0 else { continue }
            check.add("\(count) \(what) (the first one: \(subject) \(first ?? 0))")
        }
    }
}

extension Invariant.Query {
    /// The query, the common table expression that it reads (`with`), and on Citus the rows of the distributed tables
    /// (`rows`).
    typealias Text = (rows: SQLText, with: SQLText, query: SQLText)

    fileprivate func statements(_ slots: [Int64], _ pending: CountPayload, at now: Timestamp)
        -> [(Text, Parameters)]
    {
        switch self {
        case .ofSlot(let query): Self.statements(slots, query, Parameters())
        case .ofSlotLater(let query):
            // The clock of the server that deletes rows may be ahead.
            Self.statements(slots, query, Parameters(now.advanced(byMilliseconds: 300_000).milliseconds))
        case .ofAll(let query): [(("", "", query), Parameters())]
        case .ofHours(let query): [((Self.clicks, "\(Self.hours),", query), pending.hours)]
        case .ofLinks(let query): [((Self.clicks, "\(Self.links),", query), pending.countsOfLinks)]
        case .ofChecks(let query): [(("", "", query), Parameters(pending.values[.keptChecks] ?? 0))]
        }
    }

    private static func statements(
        _ slots: [Int64],
        _ query: (_ slot: SQLText) -> SQLText,
        _ parameters: Parameters
    ) -> [(Text, Parameters)] {
        slots.map { ((rows("*", "WHERE slot = \($0)"), "", query("\($0)")), parameters) }
    }

    /// The rows of a slot, under the names of the tables that contain them.
    ///
    /// The coordinator of Citus joins these rows, because their joins are not by bucket.
    private static func rows(_ columns: SQLText, _ condition: SQLText) -> SQLText {
        let slotted = ["clicks", "click_index", "click_addresses", "checks"].reduce("") {
            (text: SQLText, table: StaticString) -> SQLText in
            "\(text)\(table) AS MATERIALIZED (SELECT \(columns) FROM \(table) \(condition)), "
        }
        return "\(slotted)installs AS MATERIALIZED (SELECT * FROM installs), "
    }

    private static let clicks: SQLText = """
        clicks AS MATERIALIZED (SELECT id, scope, link, is_robot, recorded_at, claimed_at FROM clicks),
        """

    private static let hours: SQLText = """
        counted AS (SELECT scope, period, metric, sum(count) AS count FROM (
        SELECT scope, period, metric, count FROM counts WHERE campaign = '' AND value = ''
        AND dimension = \(Dimension.total.rawValue) AND span = \(Granularity.hour.rawValue)
        UNION ALL SELECT scope, period, metric, count FROM unnest($1, $2, $3, $4) AS k (scope, period, metric, count)
        ) r GROUP BY scope, period, metric)
        """
    private static let links: SQLText = """
        counted AS (SELECT link, variant, sum(clicks) AS clicks, sum(robots) AS robots, sum(matches) AS matches
        FROM (SELECT link, variant, clicks, robots, matches FROM link_counts
        UNION ALL SELECT link, variant, clicks, robots, matches
        FROM unnest($1, $2, $3, $4, $5) AS k (link, variant, clicks, robots, matches)) r GROUP BY link, variant)
        """
}

extension CountPayload {
    /// The scope, the hour, the metric and the count of each total.
    fileprivate var hours: Parameters {
        let totals = counts.counts.filter { key, _ in
            key.label == CounterLabel(.total) && key.granularity.kept.contains(.hour)
        }
        return Parameters(
            totals.keys.map(\.scope.number),
            totals.keys.map { Granularity.hour.start(of: $0.period).milliseconds },
            totals.keys.map(\.metric),
            Array(totals.values)
        )
    }

    fileprivate var countsOfLinks: Parameters {
        Parameters(
            links.keys.map(\.link),
            links.keys.map(\.variant),
            links.values.map { Int64($0.clicks) },
            links.values.map { Int64($0.robots) },
            links.values.map { Int64($0.matches) }
        )
    }
}

extension Invariant {
    static let all = [homes, claims, fingerprints, states, linked, counts]

    private static let homes = Invariant(
        name: "homes",
        scope: "every row is in the bucket of its hash or number, and in the slot of its click or check",
        exceptions: [
            "clicks are stored where nothing looks for them":
                .ofSlot { "SELECT id FROM clicks WHERE slot = \($0) AND \(isAway("id", "id", $0))" },
            "fingerprints are stored where nothing looks for them":
                .ofSlot {
                    "SELECT click FROM click_index WHERE slot = \($0) AND \(isAway("hash", "click", $0))"
                },
            "addresses are stored where nothing looks for them":
                .ofSlot {
                    "SELECT click FROM click_addresses WHERE slot = \($0) AND \(isAway("near_address", "click", $0))"
                },
            "records of checks are stored where nothing looks for them":
                .ofSlot {
                    "SELECT id FROM checks WHERE slot = \($0) AND (b <> (id & 63) OR \(RowChange.day(of: "id")) <> \($0))"
                },
        ]
    )

    private static func isAway(_ hash: StaticString, _ number: StaticString, _ slot: SQLText) -> SQLText {
        "(b <> (\(hash) & 63) OR (\(RowChange.slot(of: number))) <> \(slot))"
    }

    private static let claims = Invariant(
        name: "claims",
        scope: "every claim has all its values, is on an app's click, and was made before the click expired",
        exceptions: [
            "claims lack some of their values":
                .ofSlot {
                    """
                    SELECT id FROM clicks WHERE slot = \($0) AND num_nulls(claimed_at, method, hash, hash_rest,
                    is_undelivered, competing_clicks, is_campaign_only) NOT IN (0, 7)
                    """
                },
            "claims were made after their click had expired":
                .ofSlot { "SELECT id FROM clicks WHERE slot = \($0) AND claimed_at > expires_at" },
            "clicks are of an app that does not exist":
                .ofSlot {
                    "SELECT id FROM clicks WHERE slot = \($0) AND scope / 2 NOT IN (SELECT number FROM apps)"
                },
            "installations point to a click that they did not claim":
                .ofSlot {
                    """
                    SELECT i.click FROM installs i
                    LEFT JOIN clicks c ON c.slot = \($0) AND c.b = (i.click & 63) AND c.id = i.click
                    WHERE (\(RowChange.slot(of: "i.click"))) = \($0) AND (c.scope <> i.scope OR c.claimed_at IS NULL
                    OR ((c.install, c.install_rest) IS DISTINCT FROM (i.install, i.install_rest)
                    AND (c.caller, c.caller_rest) IS DISTINCT FROM (i.install, i.install_rest)))
                    AND (c.id IS NOT NULL
                    OR i.until - \(PostgreSQLWriter.maximumReplayGrace)
                    > coalesce((SELECT value FROM progress WHERE name = 'deleted_up_to'), 0))
                    """
                },
            "claims in an open window have no row of their installation, which may claim again":
                .ofSlotLater {
                    """
                    SELECT c.id FROM clicks c LEFT JOIN installs i ON i.b = (c.install & 63) AND i.scope = c.scope
                    AND i.install = c.install AND i.install_rest = c.install_rest
                    WHERE c.slot = \($0) AND c.claimed_at IS NOT NULL AND c.install IS NOT NULL AND c.expires_at > $1
                    AND i.click IS NULL
                    """
                },
        ]
    )

    /// A row of the index with its click.
    private static func entries(_ table: StaticString, _ slot: SQLText) -> SQLText {
        """
        SELECT f.click FROM \(table) f LEFT JOIN clicks c ON c.slot = \(slot) AND c.b = (f.click & 63) AND c.id = f.click
        WHERE f.slot = \(slot)
        """
    }

    private static let differs: SQLText =
        "c.id IS NULL OR f.scope <> c.scope OR f.since <> c.clicked_at OR f.expires_at <> c.expires_at OR f.visit <> c.visit"

    private static let fingerprints = Invariant(
        name: "fingerprints",
        scope: "the index that checks read agrees with the clicks, and no row of it is missing",
        exceptions: [
            "open fingerprints differ from their click, or have none":
                .ofSlot {
                    """
                    \(entries("click_index", $0)) AND f.closed_at IS NULL AND (\(differs) OR f.closed_as IS NOT NULL
                    OR f.near_address IS DISTINCT FROM c.near_address
                    OR f.exact_address IS DISTINCT FROM c.exact_address)
                    """
                },
            "closed fingerprints differ from their click, or have none":
                .ofSlot {
                    """
                    \(entries("click_index", $0)) AND f.closed_at IS NOT NULL
                    AND (\(differs) OR f.closed_as IS NULL)
                    """
                },
            "clicks are not found by as many fingerprints as they have":
                .ofSlot {
                    """
                    SELECT c.id FROM clicks c LEFT JOIN (
                    SELECT click, count(*) AS entries FROM click_index WHERE slot = \($0) GROUP BY click
                    ) f ON f.click = c.id WHERE c.slot = \($0)
                    AND coalesce(f.entries, 0) <> length(c.fingerprints) / 16
                    """
                },
            "rows of addresses differ from their click, or have no click":
                .ofSlot {
                    """
                    \(entries("click_addresses", $0)) AND (c.id IS NULL OR f.scope <> c.scope
                    OR f.clicked_at <> c.clicked_at OR f.expires_at <> c.expires_at
                    OR f.near_address IS DISTINCT FROM c.near_address
                    OR f.exact_address IS DISTINCT FROM c.exact_address)
                    """
                },
            "clicks that can be matched have an address but no row of addresses":
                .ofSlot {
                    """
                    SELECT f.click FROM click_index f WHERE f.slot = \($0) AND f.closed_at IS NULL
                    AND f.near_address IS NOT NULL AND NOT EXISTS (SELECT FROM click_addresses a
                    WHERE a.slot = \($0) AND a.b = (f.near_address & 63) AND a.scope = f.scope
                    AND a.near_address = f.near_address AND a.clicked_at = f.since AND a.click = f.click)
                    """
                },
        ]
    )

    private static let states = Invariant(
        name: "open_and_closed",
        scope: "no click can be matched that is claimed or from a robot",
        exceptions: [
            "clicks are claimed or retired and can still be found":
                .ofSlot {
                    """
                    \(entries("click_index", $0)) AND f.closed_at IS NULL
                    AND (c.claimed_at IS NOT NULL OR c.retired_at IS NOT NULL)
                    """
                },
            "clicks are open under one fingerprint and closed under another":
                .ofSlot {
                    """
                    SELECT click FROM click_index WHERE slot = \($0)
                    GROUP BY click HAVING bool_or(closed_at IS NULL) AND bool_or(closed_at IS NOT NULL)
                    """
                },
            "robots' clicks can be found":
                .ofSlot { "\(entries("click_index", $0)) AND f.closed_at IS NULL AND c.is_robot = 1" },
            "closed fingerprints are marked as a robot's although their click is not, or the reverse":
                .ofSlot {
                    """
                    \(entries("click_index", $0)) AND f.closed_at IS NOT NULL
                    AND (c.is_robot = 1) <> (f.closed_as = 'robot_click')
                    """
                },
            "fingerprints were closed at a time at which nothing happened to their click":
                .ofSlot {
                    """
                    \(entries("click_index", $0)) AND f.closed_at NOT IN (c.expires_at, c.clicked_at,
                    coalesce(c.claimed_at, c.clicked_at), coalesce(c.retired_at, c.clicked_at))
                    """
                },
        ]
    )
}

/// Counts remain when clicks and claims are deleted: they may be higher than the numbers of stored rows, but
/// never lower.
extension Invariant {
    private static let linked = Invariant(
        name: "links",
        scope:
            "the link of a click belongs to the click's app, and links count at least the clicks and matches that are stored",
        exceptions: [
            "clicks are of a link that does not exist, or of another app's":
                .ofSlot {
                    """
                    SELECT c.id FROM clicks c LEFT JOIN links l ON l.number = c.link
                    WHERE c.slot = \($0) AND c.link IS NOT NULL AND l.app IS DISTINCT FROM c.scope / 2
                    """
                },
            "links count fewer clicks than they have":
                .ofLinks(
                    """
                    SELECT f.first FROM (SELECT link, min(id) AS first, count(*) FILTER (WHERE is_robot = 0) AS clicks,
                    count(*) FILTER (WHERE is_robot = 1) AS robots FROM clicks
                    WHERE link IS NOT NULL AND scope % 2 = 0 GROUP BY link) f
                    LEFT JOIN counted c ON c.link = f.link AND c.variant = ''
                    WHERE coalesce(c.clicks, -1) < f.clicks OR coalesce(c.robots, -1) < f.robots
                    """
                ),
            "links count fewer matches than they have":
                .ofLinks(
                    """
                    SELECT f.first FROM (SELECT link, min(id) AS first, count(*) AS matches FROM clicks
                    WHERE link IS NOT NULL AND claimed_at IS NOT NULL AND scope % 2 = 0 GROUP BY link) f
                    LEFT JOIN counted c ON c.link = f.link AND c.variant = '' WHERE coalesce(c.matches, -1) < f.matches
                    """
                ),
            "links count fewer clicks than their variants together":
                .ofLinks(
                    """
                    SELECT (SELECT min(id) FROM clicks WHERE link = c.link) FROM counted c WHERE variant = ''
                    AND c.clicks < (SELECT sum(v.clicks) FROM counted v WHERE v.link = c.link AND v.variant <> '')
                    """
                ),
        ]
    )

    /// A count is stored in the transaction of its click or claim, so a wrong count means a defect or damage.
    ///
    /// Compaction merges the counts of rare names within a span, and deletes hourly counts by name. Sums over all names
    /// remain, and so do the hourly counts of totals and platforms.
    private static let counts = Invariant(
        name: "counts",
        scope:
            "no hour counts fewer clicks and matches than are stored, hours add up to days, days to four weeks and to all time, and"
            + " the number of stored records of checks is the counted number",
        subject: "scope",
        exceptions: [
            "hours count fewer clicks, or robots' clicks, than are stored":
                .ofHours(
                    """
                    SELECT f.scope FROM (SELECT scope, recorded_at - recorded_at % 3600000 AS period,
                    CASE WHEN is_robot = 1 THEN 'robots' ELSE 'clicks' END AS metric, count(*) AS stored
                    FROM clicks GROUP BY 1, 2, 3) f LEFT JOIN counted c USING (scope, period, metric)
                    WHERE coalesce(c.count, 0) < f.stored
                    """
                ),
            "hours count fewer matches than are stored":
                .ofHours(
                    """
                    SELECT f.scope FROM (SELECT scope, claimed_at - claimed_at % 3600000 AS period, count(*) AS stored
                    FROM clicks WHERE claimed_at IS NOT NULL GROUP BY 1, 2) f
                    LEFT JOIN counted c ON c.scope = f.scope AND c.period = f.period AND c.metric = 'matches'
                    WHERE coalesce(c.count, 0) < f.stored
                    """
                ),
            "counts by the hour do not add up to those by the day":
                .ofAll(
                    """
                    SELECT scope FROM counts WHERE campaign = ''
                    AND dimension IN (\(Dimension.total.rawValue), \(Dimension.platform.rawValue))
                    GROUP BY scope, dimension, value, metric
                    HAVING \(sum(.hour)) <> \(sum(.day))
                    """
                ),
            "counts by the day do not add up to those of four weeks":
                .ofAll(
                    """
                    SELECT scope FROM counts GROUP BY scope, campaign = '', dimension, metric
                    HAVING \(areSums) AND \(sum(.day)) <> \(sum(.fourWeeks))
                    """
                ),
            "counts by the day do not add up to those of all time":
                .ofAll(
                    """
                    SELECT scope FROM counts GROUP BY scope, campaign = '', dimension, metric
                    HAVING \(areSums) AND \(sum(.day)) <> \(sum(.all))
                    """
                ),
            "counts of records of checks differ from the number of stored records":
                .ofChecks(
                    """
                    SELECT 0 WHERE (SELECT count(*) FROM checks)
                    <> coalesce((SELECT value FROM progress WHERE name = 'kept_checks'), 0) + $1
                    """
                ),
        ]
    )

    /// Whether no count of a group is clamped; a clamped count is not the sum of the counts of shorter spans.
    private static let areSums: SQLText = "max(count) < \(Int64.max) AND min(count) > \(Int64.min)"

    private static func sum(_ granularity: Granularity) -> SQLText {
        "coalesce(sum(count) FILTER (WHERE span = \(granularity.rawValue)), 0)"
    }
}
#endif
