internal import Dispatch
internal import Glibc
internal import Synchronization

/// Standard output and standard error.
package enum Console {
    /// Prints a command's result.
    ///
    /// Written at once, so that a script that waits for a line gets it.
    static func print(_ text: String) {
        if !write(Array((printable(text) + "\n").utf8), to: STDOUT_FILENO) {
            hasLostOutput.store(true, ordering: .relaxed)
        }
    }

    /// Prints a line that may get lost.
    static func printNotice(_ text: String) { write(Array((printable(text) + "\n").utf8), to: STDOUT_FILENO) }

    /// Prints what cannot be printed again, such as a key.
    ///
    /// - Throws: the failure if standard output is closed, full, or not read.
    static func show(_ text: String, orElse failure: CommandFailure) throws {
        // A reader that has gone would end the process before it could say what was lost.
        signal(SIGPIPE, SIG_IGN)
        guard write(Array((printable(text) + "\n").utf8), to: STDOUT_FILENO) else { throw failure }
    }

    /// Opens the standard streams that the caller closed.
    ///
    /// The next file that is opened would get the number, and what is printed would be written into it: keys into the
    /// log file, say.
    static func holdStandardStreams() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // The lowest free number is this one; the path lives for the call. Nothing can be written to it, so that
            // what is printed is known to be lost.
            _ = unsafe open("/dev/null", O_RDONLY)
        }
    }

    /// Prints errors, and hints in addition to the result.
    static func printError(_ text: String) { _ = write(Array(printable(text).utf8), to: STDERR_FILENO) }

    /// Prints progress at a terminal: the next such text replaces it, an empty one clears it.
    static func printStatus(_ text: String) {
        write(Array("\r\(printable(text))\u{1B}[K".utf8), to: STDERR_FILENO)
    }

    /// Names come from outside: what could steer a terminal, or turn its line around, is shown as `\u001b`, which
    /// stands for the same in JSON.
    package static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: steersTerminal) else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            guard steersTerminal(scalar) else {
                shown.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            shown.append(
                contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars
            )
        }
        return String(shown)
    }

    /// Control characters but the line feed and the tabulator, and those that change the direction of writing.
    private static func steersTerminal(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0..<0x20, 0x7F...0x9F, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Writes all bytes.
    ///
    /// - Returns: false if the reader is gone or the disk is full.
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
    static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether printed text did not reach standard output.
    static let hasLostOutput = Atomic(false)
}

/// Reports the progress of a long command on standard error: every second on a terminal, in one line that is overwritten;
/// elsewhere a line every ten seconds.
struct ProgressLine {
    private let isTerminal = Console.errorIsTerminal
    private var printedAt = DispatchTime.now()
    private var hasPrinted = false

    /// Shows the line if it is time to.
    mutating func update(_ line: @autoclosure () -> String) {
        let now = DispatchTime.now()
        let seconds = Double(now.uptimeNanoseconds - printedAt.uptimeNanoseconds) / 1e9
        guard seconds >= (isTerminal ? 1 : 10) else { return }
        printedAt = now
        hasPrinted = true
        if isTerminal { Console.printStatus(line()) } else { Console.printError("\(line())\n") }
    }

    /// Leaves the terminal's line empty.
    func finish() {
        if hasPrinted, isTerminal { Console.printStatus("") }
    }
}
