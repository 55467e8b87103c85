internal import Dispatch

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
