internal import Glibc
internal import Server
internal import Synchronization

/// Where the log's lines go: a file that can be opened anew for rotation, or standard error.
///
/// While the file cannot be written, its lines go to standard error, and service goes on.
final class LogOutput: Sendable {
    private let path: String
    private let file: OpenFile?
    /// The file's name leads elsewhere since a rotation, and could not be opened then.
    private let isLost = Atomic(false)
    /// The last lines did not get into the file.
    private let isFailing = Atomic(false)
    private let failures = Atomic<Int>(0)

    /// - Parameter path: the file, or nil for standard error.
    /// - Throws: when the file cannot be opened.
    init(path: String?) throws {
        guard let path else {
            self.path = ""
            file = nil
            return
        }
        self.path = path
        file = try attempt {
            try OpenFile(path, O_WRONLY | O_CREAT | O_APPEND)
        } orElse: { (error: SystemError) in
            CommandFailure(
                .configuration,
                "The log file is out of reach: \(error.text).",
                advice: "Give --log-file a path that the user that Afterlink runs as may write to."
            )
        }
    }

    /// For the metrics.
    var failureSample: StoreHealth.Sample {
        StoreHealth.Sample(
            "afterlink_log_write_failures_total",
            .counter,
            Double(failures.load(ordering: .relaxed)),
            help: "Times that the log file could not be written or opened anew."
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
            if wasLost { try openAnew() }
            let wasFailing = isFailing.load(ordering: .relaxed)
            // A disk that filled up may have taken half a line, which these must not be glued to.
            try file?.write(wasFailing && !wasLost ? [UInt8(ascii: "\n")] + bytes : bytes)
            guard wasFailing else { return }
            isFailing.store(false, ordering: .relaxed)
            Console.printError(
                "afterlink: the log file can be written again, and has the lines from here on.\n"
            )
        } catch {
            note(error)
            Console.write(bytes, to: STDERR_FILENO)
        }
    }

    /// Opens the file anew after it was moved away.
    ///
    /// Where that fails, it is tried again with the next lines.
    func reopen() {
        guard file != nil else { return }
        do throws(SystemError) {
            try openAnew()
        } catch {
            isLost.store(true, ordering: .releasing)
            note(error)
        }
    }

    private func openAnew() throws(SystemError) {
        let fresh = try OpenFile(path, O_WRONLY | O_CREAT | O_APPEND)
        file?.redirect(to: fresh)
        isLost.store(false, ordering: .releasing)
    }

    /// Says it once, until it is over.
    private func note(_ error: SystemError) {
        failures.add(1, ordering: .relaxed)
        guard !isFailing.exchange(true, ordering: .relaxed) else { return }
        Console.printError(
            "afterlink: the log file fails: \(error.text). Its lines go to standard error until it works again.\n"
        )
    }
}
