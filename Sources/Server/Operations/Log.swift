public import Attribution
internal import Dispatch
public import HTTPServer
internal import JSON
internal import Synchronization
internal import Threads

/// The form of log lines.
public enum LogFormat: String, CaseIterable, Sendable {
    /// One JSON object a line.
    case json
    /// Plain text for a terminal.
    case text
}

public enum LogLevel: String, Sendable { case info, warning, error }

/// The service's log: one line for each request or event.
///
/// Lines never contain a key, a fingerprint, an advertising id, a query or an address. A separate thread writes them.
/// If the output is too slow, the log drops lines and reports their number.
public final class Log: Sendable {
    public let format: LogFormat
    private let clock: WallClock
    private let writer: LogWriter
    /// The last lines, which the dashboard shows.
    let recent = RecentLines()

    /// - Parameters:
    ///   - format: JSON or text.
    ///   - clock: the clock for the time of events.
    ///   - write: writes whole lines, in order; may block. Only the log's thread and ``flush()`` call it.
    /// - Throws: an error if the system cannot start the log's thread.
    public init(
        format: LogFormat,
        clock: WallClock,
        write: @escaping @Sendable ([UInt8]) -> Void
    ) throws(StartError) {
        self.format = format
        self.clock = clock
        let recent = recent
        let writeAndKeep = { @Sendable (lines: [UInt8]) in
            recent.append(lines)
            write(lines)
        }
        writer = try LogWriter(write: writeAndKeep) { lines in
            let message = "\(lines) log lines were dropped: the output of the log is too slow"
            return Self.line(.warning, message, format, clock)
        }
    }

    deinit { writer.end() }

    /// Logs an event other than a request.
    ///
    /// The log's thread writes the line at once, because events are few and matter most if the process ends soon after.
    public func event(_ level: LogLevel, _ message: String) {
        writer.append(Self.line(level, message, format, clock), lineCount: 1, isUrgent: true)
    }

    /// Writes all earlier lines before it returns.
    public func flush() { writer.flush() }

    /// Returns when all earlier lines are written, or after a duration.
    ///
    /// The duration is limited, because the reader of the output may have stopped.
    public func flush(within limit: Duration) { writer.flush(within: limit) }

    /// The number of lines dropped since the start because the output was too slow.
    public var droppedLineCount: Int { writer.droppedTotal }

    /// Appends whole lines; `lineCount` is their number, which is added to the dropped lines if the buffer is full.
    func append(_ lines: [UInt8], lineCount: Int) { writer.append(lines, lineCount: lineCount) }

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
            let prefix = level == .info ? "" : "\(level.rawValue): "
            return Array("\(time) \(prefix)\(printable(message))\n".utf8)
        }
    }

    /// Replaces control characters by blanks, because a message with line breaks could forge lines.
    static func printable(_ text: String) -> String {
        let isControl = { (code: UInt32) in code < 0x20 || (0x7F...0x9F).contains(code) }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0.value) ? " " : $0 }))
    }
}

/// Gathers the log's lines and writes them in order on a separate thread.
///
/// The thread exists from the start, because the system could refuse one later, when the log is needed most.
final class LogWriter: Sendable {
    private struct Pending {
        var bytes: [UInt8] = []
        /// Whether the thread was woken for the waiting lines.
        var isScheduled = false
        /// Whether the thread must write without waiting for more lines.
        var isUrgent = false
        var isOver = false
        var droppedLines = 0
        /// The number of lines dropped since the start.
        var droppedTotal = 0
        /// The number of bytes appended since the start, without dropped ones.
        var byteTotal = 0
    }

    private static let gatheringTime = DispatchTimeInterval.milliseconds(25)
    /// The largest number of bytes that wait to be written.
    private static let maximumPending = 4 << 20

    private let pending = Mutex(Pending())
    /// The number of bytes written since the start.
    private let writtenTotal = ConditionLock(0)
    /// Held while lines are written, so that they keep their order.
    private let outputLock = Mutex(())
    private let wakeUp = DispatchSemaphore(value: 0)
    private let write: @Sendable ([UInt8]) -> Void
    private let lossLine: @Sendable (_ lines: Int) -> [UInt8]

    /// Starts the thread, which runs until ``end()``.
    ///
    /// - Parameters:
    ///   - write: writes whole lines, in order; may block.
    ///   - lossLine: creates the line that reports dropped lines.
    /// - Throws: an error if the system cannot start the thread.
    init(
        write: @escaping @Sendable ([UInt8]) -> Void,
        lossLine: @escaping @Sendable (_ lines: Int) -> [UInt8]
    ) throws(StartError) {
        self.lossLine = lossLine
        self.write = write
        do throws(ThreadStartError) {
            try SystemThread.start { self.run() }
        } catch {
            throw StartError(error)
        }
    }

    /// The number of lines dropped since the start.
    var droppedTotal: Int { pending.withLock { $0.droppedTotal } }

    /// Appends whole lines; `lineCount` is their number, which is added to the dropped lines if the buffer is full.
    ///
    /// The thread writes urgent lines, and all lines before them, at once.
    func append(_ lines: [UInt8], lineCount: Int, isUrgent: Bool = false) {
        let wakes = pending.withLock { pending in
            let hurries = isUrgent && !pending.isUrgent
            if isUrgent { pending.isUrgent = true }
            guard pending.bytes.count + lines.count <= Self.maximumPending else {
                pending.droppedLines += lineCount
                pending.droppedTotal += lineCount
                return hurries
            }
            pending.bytes += lines
            pending.byteTotal += lines.count
            defer { pending.isScheduled = true }
            return hurries || !pending.isScheduled
        }
        if wakes { wakeUp.signal() }
    }

    /// Makes the thread write the waiting lines and end.
    func end() {
        pending.withLock { pending in
            pending.isUrgent = true
            pending.isOver = true
        }
        wakeUp.signal()
    }

    private func run() {
        SystemThread.nameCurrent("log")
        while true {
            wakeUp.wait()
            // Waits ``gatheringTime``, so that busy event loops do not wake this thread in each of their turns.
            if !pending.withLock({ $0.isUrgent }) { _ = wakeUp.wait(timeout: .now() + Self.gatheringTime) }
            flush()
            if pending.withLock({ $0.isOver && $0.bytes.isEmpty }) { return }
        }
    }

    /// Writes the waiting lines, after all earlier lines.
    func flush() {
        outputLock.withLock { _ in
            let (bytes, dropped) = pending.withLock { pending in
                defer {
                    pending.bytes = []
                    pending.isScheduled = false
                    pending.isUrgent = false
                    pending.droppedLines = 0
                }
                return (pending.bytes, pending.droppedLines)
            }
            if !bytes.isEmpty { write(bytes) }
            if dropped > 0 { write(lossLine(dropped)) }
            writtenTotal.withLock { $0 += bytes.count }
            writtenTotal.broadcast()
        }
    }

    /// Waits until the thread has written the waiting lines, at most for a duration.
    func flush(within limit: Duration) {
        let deadline = MonotonicTime.now().advanced(by: limit)
        let end = pending.withLock { pending in
            pending.isUrgent = true
            return pending.byteTotal
        }
        wakeUp.signal()
        _ = writtenTotal.wait(until: deadline.nanoseconds) { $0 >= end ? true : nil }
    }
}
