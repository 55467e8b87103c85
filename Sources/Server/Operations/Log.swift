public import Attribution
public import HTTPServer
internal import JSON

/// The form of log lines.
public enum LogFormat: String, CaseIterable, Sendable {
    /// One JSON object a line.
    case json
    /// Plain text for a terminal.
    case text
}

public enum LogLevel: String, Sendable {
    case info, warning, error
}

/// The service's log: requests and events, one a line.
///
/// Lines never contain a key, a fingerprint, an advertising id, a query or an address. A thread of its own writes
/// them; when the output cannot keep up, lines are dropped and the log reports how many.
public final class Log: Sendable {
    public let format: LogFormat
    private let clock: WallClock
    private let writer: LogWriter

    /// - Parameters:
    ///   - format: JSON or text.
    ///   - clock: for the time of events.
    ///   - write: takes whole lines, in order, on a thread of the log's own; may block.
    /// - Throws: when the system refuses that thread.
    public init(
        format: LogFormat,
        clock: WallClock,
        write: @escaping @Sendable ([UInt8]) -> Void
    ) throws(StartError) {
        self.format = format
        self.clock = clock
        writer = try LogWriter(
            lossLine: { lines in
                let message = "\(lines) log lines were dropped: the output of the log is too slow"
                return Self.line(.warning, message, format, clock)
            },
            write: write
        )
    }

    deinit {
        writer.end()
    }

    /// Logs an event other than a request.
    ///
    /// Writes the line at once: events are few, and matter most when the process ends soon after.
    public func event(_ level: LogLevel, _ message: String) {
        writer.append(Self.line(level, message, format, clock), lineCount: 1, isUrgent: true)
    }

    /// Waits until everything that was logged before is written.
    public func flush() {
        writer.flush()
    }

    /// The lines that were dropped since the start, because the output could not keep up.
    public var droppedLineCount: Int { writer.droppedTotal }

    /// Appends whole lines; `lineCount` is their number in case they must be dropped.
    func append(_ lines: [UInt8], lineCount: Int) {
        writer.append(lines, lineCount: lineCount)
    }

    private static func line(
        _ level: LogLevel,
        _ message: String,
        _ format: LogFormat,
        _ clock: WallClock
    ) -> [UInt8] {
        let time = clock.now().iso8601
        switch format {
        case .json:
            var json = JSONWriter()
            json.object { json in
                json.member("time", time)
                json.member("level", level.rawValue)
                json.member("message", message)
            }
            return json.bytes + [UInt8(ascii: "\n")]
        case .text:
            let mark = level == .info ? "" : "\(level.rawValue): "
            return Array("\(time) \(mark)\(printable(message))\n".utf8)
        }
    }

    /// Replaces control characters, with which a message could forge lines.
    static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) ? " " : $0 }
            )
        )
    }
}
