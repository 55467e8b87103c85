internal import Attribution
internal import HTTPServer

/// The lines of one event loop's requests, gathered over a turn and handed to the log in one piece.
struct RequestLog {
    /// What is written down about one request.
    struct Line {
        let at: Timestamp
        let requestID: String
        let method: String
        /// Its pattern is logged, never the path as sent; nil for unknown paths and what was no request.
        let route: Route?
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
    /// What the last line said and how it was written: many lines share their millisecond, app and route.
    private var lastTime: (moment: Timestamp, text: [UInt8])?
    private var lastApp: (app: AppID, text: [UInt8])?
    private var lastCall: (method: String, route: Route?, status: Int, text: [UInt8])?

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

    /// The pieces between a JSON line's values.
    ///
    /// Literals, and no arrays: all loops write them, and would take turns at counting who uses an array.
    private enum Piece {
        static let time = #"{"time":""#
        static let requestID = #"","request_id":""#
        static let duration = #","duration_us":"#
        static let byteCount = #","bytes":"#
        static let app = #","app":""#
        static let outcome = #","outcome":""#
    }

    /// Written piece by piece, for every request there is: what a line holds are our own words, numbers, and a
    /// request id of harmless characters, none of which JSON would have escaped.
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

    /// Everything before the request id.
    private mutating func append(_ moment: Timestamp) {
        if lastTime?.moment != moment {
            lastTime = (moment, Array((Piece.time + moment.iso8601 + Piece.requestID).utf8))
        }
        if let lastTime { bytes += lastTime.text }
    }

    /// The app with its name.
    private mutating func append(_ app: AppID) {
        if lastApp?.app != app { lastApp = (app, Array((Piece.app + app.text + "\"").utf8)) }
        if let lastApp { bytes += lastApp.text }
    }

    /// Everything from the request id's end to the duration.
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
