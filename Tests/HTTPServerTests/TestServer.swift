import Foundation
import HTTPServer
import Support
import Synchronization
import Threads

/// A handler made of closures.
final class ClosureHandler: RequestHandler {
    private let answer: (Request) async -> Response
    private let turn: () -> Void
    private let begin: (Int) -> Void

    init(
        answer: @escaping (Request) async -> Response,
        turn: @escaping () -> Void = {},
        begin: @escaping (Int) -> Void = { _ in }
    ) {
        self.answer = answer
        self.turn = turn
        self.begin = begin
    }

    func respond(to request: Request) async -> Response { await answer(request) }

    func loopTurnWillBegin(connectionCount: Int) { begin(connectionCount) }

    func loopTurnDidEnd() { turn() }
}

/// A server on a free port of the loopback address, which runs during one test.
struct TestServer {
    let server: WebServer

    /// Runs a closure with a server of one loop that responds with `answer`, and then stops the server.
    static func run(
        _ configure: (inout HTTPServerConfiguration) -> Void = { _ in },
        answer: @escaping @Sendable (Request) async -> Response = { Response(.ok, text: Machine.line($0)) },
        during test: (TestServer) async throws -> Void
    ) async throws {
        try await run(configure, handler: { ClosureHandler(answer: answer) }, during: test)
    }

    /// Runs a closure with a server of one loop and this handler, and then stops the server.
    ///
    /// The loop's thread calls `makeHandler`.
    static func run(
        _ configure: (inout HTTPServerConfiguration) -> Void = { _ in },
        handler makeHandler: @escaping @Sendable () -> any RequestHandler,
        during test: (TestServer) async throws -> Void
    ) async throws {
        try await run(configure, waiting: { _ in makeHandler() }, during: test)
    }

    /// Runs a closure with a server of one loop and a handler that gets the loop's port to wait with, and then stops
    /// the server.
    static func run(
        _ configure: (inout HTTPServerConfiguration) -> Void = { _ in },
        waiting makeHandler: @escaping @Sendable (LoopPort) -> any RequestHandler,
        during test: (TestServer) async throws -> Void
    ) async throws {
        var configuration = HTTPServerConfiguration(
            listenAddress: ListenAddress(PeerAddress(ipv4: 0x7F00_0001, port: 0)),
            loopCount: 1
        )
        configuration.sweepInterval = .milliseconds(10)
        configuration.timeouts = .patient
        configure(&configuration)
        let permit = await TestPermit.take()
        defer { withExtendedLifetime(permit) {} }
        let server = try WebServer(configuration) { _, port in makeHandler(port) }
        try server.start()
        defer { server.stop(within: .milliseconds(200)) }
        try await test(TestServer(server: server))
    }

    /// Runs `test` with a server that responds with `answer`.
    ///
    /// Unlike `run`, this function takes `answer` as its first argument.
    static func answering(
        _ answer: @escaping @Sendable (Request) async -> Response,
        during test: (TestServer) async throws -> Void
    ) async throws {
        try await run(answer: answer, during: test)
    }

    func connect() throws -> RawClient { try RawClient(port: server.port) }
}

extension Timeouts {
    /// Limits that a busy machine does not exceed; a test of a limit sets a shorter one.
    static var patient: Timeouts {
        var timeouts = Timeouts()
        for limit in [\Timeouts.header, \.body, \.idle, \.write] { timeouts[keyPath: limit] = .seconds(600) }
        return timeouts
    }
}

/// Runs work on separate threads, because tests that wait may block all threads of the pool.
enum Background {
    /// Runs a closure that blocks; the task suspends until the closure has returned.
    static func run(_ work: @escaping @Sendable () -> Void) async { await start(work).pass() }

    /// Starts a closure that blocks; the gate opens when the closure has returned.
    static func start(_ work: @escaping @Sendable () -> Void) -> Gate {
        let done = Gate()
        Thread.detachNewThread {
            work()
            done.open()
        }
        return done
    }
}

/// A gate at which tasks wait until any thread opens it.
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

extension RawClient {
    /// Sends a request, or the remaining part of one, and reads the response.
    func ask(_ request: String) throws -> Answer {
        send(request)
        return try answer()
    }
}
