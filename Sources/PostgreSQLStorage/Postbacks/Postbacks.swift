#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Writes endpoints, events and deliveries.
extension PostgreSQLWriter {
    func insert(_ endpoint: EndpointRecord) throws(PostgreSQLError) {
        _ = try run(Self.insertEndpoint, endpoint)
    }

    /// Without the lock, a server would write back what it has read, and undo another server's change of a secret.
    func lockEndpoint(numbered number: Int64) throws(PostgreSQLError) {
        try batch.look(Self.lockEndpoint, number)
    }

    func update(_ endpoint: EndpointRecord) throws(PostgreSQLError) {
        _ = try run(Self.updateEndpoint, endpoint)
    }

    func setProgress(of endpoint: EndpointRecord) throws(PostgreSQLError) {
        _ = try run(Self.setProgress, endpoint)
    }

    func insert(_ event: OutboxRecord) { batch.append(.outboxEvent) { event.write(to: &$0) } }
    func insert(_ delivery: DeliveryRecord) { batch.append(.postback) { delivery.write(to: &$0) } }

    func update(_ deliveries: [DeliveryRecord]) throws(PostgreSQLError) {
        var rows = ColumnArrays(DeliveryRecord.columns)
        for delivery in deliveries { rows.append(delivery) }
        try batch.run(Self.updateDeliveries, rows)
    }

    func replay(_ events: [OutboxEventID], _ mode: PostbackReplay.Mode, to endpoint: Int64, at: Timestamp)
        throws(PostgreSQLError) -> Int
    {
        let statement =
            switch mode {
            case .missing: Self.addMissing
            case .failed: Self.resetFailed
            case .all: Self.resetAll
            }
        let (highs, lows) = (
            events.map { Int64(bitPattern: $0.high) }, events.map { Int64(bitPattern: $0.low) }
        )
        return try batch.run(statement, endpoint, at.milliseconds, highs, lows).affectedCount
    }

    func removeDeliveries(to endpoint: Int64, before high: UInt64, atMost limit: Int) throws(PostgreSQLError)
        -> Int
    { try batch.run(Self.removeDeliveries, endpoint, high, Int64(limit)).affectedCount }

    func removeOutboxEvents(of scope: Int64, before high: UInt64, atMost limit: Int) throws(PostgreSQLError)
        -> Int
    { try batch.run(Self.removeEvents, scope, high, Int64(limit)).affectedCount }

    func removeOutboxEvents(about subject: Int64, in scope: Int64, from high: UInt64) throws(PostgreSQLError)
    {
        try batch.sendPostbacks()
        // This waits for transactions that send the events again and have locked them, so that the next statement
        // finds their deliveries.
        let gone = try batch.run(Self.removeEventsAbout, scope, high, subject)
        guard gone.count > 0 else { return }
        let highs = try gone.map { (row) throws(PostgreSQLError) in try gone.value(row, 0, as: Int64.self) }
        let lows = try gone.map { (row) throws(PostgreSQLError) in try gone.value(row, 1, as: Int64.self) }
        try batch.run(Self.removeDeliveriesOfEvents, scope, highs, lows)
    }

    private static let insertEndpoint: PreparedStatement = """
        INSERT INTO postback_endpoints (\(EndpointRecord.columns)) SELECT * FROM \(rowsWith: EndpointRecord.columns)
        """
    private static let lockEndpoint: PreparedStatement =
        "SELECT id_low FROM postback_endpoints WHERE id_low = $1 FOR UPDATE"
    private static let updateEndpoint: PreparedStatement = """
        UPDATE postback_endpoints p SET state = r.state, reason = r.reason, secret = r.secret, headers = r.headers,
        former_secret = r.former_secret, former_until = r.former_until FROM \(rowsWith: EndpointRecord.columns)
        WHERE p.id_low = r.id_low
        """
    private static let setProgress: PreparedStatement = """
        UPDATE postback_endpoints p SET sequence = greatest(p.sequence, r.sequence), failures = r.failures,
        failing_since = r.failing_since FROM \(rowsWith: EndpointRecord.columns) WHERE p.id_low = r.id_low
        """
    private static let updateDeliveries: PreparedStatement = """
        UPDATE deliveries d SET sequence = r.sequence, state = r.state, attempts = r.attempts, due_at = r.due_at,
        attempted_at = r.attempted_at, status = r.status, failure = r.failure, answer = r.answer,
        milliseconds = r.milliseconds FROM \(rowsWith: DeliveryRecord.columns)
        WHERE d.endpoint = r.endpoint AND d.id_high = r.id_high AND d.id_low = r.id_low
        """
    /// Locks the events, so that an erasure on another server deletes the deliveries too.
    ///
    /// Skips events that are being deleted: a delivery without its event would stay due.
    private static let addDeliveries: SQLText = """
        INSERT INTO deliveries AS d (endpoint, id_high, id_low, sequence, state, attempts, due_at)
        SELECT $1, e.id_high, e.id_low, 0, 0, 0, $2 FROM unnest($3, $4) AS r (high, low)
        JOIN outbox_events e ON e.id_high = r.high AND e.id_low = r.low
        AND e.scope = (SELECT scope FROM postback_endpoints WHERE id_low = $1) FOR KEY SHARE OF e SKIP LOCKED
        ON CONFLICT (endpoint, id_high, id_low) DO
        """
    private static let addMissing = PreparedStatement("\(addDeliveries) NOTHING")
    private static let resetAll: PreparedStatement =
        "\(addDeliveries) UPDATE SET state = 0, attempts = 0, due_at = excluded.due_at WHERE d.state <> 0"
    private static let resetFailed: PreparedStatement = """
        UPDATE deliveries d SET state = 0, attempts = 0, due_at = $2 FROM unnest($3, $4) AS r (high, low)
        WHERE d.endpoint = $1 AND d.id_high = r.high AND d.id_low = r.low AND d.state = 2
        """
    /// Skips locked rows: two servers that delete the same rows at the same time would otherwise wait for each other.
    private static let removeDeliveries: PreparedStatement = """
        DELETE FROM deliveries WHERE endpoint = $1 AND (id_high, id_low) IN (SELECT id_high, id_low FROM deliveries
        WHERE endpoint = $1 AND id_high < $2 ORDER BY id_high, id_low LIMIT $3 FOR UPDATE SKIP LOCKED)
        """
    private static let removeEvents: PreparedStatement = """
        DELETE FROM outbox_events WHERE scope = $1 AND (id_high, id_low) IN (SELECT id_high, id_low FROM outbox_events
        WHERE scope = $1 AND id_high < $2 ORDER BY id_high, id_low LIMIT $3 FOR UPDATE SKIP LOCKED)
        """
    private static let removeEventsAbout: PreparedStatement = """
        DELETE FROM outbox_events WHERE scope = $1 AND id_high BETWEEN $2 AND $2 + 65535 AND click = $3
        RETURNING id_high, id_low
        """
    private static let removeDeliveriesOfEvents: PreparedStatement = """
        DELETE FROM deliveries WHERE endpoint IN (SELECT id_low FROM postback_endpoints WHERE scope = $1)
        AND (id_high, id_low) IN (SELECT * FROM unnest($2, $3))
        """
}

extension PostgreSQLWriterReader {
    func endpointRecords() throws(PostgreSQLError) -> [EndpointRecord] { try rows.endpointRecords() }
    func appsWithClickIDs() throws(PostgreSQLError) -> [Int64] { try rows.appsWithClickIDs() }

    func apps(ofAppleItem item: String) throws(PostgreSQLError) -> [Int64] {
        try rows.apps(ofAppleItem: item)
    }

    func outboxEvents(_ range: OutboxRange) throws(PostgreSQLError) -> [(id: OutboxEventID, type: String)] {
        try rows.outboxEvents(range)
    }

    private var rows: PostgreSQLReader { get throws(PostgreSQLError) { try batch.connection.reader() } }
}

/// Reads endpoints, events and deliveries.
extension PostgreSQLReader: PostbackRows {
    func endpointRecords() throws(PostgreSQLError) -> [EndpointRecord] {
        try all(Self.selectEndpoints) { row throws(PostgreSQLError) in try row.record(EndpointRecord.self) }
    }

    func appsWithClickIDs() throws(PostgreSQLError) -> [Int64] {
        try all(Self.selectApps) { row throws(PostgreSQLError) in row.get("number") }
    }

    func apps(ofAppleItem item: String) throws(PostgreSQLError) -> [Int64] {
        try all(Self.selectAppsOfItem, item) { row throws(PostgreSQLError) in row.get("app") }
    }

    func outboxEvents(_ range: OutboxRange) throws(PostgreSQLError) -> [(id: OutboxEventID, type: String)] {
        let (first, limit) = (range.after, Int64(range.limit))
        return try all(
            Self.selectEvents,
            range.scope,
            first.high,
            first.low,
            range.before,
            limit,
            range.samples
        ) {
            row throws(PostgreSQLError) in
            let id = OutboxEventID(high: row.get("id_high"), low: row.get("id_low"))
            return (id: id, type: row.get("type"))
        }
    }

    func dueDeliveries(of endpoint: EndpointRecord, at now: Timestamp, atMost limit: Int)
        throws(PostgreSQLError) -> [DeliveryRow]
    {
        let (time, leap) = (now.milliseconds, now.milliseconds + PostbackSchedule.leapMilliseconds)
        return try all(Self.selectDue, endpoint.number, endpoint.scope, time, leap, Int64(limit)) {
            row throws(PostgreSQLError) in try row.record(DeliveryRow.self)
        }
    }

    func pendingDeliveries(of endpoint: Int64) throws(PostgreSQLError) -> (count: Int, oldest: Timestamp?) {
        let limit = Int64(EndpointStatus.maximumCounted)
        let pending = try first(Self.countPending, endpoint, limit) {
            (Int($0.get("count") as Int64), RowIdentifier.time(of: $0.get("oldest")))
        }
        guard let (count, oldest) = pending, count > 0 else { return (0, nil) }
        return (count, oldest)
    }

    func deliveries(of endpoint: EndpointRecord, before id: OutboxEventID, _ body: (DeliveryRow) -> Bool)
        throws(PostgreSQLError)
    {
        var next = id
        while true {
            let rows = try all(
                Self.selectDeliveries,
                endpoint.number,
                endpoint.scope,
                next.high,
                next.low
            ) { row throws(PostgreSQLError) in try row.record(DeliveryRow.self) }
            for row in rows where !body(row) { return }
            // A page may have fewer rows than its limit although more follow: earlier versions stored a delivery
            // without its event if an erasure deleted the event while it was sent again.
            guard let last = rows.last else { return }
            next = last.event.id
        }
    }

    static let selectEndpoints = PreparedStatement("SELECT \(EndpointRecord.columns) FROM postback_endpoints")
    static let selectApps = PreparedStatement("SELECT number FROM apps WHERE click_ids = 'answer'")
    private static let selectAppsOfItem: PreparedStatement =
        "SELECT app FROM app_fields WHERE field = 'ios_store_id' AND value = $1"
    private static let selectEvents: PreparedStatement = """
        SELECT id_high, id_low, type FROM outbox_events WHERE scope = $1 AND (id_high, id_low) > ($2, $3) AND id_high < $4
        AND ($6 OR click IS DISTINCT FROM \(OutboxRecord.sample)) ORDER BY id_high, id_low LIMIT $5
        """
    /// Selects the first deliveries of an endpoint in an order, with their events.
    ///
    /// The limit applies before the events are searched, and `OFFSET 0` makes PostgreSQL search each event by its key.
    /// Otherwise PostgreSQL would read all deliveries and events for each page, because it expects a single row of the
    /// join.
    private static func firstRows(_ limit: SQLText, where condition: SQLText, by order: SQLText) -> SQLText {
        """
        SELECT \(DeliveryRecord.columns, of: "d"), e.type, e.data FROM (SELECT * FROM deliveries
        WHERE endpoint = $1 AND \(condition) ORDER BY \(order) LIMIT \(limit)) d CROSS JOIN LATERAL (
        SELECT type, data FROM outbox_events WHERE scope = $2 AND id_high = d.id_high AND id_low = d.id_low
        OFFSET 0) e ORDER BY \(order)
        """
    }
    /// Selects rows due at $3 or earlier, and rows due after $4, which were stored while the clock was ahead.
    static let selectDue: PreparedStatement = """
        (\(firstRows("$5", where: "state = 0 AND due_at <= $3", by: "due_at")))
        UNION ALL (\(firstRows("$5", where: "state = 0 AND due_at > $4", by: "due_at")))
        """
    private static let rowsAtOnce = 200
    /// The limit is a constant, because with a parameter PostgreSQL would sort all rows of the endpoint.
    static let selectDeliveries = PreparedStatement(
        firstRows("\(rowsAtOnce)", where: "(id_high, id_low) < ($3, $4)", by: "id_high DESC, id_low DESC")
    )
    /// Counts pending deliveries, but at most $2, in the order in which they are due; finds the oldest event among them.
    ///
    /// If more than $2 deliveries are pending, one that is not counted may have an older event.
    private static let countPending: PreparedStatement = """
        SELECT count(*) AS count, coalesce(min(id_high), 0) AS oldest FROM (
        SELECT id_high FROM deliveries WHERE endpoint = $1 AND state = 0 ORDER BY due_at LIMIT $2) p
        """
}
#endif
