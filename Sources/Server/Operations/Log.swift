public import Attribution
internal import Dispatch
internal import Synchronization

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
    private let write: @Sendable ([UInt8]) -> Void
    private let queue = DispatchQueue(label: "afterlink.log")
    private let pending = Mutex(Pending())

    private struct Pending {
        var bytes: [UInt8] = []
        var isScheduled = false
        var droppedLines = 0
        /// Since the start.
        var droppedTotal = 0
    }

    private static let gatheringTime = DispatchTimeInterval.milliseconds(25)
    /// Bytes that may wait to be written.
    private static let maximumPending = 4 << 20

    /// - Parameters:
    ///   - format: JSON or text.
    ///   - clock: for the time of events.
    ///   - write: takes whole lines, in order, on a thread of the log's own; may block.
    public init(format: LogFormat, clock: WallClock, write: @escaping @Sendable ([UInt8]) -> Void) {
        self.format = format
        self.clock = clock
        self.write = write
    }

    /// Writes down something that happened besides requests.
    ///
    /// At once, because such lines are few, and wanted most of all when the process ends soon after.
    public func event(_ level: LogLevel, _ message: String) {
        append(line(level, message), lineCount: 1)
        queue.async { self.drain() }
    }

    /// Returns when everything that was logged before is written.
    public func flush() {
        queue.sync { drain() }
    }

    /// Lines that were dropped since the start, because what the log is written to could not keep up.
    public var droppedLineCount: Int { pending.withLock { $0.droppedTotal } }

    /// Takes whole lines, and their number for when they must be dropped.
    func append(_ lines: [UInt8], lineCount: Int) {
        let schedules = pending.withLock { pending in
            guard pending.bytes.count + lines.count <= Self.maximumPending else {
                pending.droppedLines += lineCount
                pending.droppedTotal += lineCount
                return false
            }
            pending.bytes += lines
            defer { pending.isScheduled = true }
            return !pending.isScheduled
        }
        // A moment later, so that busy loops do not wake the writing thread with each of their turns.
        if schedules { queue.asyncAfter(deadline: .now() + Self.gatheringTime) { self.drain() } }
    }

    private func drain() {
        let (bytes, dropped) = pending.withLock { pending in
            defer {
                pending.bytes = []
                pending.isScheduled = false
                pending.droppedLines = 0
            }
            return (pending.bytes, pending.droppedLines)
        }
        if !bytes.isEmpty { write(bytes) }
        if dropped > 0 {
            write(line(.warning, "\(dropped) log lines were dropped: what the log is written to is too slow"))
        }
    }

    private func line(_ level: LogLevel, _ message: String) -> [UInt8] {
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
            return Array("\(time) \(mark)\(Self.printable(message))\n".utf8)
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
