import HTTPServer
import Threads

/// A connection's machine without a connection: bytes in, what it did out.
struct Machine {
    /// One line for each thing done: a request handed over, an interim answer, a refusal, an end.
    private(set) var log: [String] = []
    /// The requests handed over.
    private(set) var requests: [Request] = []
    private(set) var rejections: [Rejection] = []
    /// Whether it waits for bytes.
    private(set) var isReading = false
    /// Whether a request is answered at once; if not, `answer` does it.
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
        perform(state.begin())
    }

    /// What bytes make a new machine do, given as a whole.
    static func log(_ bytes: some Collection<UInt8>, limits: Limits = Limits()) -> [String] {
        var machine = Machine(limits: limits)
        machine.feed(Array(bytes))
        return machine.log
    }

    mutating func feed(_ text: String) { feed(Array(text.utf8)) }

    mutating func feed(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, isReading else { return }
        perform(state.received(bytes[...], at: now))
    }

    /// The connection is gone in the middle of whatever it does.
    mutating func abandon() { state.abandon() }

    mutating func end() { perform(state.ended()) }

    mutating func stop() { state.stop(at: now) }

    mutating func turnAway() { perform(state.turnAway()) }

    /// Moves the clock and tells the machine, if its deadline has passed.
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

    /// The line that a refusal leaves.
    static func line(_ refusal: Refusal) -> String {
        "\(refusal.kind.status.code) \(refusal.sentence)"
    }
}

extension String {
    /// The bytes of a text of characters below U+0100, one each.
    var latin1: [UInt8] { unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
}
