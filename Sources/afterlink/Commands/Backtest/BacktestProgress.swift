internal import Attribution
internal import Dispatch

/// Says on standard error how far a long backtest has come: every second on a terminal, in one line that is written
/// over; elsewhere a line every ten seconds.
struct BacktestProgress {
    private let isTerminal = Console.errorIsTerminal
    private var toldAt = DispatchTime.now()
    private var hasTold = false
    private var events = 0

    /// Asks for the time only now and then.
    private static let stride = 1024

    mutating func tell(_ backtest: Backtest, share: Double?) {
        events += 1
        guard events.isMultiple(of: Self.stride) else { return }
        let now = DispatchTime.now()
        let seconds = Double(now.uptimeNanoseconds - toldAt.uptimeNanoseconds) / 1e9
        guard seconds >= (isTerminal ? 1 : 10) else { return }
        toldAt = now
        hasTold = true
        let percent = share.map { "\(Int($0 * 100)) %, " } ?? ""
        let line =
            "Playing: \(percent)\(backtest.clicks) clicks and \(backtest.launches) launches, until "
            + backtest.latest.iso8601
        if isTerminal { Console.printStatus(line) } else { Console.printError("\(line)\n") }
    }

    /// Leaves the terminal's line empty.
    func finish() {
        if hasTold, isTerminal { Console.printStatus("") }
    }
}
