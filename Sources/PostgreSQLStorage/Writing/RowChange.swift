#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// A statement that writes rows, given as an array for each column.
///
/// Transactions run the statements in the order of the cases. A statement that may wait for another
/// transaction sorts its rows. The slot of rows that are updated is a constant of the statement.
enum RowChange: Hashable, Comparable {
    case click
    case releasedIdempotency
    case idempotency
    /// Deletes the row of an installation or caller whose answer is erased, or goes to another installation or caller.
    case formerOwner
    case install
    case movedInstall
    /// The click that a caller without an installation id has claimed last.
    case caller
    /// Deletes the rows of an erased click's installation and caller, also if this transaction has inserted them.
    case erasedOwner
    case indexEntry
    /// The index row of a robot's click.
    case closedEntry
    case address
    case check
    case claim(slot: Int64)
    case retirement(slot: Int64)
    case delivery(slot: Int64)
    case closing(slot: Int64)
    case closedDelivery(slot: Int64)
    /// A match, or the installation that has got the answer of an earlier match.
    case attributedInstall
    case limit
    case keyUse
    case addressDay
    /// Adds to learnt counters that exist.
    case knownCounter
    /// Adds to learnt counters, and creates those that are missing.
    case learntCounter
    /// Deletes rows of an erased click, or of erased records of checks.
    case erasedEntry(slot: Int64)
    case erasedAddress(slot: Int64)
    case erasedClick(slot: Int64)
    case erasedCheck(slot: Int64)
    case outboxEvent
    /// The delivery of an event to an endpoint.
    case postback

    var columns: Columns {
        switch self {
        case .click: ClickRecord.columns + ["turn"]
        case .releasedIdempotency, .idempotency: ["scope", "idempotency", "idempotency_rest", "click"]
        case .formerOwner, .erasedOwner: ["scope", "install", "install_rest", "click"]
        case .install, .movedInstall, .caller: ["scope", "install", "install_rest", "click", "until"]
        case .indexEntry: IndexEntry.columns
        case .closedEntry: ["scope", "hash", "hash_rest", "click", "since", "expires_at", "visit"]
        case .address:
            ["scope", "near_address", "clicked_at", "click", "exact_address", "expires_at", "marks"]
        case .check: CheckRecord.columns
        case .claim: ClaimRecord.columns
        case .retirement: ["click", "retired_at"]
        case .delivery: ["click", "is_undelivered", "caller", "caller_rest", "install", "install_rest"]
        case .closing: ["scope", "hash", "since", "click", "closed_at", "caller"]
        case .closedDelivery: ["scope", "hash", "since", "click", "is_undelivered", "caller"]
        case .attributedInstall: AttributedInstall.columns
        case .limit: ["link", "clicks"]
        case .keyUse: ["id_high", "id_low", "last_used_at"]
        case .addressDay: ["day", "needed_until"]
        case .knownCounter, .learntCounter: ["scope", "family", "key", "value"]
        case .erasedEntry: ["scope", "hash", "since", "click"]
        case .erasedAddress: ["scope", "near_address", "clicked_at", "click"]
        case .erasedClick: ["id"]
        case .erasedCheck: ["id", "id_low"]
        case .outboxEvent: OutboxRecord.columns
        case .postback: DeliveryRecord.columns
        }
    }

    /// The column whose lowest bits are the bucket of a row; nil for the tables without buckets.
    var bucketColumn: StaticString? {
        switch self {
        case .releasedIdempotency, .idempotency: "idempotency"
        case .formerOwner, .install, .movedInstall, .caller, .erasedOwner: "install"
        case .indexEntry, .closedEntry, .closing, .closedDelivery, .erasedEntry: "hash"
        case .address, .erasedAddress: "near_address"
        case .click, .check, .erasedClick, .erasedCheck: "id"
        case .claim, .retirement, .delivery: "click"
        case .attributedInstall, .limit, .keyUse, .addressDay, .knownCounter, .learntCounter, .outboxEvent,
            .postback:
            nil
        }
    }

    /// The statement; on Citus, all rows are in one shard, whose buckets are the last parameter.
    func text(onCitus isCitus: Bool) -> SQLText {
        let rows: SQLText = "\(rowsWith: columns)"
        let ofShard: SQLText = "b = ANY ($\(columns.names.count + 1))"
        var inserted = rows
        if isCitus, let bucketColumn {
            // Citus inserts directly on a shard only if the rows come from a table with the same shards.
            inserted = "\(rows) JOIN buckets ON b = (r.\(bucketColumn) & 63) AND \(ofShard)"
        }
        /// The bucket of the rows to insert.
        func home(_ hash: StaticString) -> SQLText { isCitus ? "buckets.b" : "\(hash) & 63" }
        /// The bucket of the rows to change.
        func bucket(_ hash: StaticString) -> SQLText {
            isCitus ? "(r.\(hash) & 63) AND \(ofShard)" : "(r.\(hash) & 63)"
        }
        return switch self {
        case .click:
            """
            INSERT INTO clicks (b, slot, \(columns)) SELECT \(home("id")), \(Self.slot(of: "id")), \(columns)
            FROM \(inserted) ORDER BY id & 63, scope, visit, post, turn
            """
        case .releasedIdempotency:
            """
            DELETE FROM idempotencies i USING \(rows) WHERE i.b = \(bucket("idempotency")) AND i.scope = r.scope
            AND i.idempotency = r.idempotency AND i.idempotency_rest = r.idempotency_rest AND i.click = r.click
            """
        case .idempotency:
            """
            INSERT INTO idempotencies (b, \(columns)) SELECT \(home("idempotency")), \(columns) FROM \(inserted)
            ORDER BY idempotency & 63, scope, idempotency, idempotency_rest
            """
        case .formerOwner, .erasedOwner:
            """
            DELETE FROM installs i USING \(rows) WHERE i.b = \(bucket("install")) AND i.scope = r.scope
            AND i.install = r.install AND i.install_rest = r.install_rest AND i.click = r.click
            """
        case .install:
            """
            INSERT INTO installs (b, \(columns)) SELECT \(home("install")), \(columns) FROM \(inserted)
            ORDER BY install & 63, scope, install, install_rest
            """
        case .movedInstall:
            """
            UPDATE installs i SET click = r.click, until = r.until FROM \(rows) WHERE i.b = \(bucket("install"))
            AND i.scope = r.scope AND i.install = r.install AND i.install_rest = r.install_rest
            """
        case .caller:
            """
            INSERT INTO installs AS i (b, \(columns))
            SELECT \(home("install")), scope, install, install_rest, max(click), max(until) FROM \(inserted)
            GROUP BY \(home("install")), scope, install, install_rest ORDER BY install & 63, scope, install, install_rest
            ON CONFLICT (b, scope, install, install_rest) DO UPDATE SET click = excluded.click, until = excluded.until
            """
        case .indexEntry:
            """
            INSERT INTO click_index (b, slot, scope, hash, hash_rest, \(IndexRecord.columns))
            SELECT \(home("hash")), \(Self.slot(of: "click")), scope, hash, hash_rest, \(IndexRecord.columns)
            FROM \(inserted)
            """
        case .closedEntry:
            """
            INSERT INTO click_index (b, slot, \(columns), closed_at, closed_as)
            SELECT \(home("hash")), \(Self.slot(of: "click")), \(columns), since, 'robot_click' FROM \(inserted)
            """
        case .address:
            """
            INSERT INTO click_addresses (b, slot, \(columns))
            SELECT \(home("near_address")), \(Self.slot(of: "click")), \(columns) FROM \(inserted)
            """
        case .check:
            """
            INSERT INTO checks (b, slot, \(columns))
            SELECT \(home("id")), \(Self.day(of: "id")), \(columns) FROM \(inserted)
            """
        case .claim(let slot):
            Self.changing(
                slot,
                """
                claimed_at = r.claimed_at, method = r.method, confidence = r.confidence, hash = r.hash,
                hash_rest = r.hash_rest, install = r.install, install_rest = r.install_rest,
                is_undelivered = r.is_undelivered, competing_clicks = r.competing_clicks,
                is_campaign_only = r.is_campaign_only, caller = r.caller, caller_rest = r.caller_rest
                """,
                rows,
                bucket("click")
            )
        case .retirement(let slot): Self.changing(slot, "retired_at = r.retired_at", rows, bucket("click"))
        case .delivery(let slot):
            """
            UPDATE clicks c SET is_undelivered = r.is_undelivered, caller = r.caller, caller_rest = r.caller_rest,
            install = r.install, install_rest = r.install_rest FROM \(rows)
            WHERE c.slot = \(slot) AND c.b = \(bucket("click")) AND c.id = r.click
            """
        case .closing(let slot):
            """
            UPDATE click_index f SET closed_at = r.closed_at, closed_as = 'already_claimed', caller = r.caller
            FROM \(rows) WHERE \(Self.entry(slot, bucket("hash")))
            """
        case .closedDelivery(let slot):
            """
            UPDATE click_index f SET is_undelivered = r.is_undelivered, caller = r.caller
            FROM \(rows) WHERE \(Self.entry(slot, bucket("hash")))
            """
        case .attributedInstall:
            """
            INSERT INTO attributed_installs (\(columns)) SELECT \(columns) FROM \(rows) ORDER BY click
            ON CONFLICT (click) DO UPDATE SET install = excluded.install, install_rest = excluded.install_rest
            """
        case .limit:
            """
            INSERT INTO link_limits AS m (\(columns)) SELECT link, max(clicks) FROM \(rows) GROUP BY link ORDER BY link
            ON CONFLICT (link) DO UPDATE SET clicks = greatest(m.clicks, excluded.clicks)
            """
        case .keyUse:
            """
            UPDATE keys t SET last_used_at = u.last_used_at FROM (
            SELECT t.number, r.last_used_at FROM \(rows) JOIN keys t ON t.id_high = r.id_high AND t.id_low = r.id_low
            WHERE t.last_used_at IS NULL OR t.last_used_at < r.last_used_at
            ORDER BY t.number FOR UPDATE OF t SKIP LOCKED) u WHERE t.number = u.number
            """
        case .addressDay:
            """
            INSERT INTO address_days AS d (\(columns)) SELECT day, max(needed_until) FROM \(rows)
            GROUP BY day ORDER BY day
            ON CONFLICT (day) DO UPDATE SET needed_until = greatest(d.needed_until, excluded.needed_until)
            """
        case .knownCounter:
            Self.adding(
                """
                \(rows) WHERE EXISTS (SELECT 1 FROM learnt_counters l
                WHERE l.scope = r.scope AND l.family = r.family AND l.key = r.key)
                """
            )
        case .learntCounter: Self.adding(rows)
        case .erasedEntry(let slot):
            "DELETE FROM click_index f USING \(rows) WHERE \(Self.entry(slot, bucket("hash")))"
        case .erasedAddress(let slot):
            """
            DELETE FROM click_addresses a USING \(rows) WHERE a.slot = \(slot) AND a.b = \(bucket("near_address"))
            AND a.scope = r.scope AND a.near_address = r.near_address AND a.clicked_at = r.clicked_at
            AND a.click = r.click
            """
        case .erasedClick(let slot):
            "DELETE FROM clicks c USING \(rows) WHERE c.slot = \(slot) AND c.b = \(bucket("id")) AND c.id = r.id"
        case .erasedCheck(let slot):
            """
            DELETE FROM checks c USING \(rows) WHERE c.slot = \(slot) AND c.b = \(bucket("id")) AND c.id = r.id
            AND c.id_low = r.id_low
            """
        case .outboxEvent: "INSERT INTO outbox_events (\(columns)) SELECT * FROM \(rows)"
        case .postback: "INSERT INTO deliveries (\(columns)) SELECT * FROM \(rows)"
        }
    }

    /// The slot of a click; see ``RowHome``.
    static func slot(of number: StaticString) -> SQLText {
        "CASE WHEN \(number) & 64 <> 0 THEN \(RowHome.longSlot) ELSE \(day(of: number)) END"
    }

    /// The slot of the record of a check; see ``RowHome/day(of:)``.
    static func day(of number: StaticString) -> SQLText { "(\(number) >> 16) / 86400000" }

    /// Changes clicks that are neither claimed nor retired, and fails if it does not change all the given clicks.
    ///
    /// So a click is consumed once, even if the program's memory is wrong.
    private static func changing(_ slot: Int64, _ values: SQLText, _ rows: SQLText, _ bucket: SQLText)
        -> SQLText
    {
        """
        WITH changed AS (UPDATE clicks c SET \(values) FROM \(rows) WHERE c.slot = \(slot) AND c.b = \(bucket)
        AND c.id = r.click AND c.claimed_at IS NULL AND c.retired_at IS NULL RETURNING 1)
        SELECT 1 / (count(*) = cardinality($1))::int FROM changed
        """
    }

    private static func entry(_ slot: Int64, _ bucket: SQLText) -> SQLText {
        """
        f.slot = \(slot) AND f.b = \(bucket) AND f.scope = r.scope AND f.hash = r.hash
        AND f.since = r.since AND f.click = r.click
        """
    }

    private static func adding(_ rows: SQLText) -> SQLText {
        """
        INSERT INTO learnt_counters AS l (scope, family, key, value) SELECT scope, family, key, value FROM \(rows)
        ORDER BY scope, family, key
        ON CONFLICT (scope, family, key) DO UPDATE SET value = l.value + excluded.value
        """
    }
}

extension ColumnArrays {
    /// Puts the columns of ``RowChange/address``.
    mutating func put(_ address: AddressHashes, of click: ClickRecord) {
        put("scope", click.scope.number)
        put("near_address", address.near)
        put("clicked_at", click.facts.clickedAt)
        put("click", click.number)
        put("exact_address", address.exact)
        put("expires_at", click.expiresAt)
        put("marks", HashPrefixes(click.hashes).bytes)
    }
}
#endif
