public import Attribution

/// A row of `postback_endpoints`.
public struct EndpointRecord: Record, Equatable, Sendable {
    public var endpoint: PostbackEndpoint
    public let scope: Int64
    /// The number of the delivery that was numbered last; 0 before the first one.
    public var sequence: Int64 = 0

    public init(_ endpoint: PostbackEndpoint, scope: Int64) {
        (self.endpoint, self.scope) = (endpoint, scope)
    }

    /// The number by which deliveries name the endpoint: the random half of its identifier.
    public var number: Int64 { Int64(bitPattern: endpoint.id.low) }

    public static let columns: Columns = [
        "id_low", "id_high", "scope", "app_high", "app_low", "url", "types", "body", "created_at", "state",
        "reason",
        "secret", "headers", "former_secret", "former_until", "sequence", "failures", "failing_since",
    ]

    public func write(to row: inout some RowWriter) {
        row.put("id_low", endpoint.id.low)
        row.put("id_high", endpoint.id.high)
        row.put("scope", scope)
        row.put("app_high", endpoint.app.high)
        row.put("app_low", endpoint.app.low)
        row.put("url", endpoint.url)
        row.put("types", endpoint.typesText)
        row.put("body", endpoint.body)
        row.put("created_at", endpoint.createdAt)
        row.put("state", endpoint.state)
        row.put("reason", endpoint.reason)
        row.put("secret", endpoint.secret)
        row.put("headers", endpoint.headers)
        row.put("former_secret", endpoint.formerSecret)
        row.put("former_until", endpoint.formerUntil)
        row.put("sequence", sequence)
        row.put("failures", endpoint.circuit.failures)
        row.put("failing_since", endpoint.circuit.failingSince)
    }

    public init?(_ row: inout some RowReader) {
        let low: UInt64 = row.get("id_low")
        let id = EndpointID(high: row.get("id_high"), low: low)
        scope = row.get("scope")
        let app = AppID(high: row.get("app_high"), low: row.get("app_low"))
        let (url, types): (String, String) = (row.get("url"), row.get("types"))
        endpoint = PostbackEndpoint(
            id: id,
            app: app,
            isTest: Scope(number: scope).isTest,
            url: url,
            types: Set(types.split(separator: " ").compactMap { PostbackType(rawValue: String($0)) }),
            body: row.get("body"),
            createdAt: row.get("created_at")
        )
        endpoint.state = row.get("state") ?? .disabled
        endpoint.reason = row.get("reason")
        endpoint.secret = row.get("secret")
        endpoint.headers = row.get("headers")
        endpoint.formerSecret = row.get("former_secret")
        endpoint.formerUntil = row.get("former_until")
        sequence = row.get("sequence")
        endpoint.circuit = PostbackCircuit(
            failures: row.get("failures"),
            failingSince: row.get("failing_since")
        )
    }
}

/// A row of `outbox_events`.
public struct OutboxRecord: Record, Equatable, Sendable {
    public let scope: Int64
    public let event: OutboxEvent
    /// The number by which an erasure finds this row.
    ///
    /// For a row about a click, this is the click's number; for a row about an ``EventRecord``, the record's
    /// negated number; for a sample event, ``sample``; for any other row, nil.
    public let subject: Int64?

    public init(_ event: OutboxEvent, scope: Int64, subject: Int64? = nil) {
        (self.event, self.scope, self.subject) = (event, scope, subject)
    }

    static func subject(of event: EventRecord) -> Int64 { -event.number }
    /// The subject of a sample event, which is about nothing that is stored.
    public static let sample: Int64 = 0

    public static let columns: Columns = ["scope", "id_high", "id_low", "type", "data", "click"]

    public func write(to row: inout some RowWriter) {
        row.put("scope", scope)
        row.put("id_high", event.id.high)
        row.put("id_low", event.id.low)
        row.put("type", event.type)
        row.put("data", event.data)
        row.put("click", subject)
    }

    public init?(_ row: inout some RowReader) {
        scope = row.get("scope")
        let id = OutboxEventID(high: row.get("id_high"), low: row.get("id_low"))
        event = OutboxEvent(id: id, type: row.get("type"), data: row.get("data"))
        subject = row.get("click")
    }
}

/// A row of `deliveries`.
public struct DeliveryRecord: Record, Equatable, Sendable {
    /// The ``EndpointRecord/number`` of its endpoint.
    public let endpoint: Int64
    public let id: OutboxEventID
    /// 0 before the first attempt.
    public var sequence: Int64 = 0
    public var state = DeliveryState.pending
    public var attempts = 0
    public var dueAt: Timestamp
    public var attemptedAt: Timestamp?
    public var answer: PostbackAnswer?

    public init(_ id: OutboxEventID, to endpoint: Int64, dueAt: Timestamp) {
        (self.id, self.endpoint, self.dueAt) = (id, endpoint, dueAt)
    }

    public static let columns: Columns = [
        "endpoint", "id_high", "id_low", "sequence", "state", "attempts", "due_at", "attempted_at", "status",
        "failure",
        "answer", "milliseconds",
    ]

    public func write(to row: inout some RowWriter) {
        row.put("endpoint", endpoint)
        row.put("id_high", id.high)
        row.put("id_low", id.low)
        row.put("sequence", sequence)
        row.put("state", state)
        row.put("attempts", attempts)
        row.put("due_at", dueAt)
        row.put("attempted_at", attemptedAt)
        row.put("status", answer?.status)
        row.put("failure", answer?.failure)
        row.put("answer", answer?.body)
        row.put("milliseconds", answer?.milliseconds)
    }

    public init?(_ row: inout some RowReader) {
        endpoint = row.get("endpoint")
        id = OutboxEventID(high: row.get("id_high"), low: row.get("id_low"))
        sequence = row.get("sequence")
        state = row.get("state") ?? .pending
        attempts = row.get("attempts")
        dueAt = row.get("due_at")
        attemptedAt = row.get("attempted_at")
        var answer = PostbackAnswer(status: row.get("status"), failure: row.get("failure"))
        answer.body = row.get("answer")
        answer.milliseconds = row.get("milliseconds")
        self.answer = attemptedAt == nil ? nil : answer
    }
}

/// A delivery with its event.
public struct DeliveryRow: Record, Equatable, Sendable {
    public var record: DeliveryRecord
    public let event: OutboxEvent

    public static let columns = DeliveryRecord.columns + ["type", "data"]

    public func write(to row: inout some RowWriter) {
        record.write(to: &row)
        row.put("type", event.type)
        row.put("data", event.data)
    }

    public init?(_ row: inout some RowReader) {
        guard let record = DeliveryRecord(&row) else { return nil }
        self.record = record
        event = OutboxEvent(id: record.id, type: row.get("type"), data: row.get("data"))
    }

    var delivery: PostbackDelivery {
        var delivery = PostbackDelivery(
            event: event,
            sequence: record.sequence,
            state: record.state,
            attempts: record.attempts,
            dueAt: record.dueAt
        )
        (delivery.attemptedAt, delivery.answer) = (record.attemptedAt, record.answer)
        return delivery
    }
}
