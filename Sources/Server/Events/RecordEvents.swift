internal import Attribution
internal import HTTPServer
internal import JSON

/// `POST /v1/events`: an app or a customer's server reports what happened after the installation.
///
/// The service responds only after the events are on disk, with an outcome for each of them.
enum RecordEvents {
    static let path = "/v1/events"
    static let maximumBodyLength = 512 * 1024

    private enum Outcome {
        case read(AppEvent)
        case rejected(id: String?, field: String?, message: String)
    }

    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        guard let key = exchange.key, let app = key.app else { throw .invalidAPIKey }
        exchange.app = app
        let body = try JSONBody(exchange.request)
        try Exchange.require(app, isNamed: body.text("app", 64))
        guard let items = try body.objects("events", count: 1...EventBatch.maximumCount) else {
            throw .missingField("events", "Send {\"events\":[…]} with 1 to \(EventBatch.maximumCount) events")
        }
        // A customer's server forwards no header field of the visitor, but may state `consent`.
        let asksNotTo = key.kind != .server && exchange.request.field("sec-gpc") == "1"
        let consent = try body.flag("consent")
        let reader = EventBodyReader(
            app: app,
            kind: key.kind,
            keys: exchange.keys.server.all,
            now: exchange.now,
            isJoined: !asksNotTo && consent != false
        )
        let outcomes = items.map { item -> Outcome in
            do throws(APIError) {
                return .read(try reader.event(item))
            } catch {
                return .rejected(id: item.anyText("event_id"), field: error.field, message: error.message)
            }
        }
        let events = outcomes.compactMap { outcome in
            if case .read(let event) = outcome { event } else { nil }
        }
        var stored: [EventOutcome] = []
        if !events.isEmpty {
            let batch = EventBatch(
                app: app,
                isTest: key.kind == .test,
                isVerified: key.kind == .server,
                receivedAt: exchange.now,
                events: events
            )
            stored = try await exchange.store(await exchange.stores.events.record(batch))
        }
        exchange.outcome =
            stored.contains(.accepted) ? "accepted" : stored.contains(.duplicate) ? "duplicate" : "rejected"
        return response(to: outcomes, stored)
    }

    private static func response(to outcomes: [Outcome], _ stored: [EventOutcome]) -> Response {
        var next = stored.makeIterator()
        return Response(.accepted) { json in
            json.member("status", "accepted")
            json.objects("results", outcomes) { json, outcome in
                switch outcome {
                case .read(let event): write(event.id, next.next() ?? .duplicate, to: &json)
                case .rejected(let id, let field, let message): reject(id, field, message, to: &json)
                }
            }
        }
    }

    private static func write(_ id: String, _ outcome: EventOutcome, to json: inout JSONWriter) {
        if case .rejected(let problem) = outcome {
            return reject(id, problem.error.field, problem.error.message, to: &json)
        }
        json.member("event_id", id)
        json.member("outcome", outcome == .accepted ? "accepted" : "duplicate")
    }

    private static func reject(
        _ id: String?,
        _ field: String?,
        _ message: String,
        to json: inout JSONWriter
    ) {
        json.member("event_id", orNull: id)
        json.member("outcome", "rejected")
        json.member("field", field)
        json.member("message", message)
    }
}

extension RefundProblem {
    /// The member that is wrong, and what to send instead.
    fileprivate var error: APIError {
        switch self {
        case .ofRefund: .invalidField("purchase_id", "names a refund; send the event_id of a purchase")
        case .currency(let currency):
            .invalidField("currency", "must be the purchase's currency, \(currency.code)")
        case .amount(let paid): .invalidField("amount", "is larger than the purchase's amount, \(paid.text)")
        case .unknownAmount:
            .missingField(
                "amount",
                "Send the amount of the refund, because no purchase with this purchase_id is stored"
            )
        }
    }
}

/// Reads the events of a request's body.
struct EventBodyReader {
    let app: AppID
    let kind: KeyKind
    let keys: [ServerKey]
    let now: Timestamp
    /// Whether events may be joined to installations, clicks and users.
    let isJoined: Bool

    /// The greatest age of an event from an app and from a server, in days.
    private static let (appDays, serverDays): (Int64, Int64) = (30, 365)

    /// - Throws: the problem of a member, with its name and what to send instead.
    func event(_ body: JSONBody) throws(APIError) -> AppEvent {
        guard let id = try body.text("event_id", AppEvent.maximumIDLength) else {
            throw .missingField(
                "event_id",
                "Send an event_id that no other event has, such as a UUID or an order's number"
            )
        }
        try validate(id, of: "event_id")
        guard let text = try body.text("name", .max) else {
            throw .missingField("name", "Send a name such as \(EventName.reserved.joined(separator: ", "))")
        }
        guard let name = EventName(text) else {
            throw .invalidField("name", "must have 1 to 40 lower-case letters, digits and underscores")
        }
        var event = AppEvent(id: id, name: name, occurredAt: try occurredAt(body))
        event.money = try money(body, name)
        event.purchase = try purchase(body, name)
        guard event.purchase != id else {
            throw .invalidField("purchase_id", "names the refund itself; send the event_id of the purchase")
        }
        event.properties = try properties(body)
        try addSubjects(to: &event, body)
        return event
    }

    private func validate(_ id: String, of field: String) throws(APIError) {
        guard id.utf8.count <= AppEvent.maximumIDLength, id.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else {
            throw .invalidField(
                field,
                "may have \(AppEvent.maximumIDLength) bytes at most and no control characters"
            )
        }
    }

    private func occurredAt(_ body: JSONBody) throws(APIError) -> Timestamp {
        guard let time = try body.time("occurred_at") else { return now }
        let days = kind == .server ? Self.serverDays : Self.appDays
        guard now.milliseconds(since: time) <= days * 86_400_000 else {
            throw .invalidField("occurred_at", "is older than \(days) days; send events sooner")
        }
        guard kind == .server else { return min(time, now) }
        guard !time.isAhead(of: now) else {
            throw .invalidField("occurred_at", "is in the future; check the clock of the sender")
        }
        return time
    }

    private func money(_ body: JSONBody, _ name: EventName) throws(APIError) -> Money? {
        if case .number? = body.members["amount"] {
            throw .invalidField(
                "amount",
                "must be a decimal number in quotes, such as \"12.90\", because a JSON number may lose digits"
            )
        }
        let (amount, code) = (try body.text("amount", 32), try body.text("currency", 16))
        guard amount != nil || code != nil else { return nil }
        guard let code else {
            throw .missingField("currency", "Send the currency of the amount, such as EUR (ISO 4217)")
        }
        guard let currency = Currency(code) else {
            throw .invalidField("currency", "must be a code of ISO 4217, such as EUR")
        }
        guard let amount else {
            throw .missingField("amount", "Send the amount as a decimal number in quotes, such as \"12.90\"")
        }
        guard let money = Money(amount, currency) else {
            let maximum = Money(Money.maximumAmount, currency).text
            throw .invalidField(
                "amount",
                "must be a decimal number with \(currency.minorUnits) decimal places at most, up to \(maximum)"
            )
        }
        guard money.amount >= 0 || name == .refund else {
            throw .invalidField("amount", "may be negative only in a refund; send the name refund")
        }
        guard money.amount < 0 || name != .refund else {
            throw .invalidField("amount", "must be negative in a refund, such as \"-12.90\"")
        }
        return money
    }

    private func purchase(_ body: JSONBody, _ name: EventName) throws(APIError) -> String? {
        let purchase = try body.text("purchase_id", AppEvent.maximumIDLength)
        if name == .refund, purchase == nil {
            throw .missingField("purchase_id", "Send the event_id of the purchase that the refund takes back")
        }
        guard name == .refund || purchase == nil else {
            throw .invalidField("purchase_id", "belongs only to refunds; leave it out")
        }
        if let purchase { try validate(purchase, of: "purchase_id") }
        return purchase
    }

    private func properties(_ body: JSONBody) throws(APIError) -> String? {
        guard let properties = try body.object("properties"), !properties.members.members.isEmpty else {
            return nil
        }
        let source = properties.source
        guard source.utf8.count <= AppEvent.maximumPropertiesLength else {
            throw .invalidField("properties", "may have \(AppEvent.maximumPropertiesLength) bytes at most")
        }
        for member in properties.members.members {
            switch member.value {
            case .object, .array:
                throw .invalidField(
                    "properties.\(member.name)",
                    "must be a text, a number, true, false or null; properties have no lists and objects"
                )
            case .string, .number, .bool, .null: break
            }
        }
        return source
    }

    /// Adds the click that the event names, and the hashes of the installation and the user that it names.
    private func addSubjects(to event: inout AppEvent, _ body: JSONBody) throws(APIError) {
        let install = try body.text("install_id", 255)
        let click = try body.text("click_id", 255)
        let user = try body.text("user", AppEvent.maximumUserLength)
        let isTest = kind == .test
        let installID = install.flatMap { InstallID($0) }
        guard install == nil || installID != nil else {
            throw .invalidField("install_id", "must have 1 to 64 letters, digits, - and _")
        }
        let clickID = click.flatMap { ClickID($0) }
        guard click == nil || clickID != nil else {
            throw .invalidField("click_id", "must be the click_id of a match, as clk_…")
        }
        // If the person does not want to be tracked, store nothing about them.
        guard isJoined, try body.flag("consent") != false else { return }
        guard installID != nil || clickID != nil || user != nil || event.purchase != nil else {
            throw .missingField(
                "install_id",
                "Send install_id, click_id or user, or \"consent\":false to count the event without them"
            )
        }
        event.installs =
            installID.map { id in keys.map { $0.install(app: app, isTest: isTest, installID: id) } } ?? []
        event.users = user.map { id in keys.map { $0.user(app: app, isTest: isTest, id: id) } } ?? []
        event.click = clickID
    }
}
