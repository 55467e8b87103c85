internal import Attribution

/// The lines of one event loop's requests, gathered over a turn and handed to the log in one piece.
struct RequestLog {
    /// What is written down about one request.
    struct Line {
        let at: Timestamp
        let requestID: String
        let method: String
        /// The route's pattern, never the path as sent; nil for unknown paths and what was no request.
        let route: String?
        let status: Int
        /// From the first byte read to the answer made.
        let microseconds: UInt64
        /// Of the answer's body.
        let byteCount: Int
        let app: AppID?
        let outcome: String?
    }

    private let log: Log
    private var bytes: [UInt8] = []
    private var lineCount = 0
    /// The last line's moment and its text: many lines share a millisecond.
    private var lastTime: (moment: Timestamp, text: String)?

    init(log: Log) {
        self.log = log
    }

    mutating func append(_ line: Line) {
        switch log.format {
        case .json: appendJSON(line)
        case .text: appendText(line)
        }
        bytes.append(UInt8(ascii: "\n"))
        lineCount += 1
    }

    /// Hands over what was gathered.
    mutating func flush() {
        guard lineCount > 0 else { return }
        log.append(bytes, lineCount: lineCount)
        bytes.removeAll(keepingCapacity: true)
        lineCount = 0
    }

    private mutating func text(of moment: Timestamp) -> String {
        if let lastTime, lastTime.moment == moment { return lastTime.text }
        let text = moment.iso8601
        lastTime = (moment, text)
        return text
    }

    private mutating func appendJSON(_ line: Line) {
        let time = text(of: line.at)
        var json = JSONWriter()
        json.object { json in
            json.member("time", time)
            json.member("request_id", line.requestID)
            json.member("method", line.method)
            json.member("route", line.route ?? "")
            json.member("status", Int64(line.status))
            json.member("duration_us", Int64(clamping: line.microseconds))
            json.member("bytes", Int64(line.byteCount))
            if let app = line.app { json.member("app", app.text) }
            if let outcome = line.outcome { json.member("outcome", outcome) }
        }
        bytes += json.bytes
    }

    private mutating func appendText(_ line: Line) {
        var text =
            "\(line.at.iso8601) \(line.status) \(line.method) \(line.route ?? "-") \(line.microseconds) µs"
        text += " \(line.byteCount) B \(line.requestID)"
        if let app = line.app { text += " \(app.text)" }
        if let outcome = line.outcome { text += " \(outcome)" }
        bytes += Log.printable(text).utf8
    }
}
