internal import Attribution
internal import HTTPServer

/// Gathers the log lines of requests during one turn (iteration) of an event loop, and passes them on together.
struct RequestLog {
    /// The values of one request's line; the handler sets status, duration and size when the response is made.
    struct Line {
        let requestID: String
        /// The method; `-` for bytes that never became a request.
        let method: String
        /// The route, whose pattern is logged instead of the path as sent; nil for unknown paths.
        var route: Route?
        var app: AppID?
        var outcome: String?
        var at = Timestamp(milliseconds: 0)
        var status = 0
        /// The time from the request's first byte until its response was made.
        var microseconds: UInt64 = 0
        /// The length of the response's body in bytes.
        var byteCount = 0
    }

    private let log: Log
    private var bytes: [UInt8] = []
    private var lineCount = 0
    /// The last line's time, app and call, each with its bytes, because many lines share their millisecond, app or
    /// route.
    private var lastTime: (moment: Timestamp, text: [UInt8])?
    private var lastApp: (app: AppID, text: [UInt8])?
    private var lastCall: (method: String, route: Route?, status: Int, text: [UInt8])?

    init(log: Log) { self.log = log }

    mutating func append(_ line: Line) {
        switch log.format {
        case .json: appendJSON(line)
        case .text: appendText(line)
        }
        bytes.append(UInt8(ascii: "\n"))
        lineCount += 1
    }

    mutating func flush() {
        guard lineCount > 0 else { return }
        log.append(bytes, lineCount: lineCount)
        bytes.removeAll(keepingCapacity: true)
        lineCount = 0
    }

    /// The pieces between a JSON line's values.
    ///
    /// They are literals, because loops that shared an array would contend for its reference count.
    private enum Piece {
        static let time = #"{"time":""#
        static let requestID = #"","request_id":""#
        static let duration = #","duration_us":"#
        static let byteCount = #","bytes":"#
        static let app = #","app":""#
        static let outcome = #","outcome":""#
    }

    /// Appends the line without escaping: its words, its numbers and a request id contain nothing that JSON escapes.
    private mutating func appendJSON(_ line: Line) {
        append(line.at)
        bytes.append(line.requestID)
        appendCall(line)
        bytes.append(decimal: line.microseconds)
        bytes.append(Piece.byteCount)
        bytes.append(decimal: UInt64(line.byteCount))
        if let app = line.app { append(app) }
        if let outcome = line.outcome {
            bytes.append(Piece.outcome)
            bytes.append(outcome)
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// Appends everything before the request id.
    private mutating func append(_ moment: Timestamp) {
        if lastTime?.moment != moment {
            lastTime = (moment, Array((Piece.time + moment.iso8601 + Piece.requestID).utf8))
        }
        if let lastTime { bytes += lastTime.text }
    }

    private mutating func append(_ app: AppID) {
        if lastApp?.app != app { lastApp = (app, Array((Piece.app + app.text + "\"").utf8)) }
        if let lastApp { bytes += lastApp.text }
    }

    /// Appends everything between the request id and the duration.
    private mutating func appendCall(_ line: Line) {
        if let lastCall, lastCall.route === line.route, lastCall.status == line.status,
            lastCall.method == line.method
        {
            bytes += lastCall.text
            return
        }
        let text =
            #"","method":"\#(line.method)","route":"\#(line.route?.path ?? "")","status":\#(line.status)"#
            + Piece.duration
        lastCall = (line.method, line.route, line.status, Array(text.utf8))
        bytes += text.utf8
    }

    private mutating func appendText(_ line: Line) {
        var text =
            "\(line.at.iso8601) \(line.status) \(line.method) \(line.route?.path ?? "-") \(line.microseconds) µs"
        text += " \(line.byteCount) B \(line.requestID)"
        if let app = line.app { text += " \(app.text)" }
        if let outcome = line.outcome { text += " \(outcome)" }
        bytes += Log.printable(text).utf8
    }
}

/// Chooses the id of each request: the caller's if it may be logged, else a new id.
struct RequestIDs {
    /// The last id; its memory is reused for the next.
    private var text: [UInt8]
    /// The length of ``text``'s prefix, which is random for each loop, so that ids of different loops and runs differ.
    private let prefixLength: Int
    private var count: UInt64 = 0

    private static let maximumLength = 128

    init(random: RandomSource) {
        text = Array("req_\(Base64URL.text(of: random.bytes(9)))-".utf8)
        prefixLength = text.count
    }

    mutating func identify(_ request: Request) -> String {
        guard let brought = request.field("x-request-id"), Self.isFit(brought) else { return make() }
        return brought
    }

    mutating func make() -> String {
        count &+= 1
        text.removeSubrange(prefixLength...)
        text.append(decimal: count)
        return String(decoding: text, as: UTF8.self)
    }

    private static func isFit(_ text: String) -> Bool {
        // The id is logged, so it must not contain a key or a fingerprint.
        (1...maximumLength).contains(text.utf8.count) && !KeyText.mayOccur(in: text)
            && !Fingerprint.mayOccur(in: text)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-_.:/=+".utf8.contains(byte)
                }
            }
    }
}
