internal import Dispatch

/// Says on standard error how far a long import has come: every second on a terminal, in one line that is written over;
/// elsewhere a line every ten seconds.
struct ImportProgress {
    private let isTerminal = Console.errorIsTerminal
    private var printedAt = DispatchTime.now()
    private var hasPrinted = false

    mutating func update(_ what: String, _ done: Int, of count: Int) {
        let now = DispatchTime.now()
        let seconds = Double(now.uptimeNanoseconds - printedAt.uptimeNanoseconds) / 1e9
        guard seconds >= (isTerminal ? 1 : 10) else { return }
        printedAt = now
        hasPrinted = true
        let line = "\(what): \(done) of \(count) links"
        if isTerminal { Console.printStatus(line) } else { Console.printError("\(line)\n") }
    }

    /// Leaves the terminal's line empty.
    func finish() {
        if hasPrinted, isTerminal { Console.printStatus("") }
    }
}
