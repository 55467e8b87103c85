internal import Glibc
internal import Synchronization

/// Standard output and standard error.
enum Console {
    /// For what a command was asked for.
    ///
    /// Written at once: whoever waits for a line gets it.
    static func print(_ text: String) {
        if !write(Array((text + "\n").utf8), to: STDOUT_FILENO) {
            hasLostOutput.store(true, ordering: .relaxed)
        }
    }

    /// For what went wrong, and for hints beside the result.
    static func printError(_ text: String) {
        _ = write(Array(text.utf8), to: STDERR_FILENO)
    }

    /// Writes all bytes.
    ///
    /// - Returns: false when nobody reads any more or the disk is full.
    @discardableResult
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            // The kernel reads the slice's own bytes, for the length of the call.
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Whether standard error is a terminal, where people read.
    static var errorIsTerminal: Bool {
        isatty(STDERR_FILENO) == 1
    }

    /// Whether something that was printed did not reach standard output: a key that was shown to nobody, say.
    static let hasLostOutput = Atomic(false)
}
