#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// A statement that reads or writes the large tables.
///
/// It names slots as constants, so that PostgreSQL opens only their partitions. On Citus, it reads or writes
/// one shard; its last parameter is the list of the shard's buckets.
enum SlotStatement: Hashable {
    /// Reads and locks the rows of installations.
    case installs
    case idempotencies
    /// Locks clicks, and the clicks of the same visits from the ten minutes before them.
    case clicks(VisitHome)
    case posts(VisitHome)
    case visitors([Int64])
    case change(RowChange)

    func text(onCitus isCitus: Bool) -> SQLText {
        func bucket(_ value: SQLText, _ column: StaticString, _ parameter: StaticString) -> SQLText {
            isCitus ? "\(value) AND \(column) = ANY (\(parameter))" : value
        }
        return switch self {
        case .installs: Self.installs(bucket("(k.hash & 63)", "i.b", "$4"))
        case .idempotencies: Self.idempotencies(bucket("(k.hash & 63)", "i.b", "$4"))
        case .clicks(let home):
            Self.clicks(
                Self.list(home.slots),
                bucket("(k.number & 63)", "b", "$2"),
                bucket(home.isMoved ? Self.anyBucket : "h.b", "c.b", "$2")
            )
        case .posts(let home):
            Self.posts(
                Self.list(home.slots),
                bucket(home.isMoved ? Self.anyBucket : "(k.visit & 63)", "b", "$6")
            )
        case .visitors(let slots): Self.visitors(slots, bucket("(k.hash & 63)", "b", "$6"))
        case .change(let change): change.text(onCitus: isCitus)
        }
    }

    private static func list(_ slots: [Int64]) -> SQLText {
        let first: SQLText = "\(slots.first ?? RowHome.longSlot)"
        return slots.dropFirst().reduce(first) { "\($0), \($1)" }
    }

    private static let anyBucket: SQLText = "ANY (ARRAY[\(list(Array(0..<64)))])"

    private static let columns: SQLText = """
        (c.claimed_at IS NOT NULL)::int4 AS is_claimed, (c.retired_at IS NOT NULL)::int4 AS is_retired,
        \(ClickRecord.columns, of: "c"), c.id AS click, c.scope, c.claimed_at, c.method, c.confidence, c.hash,
        c.hash_rest, c.install, c.install_rest, c.is_undelivered, c.competing_clicks, c.is_campaign_only, c.caller,
        c.caller_rest
        """

    /// After a wait for a lock, PostgreSQL returns the row as the other transaction has left it.
    private static func clicks(_ slots: SQLText, _ home: SQLText, _ bucket: SQLText) -> SQLText {
        """
        SELECT \(columns) FROM (
        SELECT DISTINCT b, scope, visit, clicked_at FROM unnest($1) AS k (number) CROSS JOIN LATERAL (
        SELECT b, scope, visit, clicked_at FROM clicks
        WHERE slot IN (\(slots)) AND b = \(home) AND id = k.number LIMIT 1) h) h
        JOIN clicks c ON c.slot IN (\(slots)) AND c.b = \(bucket) AND c.scope = h.scope AND c.visit = h.visit
        AND c.clicked_at BETWEEN h.clicked_at - \(AddressKeys.visitMilliseconds) AND h.clicked_at
        ORDER BY c.b, c.visit, c.id FOR UPDATE OF c
        """
    }

    /// Reads the newest clicks of each post in a range of turns.
    ///
    /// The limit exceeds the number of clicks that one post can have in these turns, unless each was claimed
    /// before the next one came. Sorting by `id + 0` keeps PostgreSQL from walking back through the whole
    /// bucket by the index of `id`.
    private static func posts(_ slots: SQLText, _ bucket: SQLText) -> SQLText {
        """
        SELECT \(columns) FROM unnest($1, $2, $3, $4, $5) AS k (scope, visit, post, first, last)
        CROSS JOIN LATERAL (SELECT * FROM clicks WHERE slot IN (\(slots)) AND b = \(bucket)
        AND scope = k.scope AND visit = k.visit AND post = k.post AND turn BETWEEN k.first AND k.last
        ORDER BY id + 0 DESC LIMIT 4) c
        """
    }

    /// Reads at most the newest 256 clicks of the fingerprint in each slot: a flood of clicks must not delay the writer.
    private static func visitors(_ slots: [Int64], _ bucket: SQLText) -> SQLText {
        let branches = slots.map { slot -> SQLText in
            """
            (SELECT visit, visitor FROM click_index WHERE slot = \(slot) AND b = \(bucket) AND scope = k.scope
            AND hash = k.hash AND since BETWEEN k.first AND k.last AND closed_at IS NULL
            ORDER BY since DESC LIMIT 256)
            """
        }
        let rows = branches.dropFirst().reduce(branches.first ?? "") { "\($0) UNION ALL \($1)" }
        return """
            SELECT k.n, f.visit FROM unnest($1, $2, $3, $4, $5) WITH ORDINALITY AS k (
            scope, hash, first, last, visitor, n) CROSS JOIN LATERAL (\(rows)) f WHERE f.visitor = k.visitor
            """
    }

    private static func installs(_ bucket: SQLText) -> SQLText {
        """
        SELECT i.scope, i.install, i.install_rest, i.click, i.until
        FROM unnest($1, $2, $3) AS k (scope, hash, rest) JOIN installs i ON i.b = \(bucket)
        AND i.scope = k.scope AND i.install = k.hash AND i.install_rest = k.rest
        ORDER BY i.b, i.scope, i.install, i.install_rest FOR UPDATE OF i
        """
    }

    private static func idempotencies(_ bucket: SQLText) -> SQLText {
        """
        SELECT i.scope, i.idempotency, i.idempotency_rest, i.click
        FROM unnest($1, $2, $3) AS k (scope, hash, rest) JOIN idempotencies i ON i.b = \(bucket)
        AND i.scope = k.scope AND i.idempotency = k.hash AND i.idempotency_rest = k.rest
        """
    }
}

/// Statements that read rows of the other tables before a transaction writes.
enum RowReads {
    /// Locks the epochs too, so that no other server moves a landmark or deletes the sums before this transaction has
    /// added to them.
    static let epochs: PreparedStatement =
        "SELECT scope, began_at, landmark FROM unnest($1) AS k (n) JOIN learning l ON l.scope = k.n FOR SHARE OF l"
    /// Only a link with a limit counts each click in the click's own transaction, so only the rows of such links are
    /// locked.
    static let lockLimits: PreparedStatement = """
        SELECT m.link FROM unnest($1, $2) AS k (high, low)
        JOIN links l ON l.id_high = k.high AND l.id_low = k.low AND l.maximum_clicks IS NOT NULL
        JOIN link_limits m ON m.link = l.number ORDER BY m.link FOR UPDATE OF m
        """
    /// Returns those of the links that have no maximum number of clicks.
    static let unlimited: PreparedStatement = """
        SELECT l.number FROM unnest($1, $2) AS k (high, low)
        JOIN links l ON l.id_high = k.high AND l.id_low = k.low AND l.maximum_clicks IS NULL
        """
    /// Waits for the transactions that record clicks of links; until the commit, no other transaction records one.
    ///
    /// Each of those transactions keeps a lock of the table from ``lockLimits`` until its commit. This statement must
    /// come before the transaction's own ``lockLimits``: two servers that both had that lock would wait for each other.
    static let waitForClicks = PreparedStatement("LOCK TABLE link_limits IN EXCLUSIVE MODE")
    /// Only a link without counts can be deleted.
    ///
    /// Its first click locks it, so that the deletion waits for the click's commit and then finds the click's counts. If
    /// the deletion was first, the link is no longer found.
    static let lockUncounted: PreparedStatement = """
        SELECT l.number FROM unnest($1, $2) AS k (high, low)
        JOIN links l ON l.id_high = k.high AND l.id_low = k.low
        WHERE NOT EXISTS (SELECT FROM link_counts c WHERE c.link = l.number) ORDER BY l.number FOR KEY SHARE OF l
        """
    /// Locks a link against other changes, but not against its clicks.
    static let lockLink: PreparedStatement =
        "SELECT number FROM links WHERE id_high = $1 AND id_low = $2 FOR NO KEY UPDATE"
    static let limits: PreparedStatement = """
        SELECT l.number, l.id_high, l.id_low, (l.archived_at IS NOT NULL)::int4 AS is_archived, l.expires_at,
        l.maximum_clicks, coalesce(m.clicks, 0) AS clicks FROM unnest($1, $2) AS k (high, low)
        JOIN links l ON l.id_high = k.high AND l.id_low = k.low LEFT JOIN link_limits m ON m.link = l.number
        """
}

extension Parameters {
    init(_ hashes: [ScopedHash]) {
        self.init(hashes.map(\.scope.number), hashes.map(\.hash.index), hashes.map(\.hash.rest))
    }

    init(_ links: [LinkID]) { self.init(links.map(\.high), links.map(\.low)) }

    /// Each post has two ranges of turns.
    init(_ posts: [RowNeeds.Post]) {
        let ranges = posts.flatMap { post in post.turns.map { (post: post, turns: $0) } }
        self.init(
            ranges.map(\.post.hash.scope.number),
            ranges.map(\.post.visit),
            ranges.map(\.post.hash.hash.index),
            ranges.map(\.turns.lowerBound),
            ranges.map(\.turns.upperBound)
        )
    }

    init(_ visitors: [RowNeeds.Visitor]) {
        self.init(
            visitors.map(\.key.scope.number),
            visitors.map(\.key.hash.index),
            visitors.map(\.first.milliseconds),
            visitors.map(\.last.milliseconds),
            visitors.map(\.visitor)
        )
    }
}
#endif
