import HTTPServer
import Threads

/// A connection's state machine that responds to every request at once, and the requests that it read.
struct Conversation {
    /// A request with its exact bytes.
    struct Message: Equatable {
        var line: String
        var fields: [[UInt8]]
        var body: [UInt8]
    }

    enum Event: Equatable {
        case message(Message)
        case refusal(String)
    }

    private(set) var events: [Event] = []
    private(set) var maximumHeldByteCount = 0
    private let memory = RequestMemory(limit: .max)
    private var state: ConnectionState
    private var isReading = true
    private static let now = MonotonicTime(nanoseconds: 1_000_000_000)

    init() {
        state = ConnectionState(
            limits: Limits(),
            timeouts: TimeoutTable(Timeouts()),
            peer: PeerAddress(ipv4: 0x7F00_0001, port: 1),
            memory: memory,
            acceptedAt: Self.now
        )
        perform(.read)
    }

    /// Returns the events of bytes that arrive in pieces, and of the end of the stream.
    static func events(_ bytes: [UInt8], cut: (_ rest: Int) -> Int) throws(BrokenPromise) -> [Event] {
        var conversation = Conversation()
        var start = 0
        while start < bytes.count, conversation.isReading {
            let end = start + max(1, min(cut(bytes.count - start), bytes.count - start))
            conversation.receive(bytes[start..<end])
            start = end
        }
        conversation.end()
        try promise(conversation.memory[.waiting] == 0, "memory remains counted for waiting requests")
        try promise(conversation.memory[.answering] == 0, "memory remains counted for handlers")
        let held = conversation.maximumHeldByteCount
        try promise(held <= 2 * bytes.count + 2_048, "\(held) bytes are held for \(bytes.count)")
        return conversation.events
    }

    private mutating func receive(_ bytes: ArraySlice<UInt8>) {
        perform(state.received(bytes, at: Self.now))
        maximumHeldByteCount = max(maximumHeldByteCount, memory[.waiting])
    }

    private mutating func end() {
        if isReading { perform(state.ended()) }
        state.abandon()
    }

    private mutating func perform(_ first: ConnectionState.Action) {
        var action = first
        while true {
            isReading = false
            switch action {
            case .read, .sendContinue:
                isReading = true
                return
            case .respond(let request): events.append(.message(Self.message(request)))
            case .reject(let rejection):
                events.append(.refusal("\(rejection.status.code) \(rejection.reason)"))
            case .linger, .close: return
            }
            _ = state.answering(closing: false)
            action = state.answered(at: Self.now)
        }
    }

    private static func message(_ request: Request) -> Message {
        let target = request.path + (request.query.map { "?\($0)" } ?? "")
        let version = request.version == .http10 ? "1.0" : "1.1"
        var fields: [[UInt8]] = []
        request.forEachFieldLine { name, value in
            var line: [UInt8] = []
            for index in name.indices { line.append(name[index]) }
            line += [UInt8(ascii: ":"), UInt8(ascii: " ")]
            for index in value.indices { line.append(value[index]) }
            fields.append(line)
        }
        return Message(
            line: "\(request.method.rawValue) \(target) HTTP/\(version)",
            fields: fields,
            body: request.body
        )
    }
}

extension Conversation.Message {
    /// The message as a client would send it, with Content-Length.
    var bytes: [UInt8] {
        var bytes = Array("\(line)\r\n".utf8)
        for field in fields where !isFraming(field) { bytes += field + Array("\r\n".utf8) }
        bytes += Array("Content-Length: \(body.count)\r\n\r\n".utf8)
        return bytes + body
    }

    /// Whether the head would stay within its limits with one more field.
    var hasRoomForLength: Bool {
        let limits = Limits()
        let length = fields.reduce(0) { $0 + $1.count + 2 }
        return fields.count < limits.fieldCount && length + 32 < limits.fieldsByteCount
    }

    /// The fields that do not frame the body.
    var others: [[UInt8]] { fields.filter { !isFraming($0) } }

    private func isFraming(_ field: [UInt8]) -> Bool {
        let name = String(decoding: field.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self).lowercased()
        return name == "content-length" || name == "transfer-encoding"
    }
}
