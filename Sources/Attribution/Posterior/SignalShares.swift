/// How frequent the values of signals are among clicks.
struct SignalShares: Sendable {
    private let counts: [UInt64: Double]

    init(_ counters: ModelCounters) {
        counts = counters.all(.signals)
    }

    /// The product over the components that both tell.
    func ratio(launch: [SignalValue], click: [SignalValue]) -> Double {
        guard !launch.isEmpty, !click.isEmpty else { return 1 }
        var ratio = 1.0
        for told in launch {
            guard let other = click.first(where: { $0.component == told.component }) else { continue }
            let all = counts[SignalValue.totalCode(told.component)] ?? 0
            let share = min(max(((counts[told.code] ?? 0) + 2) / (all + 5), 0.005), 0.97)
            ratio *= other.value == told.value ? 0.97 / share : 0.03 / (1 - share)
        }
        return min(max(ratio, 1e-6), 1e6)
    }
}
