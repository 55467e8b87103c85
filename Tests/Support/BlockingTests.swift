import Synchronization
public import Testing

/// Runs tests that block (child processes, sockets) seven at a time, each on a thread of its own.
///
/// The pool that all tests share has one thread per core: a test that blocks such a thread would delay all others.
///
/// The trait also reports a test that hangs. Swift Testing's time limit would include the wait for a permit, which on a
/// slow machine is nearly as long as all tests take. The limit of this trait starts when the test starts.
public struct BlockingTestsTrait: SuiteTrait, TestTrait, TestScoping {
    public let isRecursive = true
    private static let permits = Permits(count: 7)
    let minutes: Int
    let isFirst: Bool
    /// Whether the current task is a test that has one of the permits.
    @TaskLocal fileprivate static var hasPermit = false

    @concurrent
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        await Self.permits.take(first: isFirst)
        defer { Self.permits.give() }
        let thread = LoopThread()
        defer { thread.stop() }
        let watch = Task { [minutes] in
            try await Task.sleep(for: .seconds(60 * minutes))
            Issue.record("The test has run for \(minutes) minutes since it started, and has not ended.")
        }
        defer { watch.cancel() }
        try await Self.$hasPermit.withValue(true) {
            try await withTaskExecutorPreference(thread) { try await function() }
        }
    }
}

extension Trait where Self == BlockingTestsTrait {
    /// The tests block: each runs on a thread of its own.
    public static var blocking: Self { .blocking() }

    /// The tests block, and each may take the given number of minutes once it has started.
    ///
    /// Set `first` for a long serialized suite. Each of its tests starts to wait only when the previous one
    /// has ended, so the suite would otherwise run test by test after all other tests.
    public static func blocking(minutes: Int = 10, first: Bool = false) -> Self {
        Self(minutes: minutes, isFirst: first)
    }
}

/// Limits how many tests run at a time; the others wait in order of arrival, but one with `first` is the
/// next.
public final class Permits: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    public init(count: Int) { state = Mutex(State(free: count)) }

    public func take(first: Bool = false) async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.insert(continuation, at: first ? 0 : state.waiting.endIndex)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    public func give() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}

/// Limits how many tests have a server or a database in this process at a time, because each of these has
/// threads.
///
/// Swift Testing starts all tests at once: without the limit, thousands of threads would compete for the cores, and the
/// tests would take twice as long. A test that has a permit gets it again at once, so two tests never wait for each
/// other. The permit ends with the last reference to it.
public final class TestPermit: Sendable {
    private static let permits = Permits(count: 8)
    /// The permits of the tests that have one.
    private static let taken = Mutex<[Test.ID: Weak]>([:])

    private struct Weak: Sendable {
        weak let permit: TestPermit?
    }

    deinit { Self.permits.give() }

    public static func take() async -> TestPermit {
        let test = Test.current?.id
        if let test, let own = taken.withLock({ $0[test]?.permit }) { return own }
        // A blocking test would wait behind all other tests for more than a minute, and keep its permit meanwhile.
        await permits.take(first: BlockingTestsTrait.hasPermit)
        let permit = TestPermit()
        if let test { taken.withLock { $0[test] = Weak(permit: permit) } }
        return permit
    }
}
