public import Attribution
public import HTTPServer
internal import JSON

/// How log lines are written.
public enum LogFormat: String, CaseIterable, Sendable {
    /// One JSON object a line.
    case json
    /// For eyes at a terminal.
    case text
}

public enum LogLevel: String, Sendable {
    case info, warning, error
}

/// The service's log: requests and events, one a line.
///
/// Lines never hold a key, a fingerprint, an advertising id, a query or an address. Writing happens beside the
/// event loops; when what is written to cannot keep up, lines are dropped and the log says how many.
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
                let message = "\(lines) log lines were dropped: what the log is written to is too slow"
                return Self.line(.warning, message, format, clock)
            },
            write: write
        )
    }

    deinit {
        writer.end()
    }

    /// Writes down something that happened besides requests.
    ///
    /// At once, because such lines are few, and wanted most of all when the process ends soon after.
    public func event(_ level: LogLevel, _ message: String) {
        writer.append(Self.line(level, message, format, clock), lineCount: 1, isUrgent: true)
    }

    /// Returns when everything that was logged before is written.
    public func flush() {
        writer.flush()
    }

    /// Lines that were dropped since the start, because what the log is written to could not keep up.
    public var droppedLineCount: Int { writer.droppedTotal }

    /// Takes whole lines, and their number for when they must be dropped.
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

    /// Control characters would let a message write lines of its own.
    static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) ? " " : $0 }
            )
        )
    }
}
