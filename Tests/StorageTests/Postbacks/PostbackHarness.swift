import Attribution
import Storage
import Support
import Synchronization
import TestDatabases

/// A receiver of calls, whose answers come from a test and not over the network.
final class TestReceiver: Sendable {
    private struct State: Sendable {
        var calls: [PostbackCall] = []
        var pending: [@Sendable (PostbackAnswer) -> Void] = []
        var answer: (@Sendable (PostbackCall) -> PostbackAnswer?) = { _ in PostbackAnswer(status: 204) }
    }
    private let state = Mutex(State())

    var calls: [PostbackCall] { state.withLock { $0.calls } }
    var waiting: Int { state.withLock { $0.pending.count } }

    /// Sets the answers to later calls; nil leaves a call without an answer.
    func answer(_ body: @escaping @Sendable (PostbackCall) -> PostbackAnswer?) {
        state.withLock { $0.answer = body }
    }

    /// Answers the calls that wait.
    func answerWaiting(_ answer: PostbackAnswer) {
        let pending = state.withLock { state in
            defer { state.pending = [] }
            return state.pending
        }
        for done in pending { done(answer) }
    }

    func forget() { state.withLock { $0.calls = [] } }

    var settings: PostbackSettings {
        PostbackSettings(
            send: { call, done in
                let answer = self.state.withLock { state in
                    state.calls.append(call)
                    let answer = state.answer(call)
                    if answer == nil { state.pending.append(done) }
                    return answer
                }
                if let answer { done(answer) }
            },
            keys: { TestReceiver.keys },
            random: TestReceiver.random
        )
    }

    static let random = RandomSource { count in (0..<count).map { _ in UInt8.random(in: 0...255) } }
    static let keys = ServerKeys(
        [ServerKey(bytes: [UInt8](repeating: 7, count: ServerKey.byteCount))].compactMap(\.self)[0]
    )
}

extension PostbackCall {
    var id: String? { fields.first { $0.name == "webhook-id" }?.value }
    var text: String { String(decoding: body, as: UTF8.self) }
}

/// A store, and the job that sends its postbacks; a test runs the job's slices and moves the clock.
final class PostbackScenario {
    /// The job and its time, which only the thread of jobs uses.
    private final class Sending: @unchecked Sendable {
        var job: any Job
        var moment: UInt64 = 1

        init(_ job: any Job) { self.job = job }
    }

    let test: TestStore
    let receiver = TestReceiver()
    private let sending: Sending
    /// The thread of the job, because a connection to a database belongs to one thread.
    private let thread = LoopThread()

    init(_ backend: Backend, set: (inout StoreConfiguration) -> Void = { _ in }) async throws {
        test = try await TestStore(backend, set: set)
        sending = Sending(Self.makeJob(test, receiver))
    }

    deinit { thread.stop() }

    private static func makeJob(_ test: TestStore, _ receiver: TestReceiver) -> any Job {
        func make(_ database: some TestDatabase) -> any Job {
            PostbackJob(database.makeJobContext(), receiver.settings)
        }
        return make(test.database)
    }

    /// Runs the job until two slices in a row have made no call.
    func send() async throws {
        let (sending, receiver) = (sending, receiver)
        try await Task(executorPreference: thread) {
            var (quiet, count) = (0, receiver.calls.count)
            while quiet < 2 {
                sending.moment += 1_000_000_000
                _ = try sending.job.slice(at: sending.moment)
                quiet = receiver.calls.count == count ? quiet + 1 : 0
                count = receiver.calls.count
            }
        }.value
    }

    /// Runs the job of another process, whose clock is ahead by some seconds; returns how many calls it made.
    func sendFromOtherProcess(_ backend: Backend, after seconds: Int64) async throws -> Int {
        let other = try await TestStore(backend, in: test.place)
        other.clock.advance(seconds: seconds)
        let receiver = TestReceiver()
        var job = Self.makeJob(other, receiver)
        for moment in 1...4 as ClosedRange<UInt64> { _ = try job.slice(at: moment * 1_000_000_000) }
        return receiver.calls.count
    }

    /// Forgets what the job has in memory, as the end of the process does, and lets its leases lapse.
    func restart() {
        sending.job = Self.makeJob(test, receiver)
        test.clock.advance(seconds: 60)
    }

    @discardableResult
    func endpoint(
        _ types: [String] = ["match.created"],
        url: String = "https://example.com/hook",
        set: (inout PostbackDraft) -> Void = { _ in }
    ) async throws -> PostbackEndpoint {
        var draft = PostbackDraft()
        (draft.url, draft.types) = (url, types)
        set(&draft)
        let (keys, random) = (TestReceiver.keys, TestReceiver.random)
        let endpoint = try draft.endpoint(of: test.app, keys: keys, at: test.clock.now, random: random).0
        try await test.run { try await $0.create(endpoint) }
        return endpoint
    }

    /// Records a click and matches it.
    @discardableResult
    func match(_ number: UInt64 = 1) async throws -> Click {
        let now = test.clock.now
        return try await test.run { session in
            let click = try await session.record(.sample(fingerprint: number, at: now, visit: number)).click
            _ = try await session.match(.sample(fingerprint: number, at: now, caller: number))
            return click
        }
    }

    func deliveries(_ endpoint: PostbackEndpoint) async throws -> [PostbackDelivery] {
        try await test.run { try await $0.deliveries(DeliveryQuery(endpoint.id, limit: 200)).deliveries }
    }

    func replay(_ replay: PostbackReplay, to endpoint: PostbackEndpoint) async throws -> Int {
        try await test.run { try await $0.replay(replay, to: endpoint.id) }
    }

    func set(
        _ endpoint: PostbackEndpoint,
        to state: PostbackEndpoint.State,
        because reason: String = "a test"
    ) async throws {
        let change = EndpointChange.set(state, reason: state == .enabled ? "" : reason)
        try await test.run { try await $0.change(endpoint.id, change, by: .test) }
    }

    func status(_ endpoint: PostbackEndpoint) async throws -> EndpointStatus? {
        try await test.run { try await $0.endpoints() }.first { $0.endpoint.id == endpoint.id }
    }
}
