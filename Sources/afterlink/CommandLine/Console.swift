internal import Dispatch
internal import Glibc
internal import Synchronization

/// Standard output and standard error.
package enum Console {
    /// Prints a command's result at once, so that a script that waits for a line gets it; records a failed write.
    static func print(_ text: String) {
        if !write(Array((printable(text) + "\n").utf8), to: STDOUT_FILENO) {
            hasLostOutput.store(true, ordering: .relaxed)
        }
    }

    /// Prints a line and ignores a failed write.
    static func printNotice(_ text: String) { write(Array((printable(text) + "\n").utf8), to: STDOUT_FILENO) }

    /// Prints a text that no other command can print again, such as a key.
    ///
    /// - Throws: `failure` if standard output is closed, full, or not read.
    static func show(_ text: String, orElse failure: CommandFailure) throws {
        // By default, a closed pipe ends the process before it can report the lost text.
        signal(SIGPIPE, SIG_IGN)
        guard write(Array((printable(text) + "\n").utf8), to: STDOUT_FILENO) else { throw failure }
    }

    /// Opens the standard streams that the parent process closed.
    ///
    /// Otherwise the next file that is opened would get the number of such a stream, and printed keys would go to that
    /// file, for example to the log.
    static func holdStandardStreams() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // `open` returns the lowest free number, which is this one. Writing to it fails, so that the loss is noticed.
            _ = unsafe open("/dev/null", O_RDONLY)
        }
    }

    /// Prints errors and hints to standard error.
    static func printError(_ text: String) { _ = write(Array(printable(text).utf8), to: STDERR_FILENO) }

    /// Prints progress on a terminal: the next text replaces it, and an empty text clears it.
    static func printStatus(_ text: String) {
        write(Array("\r\(printable(text))\u{1B}[K".utf8), to: STDERR_FILENO)
    }

    /// Returns the text, in which JSON's escapes, such as `\u001b`, replace the characters that steer a terminal.
    ///
    /// Names in the output come from requests and could otherwise steer the operator's terminal.
    package static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: steersTerminal) else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            guard steersTerminal(scalar) else {
                shown.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            let zeros = String(repeating: "0", count: 4 - digits.count)
            shown.append(contentsOf: "\\u\(zeros)\(digits)".unicodeScalars)
        }
        return String(shown)
    }

    /// Whether a character separates lines or paragraphs, changes the direction of writing, or is a control character
    /// other than line feed and tab.
    private static func steersTerminal(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0..<0x20, 0x7F...0x9F, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Writes all bytes, in as many calls as that takes.
    ///
    /// - Returns: false if a call failed, also because the reader closed the pipe; `errno` has the reason.
    @discardableResult
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            // The kernel reads the slice's bytes only during the call.
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Whether standard error is a terminal.
    static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether some printed text did not reach standard output.
    static let hasLostOutput = Atomic(false)
}

/// Reports the progress of a long command on standard error: one line that changes every second on a terminal, or else a
/// new line every ten seconds.
struct ProgressLine {
    private let isTerminal = Console.errorIsTerminal
    private var printedAt = DispatchTime.now()
    private var hasPrinted = false

    /// Prints the line if the interval has passed.
    mutating func update(_ line: @autoclosure () -> String) {
        let now = DispatchTime.now()
        let seconds = Double(now.uptimeNanoseconds - printedAt.uptimeNanoseconds) / 1e9
        guard seconds >= (isTerminal ? 1 : 10) else { return }
        printedAt = now
        hasPrinted = true
        if isTerminal { Console.printStatus(line()) } else { Console.printError("\(line())\n") }
    }

    /// Clears the terminal's line.
    func finish() { if hasPrinted, isTerminal { Console.printStatus("") } }
}
