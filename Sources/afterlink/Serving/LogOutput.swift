internal import Glibc
internal import Server
internal import Synchronization

/// The destination of the log's lines: a file that can be reopened for rotation, or standard error.
///
/// While the file cannot be written, its lines go to standard error, and the service continues.
final class LogOutput: Sendable {
    private let path: String
    private let file: OpenFile?
    /// Whether the file was rotated and could not be reopened.
    private let isLost = Atomic(false)
    /// Whether the last lines could not be written to the file.
    private let isFailing = Atomic(false)
    private let failures = Atomic<Int>(0)

    /// - Parameter path: the file, or nil for standard error.
    /// - Throws: if the file cannot be opened.
    init(path: String?) throws {
        guard let path else {
            self.path = ""
            file = nil
            return
        }
        self.path = path
        file = try attempt(
            "The log file cannot be opened",
            .configuration,
            advice: "Give --log-file a path that the user that Afterlink runs as may write to."
        ) { try OpenFile(path, O_WRONLY | O_CREAT | O_APPEND) }
    }

    /// The number of failures, for the metrics.
    var failureSample: MetricFamily {
        .counter(
            "afterlink_log_write_failures_total",
            "Times that the log file could not be written or reopened.",
            Double(failures.load(ordering: .relaxed))
        )
    }

    /// Appends whole lines.
    func write(_ bytes: [UInt8]) {
        guard file != nil else {
            Console.write(bytes, to: STDERR_FILENO)
            return
        }
        do throws(SystemError) {
            let wasLost = isLost.load(ordering: .acquiring)
            if wasLost { try reopenFile() }
            let wasFailing = isFailing.load(ordering: .relaxed)
            // A full disk may have cut the last line short, so begin a new line.
            try file?.write(wasFailing && !wasLost ? [UInt8(ascii: "\n")] + bytes : bytes)
            guard wasFailing else { return }
            isFailing.store(false, ordering: .relaxed)
            Console.printError("afterlink: the log file works again, and gets all further lines.\n")
        } catch {
            recordFailure(error)
            Console.write(bytes, to: STDERR_FILENO)
        }
    }

    /// Reopens the file after a rotation; if that fails, the next lines try again.
    func reopen() {
        guard file != nil else { return }
        do throws(SystemError) {
            try reopenFile()
        } catch {
            isLost.store(true, ordering: .releasing)
            recordFailure(error)
        }
    }

    private func reopenFile() throws(SystemError) {
        let fresh = try OpenFile(path, O_WRONLY | O_CREAT | O_APPEND)
        file?.redirect(to: fresh)
        isLost.store(false, ordering: .releasing)
    }

    /// Counts a failure, and reports the first of several in a row.
    private func recordFailure(_ error: SystemError) {
        failures.add(1, ordering: .relaxed)
        guard !isFailing.exchange(true, ordering: .relaxed) else { return }
        Console.printError(
            "afterlink: the log file fails: \(error.text). Its lines go to standard error until it works again.\n"
        )
    }
}
