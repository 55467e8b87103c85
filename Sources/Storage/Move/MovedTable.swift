/// A table that a move copies row by row, because its rows are the same in both databases.
public struct MovedTable: Sendable {
    public let name: StaticString
    private let integers: Columns
    private let texts: Columns
    private let reals: Columns
    private let bytes: Columns
    /// The rows that are copied, as a condition of SQL that both databases understand.
    public let condition: StaticString

    private init(
        _ name: StaticString,
        integers: Columns,
        texts: Columns = [],
        reals: Columns = [],
        bytes: Columns = [],
        where condition: StaticString = "true"
    ) {
        (self.name, self.integers, self.texts) = (name, integers, texts)
        (self.reals, self.bytes, self.condition) = (reals, bytes, condition)
    }

    /// The columns in the order in which ``copy(_:to:)`` reads and writes them.
    public var columns: Columns { integers + texts + reals + bytes }

    /// Copies a row, value by value.
    public func copy(_ row: inout some RowReader, to written: inout some RowWriter) {
        for name in integers.names { written.putInteger(name, row.getOptionalInteger(name)) }
        for name in texts.names { written.putText(name, row.getOptionalText(name)) }
        for name in reals.names { written.putReal(name, row.getOptionalReal(name)) }
        for name in bytes.names { written.putBytes(name, row.getBytes(name)) }
    }

    /// The tables, in an order in which each row comes after the rows that it refers to.
    public static let all: [MovedTable] =
        directory + links + counts + learning + keys + audit + erasures + postbacks + applePostbacks + events

    private static let directory = [
        MovedTable(
            "apps",
            integers: [
                "number", "id_high", "id_low", "open_clicks", "window_seconds", "created_at",
                "uses_fingerprints", "reporting_offset",
                "fingerprint_window_seconds", "deterministic_window_seconds",
            ],
            texts: [
                "name", "development_language", "matching_rule", "on_ambiguity", "default_link", "click_ids",
            ],
            reals: ["minimum_confidence"]
        ),
        MovedTable("app_fields", integers: ["app", "position"], texts: ["field", "value"]),
        MovedTable(
            "keys",
            integers: [
                "number", "id_high", "id_low", "app", "created_at", "expires_at", "revoked_at",
                "last_used_at",
            ],
            texts: ["kind", "label"],
            bytes: ["digest"]
        ),
    ]

    private static let audit = [
        MovedTable(
            "audit_log",
            integers: ["id_high", "id_low"],
            texts: ["actor_kind", "actor", "action", "app", "subject", "before", "after"]
        )
    ]

    private static let links = [
        MovedTable(
            "links",
            integers: [
                "number", "id_high", "id_low", "app", "expires_at", "maximum_clicks", "created_at",
                "updated_at", "archived_at",
            ],
            texts: ["slug", "campaign_key", "search_text"]
        ),
        MovedTable("link_fields", integers: ["link", "position"], texts: ["field", "value"]),
        MovedTable(
            "link_counts",
            integers: ["link", "clicks", "robots", "tests", "matches"],
            texts: ["variant"]
        ),
    ]

    private static let counts = [
        MovedTable(
            "counts",
            integers: ["scope", "dimension", "span", "period", "count"],
            texts: ["campaign", "value", "metric"]
        ),
        MovedTable("live_clicks", integers: ["scope", "expires_in", "count"], texts: ["span"]),
        MovedTable(
            "drift_groups",
            integers: ["scope", "trials", "matches", "since", "began"],
            texts: ["side", "name"],
            reals: ["usual_rate", "fallen_rate"]
        ),
        MovedTable("figures", integers: ["scope"], texts: ["report", "name"], reals: ["value"]),
        MovedTable("jobs", integers: ["holder", "until", "progress"], texts: ["name"]),
    ]

    private static let learning = [
        MovedTable("learnt_counters", integers: ["scope", "family", "key"], reals: ["value"]),
        MovedTable("learning", integers: ["scope", "began_at", "landmark"]),
    ]

    private static let erasures = [
        MovedTable(
            "erasures",
            integers: [
                "id_high", "id_low", "erased_at", "app_high", "app_low", "clicks", "click_index",
                "click_addresses", "claims", "checks", "learnt_counters", "events", "attributed_installs",
            ],
            texts: ["kind", "actor"]
        ),
        MovedTable(
            "erased_rows",
            integers: ["number", "id", "id_low", "app_high", "app_low", "erased_at"],
            texts: ["table_name"]
        ),
    ]

    private static let postbacks = [
        MovedTable(
            "postback_endpoints",
            integers: [
                "id_low", "id_high", "scope", "app_high", "app_low", "created_at", "former_until", "sequence",
                "failures",
                "failing_since",
            ],
            texts: ["url", "types", "body", "state", "reason"],
            bytes: ["secret", "headers", "former_secret"]
        ),
        MovedTable(
            "outbox_events",
            integers: ["scope", "id_high", "id_low", "click"],
            texts: ["type", "data"]
        ),
        MovedTable(
            "deliveries",
            integers: [
                "endpoint", "id_high", "id_low", "sequence", "state", "attempts", "due_at", "attempted_at",
                "status",
                "milliseconds",
            ],
            texts: ["failure", "answer"]
        ),
    ]

    private static let applePostbacks = [
        MovedTable(
            "apple_postbacks",
            integers: ["number", "sequence", "did_win", "fine_value", "counted", "received_at"],
            texts: [
                "framework", "version", "network", "item", "postback", "source", "conversion_type",
                "publisher", "coarse_value", "interaction", "country", "verification", "environment", "body",
            ],
            bytes: ["digest"]
        )
    ]

    private static let events = [
        MovedTable(
            "attributed_installs",
            integers: [
                "scope", "install", "install_rest", "click", "click_low", "matched_at", "is_guaranteed",
                "clicked_at",
            ],
            texts: ["campaign", "source", "link", "variant", "method", "click_ids"],
            reals: ["confidence"]
        ),
        MovedTable(
            "events",
            integers: [
                "number", "scope", "occurred_at", "received_at", "is_verified", "amount", "install",
                "install_rest",
                "user_hash", "user_rest", "named_click", "named_low", "click", "click_low", "matched_at",
            ],
            texts: [
                "event_id", "name", "currency", "purchase", "properties", "campaign", "source", "link",
                "variant",
                "method",
            ]
        ),
    ]

    private static let keys = [
        MovedTable("former_server_keys", integers: ["key_check", "replaced_at"]),
        MovedTable("address_days", integers: ["day", "needed_until"]),
        // A database with partitions does not close index rows of expired clicks, so it needs no
        // `closed_before`. The target records the progress of a move itself.
        MovedTable(
            "progress",
            integers: ["value"],
            texts: ["name"],
            where: "name <> 'closed_before' AND name NOT LIKE 'move%'"
        ),
    ]
}
