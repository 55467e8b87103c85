internal import Dispatch
internal import HTTPServer
internal import Synchronization
internal import Threads

/// Gathers the log's lines and writes them in order, on a thread of its own.
///
/// The thread exists from the start, because the system could refuse one later, when the log is needed most.
final class LogWriter: Sendable {
    private struct Pending {
        var bytes: [UInt8] = []
        /// Whether the thread has been woken for waiting lines.
        var isScheduled = false
        /// Whether the thread must write without gathering further.
        var isUrgent = false
        var isOver = false
        var droppedLines = 0
        /// The lines that were dropped since the start.
        var droppedTotal = 0
    }

    private static let gatheringTime = DispatchTimeInterval.milliseconds(25)
    /// The largest number of bytes that wait to be written.
    private static let maximumPending = 4 << 20

    private let pending = Mutex(Pending())
    /// Held while lines are written, so that they keep their order.
    private let turn = Mutex(())
    private let somethingCame = DispatchSemaphore(value: 0)
    private let write: @Sendable ([UInt8]) -> Void
    private let lossLine: @Sendable (_ lines: Int) -> [UInt8]

    /// Starts the thread, which runs until ``end()``.
    ///
    /// - Parameters:
    ///   - lossLine: creates the line that reports dropped lines.
    ///   - write: takes whole lines, in order; may block.
    /// - Throws: when the system refuses the thread.
    init(
        lossLine: @escaping @Sendable (_ lines: Int) -> [UInt8],
        write: @escaping @Sendable ([UInt8]) -> Void
    ) throws(StartError) {
        self.lossLine = lossLine
        self.write = write
        do throws(ThreadStartError) {
            try SystemThread.start { self.run() }
        } catch {
            throw StartError(error)
        }
    }

    /// The lines that were dropped since the start.
    var droppedTotal: Int { pending.withLock { $0.droppedTotal } }

    /// Appends whole lines; `lineCount` is their number in case they must be dropped.
    ///
    /// Urgent lines, and all before them, are written at once.
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
            defer { pending.isScheduled = true }
            return hurries || !pending.isScheduled
        }
        if wakes { somethingCame.signal() }
    }

    /// Waits until everything that was appended before is written.
    func flush() {
        drain()
    }

    /// Makes the thread write the waiting lines and end.
    func end() {
        pending.withLock { pending in
            pending.isUrgent = true
            pending.isOver = true
        }
        somethingCame.signal()
    }

    private func run() {
        SystemThread.nameCurrent("log")
        while true {
            somethingCame.wait()
            // Waits a moment, so that busy loops do not wake this thread with each of their turns.
            if !pending.withLock({ $0.isUrgent }) {
                _ = somethingCame.wait(timeout: .now() + Self.gatheringTime)
            }
            drain()
            if pending.withLock({ $0.isOver && $0.bytes.isEmpty }) { return }
        }
    }

    private func drain() {
        turn.withLock { _ in
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
        }
    }
}
