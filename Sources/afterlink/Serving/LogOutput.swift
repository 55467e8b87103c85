internal import Glibc

/// Where the log's lines go: a file that can be opened anew for rotation, or standard error.
final class LogOutput: Sendable {
    private let path: String
    private let file: OpenFile?

    /// - Parameter path: the file, or nil for standard error.
    /// - Throws: when the file cannot be opened.
    init(path: String?) throws(CommandFailure) {
        guard let path else {
            self.path = ""
            file = nil
            return
        }
        self.path = path
        do throws(SystemError) {
            file = try OpenFile(path, O_WRONLY | O_CREAT | O_APPEND)
        } catch {
            throw CommandFailure(
                .wrongConfiguration,
                "The log file is out of reach: \(error.text).",
                advice: "Give --log-file a path that the user that Afterlink runs as may write to."
            )
        }
    }

    /// Appends whole lines.
    func write(_ bytes: [UInt8]) {
        guard file != nil else {
            Console.write(bytes, to: STDERR_FILENO)
            return
        }
        // A disk that is full must not stop the service: these lines are lost, the next ones are tried again.
        try? file?.write(bytes)
    }

    /// Opens the file anew after it was moved away; keeps the old one where that fails.
    func reopen() {
        guard file != nil, let fresh = try? OpenFile(path, O_WRONLY | O_CREAT | O_APPEND) else { return }
        file?.become(fresh)
    }
}
