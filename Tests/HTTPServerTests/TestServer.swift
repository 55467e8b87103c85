import Foundation
import HTTPServer
import Support
import Synchronization

/// A handler made of closures.
final class ClosureHandler: RequestHandler {
    private let answer: @Sendable (Request) async -> Response
    private let turn: @Sendable () -> Void
    private let begin: @Sendable (Int) -> Void

    init(
        answer: @escaping @Sendable (Request) async -> Response,
        turn: @escaping @Sendable () -> Void = {},
        begin: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.answer = answer
        self.turn = turn
        self.begin = begin
    }

    func respond(to request: Request) async -> Response { await answer(request) }

    func loopTurnWillBegin(connectionCount: Int) { begin(connectionCount) }

    func loopTurnDidEnd() { turn() }
}

/// A server on a free port of the loopback address, for as long as a test lasts.
struct TestServer {
    let server: WebServer

    /// Runs a closure with a server of one loop, and stops it afterwards.
    static func run(
        _ configure: (inout HTTPServerConfiguration) -> Void = { _ in },
        answer: @escaping @Sendable (Request) async -> Response = { Response(.ok, text: Machine.line($0)) },
        during test: (TestServer) async throws -> Void
    ) async throws {
        var configuration = HTTPServerConfiguration(
            listenAddress: ListenAddress(PeerAddress(ipv4: 0x7F00_0001, port: 0)),
            loopCount: 1
        )
        configuration.sweepInterval = .milliseconds(10)
        configuration.timeouts = .patient
        configure(&configuration)
        let server = try WebServer(configuration) { _ in ClosureHandler(answer: answer) }
        try server.start()
        defer { server.stop(within: .milliseconds(200)) }
        try await test(TestServer(server: server))
    }

    func connect() throws -> RawClient { try RawClient(port: server.port) }
}

extension Timeouts {
    /// Tests that are about time set limits of their own; all others must not fail on a busy machine.
    static var patient: Timeouts {
        var timeouts = Timeouts()
        for limit in [\Timeouts.header, \.body, \.idle, \.write] { timeouts[keyPath: limit] = .seconds(600) }
        return timeouts
    }
}

/// Work on threads of their own: the pool's may all be blocked by tests that wait for it.
enum Background {
    /// Runs a closure that blocks; the task suspends until it has returned.
    static func run(_ work: @escaping @Sendable () -> Void) async { await start(work).pass() }

    /// Starts a closure that blocks; the gate opens when it has returned.
    static func start(_ work: @escaping @Sendable () -> Void) -> Gate {
        let done = Gate()
        Thread.detachNewThread {
            work()
            done.open()
        }
        return done
    }
}

/// A request that is held back until it is let go, from any thread.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    var isOpen: Bool { state.withLock(\.isOpen) }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
