internal import Attribution
internal import Glibc
internal import JSON
internal import Server
internal import Storage

/// The command `afterlink postbacks create`.
enum CreatePostbackCommand {
    static let description = CommandDescription(
        name: "postbacks create",
        summary: "Send an app's events to a URL",
        discussion: [
            "Sends events as Standard Webhooks 1.0 specifies. Prints the secret that signs them: it is shown only now."
                + " With macros in the URL or with --body, it sends unsigned requests of your own form instead.",
            "An app's events are stored once it has an endpoint. --since also sends events that are stored already.",
            "Warns of an address that needs --postback-allow; give the same setting as the service.",
        ],
        options: [AppChoice.option]
            + CommandOption.table([
                "url URL": "Send to this https URL. Its path and query may have macros such as {click_id}.",
                "type TYPE ...":
                    "Send events of this type, such as match.created, or of a group, such as link.*.",
                "body TEXT": "Send this JSON with macros as the body.",
                "header-file FILE":
                    "Send the header fields in this file, up to four lines such as Authorization: Bearer x.",
                "since TIME": "Also send the stored events from this time on.",
                "test": "Send the traffic of test keys instead of live traffic.",
            ]) + [.json],
        settings: PostbackChoice.keySettings + ["postback-allow"],
        examples: [
            "afterlink postbacks create --url https://example.com/hooks --type match.created --type 'link.*'":
                "Send matches and changes of links."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        var draft = PostbackDraft()
        draft.url = arguments.value("url") ?? ""
        draft.types = arguments.values("type") ?? []
        draft.body = arguments.value("body")
        draft.isTest = arguments.has("test")
        if let path = arguments.value("header-file") {
            let bytes = try attempt(
                "The file of --header-file could not be read",
                .configuration,
                advice: "Correct the path."
            ) {
                try OpenFile(path, O_RDONLY).readAll(limit: 16_384)
            }
            draft.headers = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(
                String.init
            )
        }
        let since = try arguments.moment("since")
        let (database, keys) = try PostbackChoice.open(invocation)
        defer { database.close() }
        let app = try AppChoice.find(arguments.value("app"), in: try database.directory())
        let (endpoint, secret): (PostbackEndpoint, PostbackSecret)
        do throws(FieldProblems) {
            let now = WallClock.system.now()
            (endpoint, secret) = try draft.endpoint(of: app.id, keys: keys, at: now, random: .system)
        } catch {
            throw CommandFailure.usage(error.all.map(\.message).joined(separator: " "))
                .advising("`afterlink help postbacks create` describes the options.")
        }
        try await database.postbacks.create(endpoint, since: since, by: .commandLine)
        let shown = endpoint.isTemplate ? nil : secret.text
        let allowed = try ConfigurationReader.read(invocation).postbackAllowances
        let warning = PostbackSender(allowed: allowed, userAgent: "").refusal(ofURL: endpoint.url)
        let json = JSONWriter.text { json in
            json.member("id", endpoint.id.text)
            json.member("secret", orNull: shown)
        }
        let line = shown.map { "Its secret, shown only now: \($0)" } ?? "Its requests are unsigned."
        let advice =
            endpoint.isTemplate
            ? "`afterlink postbacks list` shows it; do not create it again."
            : "Run `afterlink postbacks rotate \(endpoint.id.text)` for another secret; do not create it again."
        try Console.show(
            arguments.has("json") ? json : "Created the endpoint \(endpoint.id.text).\n\(line)",
            orElse: .because("The endpoint \(endpoint.id.text) was created, but could not be printed.")
                .advising(advice)
        )
        guard let warning else { return }
        Console.printError("Warning: \(warning) If the service has this setting already, all is well.\n")
    }
}

/// The command `afterlink postbacks list`.
enum ListPostbacksCommand {
    static let description = CommandDescription(
        name: "postbacks list",
        summary: "List the endpoints and their pending deliveries",
        discussion: ["Prints the endpoints of all apps, the oldest first."],
        options: [CommandOption.json],
        settings: CommandDatabase.settings,
        examples: ["afterlink postbacks list": "Show all endpoints."],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let database = try CommandDatabase.open(invocation, for: .reading)
        defer { database.close() }
        let all = try await database.postbacks.endpoints()
        let json = JSONWriter.text { json in
            json.objects("endpoints", all) { json, status in PostbackBody.write(status, to: &json) }
        }
        invocation.show(text(all), json: json)
    }

    private static func text(_ all: [EndpointStatus]) -> String {
        all.table([
            .left("ID", \.endpoint.id.text), .left("STATE", \.endpoint.state.rawValue),
            .right("PENDING") { String($0.pending) },
            .right("FAILURES") { String($0.endpoint.circuit.failures) },
            .left("TYPES", \.endpoint.typesText), .left("URL", \.endpoint.url),
            .left("REASON") { $0.endpoint.reason.isEmpty ? "–" : $0.endpoint.reason },
        ])
    }
}

/// The command `afterlink postbacks deliveries`.
enum ListDeliveriesCommand {
    static let description = CommandDescription(
        name: "postbacks deliveries",
        summary: "Show the deliveries to an endpoint, with requests and responses",
        discussion: [
            "Prints deliveries in the order of their events, the newest event first. --json also prints requests and responses."
        ],
        operands: [PostbackChoice.operand],
        options: CommandOption.table([
            "state STATE": "Show only deliveries in this state: pending, delivered or failed.",
            "type TYPE": "Show only events of this type.",
            "event ID": "Show only this event, as evt_….",
            "limit N": "Show at most N deliveries. Default: 50.",
        ]) + [.json],
        settings: PostbackChoice.keySettings,
        examples: [
            "afterlink postbacks deliveries pbe_01jz8w6t7n3k5m9q2r4v6x8y0z --state failed":
                "Show the deliveries that were given up."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        var query = DeliveryQuery(try PostbackChoice.id(invocation))
        query.state = try arguments.read("state", "must be one of pending, delivered, failed") {
            DeliveryState(word: $0)
        }
        query.type = try arguments.word("type")
        query.event = try arguments.read("event", "must be an id, as evt_…") { OutboxEventID($0) }
        let count = try arguments.limit ?? DeliveryQuery.standardLimit
        let (database, keys) = try PostbackChoice.open(invocation, for: .reading)
        defer { database.close() }
        let endpoint = try await PostbackChoice.find(invocation, in: database)
        var page = DeliveryPage([], next: nil)
        repeat {
            query.limit = min(count - page.deliveries.count, DeliveryQuery.limits.upperBound)
            let next = try await database.postbacks.deliveries(query)
            page.deliveries += next.deliveries
            (page.next, query.before) = (next.next, next.next)
        } while query.before != nil && page.deliveries.count < count
        let now = WallClock.system.now()
        let json = JSONWriter.text { json in PostbackBody.write(page, to: endpoint, keys, at: now, &json) }
        invocation.show(text(page.deliveries), json: json)
    }

    static func text(_ deliveries: [PostbackDelivery]) -> String {
        deliveries.table([
            .left("EVENT", \.event.id.text), .left("TYPE", \.event.type), .left("STATE", \.state.word),
            .right("ATTEMPTS") { String($0.attempts) },
            .left("NEXT") { $0.nextAttempt?.iso8601 ?? "–" },
            .left("RESPONSE") { delivery in
                delivery.answer.map { $0.problem ?? String($0.status ?? 0) } ?? "–"
            },
        ])
    }
}

/// The command `afterlink postbacks test`.
enum TestPostbackCommand {
    static let description = CommandDescription(
        name: "postbacks test",
        summary: "Send an invented event to an endpoint",
        discussion: [
            "Stores an event whose data has \"sample\": true for only this endpoint, waits until the service has sent it, and"
                + " prints the response. The service must run."
        ],
        operands: [PostbackChoice.operand],
        options: CommandOption.table([
            "type TYPE": "Send an event of this type. Default: the first type that the endpoint gets."
        ])
            + [.json],
        settings: PostbackChoice.keySettings,
        examples: ["afterlink postbacks test pbe_01jz8w6t7n3k5m9q2r4v6x8y0z": "Test an endpoint."],
        run: run
    )

    /// The number of times that the delivery is read, every 250 ms.
    private static let readCount = 80

    private static func run(_ invocation: Invocation) async throws {
        let type: PostbackType? = try invocation.arguments.word("type")
        let (database, keys) = try PostbackChoice.open(invocation)
        defer { database.close() }
        let endpoint = try await PostbackChoice.find(invocation, in: database)
        let sample = type ?? endpoint.sampleType
        var query = DeliveryQuery(endpoint.id)
        query.event = try await database.postbacks.sendSample(sample, to: endpoint.id, by: .commandLine)
        for _ in 0..<readCount {
            let page = try await database.postbacks.deliveries(query)
            guard let answer = page.deliveries.first?.answer else {
                usleep(250_000)
                continue
            }
            let now = WallClock.system.now()
            let json = JSONWriter.text { json in PostbackBody.write(page, to: endpoint, keys, at: now, &json)
            }
            invocation.show(ListDeliveriesCommand.text(page.deliveries), json: json)
            guard answer.isSuccess else { throw ExitCode.failed }
            return
        }
        throw CommandFailure.because("The event was stored, but not sent within 20 seconds.")
            .advising(
                "`afterlink postbacks list` shows whether the endpoint is enabled; if it is, start the service."
            )
    }
}

/// The command `afterlink postbacks replay`.
enum ReplayPostbacksCommand {
    static let description = CommandDescription(
        name: "postbacks replay",
        summary: "Send events to an endpoint again, under the same ids",
        discussion: [
            "Sends deliveries again that were given up. With --all, sends all stored events of the endpoint's types,"
                + " including delivered ones."
        ],
        operands: [PostbackChoice.operand],
        options: CommandOption.table([
            "event ID": "Send only this event, as evt_…, delivered or not.",
            "failed": "Send only deliveries that were given up. This is the default.",
            "all": "Send deliveries in every state, and events without a delivery to the endpoint.",
            "since TIME": "Send only events from this time on.",
            "until TIME": "Send only events before this time.",
            "type TYPE ...": "Send only events of this type or group. Default: the endpoint's types.",
        ]) + [.json],
        settings: CommandDatabase.settings,
        examples: [
            "afterlink postbacks replay pbe_01jz8w6t7n3k5m9q2r4v6x8y0z --all --since 2027-01-31":
                "Send the events since that day again."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        let id = try PostbackChoice.id(invocation)
        guard !(arguments.has("all") && arguments.has("failed")) else {
            throw CommandFailure.usage("--all and --failed contradict each other.").advising(
                "Give one of them."
            )
        }
        var replay = PostbackReplay(arguments.has("all") ? .all : .failed)
        replay.event = try arguments.read("event", "must be an id, as evt_…") { OutboxEventID($0) }
        (replay.since, replay.until) = (try arguments.moment("since"), try arguments.moment("until"))
        if let names = arguments.values("type") {
            if let problem = names.lazy.compactMap(PostbackDraft.problem(ofType:)).first {
                throw CommandFailure.usage("\(problem.message).")
                    .advising("Nothing was sent. Correct the type and run the command again.")
            }
            replay.types = Set(names.flatMap(PostbackType.types))
        }
        let database = try CommandDatabase.open(invocation)
        defer { database.close() }
        let endpoint = try await PostbackChoice.find(invocation, in: database)
        let count = try await database.postbacks.replay(replay, to: id, by: .commandLine)
        let json = JSONWriter.text { $0.member("replayed", count) }
        if let event = replay.event, count == 0 {
            throw CommandFailure.because("The endpoint's app has no stored event \(event.text).")
                .advising("`afterlink postbacks deliveries` lists the ids of stored events.")
        }
        let end = endpoint.state == .enabled ? "sent again" : "sent again when the endpoint is enabled"
        invocation.show(count == 1 ? "1 delivery is \(end)." : "\(count) deliveries are \(end).", json: json)
    }
}

/// The command `afterlink postbacks rotate`.
enum RotatePostbackCommand {
    static let description = CommandDescription(
        name: "postbacks rotate",
        summary: "Make a new secret for an endpoint",
        discussion: [
            "For a day, requests have two signatures: one by the new secret and one by the previous secret."
        ],
        operands: [PostbackChoice.operand],
        options: [CommandOption.json],
        settings: PostbackChoice.keySettings,
        examples: ["afterlink postbacks rotate pbe_01jz8w6t7n3k5m9q2r4v6x8y0z": "Replace a secret."],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let (database, keys) = try PostbackChoice.open(invocation)
        defer { database.close() }
        let endpoint = try await PostbackChoice.find(invocation, in: database)
        guard let rotation = endpoint.rotation(keys, at: WallClock.system.now(), random: .system) else {
            throw CommandFailure.because("\(PostbackEndpoint.hasNoSecret).")
                .advising("\(PostbackEndpoint.rotationAdvice).")
        }
        try await database.postbacks.change(endpoint.id, rotation.change, by: .commandLine)
        let json = JSONWriter.text { PostbackBody.write(rotation, of: endpoint.id, to: &$0) }
        let text =
            "The new secret, shown only now: \(rotation.secret.text)\nThe previous one signs until \(rotation.until.iso8601)."
        try Console.show(
            invocation.arguments.has("json") ? json : text,
            orElse: .because("The secret of \(endpoint.id.text) was replaced, but could not be printed.")
                .advising("Run the command again, and give the receiver the printed secret at once.")
        )
    }
}

/// The commands `afterlink postbacks disable` and `afterlink postbacks enable`.
enum SwitchPostbackCommand {
    static let disabling = description(
        "postbacks disable",
        "Stop sending to an endpoint",
        "Sends and queues no further events for the endpoint. Its stored events stay for --outbox-retention.",
        .disabled
    )
    static let enabling = description(
        "postbacks enable",
        "Send to a disabled or held endpoint again",
        "Sends the pending deliveries now. `afterlink postbacks replay` sends those that were given up.",
        .enabled
    )

    private static func description(
        _ name: String,
        _ summary: String,
        _ discussion: String,
        _ state: PostbackEndpoint.State
    ) -> CommandDescription {
        CommandDescription(
            name: name,
            summary: summary,
            discussion: [discussion],
            operands: [PostbackChoice.operand],
            options: [CommandOption.json],
            settings: CommandDatabase.settings,
            examples: ["afterlink \(name) pbe_01jz8w6t7n3k5m9q2r4v6x8y0z": "\(summary)."],
            run: { invocation in try await set(state, invocation) }
        )
    }

    private static func set(_ state: PostbackEndpoint.State, _ invocation: Invocation) async throws {
        let database = try CommandDatabase.open(invocation)
        defer { database.close() }
        let id = try await PostbackChoice.find(invocation, in: database).id
        let reason = state == .enabled ? "" : PostbackEndpoint.byOperator
        try await database.postbacks.change(id, .set(state, reason: reason), by: .commandLine)
        let json = JSONWriter.text { json in
            json.member("id", id.text)
            json.member("state", state.rawValue)
        }
        invocation.show("The endpoint is \(state.rawValue).", json: json)
    }
}

/// The endpoint that a command names.
enum PostbackChoice {
    static let operand = CommandDescription.Operand.required("ENDPOINT", "The endpoint's id, as pbe_….")
    /// The settings of commands that read or write secrets of endpoints.
    static let keySettings = CommandDatabase.settings + ["server-key-file", "secret-file"]

    static func id(_ invocation: Invocation) throws -> EndpointID {
        let text = invocation.arguments.operands.first ?? ""
        guard let id = EndpointID(text) else {
            throw CommandFailure.usage("\"\(text)\" is not the id of an endpoint.")
                .advising("`afterlink postbacks list` shows the ids.")
        }
        return id
    }

    static func find(_ invocation: Invocation, in database: CommandDatabase) async throws -> PostbackEndpoint
    {
        let id = try id(invocation)
        guard let found = try await database.postbacks.endpoints().first(where: { $0.endpoint.id == id })
        else {
            throw CommandFailure.because("There is no endpoint \(id.text).")
                .advising("`afterlink postbacks list` shows the endpoints.")
        }
        return found.endpoint
    }

    /// Opens the database, and reads the server keys.
    static func open(_ invocation: Invocation, for purpose: DatabasePurpose = .command) throws
        -> (CommandDatabase, ServerKeys)
    {
        let configuration = try ConfigurationReader.read(invocation)
        try CommandDatabase.require(configuration)
        let all = try configuration.storedServerKeys()
        guard let current = all.first else {
            throw CommandFailure.because("There is no server key.").advising(
                "Name it with --server-key-file."
            )
        }
        return (
            try CommandDatabase.open(configuration, for: purpose),
            ServerKeys(current, former: Array(all.dropFirst()))
        )
    }
}
