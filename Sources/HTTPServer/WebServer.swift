internal import Glibc
public import Threads

/// An HTTP/1.1 server with several event loops, each with its own listener and handler.
public final class WebServer: Sendable {
    private enum Phase: Equatable {
        case bound
        /// The server was started, and this many of its loops have not ended.
        case started(runningCount: Int)
    }

    private let configuration: HTTPServerConfiguration
    private let makeHandler: @Sendable (Int, LoopPort) throws -> any RequestHandler
    private let loops: [EventLoop]
    private let counters = Counters()
    private let phase = ConditionLock(Phase.bound)

    /// The address that the server listens on, with the port that the system picked in place of 0.
    public let listenAddress: ListenAddress

    /// Listens on the address; the system queues connections until `start` makes the server accept them.
    ///
    /// - Parameters:
    ///   - configuration: the settings.
    ///   - makeHandler: creates the handler of a loop; `start` calls it once on each loop's thread. Its arguments are
    ///     the loop's number, from 0 on, and the loop's port, with which the handler can wait for descriptors and times.
    /// - Throws: `StartError` if the address is in use, or the system refuses a resource.
    public init(
        _ configuration: HTTPServerConfiguration,
        makeHandler: @escaping @Sendable (_ loop: Int, _ port: LoopPort) throws -> any RequestHandler
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
    }

    public var port: UInt16 { listenAddress.address.port }

    /// Address and port as in a URL: `127.0.0.1:8080`, `[::1]:8080`.
    public var addressText: String { listenAddress.description }

    /// Whether the server speaks HTTPS.
    public var isSecure: Bool { configuration.tls != nil }

    public var statistics: Statistics {
        var statistics = counters.statistics
        statistics.certificateExpiry = configuration.tls?.certificate.notAfter
        return statistics
    }

    /// Starts the loops' threads, creates their handlers on them, and starts to accept connections.
    ///
    /// Blocks until every handler exists. If one cannot be created, the server accepts nothing, and its loops end. The
    /// process ignores SIGPIPE from this call on.
    public func start() throws(StartError) {
        let isFirst = phase.withLock { phase in
            guard phase == .bound else { return false }
            phase = .started(runningCount: loops.count)
            return true
        }
        guard isFirst else { throw StartError(.state, "The server was started before.") }
        _ = signal(SIGPIPE, SIG_IGN)
        let assembly = ConditionLock(Assembly(missingCount: loops.count))
        for (number, loop) in loops.enumerated() {
            do throws(ThreadStartError) {
                try SystemThread.start { self.run(loop, number: number, assembly) }
            } catch {
                assembly.report(StartError(error))
                loopEnded()
            }
        }
        if let error = assembly.firstError() { throw error }
    }

    /// Stops gracefully: accepts no more connections, closes idle ones, and finishes requests that have started.
    ///
    /// Blocks until all loops have ended, at most one second longer than `grace`; without a `start`, it returns at
    /// once. When `grace` is over, the loops drop the connections that are still open. Any thread may call this
    /// function, except a loop's. Of two calls, the one whose grace ends first counts.
    public func stop(within grace: Duration) {
        let limit = MonotonicTime.now().advanced(by: grace)
        for loop in loops {
            loop.stopRequest.stop(until: limit)
            loop.executor.wake()
        }
        guard phase.withLock({ $0 != .bound }) else { return }
        waitUntilStopped(until: limit.advanced(by: .seconds(1)).nanoseconds)
    }

    /// Blocks until all loops have ended, or until `deadline`, in nanoseconds of the monotonic clock.
    ///
    /// It waits without limit if `deadline` is nil; without a `start`, no loop ends.
    public func waitUntilStopped(until deadline: UInt64? = nil) {
        _ = phase.wait(until: deadline) { $0 == .started(runningCount: 0) ? true : nil }
    }

    private func run(_ loop: EventLoop, number: Int, _ assembly: ConditionLock<Assembly>) {
        loop.executor.adoptCurrentThread()
        SystemThread.nameCurrent("http \(number)")
        do {
            let makeHandler = makeHandler
            try loop.assumeIsolated { loop in try loop.setHandler { try makeHandler(number, $0) } }
            assembly.report(nil)
        } catch {
            let message = "The handler of event loop \(number) could not be created: \(error)"
            assembly.report(StartError(.handler, message, underlying: error))
        }
        if assembly.firstError() == nil { loop.run() }
        loop.retire()
        loopEnded()
    }

    private func loopEnded() {
        phase.withLock { phase in
            if case .started(let count) = phase { phase = .started(runningCount: count - 1) }
        }
        phase.broadcast()
    }
}

/// Collects the reports of the loops' threads at the start.
///
/// No loop accepts a connection before all loops have a handler.
private struct Assembly {
    /// The number of loops that have not reported.
    var missingCount: Int
    var firstError: StartError?
}

extension ConditionLock<Assembly> {
    /// Records that a loop has its handler, or that it cannot run.
    fileprivate func report(_ error: StartError?) {
        withLock { assembly in
            assembly.missingCount -= 1
            if assembly.firstError == nil { assembly.firstError = error }
        }
        broadcast()
    }

    /// Waits until all loops have reported, and returns the first error; nil without an error.
    fileprivate func firstError() -> StartError? {
        let error: StartError?? = wait(until: nil) { $0.missingCount == 0 ? .some($0.firstError) : nil }
        return error ?? nil
    }
}

/// The error of a server that could not start.
public struct StartError: Error, Sendable {
    public enum Cause: Sendable, Hashable {
        /// The server could not listen on the address.
        case listening
        /// The system refused a resource, such as a thread, a descriptor or memory.
        case resources
        /// The handler of a loop could not be created.
        case handler
        /// The server was started before.
        case state
    }

    public let cause: Cause

    /// The system's error number; nil if the system reported none.
    public let systemError: Int32?

    /// One sentence for the operator.
    public let message: String

    /// The error that the creation of a handler threw; nil for any other cause.
    public let underlying: (any Error)?

    init(_ cause: Cause, _ message: String, systemError: Int32? = nil, underlying: (any Error)? = nil) {
        (self.cause, self.message) = (cause, message)
        (self.systemError, self.underlying) = (systemError, underlying)
    }

    /// Creates the error for a thread that the system refused.
    public init(_ error: ThreadStartError) { self = .resources("a thread", error.systemError) }

    static func resources(_ what: String, _ code: Int32 = errno) -> StartError {
        StartError(.resources, "The system refused \(what): \(systemErrorText(code))", systemError: code)
    }

    static func listening(_ address: PeerAddress) -> StartError {
        let code = errno
        let message = "Cannot listen on \(ListenAddress(address)): \(systemErrorText(code))"
        return StartError(.listening, message, systemError: code)
    }

    private static func systemErrorText(_ code: Int32) -> String {
        // strerror returns a text in the C library's memory, which this function copies before the next call.
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}
