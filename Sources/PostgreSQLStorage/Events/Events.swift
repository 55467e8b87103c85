#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Writes events, and the matches that events are credited to.
extension PostgreSQLWriter {
    func insert(_ install: AttributedInstall) throws(PostgreSQLError) {
        batch.append(.attributedInstall) { install.write(to: &$0) }
    }

    func releaseEvents(_ ids: [String], in scope: Scope, receivedBefore time: Timestamp)
        throws(PostgreSQLError)
    { try batch.run(Self.release, scope.number, ids, time.milliseconds) }

    private static let release: PreparedStatement = """
        UPDATE events SET event_id = event_id || chr(31) || number
        WHERE scope = $1 AND event_id = ANY ($2) AND received_at < $3
        """

    /// Waits for a transaction of another server that inserts one of the same ids.
    func insert(_ events: [EventRecord]) throws(PostgreSQLError) -> Set<String> {
        guard !events.isEmpty else { return [] }
        batch.rows.hasNewEvents = true
        var records = ColumnArrays(EventRecord.columns)
        for event in events { records.append(event) }
        let accepted = try batch.run(Self.insertEvents, records)
        return Set(
            try accepted.map { (row) throws(PostgreSQLError) in try accepted.value(row, 0, as: String.self) }
        )
    }

    private static let insertEvents: PreparedStatement = """
        INSERT INTO events (\(EventRecord.columns)) SELECT * FROM \(rowsWith: EventRecord.columns)
        ORDER BY scope, event_id ON CONFLICT (scope, event_id) DO NOTHING RETURNING event_id
        """

    func takeBack(_ ids: [String], in scope: Scope) throws(PostgreSQLError) -> [EventRecord] {
        try batch.run(Self.takeBack, scope.number, ids).records(of: EventRecord.self)
    }

    private static let takeBack: PreparedStatement = """
        DELETE FROM events WHERE scope = $1 AND event_id = ANY ($2) AND is_verified = 0
        RETURNING \(EventRecord.columns)
        """

    func credit(_ events: [EventRecord]) throws(PostgreSQLError) {
        var records = ColumnArrays(EventRecord.columns)
        for event in events { records.append(event) }
        try batch.run(Self.credit, records)
    }

    private static let credit: PreparedStatement = """
        UPDATE events e SET install = r.install, install_rest = r.install_rest, user_hash = r.user_hash,
            user_rest = r.user_rest, named_click = r.named_click, named_low = r.named_low, click = r.click,
            click_low = r.click_low, campaign = r.campaign, source = r.source, link = r.link, variant = r.variant,
            method = r.method, matched_at = r.matched_at
        FROM \(rowsWith: EventRecord.columns) WHERE e.number = r.number
        """

    func eraseEvents(_ numbers: [Int64]) throws(PostgreSQLError) -> Int64 {
        Int64(try batch.run(Self.eraseEvents, numbers).affectedCount)
    }

    func eraseInstalls(ofClicks clicks: [Int64]) throws(PostgreSQLError) -> Int64 {
        Int64(try batch.run(Self.eraseInstalls, clicks).affectedCount)
    }

    private static let eraseEvents = PreparedStatement("DELETE FROM events WHERE number = ANY ($1)")
    private static let eraseInstalls: PreparedStatement =
        "DELETE FROM attributed_installs WHERE click = ANY ($1)"

    // A job deletes old rows.
    func removeEvents(before time: Timestamp, atMost limit: Int64) -> Bool { false }
}

/// Reads events, and the matches that events are credited to.
extension PostgreSQLReader: EventRows {
    func attributedInstalls(_ subjects: EventSubjects) throws(PostgreSQLError) -> [AttributedInstall] {
        let (installs, clicks) = (Set(subjects.installs), Set(subjects.clicks))
        return try all(
            Self.attributedInstalls,
            subjects.scope.number,
            installs.map(\.index),
            subjects.clicks
        ) { row throws(PostgreSQLError) in try row.record(AttributedInstall.self) }
        .filter { match in
            clicks.contains(match.number) || match.install.map(installs.contains) ?? false
        }
    }

    private static let attributedInstalls: PreparedStatement = """
        SELECT \(AttributedInstall.columns) FROM attributed_installs
        WHERE scope = $1 AND (install = ANY ($2) OR click = ANY ($3)) ORDER BY matched_at DESC LIMIT 10000
        """

    func events(of subjects: EventSubjects, onlyWaiting: Bool, atMost limit: Int) throws(PostgreSQLError)
        -> [EventRecord]
    {
        let (installs, users) = (Set(subjects.installs), Set(subjects.users))
        let clicks = Set(subjects.clicks)
        let parameters = Parameters(
            subjects.scope.number,
            installs.map(\.index),
            users.map(\.index),
            subjects.clicks,
            Int64(limit)
        )
        return try all(onlyWaiting ? Self.waiting : Self.ofSubjects, parameters) {
            row throws(PostgreSQLError) in try row.record(EventRecord.self)
        }
        .filter { event in
            event.install.map(installs.contains) ?? false || event.user.map(users.contains) ?? false
                || [event.namedClick, event.attribution?.click].contains { click in
                    click.map { clicks.contains(Int64(bitPattern: $0.high)) } ?? false
                }
        }
    }

    private static let waiting: PreparedStatement = """
        \(selectEvents) WHERE scope = $1 AND click IS NULL AND purchase IS NULL
        AND (install = ANY ($2) OR user_hash = ANY ($3) OR named_click = ANY ($4)) ORDER BY number LIMIT $5
        """
    private static let ofSubjects: PreparedStatement = """
        \(selectEvents) WHERE scope = $1 AND (install = ANY ($2) OR user_hash = ANY ($3) OR named_click = ANY ($4)
        OR click = ANY ($4)) ORDER BY number LIMIT $5
        """
    private static let selectEvents: SQLText = "SELECT \(EventRecord.columns) FROM events"

    func events(ofClick click: Int64, in scope: Scope, atMost limit: Int) throws(PostgreSQLError)
        -> [EventRecord]
    {
        try all(Self.ofOneClick, scope.number, click, Int64(limit)) { row throws(PostgreSQLError) in
            try row.record(EventRecord.self)
        }
    }

    private static let ofOneClick: PreparedStatement =
        "\(selectEvents) WHERE scope = $1 AND click = $2 LIMIT $3"

    func links(ofUsers users: [KeyedHash], in scope: Scope) throws(PostgreSQLError) -> [EventRecord] {
        let users = Set(users)
        return try all(Self.userLinks, scope.number, users.map(\.index)) {
            row throws(PostgreSQLError) in try row.record(EventRecord.self)
        }
        .filter { $0.user.map(users.contains) ?? false }
    }

    private static let userLinks: PreparedStatement = """
        SELECT e.* FROM unnest($2) AS k (hash) CROSS JOIN LATERAL (SELECT * FROM (
        (\(linkingEvents) AND is_verified = 1 ORDER BY number DESC LIMIT 1)
        UNION ALL (\(linkingEvents) AND is_verified = 0 ORDER BY number LIMIT 1)
        ) l ORDER BY is_verified DESC LIMIT 1) e
        """
    private static let linkingEvents: SQLText = """
        \(selectEvents) WHERE scope = $1 AND user_hash = k.hash AND click IS NOT NULL AND purchase IS NULL
        AND (install IS NOT NULL OR named_click IS NOT NULL)
        """

    func events(named ids: [String], in scope: Scope) throws(PostgreSQLError) -> [EventRecord] {
        try all(Self.named, scope.number, ids) { row throws(PostgreSQLError) in
            try row.record(EventRecord.self)
        }
    }

    private static let named = PreparedStatement("\(selectEvents) WHERE scope = $1 AND event_id = ANY ($2)")

    func refunds(ofPurchases ids: [String], in scope: Scope) throws(PostgreSQLError) -> [EventRecord] {
        try all(Self.refunds, scope.number, ids) { row throws(PostgreSQLError) in
            try row.record(EventRecord.self)
        }
    }

    private static let refunds: PreparedStatement =
        "\(selectEvents) WHERE scope = $1 AND purchase = ANY ($2) AND click IS NULL LIMIT 10000"

    func eventNames(ofClicks clicks: [Int64]) throws(PostgreSQLError) -> Set<EventOfClick> {
        guard !clicks.isEmpty else { return [] }
        return Set(
            try all(Self.names, clicks) { row in EventOfClick(click: row.get("click"), name: row.get("name"))
            }
        )
    }

    private static let names: PreparedStatement =
        "SELECT DISTINCT click, name FROM events WHERE click = ANY ($1)"

    func exportedEvents(_ numbers: ClosedRange<Int64>, atMost limit: Int) throws(PostgreSQLError)
        -> [EventRecord]
    {
        try all(Self.exported, numbers.lowerBound, numbers.upperBound, Int64(limit)) {
            row throws(PostgreSQLError) in try row.record(EventRecord.self)
        }
    }

    private static let exported: PreparedStatement =
        "\(selectEvents) WHERE number >= $1 AND number <= $2 ORDER BY number LIMIT $3"

    func newestEvent() throws(PostgreSQLError) -> Int64 { try first(Self.newest) { $0.get("number") } ?? 0 }

    private static let newest = PreparedStatement("SELECT coalesce(max(number), 0) AS number FROM events")
}

/// Reads events in the open transaction; `attributedInstalls` first sends the matches of this transaction.
extension PostgreSQLWriterReader {
    func attributedInstalls(_ subjects: EventSubjects) throws(PostgreSQLError) -> [AttributedInstall] {
        try batch.sendInstalls()
        return try reader.attributedInstalls(subjects)
    }

    /// Skips the read for claims for which no events wait; one statement has checked this for all claims of
    /// the transaction.
    func events(of subjects: EventSubjects, onlyWaiting: Bool, atMost limit: Int) throws(PostgreSQLError)
        -> [EventRecord]
    {
        if onlyWaiting, !batch.rows.hasNewEvents, subjects.users.isEmpty {
            let keys = subjects.installs.map {
                EventKey(scope: subjects.scope, key: Int64(bitPattern: $0.index))
            }
            let clicks = subjects.clicks.map { EventKey(scope: subjects.scope, key: $0) }
            if (keys + clicks).allSatisfy({ batch.rows.eventKeys[$0] == false }) { return [] }
        }
        return try reader.events(of: subjects, onlyWaiting: onlyWaiting, atMost: limit)
    }

    func events(ofClick click: Int64, in scope: Scope, atMost limit: Int) throws(PostgreSQLError)
        -> [EventRecord]
    { try reader.events(ofClick: click, in: scope, atMost: limit) }

    func links(ofUsers users: [KeyedHash], in scope: Scope) throws(PostgreSQLError) -> [EventRecord] {
        try reader.links(ofUsers: users, in: scope)
    }

    func events(named ids: [String], in scope: Scope) throws(PostgreSQLError) -> [EventRecord] {
        try reader.events(named: ids, in: scope)
    }

    func refunds(ofPurchases ids: [String], in scope: Scope) throws(PostgreSQLError) -> [EventRecord] {
        try reader.refunds(ofPurchases: ids, in: scope)
    }

    func eventNames(ofClicks clicks: [Int64]) throws(PostgreSQLError) -> Set<EventOfClick> {
        try reader.eventNames(ofClicks: clicks)
    }

    func exportedEvents(_ numbers: ClosedRange<Int64>, atMost limit: Int) throws(PostgreSQLError)
        -> [EventRecord]
    { try reader.exportedEvents(numbers, atMost: limit) }

    func newestEvent() throws(PostgreSQLError) -> Int64 { try reader.newestEvent() }
}

/// A key for which events may wait: the first 64 bits of an installation's hash or of a purchase's digest, or
/// the number of a click.
struct EventKey: Hashable {
    let scope: Scope
    let key: Int64
}

extension EventKey {
    init(_ scope: Scope, purchase id: String) {
        let word: UInt64 = KeyDigest(of: id).bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        self.init(scope: scope, key: Int64(bitPattern: word))
    }
}

/// Locks for the installation or click that an event and a match share, and for the purchase of a refund.
///
/// If one server writes the match while another one writes the event, the lock makes the later one read the earlier
/// one's row. Matches exclude events, refunds exclude purchases, and other events do not exclude each other. A match
/// without an installation needs no lock: it shares only the click with an event, and both lock the click's row.
enum EventLocks {
    /// The number of different locks; PostgreSQL has memory for only a few thousand at a time.
    private static let count: Int64 = 1024

    static let take: PreparedStatement = """
        SELECT count(CASE WHEN x THEN pg_advisory_xact_lock(k)::text ELSE pg_advisory_xact_lock_shared(k)::text END)
        FROM (SELECT \(AdvisoryLock.events.rawValue) + (key & \(count - 1)) AS k, bool_or(x <> 0) AS x
        FROM unnest($1, $2) AS u (key, x) GROUP BY 1 ORDER BY 1) s
        """
    /// Returns the keys of claims for which events wait.
    static let waiting: PreparedStatement = """
        SELECT k.scope, k.key FROM unnest($1, $2) AS k (scope, key)
        WHERE EXISTS (SELECT FROM events WHERE scope = k.scope AND install = k.key AND click IS NULL)
        OR EXISTS (SELECT FROM events WHERE scope = k.scope AND named_click = k.key AND click IS NULL)
        """
}
#endif
