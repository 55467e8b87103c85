internal import Glibc
internal import Synchronization
internal import Threads

/// An HTTP/1.1 server with several event loops, each with its own listener and handler.
public final class WebServer: Sendable {
    private enum Phase {
        case bound
        case started
    }

    private let configuration: HTTPServerConfiguration
    private let makeHandler: @Sendable (Int) throws -> any RequestHandler
    private let loops: [EventLoop]
    private let counters = Counters()
    private let phase = Mutex(Phase.bound)
    /// Loops that have not ended.
    private let running = Atomic<Int>(0)
    /// Raised once all loops have ended, and never cleared.
    private let ended: WakeSignal

    /// The address that the server listens on, with the port that the system picked in place of 0.
    public let listenAddress: ListenAddress

    /// Binds the address.
    ///
    /// The server accepts no connection before `start`.
    ///
    /// `makeHandler` is called by `start`, once on each loop's thread, with the loop's number from 0 on.
    public init(
        _ configuration: HTTPServerConfiguration,
        makeHandler: @escaping @Sendable (_ loop: Int) throws -> any RequestHandler
    ) throws(StartError) {
        var address = configuration.listenAddress.address
        try Listener.checkIsFree(address)
        var loops: [EventLoop] = []
        for _ in 0..<configuration.loopCount {
            let listener = try Listener(address, backlog: configuration.backlog)
            address = PeerAddress(high: address.high, low: address.low, port: listener.port)
            loops.append(try EventLoop(configuration, listener: listener, counters: counters))
        }
        self.configuration = configuration
        self.makeHandler = makeHandler
        self.loops = loops
        listenAddress = ListenAddress(address)
        ended = try WakeSignal()
    }

    public var port: UInt16 { listenAddress.address.port }

    /// Address and port as in a URL: `127.0.0.1:8080`, `[::1]:8080`.
    public var addressText: String { listenAddress.description }

    public var statistics: Statistics {
        var statistics = counters.statistics
        statistics.certificateExpiry = configuration.tls?.certificate.notAfter
        return statistics
    }

    /// Starts the loops' threads, creates their handlers on them, and starts to accept connections.
    ///
    /// Blocks until every handler exists. If one cannot be created, the server has accepted nothing and is at its
    /// end. The process ignores SIGPIPE from here on.
    public func start() throws(StartError) {
        let isFirst = phase.withLock { phase in
            defer { phase = .started }
            return phase == .bound
        }
        guard isFirst else { throw .state("The server was started before.") }
        _ = signal(SIGPIPE, SIG_IGN)
        let assembly = try Assembly(count: loops.count)
        running.store(loops.count, ordering: .relaxed)
        for (number, loop) in loops.enumerated() {
            do throws(ThreadStartError) {
                try SystemThread.start { self.run(loop, number: number, assembly) }
            } catch {
                assembly.report(StartError(error))
                loopEnded()
            }
        }
        try assembly.wait()
    }

    /// Stops gracefully: accepts no more, closes idle connections, finishes requests that have begun.
    ///
    /// Blocks until all loops have ended, at the latest when the grace is over; requests without a response are then
    /// cut off. Any thread but a loop's may call it; after a second call, the shorter grace counts.
    public func stop(within grace: Duration) {
        let limit = MonotonicTime.now().advanced(by: grace)
        for loop in loops {
            loop.stopRequest.stop(until: limit)
            loop.executor.wake()
        }
        guard phase.withLock({ $0 == .started }) else { return }
        _ = ended.wait(until: limit.advanced(by: .seconds(1)))
    }

    /// Blocks until all loops have ended.
    public func waitUntilStopped() { _ = ended.wait() }

    private func run(_ loop: EventLoop, number: Int, _ assembly: Assembly) {
        loop.executor.adoptCurrentThread()
        SystemThread.nameCurrent("http \(number)")
        do {
            let makeHandler = makeHandler
            try loop.assumeIsolated { loop in loop.setHandler(try makeHandler(number)) }
            assembly.report(nil)
        } catch {
            assembly.report(.handler(error, loop: number))
        }
        if assembly.isComplete() { loop.run() }
        loopEnded()
    }

    private func loopEnded() {
        if running.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { ended.raise() }
    }
}

/// Lets the loops' threads wait for each other before the first of them accepts.
private final class Assembly: Sendable {
    private struct State {
        var missing: Int
        var error: StartError?
    }

    private let state: Mutex<State>
    private let allReported: WakeSignal

    init(count: Int) throws(StartError) {
        state = Mutex(State(missing: count))
        allReported = try WakeSignal()
    }

    func report(_ error: StartError?) {
        let isLast = state.withLock { state in
            state.missing -= 1
            if state.error == nil { state.error = error }
            return state.missing == 0
        }
        if isLast { allReported.raise() }
    }

    /// Waits for all reports, and returns whether none of them was a failure.
    func isComplete() -> Bool {
        _ = allReported.wait()
        return state.withLock { $0.error == nil }
    }

    func wait() throws(StartError) {
        _ = allReported.wait()
        if let error = state.withLock({ $0.error }) { throw error }
    }
}

extension StartError {
    fileprivate static func state(_ message: String) -> StartError {
        StartError(cause: .state, systemError: nil, message: message, underlying: nil)
    }

    fileprivate static func handler(_ error: any Error, loop: Int) -> StartError {
        StartError(
            cause: .handler,
            systemError: nil,
            message: "The handler of event loop \(loop) could not be created: \(error)",
            underlying: error
        )
    }
}

/// Why a server could not start.
public struct StartError: Error, Sendable {
    public enum Cause: Sendable, Hashable {
        /// The address could not be listened on.
        case listening
        /// A system resource (thread, epoll, eventfd, descriptor) was refused.
        case resources
        /// The handler of a loop could not be created.
        case handler
        /// The server was started before, or stopped.
        case state
    }

    public let cause: Cause

    /// The system's error number, where there is one.
    public let systemError: Int32?

    /// One sentence for the operator.
    public let message: String

    /// The error that the creation of a handler threw.
    public let underlying: (any Error)?
}
