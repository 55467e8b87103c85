import Attribution
import Storage
import TestDatabases
import Testing

/// Tests postbacks about Apple's postbacks and about events after the match, and which of these erasures delete.
@Suite("Postbacks of facts after the match")
struct PostbackFactTests {
    private static func postback(
        _ id: String,
        _ verification: AppleVerification = .valid,
        _ environment: AppleEnvironment = .production,
        item: String = "525",
        value: Int64 = 7
    ) -> StoredApplePostback {
        var postback = ApplePostback(.skAdNetwork, network: "com.example", item: item, id: id)
        (postback.version, postback.source, postback.fineValue) = ("4.0", "5239", value)
        let body = "\(id) \(verification.rawValue) \(environment.rawValue) \(item) \(value)"
        let now = TestStore.noon
        return StoredApplePostback(postback, verification, environment, receivedAt: now, body: body)
    }

    @Test(
        "one of Apple's postbacks is sent once, when it is verified, to the endpoints of its app",
        arguments: backends
    )
    func apple(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        let live = try await scenario.endpoint(["apple_postback.received"])
        let trial = try await scenario.endpoint(["apple_postback.*"]) { $0.isTest = true }
        let other = try await scenario.endpoint(["match.created"])
        let app = scenario.test.app
        let outcomes = try await scenario.test.run { session in
            var outcomes = [try await session.store(Self.postback("p0"))]
            var settings = App.Settings(name: "Shop")
            settings.links.apple.appStoreID = 525
            try await session.update(app, to: settings)
            for postback in [
                Self.postback("p1", .invalid), Self.postback("p1"), Self.postback("p1"),
                Self.postback("p1", value: 8), Self.postback("p2", .valid, .development),
                Self.postback("p3", item: "526"), Self.postback("p4", .unverifiable),
            ] { outcomes.append(try await session.store(postback)) }
            return outcomes
        }
        #expect(outcomes == [.counted, .stored, .counted, .duplicate, .stored, .counted, .counted, .stored])
        try await scenario.send()
        let data = try await scenario.deliveries(live).map(\.event.data)
        #expect(
            data.count == 1 && data[0].contains(#""id":"p1""#) && data[0].contains(#""conversion_value":7"#)
        )
        #expect(data.allSatisfy { $0.contains(#""verification":"valid","environment":"production""#) })
        let ofTrial = try await scenario.deliveries(trial).map(\.event.data)
        #expect(ofTrial.count == 1 && ofTrial[0].contains(#""id":"p2""#))
        #expect(try await scenario.deliveries(other).isEmpty)
        #expect(scenario.receiver.calls.count { $0.text.contains(#""type":"apple_postback.received""#) } == 2)
    }

    /// Stores three events: one names the installation, one only a user, and one a click.
    private static func record(_ scenario: PostbackScenario) async throws {
        let (app, now) = (scenario.test.app, scenario.test.clock.now)
        try await scenario.test.run { session in
            let new = try NewClick.sample { $0.clickIDs = #"{"gclid":"g-1"}"# }
            let click = try await session.record(new).click
            _ = try await session.match(.sample(install: 7))
            var events: [AppEvent] = []
            for id in ["a", "b", "c"] {
                let name = try #require(EventName("sign_up"))
                events.append(AppEvent(id: id, name: name, occurredAt: now))
            }
            events[0].installs = [hash(7)]
            events[1].users = [hash(5)]
            events[2].click = click.id
            _ = try await session.record(
                EventBatch(app: app, isTest: false, isVerified: true, receivedAt: now, events: events)
            )
        }
    }

    @Test(
        "an event has the click ids of its match only if the app's setting is `answer`",
        arguments: backends
    )
    func clickIDs(backend: Backend) async throws {
        for policy in [ClickIDPolicy.keep, .answer] {
            let scenario = try await PostbackScenario(backend)
            let app = scenario.test.app
            try await scenario.test.run { session in
                try await session.update(app, to: App.Settings(name: "Shop", clickIDs: policy))
            }
            try await scenario.endpoint(["event.received"])
            try await Self.record(scenario)
            try await scenario.send()
            let texts = scenario.receiver.calls.map(\.text).sorted { $0.utf8.count < $1.utf8.count }
            #expect(texts.count == 3 && texts[0].contains(#""event_id":"b""#))
            #expect(
                texts.map { $0.contains(#""click_ids":{"gclid":"g-1"}"#) }
                    == [false, policy == .answer, policy == .answer]
            )
        }
    }

    @Test(
        "an event has its match and the match's click ids even if a later event of the request links them",
        arguments: backends
    )
    func linkedInRequest(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        let endpoint = try await scenario.endpoint(["event.received"])
        let (app, now) = (scenario.test.app, scenario.test.clock.now)
        try await scenario.test.run { session in
            try await session.update(app, to: App.Settings(name: "Shop", clickIDs: .answer))
            _ = try await session.record(.sample { $0.clickIDs = #"{"gclid":"g-1"}"# })
            _ = try await session.match(.sample(install: 7))
            var events = [
                AppEvent(id: "a", name: .purchase, occurredAt: now),
                AppEvent(id: "b", name: try #require(EventName("sign_up")), occurredAt: now),
            ]
            for index in events.indices { events[index].users = [hash(5)] }
            events[1].installs = [hash(7)]
            _ = try await session.record(
                EventBatch(app: app, isTest: false, isVerified: true, receivedAt: now, events: events)
            )
        }
        let data = try await scenario.deliveries(endpoint).map(\.event.data)
        #expect(data.count == 2)
        for text in data {
            #expect(text.contains(#""click_id":"clk_"#) && text.contains(#""click_ids":{"gclid":"g-1"}"#))
        }
    }

    @Test(
        "an erasure of a user or of an installation deletes the postbacks about its events",
        arguments: backends
    )
    func erased(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        let endpoint = try await scenario.endpoint(["event.received"])
        try await Self.record(scenario)
        let test = scenario.test
        func erase(_ key: DataSubject.Key) async throws -> Set<String> {
            let subject = DataSubject(key, of: test.app)
            let id = ErasureID(high: UInt64(subject.kind.rawValue.utf8.count), low: 1)
            let now = test.clock.now
            let record = Erasure(id: id, at: now, app: test.app, kind: subject.kind, actor: .test)
            _ = try await test.run { try await $0.erase(subject, record) }
            return Set(try await scenario.deliveries(endpoint).map { String($0.event.data.prefix(15)) })
        }
        #expect(try await scenario.deliveries(endpoint).count == 3)
        let held = try await test.run { session in try await session.holdings() }
        #expect((held.first { $0.table == "outbox_events" }?.count ?? 0) >= 3, "each delivery has an event")
        let left = try await erase(.user(live: [hash(5)], test: []))
        #expect(left == [#"{"event_id":"a""#, #"{"event_id":"c""#])
        #expect(try await erase(.user(live: [hash(6)], test: [])) == left, "another user's events stay")
        #expect(try await erase(.install(live: [hash(7)], test: [])).isEmpty)
    }

    @Test("an event of a server key replaces the postback of an app key's event", arguments: backends)
    func replaced(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        let endpoint = try await scenario.endpoint(["event.received"])
        let (app, now) = (scenario.test.app, scenario.test.clock.now)
        let outcomes = try await scenario.test.run { session in
            var event = AppEvent(id: "a", name: .purchase, occurredAt: now)
            event.users = [hash(5)]
            var outcomes: [EventOutcome] = []
            for isVerified in [false, true] {
                let batch = EventBatch(
                    app: app,
                    isTest: false,
                    isVerified: isVerified,
                    receivedAt: now,
                    events: [event]
                )
                outcomes += try await session.record(batch)
            }
            return outcomes
        }
        #expect(outcomes == [.accepted, .accepted])
        let data = try await scenario.deliveries(endpoint).map(\.event.data)
        #expect(data.count == 1 && data.allSatisfy { $0.contains(#""verified":true"#) })
    }

    @Test(
        "an erasure of an installation deletes the postbacks about a click that retention has deleted",
        arguments: backends
    )
    func erasedAfterRetention(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend) { $0.retentionSeconds = 1000 }
        let endpoint = try await scenario.endpoint(["click.recorded", "match.created"])
        let test = scenario.test
        try await test.run { session in
            for number in 7...8 as ClosedRange<UInt64> {
                _ = try await session.record(.sample(fingerprint: number, visit: number))
                _ = try await session.match(.sample(fingerprint: number, caller: number, install: number))
            }
        }
        test.clock.advance(seconds: 5 * 86_400)
        try test.database.runRetention()
        #expect(try test.count(.claims) == 0)
        #expect(try await scenario.deliveries(endpoint).count == 4)
        let subject = DataSubject(.install(live: [hash(7)], test: []), of: test.app)
        let now = test.clock.now
        let id = ErasureID(high: 1, low: 1)
        let record = Erasure(id: id, at: now, app: test.app, kind: .install, actor: .test)
        let erasure = try await test.run { try await $0.erase(subject, record) }
        #expect(erasure.counts.installs == 1 && erasure.counts.clicks == 0)
        #expect(try await scenario.deliveries(endpoint).count == 2, "another installation's postbacks stay")
    }

    @Test(
        "deliveries are exported with their states and times, in any pages, and without bodies",
        arguments: backends
    )
    func exported(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        let failing = try await scenario.endpoint(url: "https://example.com/failing")
        let endpoint = try await scenario.endpoint()
        scenario.receiver.answer { PostbackAnswer(status: $0.url.hasSuffix("failing") ? 410 : 204) }
        for number in 1...3 as ClosedRange<UInt64> { try await scenario.match(number) }
        try await scenario.send()
        let (all, rest, ofOther) = try await scenario.test.run { session in
            let all = try await ExportTests.rows(of: .deliveries, pages: 2, session)
            let rest = try await ExportTests.rows(of: .deliveries, behind: all[3].cursor, session)
            let other = AppID(high: 9, low: 9)
            return (all, rest, try await ExportTests.rows(of: .deliveries, app: other, session))
        }
        #expect(all.count == 6 && rest == Array(all[4...]) && ofOther.isEmpty)
        #expect(all.allSatisfy { ExportCursor($0.cursor.text, of: .deliveries) == $0.cursor })
        for wanted in [failing, endpoint] {
            let rows = all.filter { ExportTests.text("endpoint", in: $0, of: .deliveries) == wanted.id.text }
            let stored = try await scenario.deliveries(wanted)
            #expect(
                rows.map { ExportTests.text("id", in: $0, of: .deliveries) } == stored.map(\.event.id.text)
            )
            #expect(
                rows.map { ExportTests.text("state", in: $0, of: .deliveries) } == stored.map(\.state.word)
            )
        }
        #expect(all.contains { ExportTests.text("state", in: $0, of: .deliveries) == "delivered" })
        #expect(all.contains { ExportTests.text("problem", in: $0, of: .deliveries) != nil })
        #expect(!all.contains { $0.values.contains { "\($0)".contains("campaign_key") } })
    }

    @Test(
        "a clock that leaps ahead disables no endpoint, and a clock that leaps back delays no delivery",
        arguments: backends
    )
    func leaps(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend) { $0.trustsClock = false }
        let test = scenario.test
        scenario.receiver.answer { _ in PostbackAnswer(failure: "no server accepts the connection") }
        let endpoint = try await scenario.endpoint()
        for number in 1...3 as ClosedRange<UInt64> { try await scenario.match(number) }
        func isEnabled(afterSending hours: Int64, times: Int = 1) async throws -> Bool {
            for _ in 0..<times {
                test.clock.advance(seconds: hours * 3600)
                test.monotonic.advance(milliseconds: UInt64(hours) * 3_600_000)
                try await scenario.send()
            }
            return try await scenario.status(endpoint)?.endpoint.state == .enabled
        }
        #expect(try await isEnabled(afterSending: 6, times: 8))
        test.clock.advance(seconds: 10 * 86_400)
        #expect(try await isEnabled(afterSending: 1), "the clock may be wrong")
        try await scenario.match(4)
        #expect(try await isEnabled(afterSending: 6, times: 5), "the clock is right; a leap does not count")

        test.clock.advance(seconds: -20 * 86_400)
        scenario.receiver.answer { _ in PostbackAnswer(status: 204) }
        try await scenario.match(5)
        try await scenario.send()
        #expect(try await scenario.status(endpoint)?.pending == 0)
        let states = try await scenario.deliveries(endpoint).map(\.state)
        #expect(states == Array(repeating: .delivered, count: 5))
    }
}
