import Attribution
import Storage
import TestDatabases
import Testing

/// Endpoints that fail or are held, history, other facts, erasure and retention.
@Suite("Endpoints of postbacks")
struct PostbackEndpointTests {
    @Test("410 disables an endpoint at once, and the other endpoints get an event", arguments: backends)
    func gone(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        scenario.receiver.answer { PostbackAnswer(status: $0.url.contains("gone") ? 410 : 204) }
        let gone = try await scenario.endpoint(url: "https://gone.example.com/")
        let other = try await scenario.endpoint(["endpoint.disabled"])
        try await scenario.match(1)
        try await scenario.send()
        let status = try #require(try await scenario.status(gone))
        #expect(status.endpoint.state == .disabled && status.endpoint.reason == "it answered 410 Gone")
        #expect(scenario.test.log.lines.contains { $0.contains(gone.id.text) && $0.contains("disabled") })
        let told = try await scenario.deliveries(other)
        #expect(told.map(\.event.type) == ["endpoint.disabled"])
        #expect(told.first?.event.data.contains(gone.id.text) == true)
        // For a disabled endpoint, nothing is queued or sent until it is enabled and the missed events are
        // replayed.
        try await scenario.match(2)
        try await scenario.send()
        #expect(scenario.receiver.calls.count { $0.url.contains("gone") } == 1)
        scenario.receiver.answer { _ in PostbackAnswer(status: 204) }
        var missed = PostbackReplay(.all)
        missed.since = TestStore.noon
        try await scenario.set(gone, to: .enabled)
        let count = try await scenario.replay(missed, to: gone)
        #expect(count == 2)
        try await scenario.send()
        #expect(try await scenario.deliveries(gone).map(\.state) == [.delivered, .delivered])
    }

    @Test("an endpoint that responded 410 gets no delivery that waits", arguments: backends)
    func goneWithQueue(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        scenario.receiver.answer { _ in PostbackAnswer(status: 410) }
        let gone = try await scenario.endpoint()
        for number in 1...10 as ClosedRange<UInt64> { try await scenario.match(number) }
        try await scenario.send()
        // Four calls were under way at the first response.
        #expect(scenario.receiver.calls.count == 4)
        let states = try await scenario.deliveries(gone).map(\.state)
        #expect(states.count { $0 == .failed } == 4 && states.count { $0 == .pending } == 6)
        #expect(scenario.test.log.lines.count { $0.contains("is disabled") } == 1)
    }

    @Test(
        "an endpoint is disabled only after five days of failures, and keeps its pending deliveries",
        arguments: backends
    )
    func fiveDays(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        scenario.receiver.answer { _ in PostbackAnswer(failure: "no server accepts the connection") }
        let endpoint = try await scenario.endpoint()
        for number in 1...3 { try await scenario.match(UInt64(number)) }
        for _ in 0..<19 {
            try await scenario.send()
            #expect(try await scenario.status(endpoint)?.endpoint.state == .enabled)
            scenario.test.clock.advance(seconds: 6 * 3600)
        }
        scenario.restart()
        scenario.test.clock.advance(seconds: 6 * 3600)
        try await scenario.match(4)
        try await scenario.send()
        let status = try #require(try await scenario.status(endpoint))
        #expect(status.endpoint.state == .disabled && status.endpoint.reason == "it has failed for five days")
        #expect(status.pending > 0)
        #expect(scenario.test.log.lines.contains { $0.contains(endpoint.id.text) })
    }

    @Test(
        "endpoints are counted by state, and the queue includes a failed endpoint's pending deliveries",
        arguments: backends
    )
    func figures(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        scenario.receiver.answer { _ in PostbackAnswer(status: 500) }
        let gone = try await scenario.endpoint(url: "https://gone.example.com/")
        try await scenario.match(1)
        func measure() async throws -> StoreHealth {
            // The job measures the queue every 15 seconds of the time that `send()` passes to it.
            for _ in 0..<8 { try await scenario.send() }
            return scenario.test.database.health
        }
        var health = try await measure()
        #expect(health.postbackEndpoints == [.enabled: 1] && health.postbackQueue == 1)
        // The first delivery is not due yet when another one gets 410.
        scenario.receiver.answer { _ in PostbackAnswer(status: 410) }
        try await scenario.match(2)
        try await scenario.send()
        let other = try await scenario.endpoint()
        try await scenario.set(other, to: .held)
        scenario.test.clock.advance(seconds: 3600)
        try await scenario.match(3)
        health = try await measure()
        #expect(health.postbackEndpoints == [.disabled: 1, .held: 1])
        #expect(health.postbackQueue == 2 && health.postbackAgeSeconds == 3600)
        // The figures leave out an endpoint that an operator has disabled.
        try await scenario.set(gone, to: .disabled, because: PostbackEndpoint.byOperator)
        health = try await measure()
        #expect(health.postbackEndpoints == [.held: 1])
        #expect(health.postbackQueue == 1 && health.postbackAgeSeconds == 0)
    }

    @Test("an endpoint's status names the oldest event, not the one due first", arguments: backends)
    func oldest(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        scenario.receiver.answer { _ in PostbackAnswer(status: 500) }
        let endpoint = try await scenario.endpoint()
        let start = scenario.test.clock.now
        try await scenario.match(1)
        try await scenario.send()
        scenario.test.clock.advance(seconds: 1)
        try await scenario.match(2)
        let status = try #require(try await scenario.status(endpoint))
        #expect(status.pending == 2 && status.oldest == start)
    }

    @Test("a held endpoint collects deliveries, and gets all of them when it is enabled", arguments: backends)
    func held(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        let endpoint = try await scenario.endpoint()
        try await scenario.set(endpoint, to: .held)
        try await scenario.match()
        try await scenario.send()
        #expect(scenario.receiver.calls.isEmpty)
        #expect(try await scenario.status(endpoint)?.pending == 1)
        try await scenario.set(endpoint, to: .enabled)
        try await scenario.send()
        #expect(scenario.receiver.calls.count == 1)
    }

    @Test("Retry-After pauses the endpoint", arguments: backends)
    func retryAfter(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        scenario.receiver.answer { _ in
            var answer = PostbackAnswer(status: 429)
            answer.retryAfter = "3600"
            return answer
        }
        try await scenario.endpoint()
        try await scenario.match(1)
        try await scenario.send()
        scenario.receiver.answer { _ in PostbackAnswer(status: 204) }
        try await scenario.match(2)
        scenario.test.clock.advance(seconds: 3590)
        try await scenario.send()
        #expect(scenario.receiver.calls.count == 1)
        scenario.test.clock.advance(seconds: 11)
        try await scenario.send()
        #expect(scenario.receiver.calls.count == 3)
    }

    @Test(
        "a new endpoint may get earlier events, and events are replayed by id and by range",
        arguments: backends
    )
    func history(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        let first = try await scenario.endpoint()
        for number in 1...3 {
            try await scenario.match(UInt64(number))
            scenario.test.clock.advance(seconds: 60)
        }
        try await scenario.send()
        let second = try await scenario.endpoint()
        func replay(_ mode: PostbackReplay.Mode, _ set: (inout PostbackReplay) -> Void = { _ in })
            async throws -> Int
        {
            var replay = PostbackReplay(mode)
            set(&replay)
            return try await scenario.replay(replay, to: second)
        }
        let from = TestStore.noon.advanced(byMilliseconds: 60_000)
        #expect(try await replay(.missing) { $0.since = from } == 2)
        #expect(try await replay(.missing) { $0.since = from } == 0)
        scenario.receiver.forget()
        try await scenario.send()
        #expect(scenario.receiver.calls.count == 2)
        #expect(
            try await replay(.all) { ($0.since, $0.until) = (from, from.advanced(byMilliseconds: 1)) } == 1
        )
        #expect(try await replay(.all) { $0.types = [.linkCreated] } == 0)
        let oldest = try #require(try await scenario.deliveries(first).last?.event.id)
        #expect(try await replay(.failed) { $0.event = oldest } == 1)
        #expect(
            try await replay(.failed) { $0.event = OutboxEventID(high: oldest.high, low: oldest.low ^ 1) }
                == 0
        )
        scenario.receiver.forget()
        try await scenario.send()
        #expect(scenario.receiver.calls.count == 2)
        #expect(scenario.receiver.calls.contains { $0.id == oldest.text })
    }

    @Test("a sample goes to one endpoint alone", arguments: backends)
    func sample(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        let endpoint = try await scenario.endpoint()
        let other = try await scenario.endpoint()
        let id = try await scenario.test.run {
            try await $0.sendSample(.matchCreated, to: endpoint.id, by: .test)
        }
        try await scenario.send()
        for mode in [PostbackReplay.Mode.missing, .all] {
            #expect(try await scenario.replay(PostbackReplay(mode), to: other) == 0)
        }
        #expect(scenario.receiver.calls.map(\.id) == [id.text])
        var again = PostbackReplay(.failed)
        again.event = id
        #expect(try await scenario.replay(again, to: endpoint) == 1)
        #expect(scenario.receiver.calls.first?.text.contains(#""data":{"sample":true"#) == true)
    }

    @Test(
        "events about domain files and erasures are sent, and an erasure deletes the events about its click",
        arguments: backends
    )
    func otherFacts(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        let endpoint = try await scenario.endpoint([
            "link.*", "erasure.*", "domain_file.changed", "match.created",
        ])
        let click = try await scenario.match()
        try await scenario.send()
        #expect(try await scenario.deliveries(endpoint).count == 1)
        let (test, app) = (scenario.test, scenario.test.app)
        let record = Erasure(
            id: ErasureID(high: 9, low: 9),
            at: test.clock.now,
            app: app,
            kind: .click,
            actor: .test
        )
        let subject = DataSubject(.click(click.id), of: app)
        _ = try await test.run { session in
            try await session.publish(.domainFileChanged, of: app, data: #"{"host":"a"}"#)
            return try await session.erase(subject, record)
        }
        try await scenario.send()
        let deliveries = try await scenario.deliveries(endpoint)
        // The erasure has deleted the match's event and its delivery.
        #expect(deliveries.map(\.event.type).sorted() == ["domain_file.changed", "erasure.completed"])
        #expect(!deliveries.contains { $0.event.data.contains(click.id.text) })
    }

    @Test("events are deleted after their retention, with their deliveries", arguments: backends)
    func retention(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        let endpoint = try await scenario.endpoint()
        try await scenario.match(1)
        scenario.test.clock.advance(seconds: 2_592_000 - 60)
        try await scenario.match(2)
        try await scenario.send()
        #expect(try await scenario.deliveries(endpoint).count == 2)
        scenario.test.clock.advance(seconds: 120)
        for _ in 0..<40 { try await scenario.send() }
        #expect(try await scenario.deliveries(endpoint).count == 1)
        #expect(try await scenario.replay(PostbackReplay(.all), to: endpoint) == 1)
    }

    @Test("secrets are encrypted again when the server key is replaced", arguments: backends)
    func rewrapping(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        let endpoint = try await scenario.endpoint()
        let next = try #require(ServerKey(bytes: [UInt8](repeating: 8, count: 32)))
        let keys = ServerKeys(next, former: [TestReceiver.keys.current])
        let settings = PostbackSettings(send: { _, _ in }, keys: { keys }, random: TestReceiver.random)
        func job(_ database: some TestDatabase) -> any Job {
            PostbackJob(database.makeJobContext(), settings)
        }
        var rotating = job(scenario.test.database)
        _ = try rotating.slice(at: 1)
        let stored = try #require(try await scenario.status(endpoint)?.endpoint)
        let secrets = stored.secrets(ServerKeys(next), at: TestStore.noon).map(\.text)
        #expect(secrets == endpoint.secrets(TestReceiver.keys, at: TestStore.noon).map(\.text))
        #expect(secrets.count == 1)
    }

    @Test("every value of the three tables is read as it was written")
    func roundTrips() async throws {
        let test = try await TestStore(.sqlite)
        var endpoint = PostbackEndpoint(
            id: EndpointID(high: 1 << 60, low: .max),
            app: AppID(high: 2, low: .max - 1),
            isTest: true,
            url: "https://e.com",
            types: [.linkCreated, .matchCreated],
            body: "{}",
            createdAt: TestStore.noon
        )
        (endpoint.state, endpoint.reason, endpoint.secret, endpoint.headers) = (.held, "r", [1], [2])
        (endpoint.formerSecret, endpoint.formerUntil) = ([3], TestStore.noon)
        endpoint.circuit = PostbackCircuit(failures: 4, failingSince: TestStore.noon)
        var stored = EndpointRecord(endpoint, scope: 3)
        stored.sequence = 9
        #expect(try test.place.roundTrip(stored, in: "postback_endpoints") == stored)
        let id = OutboxEventID(high: 1 << 60, low: .max)
        let event = OutboxRecord(OutboxEvent(id: id, type: "t", data: "{}"), scope: 3, subject: -1)
        #expect(try test.place.roundTrip(event, in: "outbox_events") == event)
        var delivery = DeliveryRecord(id, to: -5, dueAt: TestStore.noon)
        (delivery.sequence, delivery.state, delivery.attempts) = (6, .failed, 7)
        var answer = PostbackAnswer(status: 500, failure: "f")
        (answer.body, answer.milliseconds) = ("b", 8)
        (delivery.attemptedAt, delivery.answer) = (TestStore.noon, answer)
        #expect(try test.place.roundTrip(delivery, in: "deliveries") == delivery)
    }
}
