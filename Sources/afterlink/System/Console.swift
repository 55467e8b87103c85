internal import Glibc

/// Standard output and standard error.
enum Console {
    /// For what a command was asked for.
    ///
    /// Written at once: whoever waits for a line gets it.
    static func print(_ text: String) {
        write(text + "\n", to: STDOUT_FILENO)
    }

    /// For what went wrong, and for hints beside the result.
    static func printError(_ text: String) {
        write(text, to: STDERR_FILENO)
    }

    static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // The kernel reads the slice's own bytes, for the length of the call.
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            // Nobody reads any more, or the disk is full: there is no place left to say so.
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Whether standard error is a terminal, where people read.
    static var errorIsTerminal: Bool {
        isatty(STDERR_FILENO) == 1
    }

    private static func write(_ text: String, to descriptor: Int32) {
        write(Array(text.utf8), to: descriptor)
    }
}
