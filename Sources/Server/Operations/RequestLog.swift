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
    private var lastApp: (app: AppID, text: String)?

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

    private mutating func text(of app: AppID) -> String {
        if let lastApp, lastApp.app == app { return lastApp.text }
        let text = app.text
        lastApp = (app, text)
        return text
    }

    private mutating func text(of moment: Timestamp) -> String {
        if let lastTime, lastTime.moment == moment { return lastTime.text }
        let text = moment.iso8601
        lastTime = (moment, text)
        return text
    }

    /// Written piece by piece, for every request there is: what a line holds are our own words, numbers, and a
    /// request id of harmless characters, none of which JSON would have escaped.
    private mutating func appendJSON(_ line: Line) {
        append(#"{"time":""#, text(of: line.at))
        append(#"","request_id":""#, line.requestID)
        append(#"","method":""#, line.method)
        append(#"","route":""#, line.route ?? "")
        append(#"","status":"#, String(line.status))
        append(#","duration_us":"#, String(line.microseconds))
        append(#","bytes":"#, String(line.byteCount))
        if let app = line.app {
            append(#","app":""#, text(of: app))
            bytes.append(UInt8(ascii: "\""))
        }
        if let outcome = line.outcome {
            append(#","outcome":""#, outcome)
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private mutating func append(_ name: String, _ value: String) {
        bytes.append(contentsOf: name.utf8)
        bytes.append(contentsOf: value.utf8)
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
