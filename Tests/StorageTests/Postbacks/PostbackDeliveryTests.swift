import Attribution
import Storage
import Synchronization
import TestDatabases
import Testing

/// Events that the transactions of their facts store, and the deliveries of these events.
@Suite("Postbacks")
struct PostbackDeliveryTests {
    @Test("a match is sent once, signed, to the endpoints that want its type", arguments: backends)
    func match(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        try await scenario.match(1)
        let endpoint = try await scenario.endpoint()
        let other = try await scenario.endpoint(["link.created", "match.campaign_only"])
        let click = try await scenario.match(2)
        let second = try await scenario.match(3)
        try await scenario.send()
        // The match before the first endpoint was not stored.
        let calls = scenario.receiver.calls
        #expect(calls.count == 2)
        for (index, click) in [click, second].enumerated() {
            let call = try #require(calls.first { $0.text.contains(click.id.text) })
            #expect(call.text.hasPrefix(#"{"type":"match.created","timestamp":"2023-11-14T22:13:20.000Z""#))
            #expect(call.text.contains(#""test":false"#) && call.url == endpoint.url && call.isPost)
            #expect(calls.contains { $0.text.contains("\"sequence\":\(index + 1),") })
            let secret = try #require(endpoint.secrets(TestReceiver.keys, at: TestStore.noon).first)
            let values = Dictionary(uniqueKeysWithValues: call.fields.map { ($0.name, $0.value) })
            let problem = PostbackMessage.problem(
                id: values["webhook-id"],
                timestamp: values["webhook-timestamp"],
                signatures: values["webhook-signature"],
                body: call.body,
                secret: secret,
                now: TestStore.noon
            )
            #expect(problem == nil)
            for word in ["address", "agent", "fingerprint\":\"", "203.0.113"] {
                #expect(!call.text.contains(word))
            }
        }
        let deliveries = try await scenario.deliveries(endpoint)
        #expect(deliveries.map(\.state) == [.delivered, .delivered])
        #expect(Set(deliveries.map(\.event.id.text)) == Set(calls.compactMap(\.id)))
        #expect(try await scenario.deliveries(other).isEmpty)
        try await scenario.send()
        #expect(scenario.receiver.calls.count == 2)
    }

    @Test(
        "clicks and launches without a match are stored only while an endpoint wants them",
        arguments: backends
    )
    func optIn(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        let plain = try await scenario.endpoint()
        try await scenario.match(1)
        let wanting = try await scenario.endpoint(["click.recorded", "launch.unmatched"])
        try await scenario.match(2)
        let test = scenario.test
        let subject = DataSubject(.click(ClickID(high: 1, low: 1)), of: test.app)
        try await test.run { session in
            _ = try await session.match(.sample(fingerprint: 99))
            // Records of checks wait in memory until a read needs them.
            _ = try await session.held(subject)
        }
        try await scenario.send()
        let types = try await scenario.deliveries(wanting).map(\.event.type)
        #expect(types.sorted() == ["click.recorded", "launch.unmatched"])
        #expect(try await scenario.deliveries(plain).count == 2)
        var history = PostbackReplay(.missing)
        history.types = [.clickRecorded]
        // The first click came before an endpoint wanted clicks.
        #expect(try await scenario.replay(history, to: plain) == 1)
        var invented = PostbackReplay(.all)
        invented.event = OutboxEventID(high: .max, low: .max)
        #expect(try await scenario.replay(invented, to: plain) == 0)
    }

    @Test("test traffic goes to endpoints of its own", arguments: backends)
    func testTraffic(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        let live = try await scenario.endpoint()
        let trial = try await scenario.endpoint { $0.isTest = true }
        _ = try await scenario.test.run { session in
            _ = try await session.record(.sample { $0.isTest = true })
            return try await session.match(.sample(isTest: true))
        }
        try await scenario.send()
        #expect(try await scenario.deliveries(live).isEmpty)
        #expect(try await scenario.deliveries(trial).count == 1)
        #expect(scenario.receiver.calls.map { $0.text.contains(#""test":true"#) } == [true])
    }

    @Test(
        "a failed delivery is tried ten times under one id and with one body, then replayed",
        arguments: backends
    )
    func retries(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        scenario.receiver.answer { _ in PostbackAnswer(status: 500) }
        let endpoint = try await scenario.endpoint()
        try await scenario.match()
        for attempt in 1...10 {
            try await scenario.send()
            #expect(scenario.receiver.calls.count == attempt)
            let delivery = try #require(try await scenario.deliveries(endpoint).first)
            #expect(delivery.attempts == attempt && delivery.answer?.status == 500)
            guard attempt < 10 else { continue }
            let pause = PostbackSchedule.pauses[attempt]
            #expect(delivery.state == .pending)
            // A delivery is due after nine tenths of its pause at the earliest. From the sixth attempt on,
            // the circuit's pauses are shorter.
            scenario.test.clock.advance(seconds: pause * 8 / 10)
            try await scenario.send()
            #expect(scenario.receiver.calls.count == attempt, "not before its time")
            scenario.test.clock.advance(seconds: pause * 3 / 10 + 4)
        }
        let failed = try #require(try await scenario.deliveries(endpoint).first)
        #expect(failed.state == .failed)
        scenario.receiver.answer { _ in PostbackAnswer(status: 200) }
        scenario.test.clock.advance(seconds: 600)
        #expect(try await scenario.replay(PostbackReplay(.failed), to: endpoint) == 1)
        try await scenario.send()
        #expect(try await scenario.deliveries(endpoint).map(\.state) == [.delivered])
        #expect(Set(scenario.receiver.calls.map(\.text)).count == 1)
        #expect(Set(scenario.receiver.calls.map(\.id)).count == 1)
        #expect(try await scenario.replay(PostbackReplay(.failed), to: endpoint) == 0)
    }

    @Test(
        "calls without a response when a process died are made again under the same ids",
        arguments: backends
    )
    func death(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        scenario.receiver.answer { _ in nil }
        let endpoint = try await scenario.endpoint()
        for number in 1...3 { try await scenario.match(UInt64(number)) }
        try await scenario.send()
        #expect(scenario.receiver.calls.count == 3)
        let first = Set(scenario.receiver.calls.map(\.text))
        scenario.restart()
        scenario.receiver.answer { _ in PostbackAnswer(status: 204) }
        try await scenario.send()
        #expect(scenario.receiver.calls.count == 6)
        #expect(Set(scenario.receiver.calls.map(\.text)) == first)
        #expect(try await scenario.deliveries(endpoint).map(\.state) == [.delivered, .delivered, .delivered])
        // A later delivery gets the next number.
        try await scenario.match(4)
        try await scenario.send()
        #expect(scenario.receiver.calls.last?.text.contains(#""sequence":4,"#) == true)
    }

    @Test("an endpoint gets four calls at a time, and one that hangs delays no other", arguments: backends)
    func fairness(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        scenario.receiver.answer { $0.url.contains("hangs") ? nil : PostbackAnswer(status: 204) }
        let hanging = try await scenario.endpoint(url: "https://hangs.example.com/")
        let healthy = try await scenario.endpoint(url: "https://example.com/")
        for number in 1...12 { try await scenario.match(UInt64(number)) }
        try await scenario.send()
        #expect(scenario.receiver.waiting == 4)
        let served = try await scenario.deliveries(healthy).map(\.state)
        #expect(served == Array(repeating: .delivered, count: 12))
        #expect(try await scenario.status(hanging)?.pending == 12)
        // After five failures, the endpoint gets one call at a time.
        scenario.receiver.answerWaiting(PostbackAnswer(failure: "the response took too long"))
        try await scenario.send()
        #expect(scenario.receiver.waiting == 4)
        scenario.receiver.answerWaiting(PostbackAnswer(failure: "the response took too long"))
        try await scenario.send()
        #expect(scenario.receiver.waiting == 0)
        scenario.test.clock.advance(seconds: 61)
        try await scenario.send()
        #expect(scenario.receiver.waiting == 1)
    }

    @Test("a delivery that an erasure has deleted is not sent from memory", arguments: backends)
    func erased(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        scenario.receiver.answer { _ in nil }
        try await scenario.endpoint()
        var clicks: [Click] = []
        for number in 1...6 as ClosedRange<UInt64> { clicks.append(try await scenario.match(number)) }
        try await scenario.send()
        // Four calls wait for their responses, and two deliveries wait in memory.
        let sent = scenario.receiver.calls.map(\.text)
        let click = try #require(clicks.first { click in !sent.contains { $0.contains(click.id.text) } })
        let app = scenario.test.app
        let record = Erasure(
            id: ErasureID(high: 1, low: 1),
            at: TestStore.noon,
            app: app,
            kind: .click,
            actor: .command(user: "ann")
        )
        _ = try await scenario.test.run { session in
            try await session.erase(DataSubject(.click(click.id), of: app), record)
        }
        scenario.receiver.answer { _ in PostbackAnswer(status: 204) }
        scenario.receiver.answerWaiting(PostbackAnswer(status: 204))
        try await scenario.send()
        #expect(scenario.receiver.calls.count == 5)
        #expect(!scenario.receiver.calls.contains { $0.text.contains(click.id.text) })
    }

    @Test("a process whose clock was set back sends only while it has the lease", arguments: backends)
    func clockSetBack(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        try await scenario.endpoint()
        scenario.test.clock.advance(seconds: 3600)
        try await scenario.match(1)
        try await scenario.send()
        #expect(scenario.receiver.calls.count == 1)
        scenario.test.clock.advance(seconds: -3600)
        let second = try await TestStore(backend, in: scenario.test.place)
        let receiver = TestReceiver()
        receiver.answer { _ in nil }
        func job(_ database: some TestDatabase) -> any Job {
            PostbackJob(database.makeJobContext(), receiver.settings)
        }
        var other = job(second.database)
        try await scenario.match(2)
        for moment in 1...4 as ClosedRange<UInt64> { _ = try other.slice(at: moment * 1_000_000_000) }
        #expect(receiver.calls.count == 1, "the lease of an hour ago is from a clock that was ahead")
        try await scenario.send()
        #expect(scenario.receiver.calls.count == 1)
    }

    @Test("of two processes, only one sends", arguments: backends)
    func lease(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        try await scenario.endpoint()
        try await scenario.match()
        let second = try await TestStore(backend, in: scenario.test.place)
        let receiver = TestReceiver()
        func job(_ database: some TestDatabase) -> any Job {
            PostbackJob(database.makeJobContext(), receiver.settings)
        }
        var other = job(second.database)
        scenario.receiver.answer { _ in nil }
        try await scenario.send()
        for moment in 1...4 as ClosedRange<UInt64> { _ = try other.slice(at: moment * 1_000_000_000) }
        #expect(scenario.receiver.calls.count == 1 && receiver.calls.isEmpty)
        // The lease of a process that is gone lapses.
        second.clock.advance(seconds: 5)
        for moment in 5...8 as ClosedRange<UInt64> { _ = try other.slice(at: moment * 1_000_000_000) }
        #expect(receiver.calls.map(\.text) == scenario.receiver.calls.map(\.text))
    }

    @Test("a delivery is not sent if its lease has ended before the call", arguments: backends)
    func slowSlice(backend: Backend) async throws {
        let clock = SteppingClock()
        let scenario = try await PostbackScenario(backend) { $0.clock = WallClock { clock.next() } }
        try await scenario.endpoint()
        try await scenario.match()
        clock.step = 5000
        try await scenario.send()
        #expect(scenario.receiver.calls.isEmpty)
        clock.step = 0
        try await scenario.send()
        #expect(scenario.receiver.calls.count == 1)
    }

    @Test("a process whose clock is ahead takes no lease before its end", arguments: backends)
    func clockAhead(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        try await scenario.endpoint()
        try await scenario.match()
        scenario.receiver.answer { _ in nil }
        try await scenario.send()
        let second = try await TestStore(backend, in: scenario.test.place)
        second.clock.advance(seconds: 3600)
        let receiver = TestReceiver()
        func job(_ database: some TestDatabase) -> any Job {
            let context = database.makeJobContext()
            context.state.noteComparison(at: 0, clockLead: 3_600_000)
            return PostbackJob(context, receiver.settings)
        }
        var other = job(second.database)
        for moment in 1...4 as ClosedRange<UInt64> { _ = try other.slice(at: moment * 1_000_000_000) }
        #expect(scenario.receiver.calls.count == 1 && receiver.calls.isEmpty)
    }

    @Test(
        "a process that has lost a lease changes neither the failures nor the retries, whenever its call ends",
        arguments: backends,
        [(500, false, 5), (500, true, 5), (410, false, 5), (410, true, 5), (500, false, 20), (500, true, 20)]
    )
    func lostLease(backend: Backend, end: (status: Int, isLate: Bool, seconds: Int)) async throws {
        let scenario = try await PostbackScenario(backend)
        let endpoint = try await scenario.endpoint()
        try await scenario.match()
        scenario.receiver.answer { _ in nil }
        try await scenario.send()
        // Another process sends the delivery after the lease has ended.
        #expect(try await scenario.sendFromOtherProcess(backend, after: 5) == 1)
        // The first process continues, perhaps after the lease of the other one has ended, and its call has failed.
        scenario.test.clock.advance(seconds: Int64(end.seconds))
        if end.isLate { try await scenario.send() }
        scenario.receiver.answerWaiting(PostbackAnswer(status: end.status))
        try await scenario.send()
        #expect(try await scenario.status(endpoint)?.endpoint.circuit.failures == 0)
        #expect(try await scenario.deliveries(endpoint).map(\.state) == [.delivered])
        #expect(scenario.receiver.calls.count == 1)
    }

    @Test("the failure of a call that outlived its lease changes no delivery", arguments: backends)
    func regainedLease(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        let endpoint = try await scenario.endpoint()
        try await scenario.match()
        scenario.receiver.answer { _ in nil }
        try await scenario.send()
        // Another process sends the delivery after the lease has ended.
        #expect(try await scenario.sendFromOtherProcess(backend, after: 5) == 1)
        // The first process notices that, and takes the lease for another delivery after the other process has lost it.
        scenario.test.clock.advance(seconds: 5)
        try await scenario.send()
        scenario.test.clock.advance(seconds: 10)
        scenario.receiver.answer { _ in PostbackAnswer(status: 204) }
        try await scenario.match(2)
        try await scenario.send()
        #expect(scenario.receiver.calls.count == 2)
        scenario.receiver.answerWaiting(PostbackAnswer(status: 500))
        try await scenario.send()
        #expect(try await scenario.deliveries(endpoint).map(\.state) == [.delivered, .delivered])
        #expect(scenario.receiver.calls.count == 2)
    }

    @Test("a write that waits until its lease has ended stores no numbers or failures", arguments: backends)
    func slowWrite(backend: Backend) async throws {
        let scenario = try await PostbackScenario(backend)
        let endpoint = try await scenario.endpoint()
        try await scenario.match()
        scenario.receiver.answer { _ in nil }
        try await scenario.send()
        // The other process sends the delivery as soon as the lease has ended.
        #expect(try await scenario.sendFromOtherProcess(backend, after: 4) == 1)
        // The first process has read its clock before it waited for the write.
        scenario.receiver.answerWaiting(PostbackAnswer(status: 500))
        try await scenario.send()
        #expect(try await scenario.status(endpoint)?.endpoint.circuit.failures == 0)
        #expect(try await scenario.deliveries(endpoint).map(\.state) == [.delivered])
    }
}

/// A clock that moves on with each reading by the milliseconds that a test sets.
private final class SteppingClock: Sendable {
    private let state = Mutex((now: TestStore.noon, step: 0 as Int64))

    var step: Int64 {
        get { state.withLock { $0.step } }
        set { state.withLock { $0.step = newValue } }
    }

    func next() -> Timestamp {
        state.withLock { state in
            state.now = state.now.advanced(byMilliseconds: state.step)
            return state.now
        }
    }
}
