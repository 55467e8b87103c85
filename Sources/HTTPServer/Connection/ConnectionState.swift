package import Threads

/// The state machine of a connection: each event changes the state and returns the next action.
///
/// It has no socket and no clock, so that tests need none; every time is an argument. The caller performs the action,
/// and then calls the function for the event that results from the action.
package struct ConnectionState {
    package enum Action {
        /// Send the written bytes, then wait for input until `deadline`.
        case read
        /// Send `100 Continue`, then wait for input until `deadline`.
        case sendContinue
        /// Pass the request to the handler and write its response.
        case respond(Request)
        /// Write the response to a refusal.
        case reject(Rejection)
        /// Send the written bytes and end sending; then drop input until `deadline`.
        case linger
        /// Send the written bytes, then close.
        case close
    }

    private enum Phase {
        /// No byte of the next request has arrived.
        case idle
        /// A part of a request line or of field lines has arrived.
        case head
        /// The head of a request has arrived, and a part of its body of known length.
        case body(HeadParser.Head, count: Int)
        /// The head of a request has arrived, and a part of its chunked body.
        case chunkedBody(HeadParser.Head, ChunkedDecoder)
        /// A handler has the request, or the caller writes the response to a refusal.
        case responding
        /// The last response was written, and the machine drops further input.
        case lingering
    }

    /// The maximum number of bytes that the machine drops after the last response; then it closes the connection.
    package static let maximumLingeringByteCount = 1024 * 1024

    /// When `read`, `sendContinue` or `linger` times out.
    package private(set) var deadline = MonotonicTime(nanoseconds: .max)

    private let limits: Limits
    private let timeouts: TimeoutTable
    private let peer: PeerAddress
    private let isSecure: Bool
    private let memory: RequestMemory

    private var phase = Phase.idle
    private var input = InputBuffer()
    /// The memory of the input buffer in bytes, which does not include `body`.
    var inputByteCount: Int { input.heldByteCount }
    private var parser = HeadParser()
    private var body: [UInt8] = []
    private var firstByteAt: MonotonicTime
    private var requestCount = 0
    private var lingeringBytes = 0
    /// The bytes of this connection in the account `waiting` of `memory`.
    private var waitingByteCount = 0
    /// The bytes of this connection in the account `answering` of `memory`.
    private var answeringByteCount = 0
    /// The size, in bytes, of the request that a handler got last.
    private var requestByteCount = 0

    /// The maximum length, in bytes, of the last chunked body; 0 before the first one.
    private var chunkLimit = 0

    /// Whether the connection ends with the current response.
    private var isLast = false
    /// Whether the peer sends no request after the current one.
    private var peerIsDone = false
    private var isStopping = false

    /// The version of the current request.
    package private(set) var version = Version.http11
    /// The method of the current request; `nil` before the first request, and for a rejection without a known method.
    package private(set) var method: Method?

    package init(
        limits: Limits,
        timeouts: TimeoutTable,
        peer: PeerAddress,
        isSecure: Bool = false,
        memory: RequestMemory,
        acceptedAt: MonotonicTime
    ) {
        (self.limits, self.timeouts, self.peer) = (limits, timeouts, peer)
        (self.isSecure, self.memory) = (isSecure, memory)
        firstByteAt = acceptedAt
        deadline = acceptedAt.advanced(byNanoseconds: timeouts.idle)
    }
}

// MARK: - Events

extension ConnectionState {
    /// Records that the peer sent plain HTTP where the server expects TLS.
    package mutating func beganWithoutTLS() -> Action { refuse(.tlsMissing) }

    /// Refuses the connection because too many are open.
    package mutating func turnAway() -> Action { refuse(.tooManyConnections) }

    /// Adds received bytes.
    package mutating func received(_ bytes: ArraySlice<UInt8>, at now: MonotonicTime) -> Action {
        if case .lingering = phase {
            lingeringBytes += bytes.count
            return lingeringBytes < Self.maximumLingeringByteCount ? .linger : .close
        }
        if case .idle = phase { firstByteAt = now }
        if case .body(_, let count) = phase, input.isRead {
            // Append to the body directly, not through the input buffer.
            let part = bytes.prefix(count - body.count)
            appendToBody(part, of: count)
            input.append(bytes.dropFirst(part.count))
        } else {
            input.append(bytes)
        }
        return advance(at: now)
    }

    /// Records that the peer sends no more.
    package mutating func ended() -> Action {
        peerIsDone = true
        switch phase {
        case .idle, .lingering, .responding: return .close
        case .head, .body, .chunkedBody: return refuse(.endedEarly)
        }
    }

    /// Records that the handler has returned a response.
    ///
    /// - Parameter closing: whether the connection must close after the response.
    /// - Returns: the context in which to write the response; it contains whether the connection stays open.
    package mutating func answering(closing: Bool) -> ResponseWriter.Context {
        isLast = isLast || closing || isStopping
        return ResponseWriter.Context(method: method, version: version, keepsAlive: !isLast)
    }

    /// Records that the response was written; the caller may send it later.
    package mutating func answered(at now: MonotonicTime) -> Action {
        accountForAnswering(0)
        guard !isLast else { return finish(at: now) }
        parser = HeadParser()
        phase = .idle
        firstByteAt = now
        guard input.isEmpty else { return advance(at: now) }
        deadline = now.advanced(byNanoseconds: timeouts.idle)
        return .read
    }

    /// Records that the deadline has passed.
    package mutating func timedOut() -> Action {
        switch phase {
        case .idle, .lingering, .responding: .close
        case .head: refuse(.headTooSlow)
        case .body, .chunkedBody: refuse(.bodyTooSlow)
        }
    }

    /// Records that the connection has ended, and removes its memory from the loop's accounts.
    package mutating func abandon() {
        accountForAnswering(0)
        accountForWaiting(0)
    }

    /// Records that the server stops.
    ///
    /// The server finishes a request that has started. On an idle connection, one more may start within `farewell`.
    package mutating func stop(at now: MonotonicTime) {
        isStopping = true
        if case .idle = phase { deadline = min(deadline, now.advanced(byNanoseconds: timeouts.farewell)) }
    }
}

// MARK: - Transitions

extension ConnectionState {
    /// Parses the received bytes, until it needs more or a request is complete.
    private mutating func advance(at now: MonotonicTime) -> Action {
        do {
            let action = try continueReading(at: now)
            guard !accountFor(action) else { return action }
            guard case .respond(let request) = action else { return refuse(.memoryExhausted) }
            return refuse(.memoryExhausted, of: request)
        } catch { return refuse(error) }
    }

    private mutating func continueReading(at now: MonotonicTime) throws(Refusal) -> Action {
        switch phase {
        case .idle, .head: return try readHead(at: now)
        case .body(let head, let count): return readBody(head, count: count)
        case .chunkedBody(let head, var decoder): return try readChunks(head, &decoder)
        case .responding, .lingering: return .read
        }
    }

    private mutating func readHead(at now: MonotonicTime) throws(Refusal) -> Action {
        let bytes = input.bytes
        let head = try parser.parse(bytes.span.extracting(droppingFirst: input.readStart), limits: limits)
        guard let head else {
            if case .idle = phase {
                guard parser.hasBegun else {
                    // During a stop, an empty line must not extend the farewell.
                    if !isStopping { deadline = now.advanced(byNanoseconds: timeouts.idle) }
                    return .read
                }
                phase = .head
                deadline = now.advanced(byNanoseconds: timeouts.header)
            }
            return .read
        }
        return try openBody(head, at: now)
    }

    private mutating func openBody(_ head: HeadParser.Head, at now: MonotonicTime) throws(Refusal) -> Action {
        body = []
        deadline = now.advanced(byNanoseconds: timeouts.body)
        let action: Action
        switch head.body {
        case .none: return passToHandler(head)
        case .length(let count):
            let isShort = count <= min(limits.leastByteCount, limits.bodyByteCount)
            guard isShort || count <= bodyLimit(of: head) else { throw .bodyLength }
            input.beginBody(after: head.length)
            action = readBody(head, count: count)
        case .chunked:
            chunkLimit = bodyLimit(of: head)
            input.beginBody(after: head.length)
            var decoder = ChunkedDecoder()
            action = try readChunks(head, &decoder)
        }
        // RFC 9110 §10.1.1: do not send `100 Continue` to HTTP/1.0, nor when a part of the body has arrived.
        if case .read = action, head.framing.expectsContinue, head.version == .http11, !input.bodyHasBegun {
            return .sendContinue
        }
        return action
    }

    /// Returns the limit of the path's bodies.
    private func bodyLimit(of head: HeadParser.Head) -> Int {
        guard !limits.bodiesByPath.isEmpty else { return limits.bodyByteCount }
        let path = input.bytes[input.readStart...].dropFirst(head.target.path.lowerBound)
        let text = String(decoding: path.prefix(head.target.path.count), as: UTF8.self)
        return limits.bodiesByPath[text] ?? limits.bodyByteCount
    }

    private mutating func readBody(_ head: HeadParser.Head, count: Int) -> Action {
        appendToBody(input.takeBody(count - body.count), of: count)
        guard body.count < count else { return passToHandler(head) }
        phase = .body(head, count: count)
        return .read
    }

    private mutating func readChunks(
        _ head: HeadParser.Head,
        _ decoder: inout ChunkedDecoder
    ) throws(Refusal) -> Action {
        var (used, limits) = (0, limits)
        limits.bodyByteCount = chunkLimit
        let bytes = input.bytes
        let unread = bytes.span.extracting(droppingFirst: input.readStart)
        let outcome = try decoder.decode(unread, into: &body, used: &used, limits: limits)
        input.consumeBody(used)
        guard outcome == .more else { return passToHandler(head) }
        phase = .chunkedBody(head, decoder)
        return .read
    }

    private mutating func passToHandler(_ head: HeadParser.Head) -> Action {
        requestCount += 1
        version = head.version
        method = head.method
        let stays =
            head.version == .http11 ? !head.framing.closes : head.framing.keepsAlive && !head.framing.closes
        peerIsDone = !stays
        isLast = !stays || requestCount >= limits.requestsPerConnection || isStopping
        phase = .responding
        let bytes = input.takeHead(head.length)
        requestByteCount = bytes.count + body.count
        let request = Request(
            head: head,
            bytes: bytes,
            body: body.take(),
            peer: peer,
            firstByteAt: firstByteAt,
            isSecure: isSecure
        )
        return .respond(request)
    }

    /// Refuses the current request, or the connection; `request` is `nil` for a request that is not complete.
    ///
    /// The input buffer no longer contains the head of a complete request, so the request itself gives its `Origin`.
    private mutating func refuse(_ refusal: Refusal, of request: Request? = nil) -> Action {
        phase = .responding
        isLast = true
        // The peer may still send, so `finish` continues to read: if the server closed with unread bytes, the peer
        // could lose the response.
        peerIsDone = false
        // The response to a refused HEAD has no body, either (RFC 9110 §9.3.2).
        method = request?.method ?? parser.knownMethod
        let origin = if let request { request.field("origin") } else { refusedOrigin }
        input = InputBuffer()
        body = []
        abandon()
        let (kind, reason, start) = (refusal.kind, refusal.sentence, firstByteAt)
        return .reject(.init(kind: kind, reason: reason, peer: peer, firstByteAt: start, origin: origin))
    }

    /// The `Origin` field of an incomplete request, without which a web page could not read the response.
    ///
    /// It is `nil` if the parser has read none.
    private var refusedOrigin: String? {
        guard let last = parser.lines.last else { return nil }
        let head = RequestHead(bytes: input.head(Int(last.value.upperBound)), lines: parser.lines)
        return head.firstLine(named: "origin").map { head.string(head.lines[$0].value) }
    }

    private mutating func finish(at now: MonotonicTime) -> Action {
        // If the peer sends no further request and no further byte has arrived, nothing remains to be read.
        if peerIsDone, input.isEmpty { return .close }
        input = InputBuffer()
        phase = .lingering
        deadline = now.advanced(byNanoseconds: timeouts.linger)
        return .linger
    }
}

// MARK: - Memory

extension ConnectionState {
    /// Appends to a body of known length, and reserves at most that length.
    private mutating func appendToBody(_ part: ArraySlice<UInt8>, of count: Int) {
        let needed = body.count + part.count
        if needed > body.capacity { body.reserveCapacity(min(count, max(needed, 2 * body.capacity))) }
        body.append(contentsOf: part)
    }

    /// Updates the accounts of `memory` with the bytes that the connection holds during the action.
    ///
    /// - Returns: whether the limit of the changed account permits the action.
    private mutating func accountFor(_ action: Action) -> Bool {
        switch action {
        case .read, .sendContinue:
            input.shrink()
            return accountForWaiting(input.heldByteCount + body.capacity)
        case .respond:
            accountForWaiting(0)
            // Later requests wait in the buffer until the handler has responded.
            input.shrink()
            return accountForAnswering(requestByteCount + input.heldByteCount)
        case .reject, .linger, .close: return true
        }
    }

    @discardableResult
    private mutating func accountForWaiting(_ count: Int) -> Bool {
        guard count != waitingByteCount else { return true }
        defer { waitingByteCount = count }
        return memory.change(.waiting, from: waitingByteCount, to: count)
    }

    @discardableResult
    private mutating func accountForAnswering(_ count: Int) -> Bool {
        guard count != answeringByteCount else { return true }
        defer { answeringByteCount = count }
        return memory.change(.answering, from: answeringByteCount, to: count)
    }
}

extension [UInt8] {
    /// Returns the array and leaves it empty.
    mutating func take() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &self)
        return taken
    }
}

/// The `Timeouts` in nanoseconds, so that a connection need not convert them.
package struct TimeoutTable: Sendable {
    let header: Int64
    let body: Int64
    let idle: Int64
    let write: Int64
    let linger: Int64
    let farewell: Int64
    let deliveryWatch: Int64

    package init(_ timeouts: Timeouts) {
        header = timeouts.header.wholeNanoseconds
        body = timeouts.body.wholeNanoseconds
        idle = timeouts.idle.wholeNanoseconds
        write = timeouts.write.wholeNanoseconds
        linger = timeouts.linger.wholeNanoseconds
        farewell = timeouts.farewell.wholeNanoseconds
        deliveryWatch = timeouts.deliveryWatch.wholeNanoseconds
    }
}
