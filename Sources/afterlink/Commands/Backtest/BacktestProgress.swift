internal import Attribution
internal import Storage

/// Says how far a long backtest has come.
struct BacktestProgress {
    private var line = ProgressLine()
    private var events = 0

    /// Asks for the time only now and then.
    private static let stride = 1024

    mutating func update(_ backtest: Backtest, share: Double?) {
        events += 1
        guard events.isMultiple(of: Self.stride) else { return }
        let percent = share.map { "\(Int($0 * 100)) %, " } ?? ""
        line.update(
            "Playing: \(percent)\(backtest.clicks) clicks and \(backtest.launches) launches, until "
                + backtest.latest.iso8601
        )
    }

    func finish() {
        line.finish()
    }
}
