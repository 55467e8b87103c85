import HTTPServer
import Threads

/// The state machine of a connection without a socket; it gets bytes and logs its actions.
struct Machine {
    /// A line for each action except reading: a request for the handler, an interim response, a rejection, an end.
    private(set) var log: [String] = []
    /// The requests for the handler.
    private(set) var requests: [Request] = []
    private(set) var rejections: [Rejection] = []
    /// Whether the machine waits for bytes.
    private(set) var isReading = false
    /// Whether each request gets its response at once; if not, the test calls `answer`.
    var answersAtOnce = true

    private(set) var state: ConnectionState
    var now = MonotonicTime(nanoseconds: 1_000_000_000)

    init(
        limits: Limits = Limits(),
        timeouts: Timeouts = Timeouts(),
        memory: RequestMemory = RequestMemory(limit: .max)
    ) {
        state = ConnectionState(
            limits: limits,
            timeouts: TimeoutTable(timeouts),
            peer: PeerAddress(ipv4: 0x7F00_0001, port: 4_242),
            memory: memory,
            acceptedAt: now
        )
        perform(.read)
    }

    /// Returns the log of a new machine that gets all bytes at once.
    static func log(_ bytes: some Collection<UInt8>, limits: Limits = Limits()) -> [String] {
        var machine = Machine(limits: limits)
        machine.feed(Array(bytes))
        return machine.log
    }

    static func log(_ text: String, limits: Limits = Limits()) -> [String] { log(text.utf8, limits: limits) }

    mutating func feed(_ text: String) { feed(Array(text.utf8)) }

    mutating func feed(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, isReading else { return }
        perform(state.received(bytes[...], at: now))
    }

    /// Ends the connection without the machine's action.
    mutating func abandon() { state.abandon() }

    mutating func end() { perform(state.ended()) }
    mutating func stop() { state.stop(at: now) }
    mutating func turnAway() { perform(state.turnAway()) }

    /// Advances the clock, and reports a timeout to the machine if its deadline has passed.
    mutating func pass(_ duration: Duration) {
        now = now.advanced(by: duration)
        if isReading, state.deadline <= now { perform(state.timedOut()) }
    }

    mutating func answer(closing: Bool = false) {
        if !state.answering(closing: closing).keepsAlive { log.append("says close") }
        perform(state.answered(at: now))
    }

    private mutating func perform(_ action: ConnectionState.Action) {
        isReading = false
        switch action {
        case .read: isReading = true
        case .sendContinue:
            log.append("100")
            isReading = true
        case .respond(let request):
            requests.append(request)
            log.append(Self.line(request))
            if answersAtOnce { answer() }
        case .reject(let rejection):
            rejections.append(rejection)
            log.append("\(rejection.status.code) \(rejection.reason)")
            _ = state.answering(closing: false)
            perform(state.answered(at: now))
        case .linger:
            if log.last != "linger" { log.append("linger") }
            isReading = true
        case .close: log.append("close")
        }
    }

    static func line(_ request: Request) -> String {
        var line = "\(request.method.rawValue) \(request.path)"
        if let query = request.query { line += "?\(query)" }
        if request.version == .http10 { line += " 1.0" }
        if !request.body.isEmpty { line += " [\(String(decoding: request.body, as: UTF8.self))]" }
        return line
    }

    /// Returns the log line of a refusal.
    static func line(_ refusal: Refusal) -> String { "\(refusal.kind.status.code) \(refusal.sentence)" }

    /// Returns the log of a connection whose first request is refused.
    static func refusal(_ refusal: Refusal) -> [String] { [line(refusal), "linger"] }
}

extension String {
    /// The bytes of a text, one for each character; all characters must be below U+0100.
    var latin1: [UInt8] { unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
}
