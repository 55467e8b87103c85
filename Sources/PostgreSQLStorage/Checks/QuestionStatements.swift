#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// The statements of one set of hot slots (the slots that checks read), each made when it is first needed.
///
/// The texts contain the slots as constants: with parameters, PostgreSQL would open and lock every partition. In each
/// statement, the table `k` contains the questions, whose numbers `n` start at 1. Each hot slot has a branch with an
/// order and a limit of its own: a single query of all slots would sort all rows of a large key.
struct QuestionStatements {
    let slots: [Int64]
    /// Whether the last parameter contains the buckets of the questions, so that Citus finds the shard.
    let isCitus: Bool
    private(set) var made: [QuestionKind: PreparedStatement] = [:]

    init(_ slots: [Int64], onCitus isCitus: Bool) { (self.slots, self.isCitus) = (slots, isCitus) }

    mutating func statement(_ kind: QuestionKind) -> PreparedStatement {
        if let statement = made[kind] { return statement }
        let statement = PreparedStatement(Self.text(kind, slots, onCitus: isCitus))
        made[kind] = statement
        return statement
    }

    /// The maximum number of rows of one key or network that a statement searches in one slot; without it, a
    /// search of many expired rows would delay all checks.
    private static let maximumSearched = 4096

    static func text(_ kind: QuestionKind, _ slots: [Int64], onCitus isCitus: Bool = false) -> SQLText {
        /// The condition on the bucket `b` of a hash or a click's number. The parameter with the list of buckets follows
        /// `count` other parameters.
        func bucket(_ b: StaticString, of hash: StaticString, _ count: Int) -> SQLText {
            let condition: SQLText = "\(b) = (\(hash) & 63)"
            return isCitus ? "\(condition) AND \(b) = ANY ($\(count + 1))" : condition
        }
        return switch kind {
        case .install:
            """
            SELECT k.n, i.click FROM \(elements(["scope", "hash", "rest"]))
            JOIN installs i ON \(bucket("i.b", of: "k.hash", 3)) AND i.scope = k.scope
            AND i.install = k.hash AND i.install_rest = k.rest
            """
        case .home(let slot): home(slot, bucket("c.b", of: "k.id", 2))
        case .openClick(let slot): openClick(slot, bucket("f.b", of: "k.hash", 6))
        case .key: ofKeys(each(slots) { newestOfKey($0, bucket("b", of: "k.hash", 3)) })
        case .moreOfKey: ofKeys(each(slots) { liveOfKey($0, bucket("b", of: "k.hash", 4)) }, ["at"])
        case .openClicks:
            ofKeys(
                """
                SELECT \(IndexRecord.columns) FROM (\(each(slots) { openOfKey($0, bucket("b", of: "k.hash", 3)) })) r
                \(newestFirst)
                """
            )
        case .newestClicks:
            ofKeys(
                """
                SELECT click FROM (\(each(slots) { "(\(searched($0, bucket("b", of: "k.hash", 6))))" })) r
                WHERE closed_at IS NULL AND expires_at >= k.at AND destination = k.destination
                \(newestFirst) LIMIT k.most
                """,
                ["at", "destination", "most"]
            )
        case .around:
            """
            SELECT k.n, f.* FROM \(elements(["scope", "near", "at"]))
            CROSS JOIN LATERAL (\(around(slots, bucket("b", of: "k.near", 3), atMost: AddressSelection.maximumRead))) f
            """
        case .countAround:
            """
            SELECT k.n, count(*) AS near, count(*) FILTER (WHERE exact_address = k.exact) AS exact,
            min(clicked_at) AS oldest FROM \(elements(["scope", "near", "at", "exact", "first"]))
            CROSS JOIN LATERAL (\(around(slots, bucket("b", of: "k.near", 5), atMost: AddressClickCount.Builder.maximumRead))) f
            WHERE clicked_at >= k.first GROUP BY k.n
            """
        case .liveClicks:
            """
            SELECT k.n, (SELECT coalesce(sum(count), 0)::int8 FROM live_clicks WHERE scope = k.scope
            AND span = 'second' AND expires_in >= k.second AND expires_in < (k.hour + 1) * 3600)
            + (SELECT coalesce(sum(count), 0)::int8 FROM live_clicks WHERE scope = k.scope
            AND span = 'hour' AND expires_in > k.hour) AS count
            FROM \(elements(["scope", "second", "hour"]))
            """
        case .learnt:
            """
            SELECT k.n, (SELECT value FROM learnt_counters
            WHERE scope = k.scope AND family = k.family AND key = k.key) AS value
            FROM \(elements(["scope", "family", "key"]))
            """
        case .model:
            """
            SELECT k.n, began_at, landmark, family, key, value FROM \(elements(["scope"]))
            JOIN learning l ON l.scope = k.scope
            LEFT JOIN learnt_counters c ON c.scope = k.scope AND c.family IN (\(familiesOfModel))
            """
        case .link:
            """
            SELECT k.n, \(linkColumns), \(contentColumns) FROM \(elements(["slug"]))
            JOIN links l ON l.slug = k.slug JOIN apps a ON a.number = l.app \(contents)
            """
        case .linkByID:
            """
            SELECT k.n, \(linkColumns), \(contentColumns) FROM \(elements(["high", "low"]))
            JOIN links l ON l.id_high = k.high AND l.id_low = k.low JOIN apps a ON a.number = l.app \(contents)
            """
        case .linksOfCampaign:
            """
            SELECT k.n, \(linkColumns) FROM \(elements(["at", "campaign"])) CROSS JOIN LATERAL (
            SELECT * FROM links WHERE campaign_key = k.campaign ORDER BY number DESC LIMIT 1000) l
            JOIN apps a ON a.number = l.app WHERE archived_at IS NULL AND (expires_at IS NULL OR expires_at > k.at)
            AND (maximum_clicks IS NULL
            OR maximum_clicks > coalesce((SELECT clicks FROM link_limits WHERE link = l.number), 0))
            """
        case .linkContents:
            """
            SELECT k.n, \(contentColumns) FROM \(elements(["number"]))
            JOIN links l ON l.number = k.number \(contents)
            """
        }
    }
}

/// Clicks by their numbers, and rows of keys and networks.
extension QuestionStatements {
    /// The statement joins the links last, because Citus does not distribute them.
    private static func home(_ slot: Int64?, _ bucket: SQLText) -> SQLText {
        """
        WITH c AS MATERIALIZED (SELECT k.n, c.* FROM \(elements(["id", "slot"]))
        JOIN clicks c ON c.slot = \(constant(slot)) AND \(bucket) AND c.id = k.id)
        SELECT c.n, l.id_high AS link_high, l.id_low AS link_low, (c.claimed_at IS NOT NULL)::int4 AS is_claimed,
        \(ClickRecord.columns, of: "c"), \(ClaimRecord.columnsOfClicks) FROM c LEFT JOIN links l ON l.number = c.link
        """
    }

    private static func openClick(_ slot: Int64?, _ bucket: SQLText) -> SQLText {
        """
        SELECT k.n, \(IndexRecord.columns, of: "f")
        FROM \(elements(["scope", "hash", "rest", "since", "click", "slot"]))
        JOIN click_index f ON f.slot = \(constant(slot)) AND \(bucket) AND f.scope = k.scope
        AND f.hash = k.hash AND f.since = k.since AND f.click = k.click
        WHERE f.hash_rest = k.rest AND f.closed_at IS NULL
        """
    }

    private static func ofKeys(_ rows: SQLText, _ further: [StaticString] = []) -> SQLText {
        "SELECT k.n, f.* FROM \(elements(["scope", "hash", "rest"] + further)) CROSS JOIN LATERAL (\(rows)) f"
    }

    private static func newestOfKey(_ slot: Int64, _ bucket: SQLText) -> SQLText {
        """
        (SELECT closed_as, closed_at, caller, is_undelivered, \(IndexRecord.columns) FROM \(rowsOfKey(slot, bucket))
        \(newestFirst) LIMIT \(KeyRows.maximumRead))
        """
    }

    private static func liveOfKey(_ slot: Int64, _ bucket: SQLText) -> SQLText {
        """
        (SELECT \(IndexRecord.columns) FROM (\(searched(slot, bucket))) r
        WHERE closed_at IS NULL AND expires_at >= k.at LIMIT \(KeyRows.maximumRead))
        """
    }

    private static func openOfKey(_ slot: Int64, _ bucket: SQLText) -> SQLText {
        "(SELECT * FROM \(rowsOfKey(slot, bucket)) AND closed_at IS NULL)"
    }

    private static func searched(_ slot: Int64, _ bucket: SQLText) -> SQLText {
        "SELECT * FROM \(rowsOfKey(slot, bucket)) \(newestFirst) LIMIT \(maximumSearched)"
    }

    private static func rowsOfKey(_ slot: Int64, _ bucket: SQLText) -> SQLText {
        """
        click_index WHERE slot = \(slot) AND \(bucket) AND scope = k.scope AND hash = k.hash
        AND hash_rest = k.rest
        """
    }

    private static let newestFirst: SQLText = "ORDER BY since DESC, click DESC"

    private static func around(_ slots: [Int64], _ bucket: SQLText, atMost limit: Int) -> SQLText {
        let order: SQLText = "ORDER BY clicked_at DESC, click DESC"
        let rows = each(slots) { slot in
            """
            (SELECT clicked_at, click, exact_address, marks FROM (
            SELECT * FROM click_addresses WHERE slot = \(slot) AND \(bucket) AND scope = k.scope
            AND near_address = k.near \(order) LIMIT \(max(2 * limit, maximumSearched))
            ) r WHERE expires_at >= k.at LIMIT \(limit))
            """
        }
        return "SELECT * FROM (\(rows)) r \(order) LIMIT \(limit)"
    }

    private static func each(_ slots: [Int64], _ branch: (Int64) -> SQLText) -> SQLText {
        let first = branch(slots.first ?? RowHome.longSlot)
        return slots.dropFirst().reduce(first) { "\($0) UNION ALL \(branch($1))" }
    }

    /// The slot of a kind as a constant; if the slot is nil, PostgreSQL finds the partition of each question.
    private static func constant(_ slot: Int64?) -> SQLText { slot.map { "\($0)" } ?? "k.slot" }

    /// The questions: an array for each part of a ``QuestionElement``.
    private static func elements(_ names: [StaticString]) -> SQLText {
        let parameters = (1..<names.count).reduce("$1") { "\($0), $\($1 + 1)" } as SQLText
        let columns = names.reduce("") { "\($0)\($1), " } as SQLText
        return "unnest(\(parameters)) WITH ORDINALITY AS k (\(columns)n)"
    }
}

/// Links and models.
extension QuestionStatements {
    private static var familiesOfModel: SQLText {
        CounterFamily.allCases.filter(\.belongsToModel).reduce("0") { "\($0), \($1.rawValue)" }
    }

    private static let linkColumns: SQLText =
        "l.number, \(LinkRecord.columns, of: "l"), a.id_high AS app_high, a.id_low AS app_low"
    private static let contentColumns: SQLText = "fields.*, counts.*"
    /// The fields and the counts of a link, as arrays.
    ///
    /// If a link has a limit, its count of clicks is exact; other counts may be a second old.
    private static let contents: SQLText = """
        CROSS JOIN LATERAL (SELECT array_agg(field ORDER BY field, position) AS names,
        array_agg(value ORDER BY field, position) AS texts FROM link_fields WHERE link = l.number) fields
        CROSS JOIN LATERAL (SELECT array_agg(variant) AS variants, array_agg(clicks) AS clicks,
        array_agg(robots) AS robots, array_agg(matches) AS matches FROM (
        SELECT variant, max(clicks) AS clicks, max(robots) AS robots, max(matches) AS matches FROM (
        SELECT variant, clicks, robots, matches FROM link_counts WHERE link = l.number
        UNION ALL SELECT '', clicks, 0, 0 FROM link_limits WHERE link = l.number) r GROUP BY variant) r) counts
        """
}
#endif
