internal import Attribution
internal import SQLite
internal import Storage

/// Writes endpoints, events and deliveries.
extension SQLiteWriter {
    func insert(_ endpoint: EndpointRecord) throws(SQLiteError) {
        try connection.statement(Self.insertEndpoint).run(endpoint)
    }

    func update(_ endpoint: EndpointRecord) throws(SQLiteError) {
        let value = endpoint.endpoint
        try connection.statement(Self.setState).run(endpoint.number, value.state.rawValue, value.reason)
        try connection.statement(Self.setSecrets).run(
            endpoint.number,
            value.secret,
            value.headers,
            value.formerSecret,
            value.formerUntil?.milliseconds
        )
    }

    func setProgress(of endpoint: EndpointRecord) throws(SQLiteError) {
        let circuit = endpoint.endpoint.circuit
        try connection.statement(Self.setProgress).run(
            endpoint.number,
            endpoint.sequence,
            Int64(circuit.failures),
            circuit.failingSince?.milliseconds
        )
    }

    func insert(_ event: OutboxRecord) throws(SQLiteError) {
        try connection.statement(Self.insertEvent).run(event)
    }

    func insert(_ delivery: DeliveryRecord) throws(SQLiteError) {
        try connection.statement(Self.insertDelivery).run(delivery)
    }

    func update(_ deliveries: [DeliveryRecord]) throws(SQLiteError) {
        let statement = try connection.statement(Self.updateDelivery)
        for delivery in deliveries { try statement.run(delivery) }
    }

    func replay(_ events: [OutboxEventID], _ mode: PostbackReplay.Mode, to endpoint: Int64, at: Timestamp)
        throws(SQLiteError) -> Int
    {
        let sql: SQL =
            switch mode {
            case .missing: Self.addMissing
            case .failed: Self.resetFailed
            case .all: Self.resetAll
            }
        let statement = try connection.statement(sql)
        var count = 0
        for event in events {
            try statement.run(endpoint, event.high, event.low, at.milliseconds)
            count += Int(connection.changeCount)
        }
        return count
    }

    func removeDeliveries(to endpoint: Int64, before high: UInt64, atMost limit: Int) throws(SQLiteError)
        -> Int
    {
        try connection.statement(Self.removeDeliveries).run(endpoint, high, Int64(limit))
        return Int(connection.changeCount)
    }

    func removeOutboxEvents(of scope: Int64, before high: UInt64, atMost limit: Int) throws(SQLiteError)
        -> Int
    {
        try connection.statement(Self.removeOutboxEvents).run(scope, high, Int64(limit))
        return Int(connection.changeCount)
    }

    func removeOutboxEvents(about subject: Int64, in scope: Int64, from high: UInt64) throws(SQLiteError) {
        try connection.statement(Self.removeDeliveriesAbout).run(scope, high, subject)
        try connection.statement(Self.removeEventsAbout).run(scope, high, subject)
    }

    private static let insertEndpoint = SQL.insert("postback_endpoints", EndpointRecord.columns)
    private static let setState: SQL =
        "UPDATE postback_endpoints SET state = ?2, reason = ?3 WHERE id_low = ?1"
    private static let setSecrets: SQL = """
        UPDATE postback_endpoints SET secret = ?2, headers = ?3, former_secret = ?4, former_until = ?5 WHERE id_low = ?1
        """
    private static let setProgress: SQL = """
        UPDATE postback_endpoints SET sequence = max(sequence, ?2), failures = ?3, failing_since = ?4 WHERE id_low = ?1
        """
    private static let insertEvent = SQL.insert("outbox_events", OutboxRecord.columns)
    private static let insertDelivery = SQL.insert("deliveries", DeliveryRecord.columns)
    private static let updateDelivery: SQL = """
        UPDATE deliveries SET sequence = ?4, state = ?5, attempts = ?6, due_at = ?7, attempted_at = ?8, status = ?9,
        failure = ?10, answer = ?11, milliseconds = ?12 WHERE endpoint = ?1 AND id_high = ?2 AND id_low = ?3
        """
    private static let addDelivery: SQL = """
        INSERT INTO deliveries (endpoint, id_high, id_low, sequence, state, attempts, due_at)
        VALUES (?1, ?2, ?3, 0, 0, 0, ?4) ON CONFLICT DO
        """
    private static let addMissing: SQL = "\(addDelivery) NOTHING"
    private static let resetAll: SQL = """
        \(addDelivery) UPDATE SET state = 0, attempts = 0, due_at = excluded.due_at WHERE state <> 0
        """
    private static let resetFailed: SQL = """
        UPDATE deliveries SET state = 0, attempts = 0, due_at = ?4
        WHERE endpoint = ?1 AND id_high = ?2 AND id_low = ?3 AND state = 2
        """
    private static let removeDeliveries: SQL = """
        DELETE FROM deliveries WHERE endpoint = ?1 AND (id_high, id_low) IN (
            SELECT id_high, id_low FROM deliveries WHERE endpoint = ?1 AND id_high < ?2 LIMIT ?3
        )
        """
    private static let removeOutboxEvents: SQL = """
        DELETE FROM outbox_events WHERE scope = ?1 AND (id_high, id_low) IN (
            SELECT id_high, id_low FROM outbox_events WHERE scope = ?1 AND id_high < ?2 LIMIT ?3
        )
        """
    private static let isAbout: SQL = "scope = ?1 AND id_high BETWEEN ?2 AND ?2 + 65535 AND click = ?3"
    private static let removeDeliveriesAbout: SQL = """
        DELETE FROM deliveries WHERE endpoint IN (SELECT id_low FROM postback_endpoints WHERE scope = ?1)
        AND (id_high, id_low) IN (SELECT id_high, id_low FROM outbox_events WHERE \(isAbout))
        """
    private static let removeEventsAbout: SQL = "DELETE FROM outbox_events WHERE \(isAbout)"
}

/// Reads endpoints, events and deliveries.
extension SQLiteReader: PostbackRows {
    func endpointRecords() throws(SQLiteError) -> [EndpointRecord] {
        try connection.statement(Self.selectEndpoints).all(EndpointRecord.self)
    }

    func appsWithClickIDs() throws(SQLiteError) -> [Int64] {
        try connection.statement("SELECT number FROM apps WHERE click_ids = 'answer'").all { $0.integer(0) }
    }

    func apps(ofAppleItem item: String) throws(SQLiteError) -> [Int64] {
        try connection.statement("SELECT app FROM app_fields WHERE field = 'ios_store_id' AND value = ?1")
            .all(item) { $0.integer(0) }
    }

    func outboxEvents(_ range: OutboxRange) throws(SQLiteError) -> [(id: OutboxEventID, type: String)] {
        let (first, limit) = (range.after, Int64(range.limit))
        return try connection.statement(Self.selectEvents)
            .all(range.scope, first.high, first.low, range.before, limit, range.samples) {
                (id: OutboxEventID(high: $0.word(0), low: $0.word(1)), type: $0.text(2))
            }
    }

    func dueDeliveries(of endpoint: EndpointRecord, at now: Timestamp, atMost limit: Int) throws(SQLiteError)
        -> [DeliveryRow]
    {
        let (time, leap) = (now.milliseconds, now.milliseconds + PostbackSchedule.leapMilliseconds)
        let statement = try connection.statement(Self.selectDue)
        try statement.bind(endpoint.number, endpoint.scope, time, leap, Int64(limit))
        defer { statement.reset() }
        var rows: [DeliveryRow] = []
        while try statement.step() { rows.append(try statement.record(DeliveryRow.self)) }
        return rows
    }

    func pendingDeliveries(of endpoint: Int64) throws(SQLiteError) -> (count: Int, oldest: Timestamp?) {
        let limit = Int64(EndpointStatus.maximumCounted)
        let pending = try connection.statement(Self.countPending).first(endpoint, limit) {
            (Int($0.integer(0)), RowIdentifier.time(of: $0.integer(1)))
        }
        guard let (count, oldest) = pending, count > 0 else { return (0, nil) }
        return (count, oldest)
    }

    func deliveries(of endpoint: EndpointRecord, before id: OutboxEventID, _ body: (DeliveryRow) -> Bool)
        throws(SQLiteError)
    {
        let statement = try connection.statement(Self.selectDeliveries)
        try statement.bind(endpoint.number, endpoint.scope, id.high, id.low)
        defer { statement.reset() }
        while try statement.step() { guard body(try statement.record(DeliveryRow.self)) else { break } }
    }

    private static let selectEndpoints: SQL = "SELECT \(EndpointRecord.columns) FROM postback_endpoints"
    /// Selects sample events, whose `click` is 0 (``OutboxRecord/sample``), only if ?6 is true.
    private static let selectEvents: SQL = """
        SELECT id_high, id_low, type FROM outbox_events WHERE scope = ?1 AND (id_high, id_low) > (?2, ?3) AND id_high < ?4
        AND (?6 OR click IS NOT 0) ORDER BY id_high, id_low LIMIT ?5
        """
    private static let selectRows: SQL = """
        SELECT d.endpoint, d.id_high, d.id_low, d.sequence, d.state, d.attempts, d.due_at, d.attempted_at, d.status,
        d.failure, d.answer, d.milliseconds, e.type, e.data FROM deliveries d
        JOIN outbox_events e ON e.scope = ?2 AND e.id_high = d.id_high AND e.id_low = d.id_low WHERE d.endpoint = ?1
        """
    /// Selects rows due at ?3 or earlier, and rows due after ?4, which were stored while the clock was ahead.
    private static let selectDue: SQL = """
        SELECT * FROM (\(selectRows) AND d.state = 0 AND d.due_at <= ?3 ORDER BY d.due_at LIMIT ?5)
        UNION ALL SELECT * FROM (\(selectRows) AND d.state = 0 AND d.due_at > ?4 ORDER BY d.due_at LIMIT ?5)
        """
    private static let selectDeliveries: SQL = """
        \(selectRows) AND (d.id_high, d.id_low) < (?3, ?4) ORDER BY d.id_high DESC, d.id_low DESC
        """
    /// Counts pending deliveries, but at most ?2, in the order in which they are due; finds the oldest event
    /// among them.
    ///
    /// If more than ?2 deliveries are pending, one that is not counted may have an older event.
    private static let countPending: SQL = """
        SELECT count(*), min(id_high) FROM (
            SELECT id_high FROM deliveries WHERE endpoint = ?1 AND state = 0 ORDER BY due_at LIMIT ?2
        )
        """
}
