public import Attribution
internal import DomainFiles
internal import HTTPServer
public import JSON

/// The admin API's calls on the endpoints that receive postbacks.
enum PostbackEndpoints {
    /// `GET /admin/api/postbacks`: lists the endpoints with their pending deliveries.
    static func list(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let app = try exchange.appItem()?.id
        let endpoints = try await exchange.endpoints(of: app)
        return Response(.ok) { json in
            json.objects("endpoints", endpoints) { json, status in PostbackBody.write(status, to: &json) }
        }
    }

    /// `POST /admin/api/postbacks`: creates an endpoint; only this response contains its secret.
    static func create(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let members = ["app", "url", "types", "body", "headers", "test", "since"]
        let body = try JSONBody(ofAdmin: exchange.request, with: members)
        let app = try LinkEndpoints.app(body.members["app"], exchange.directory)
        exchange.app = app.id
        var draft = PostbackDraft()
        draft.url = try body.text("url", 2048) ?? ""
        draft.types = try body.texts("types", 64, count: 64) ?? []
        draft.body = try body.text("body", 8192)
        draft.headers = try body.texts("headers", 2048, count: 16) ?? []
        draft.isTest = try body.flag("test") ?? false
        let since = try body.time("since")
        let (endpoint, secret) = try await create(draft, of: app, since: since, exchange)
        let status = EndpointStatus(endpoint: endpoint, pending: 0, oldest: nil)
        return Response(.created) { json in
            PostbackBody.write(status, to: &json)
            json.member("secret", endpoint.isTemplate ? nil : secret.text)
        }
    }

    /// Creates an endpoint for the API or for the dashboard, with deliveries of the events since a time.
    static func create(_ draft: PostbackDraft, of app: App, since: Timestamp?, _ exchange: Exchange)
        async throws(APIError) -> (PostbackEndpoint, PostbackSecret)
    {
        let made: (PostbackEndpoint, PostbackSecret)
        do throws(FieldProblems) {
            let (keys, random) = (exchange.keys.server, exchange.service.random)
            made = try draft.endpoint(of: app.id, keys: keys, at: exchange.now, random: random)
        } catch { throw .unprocessable(error.all) }
        if let refusal = exchange.service.settings.postbackSender?.refusal(ofURL: draft.url) {
            throw .unprocessable([FieldProblem("url", refusal)])
        }
        let store = exchange.stores.postbacks
        try await exchange.store(await store.create(made.0, since: since, by: exchange.actor))
        return made
    }

    /// `GET /admin/api/postbacks/{id}`: returns one endpoint.
    static func show(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let status = try await status(&exchange)
        return Response(.ok) { json in PostbackBody.write(status, to: &json) }
    }

    /// `POST /admin/api/postbacks/{id}/enable`: enables the endpoint, so that it gets events again.
    static func enable(_ exchange: inout Exchange) async throws(APIError) -> Response {
        try await set(.enabled, &exchange)
    }

    /// `POST /admin/api/postbacks/{id}/disable`: stops sending and queueing events for the endpoint.
    static func disable(_ exchange: inout Exchange) async throws(APIError) -> Response {
        try await set(.disabled, &exchange)
    }

    static func set(_ state: PostbackEndpoint.State, _ exchange: inout Exchange)
        async throws(APIError)
        -> Response
    {
        let id = try await status(&exchange).endpoint.id
        let change = EndpointChange.set(state, reason: state == .enabled ? "" : PostbackEndpoint.byOperator)
        try await exchange.store(await exchange.stores.postbacks.change(id, change, by: exchange.actor))
        return try await show(&exchange)
    }

    /// `POST /admin/api/postbacks/{id}/rotate`: creates a new secret; for a day, the previous secret signs too.
    static func rotate(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let (endpoint, rotation) = try await rotateSecret(&exchange)
        return Response(.ok) { PostbackBody.write(rotation, of: endpoint.id, to: &$0) }
    }

    /// Replaces the secret of the endpoint whose id is in the path.
    static func rotateSecret(_ exchange: inout Exchange) async throws(APIError)
        -> (PostbackEndpoint, PostbackRotation)
    {
        let endpoint = try await status(&exchange).endpoint
        let (keys, random) = (exchange.keys.server, exchange.service.random)
        guard let rotation = endpoint.rotation(keys, at: exchange.now, random: random) else {
            throw .conflict("\(PostbackEndpoint.hasNoSecret). \(PostbackEndpoint.rotationAdvice)")
        }
        let (store, change) = (exchange.stores.postbacks, rotation.change)
        try await exchange.store(await store.change(endpoint.id, change, by: exchange.actor))
        return (endpoint, rotation)
    }

    /// `POST /admin/api/postbacks/{id}/test`: sends an invented event.
    static func test(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let endpoint = try await status(&exchange).endpoint
        let body =
            exchange.request.body.isEmpty ? nil : try JSONBody(ofAdmin: exchange.request, with: ["type"])
        let text = try body?.text("type", 64)
        let type = try text.map { text throws(APIError) in
            guard let type = PostbackType(rawValue: text) else {
                throw .unprocessable([FieldProblem("type", "There is no type \"\(text)\".")])
            }
            return type
        }
        let id = try await exchange.store(
            await exchange.stores.postbacks.sendSample(
                type ?? endpoint.sampleType,
                to: endpoint.id,
                by: exchange.actor
            )
        )
        return Response(Status(202)) { json in json.member("id", id.text) }
    }

    /// `POST /admin/api/postbacks/{id}/replay`: sends events again, under the same ids.
    static func replay(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let id = try await status(&exchange).endpoint.id
        let members = ["all", "event", "since", "until", "types"]
        let body = try JSONBody(ofAdmin: exchange.request, with: members)
        var replay = PostbackReplay(try body.flag("all") ?? false ? .all : .failed)
        if let text = try body.text("event", 64) {
            guard let event = OutboxEventID(text) else {
                throw body.refusal(of: "event", "must be an id, as evt_…")
            }
            replay.event = event
        }
        (replay.since, replay.until) = (try body.time("since"), try body.time("until"))
        if let names = try body.texts("types", 64, count: 64) {
            let problems = names.compactMap(PostbackDraft.problem(ofType:))
            guard problems.isEmpty else { throw .unprocessable(problems) }
            replay.types = Set(names.flatMap(PostbackType.types))
        }
        let store = exchange.stores.postbacks
        let count = try await exchange.store(await store.replay(replay, to: id, by: exchange.actor))
        return Response(.ok) { json in json.member("replayed", count) }
    }

    /// `GET /admin/api/postbacks/{id}/deliveries`: lists deliveries with requests and responses, newest first.
    static func deliveries(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let endpoint = try await status(&exchange).endpoint
        let query = try query(endpoint.id, exchange)
        let page = try await exchange.store(await exchange.stores.postbacks.deliveries(query))
        let (keys, now) = (exchange.keys.server, exchange.now)
        return Response(.ok) { json in PostbackBody.write(page, to: endpoint, keys, at: now, &json) }
    }

    /// Reads the filters of a list, the same in the API and in the dashboard.
    static func query(_ endpoint: EndpointID, _ exchange: Exchange) throws(APIError) -> DeliveryQuery {
        var query = DeliveryQuery(endpoint)
        query.limit = try exchange.limitItem(DeliveryQuery.limits, standard: DeliveryQuery.standardLimit)
        if let word = exchange.sentQueryItem("state") {
            guard let state = DeliveryState(word: word) else {
                throw .invalidField("state", "must be one of pending, delivered, failed")
            }
            query.state = state
        }
        query.type = try exchange.word("type")
        query.before = try exchange.pageItem("evt_…") { OutboxEventID($0) }
        return query
    }

    /// Returns the endpoint whose id is in the path.
    static func status(_ exchange: inout Exchange) async throws(APIError) -> EndpointStatus {
        try await status(of: exchange.parameter.flatMap { EndpointID($0) }, &exchange)
    }

    /// Returns the endpoint with an id, and stores its app for the log line.
    ///
    /// - Throws: 404 if there is no such endpoint, or the request may not see it.
    static func status(of id: EndpointID?, _ exchange: inout Exchange) async throws(APIError)
        -> EndpointStatus
    {
        guard let status = try await exchange.endpoints(of: nil).first(where: { $0.endpoint.id == id })
        else { throw .notFound("There is no endpoint with this id") }
        exchange.app = status.endpoint.app
        return status
    }
}

extension Exchange {
    /// Reads the endpoints of an app, or of all apps; leaves out those that the request may not see.
    func endpoints(of app: AppID?) async throws(APIError) -> [EndpointStatus] {
        try await store(await stores.postbacks.endpoints())
            .filter { (app == nil || $0.endpoint.app == app) && maySee($0.endpoint.app) }
    }
}

/// The JSON of endpoints and deliveries, for the API and for commands.
public enum PostbackBody {
    public static func write(_ status: EndpointStatus, to json: inout JSONWriter) {
        let endpoint = status.endpoint
        json.member("id", endpoint.id.text)
        json.member("app", endpoint.app.text)
        json.member("test", endpoint.isTest)
        json.member("url", endpoint.url)
        json.member("types", PostbackType.allCases.filter(endpoint.types.contains).map(\.rawValue))
        json.member("signed", !endpoint.isTemplate)
        json.member("body", orNull: endpoint.body)
        json.member("state", endpoint.state.rawValue)
        json.member("reason", orNull: endpoint.reason.isEmpty ? nil : endpoint.reason)
        json.member("created_at", endpoint.createdAt.iso8601)
        json.member("failures", endpoint.circuit.failures)
        json.member("failing_since", orNull: endpoint.circuit.failingSince?.iso8601)
        json.member("pending", status.pending)
        json.member("oldest_pending_at", orNull: status.oldest?.iso8601)
    }

    public static func write(_ rotation: PostbackRotation, of id: EndpointID, to json: inout JSONWriter) {
        json.member("id", id.text)
        json.member("secret", rotation.secret.text)
        json.member("former_until", rotation.until.iso8601)
    }

    /// Returns the data of the event that reports a changed copy of a domain file.
    static func text(_ copy: DomainCopy) -> String {
        JSONWriter.object { copy.write(to: &$0, atMost: 5) }.text
    }

    /// Writes a page of deliveries; omits the requests if there are no keys.
    public static func write(
        _ page: DeliveryPage,
        to endpoint: PostbackEndpoint,
        _ keys: ServerKeys?,
        at now: Timestamp,
        _ json: inout JSONWriter
    ) {
        json.objects("deliveries", page.deliveries) { json, delivery in
            json.member("id", delivery.event.id.text)
            json.member("type", delivery.event.type)
            json.member("at", delivery.event.at.iso8601)
            json.member("sequence", delivery.sequence)
            json.member("state", delivery.state.word)
            json.member("attempts", delivery.attempts)
            json.member("next_attempt_at", orNull: delivery.nextAttempt?.iso8601)
            json.member("attempted_at", orNull: delivery.attemptedAt?.iso8601)
            if let status = delivery.answer?.status { json.member("status", status) }
            json.member("problem", orNull: delivery.answer?.problem)
            json.member("answer", orNull: delivery.answer?.body)
            if let answer = delivery.answer { json.member("milliseconds", answer.milliseconds) }
            guard let keys, let call = delivery.call(to: endpoint, keys, at: now) else { return }
            json.object("request") { json in
                json.member("method", call.isPost ? "POST" : "GET")
                json.member("url", call.url)
                json.object("headers") { json in
                    for field in call.fields {
                        json.member(field.name, field.isSecret ? "hidden" : field.value)
                    }
                }
                json.member("body", String(decoding: call.body, as: UTF8.self))
                json.member(
                    "base_string",
                    orNull: call.baseString.map { String(decoding: $0, as: UTF8.self) }
                )
            }
        }
        json.member("next", orNull: page.next?.text)
    }
}

extension PostbackDelivery {
    /// When the next attempt is due; nil if the delivery is not pending.
    public var nextAttempt: Timestamp? { state == .pending ? dueAt : nil }

    /// Returns the request of the last attempt, or else the one that would be sent now.
    ///
    /// The signatures are left out if the endpoint's secret has been rotated since the attempt.
    public func call(to endpoint: PostbackEndpoint, _ keys: ServerKeys, at now: Timestamp) -> PostbackCall? {
        var call = PostbackCall(event, sequence, to: endpoint, keys: keys, at: attemptedAt ?? now)
        if let attemptedAt, let rotatedAt = endpoint.rotatedAt, attemptedAt < rotatedAt {
            call?.omitSignatures()
        }
        return call
    }
}

/// A new secret, the change that stores it, and the time until which the previous secret signs too.
public typealias PostbackRotation = (secret: PostbackSecret, change: EndpointChange, until: Timestamp)

extension PostbackEndpoint {
    /// The type of an invented event for a test: the first type of the endpoint.
    public var sampleType: PostbackType {
        PostbackType.allCases.first(where: types.contains) ?? .matchCreated
    }

    /// Creates a new secret; nil for a template, whose requests are unsigned.
    public func rotation(_ keys: ServerKeys, at now: Timestamp, random: RandomSource) -> PostbackRotation? {
        guard !isTemplate else { return nil }
        let secret = PostbackSecret(random: random)
        let until = now.advanced(byMilliseconds: Self.overlapMilliseconds)
        let sealed = keys.current.seal(secret.bytes, of: id, random: random)
        return (secret, .rotate(secret: sealed, overlapUntil: until), until)
    }

    /// Why a template's secret cannot be rotated, and what to do instead; without full stops.
    public static let hasNoSecret =
        "The endpoint has no secret, because requests from a template are unsigned"
    public static let rotationAdvice =
        "To replace a token in its header fields, create another endpoint and disable this one"
}
