/// How frequent the values of signals are among clicks.
struct SignalShares: Sendable {
    private let counts: [UInt64: Double]

    init(_ counters: ModelCounters) {
        counts = counters.all(.signals)
    }

    /// The share of the clicks telling the component that have the mark; never quite 0 nor 1.
    func share(of mark: UInt16, _ component: SignalComponent) -> Double {
        let all = counts[CounterKey(allOf: component).key] ?? 0
        let equal = counts[CounterKey(component, mark: mark).key] ?? 0
        return min(max((equal + 2) / (all + 5), 0.005), 0.97)
    }
}

/// What it is worth that a click's signals agree with those of a launch.
///
/// P(both told values | same device) / P(… | stranger): devices agree with themselves in 97 of 100 cases.
struct SignalLikelihood {
    private struct Told {
        let component: SignalComponent
        let mark: UInt16
        let agreeing: Double
        let differing: Double
    }

    /// What the launch tells, the component that is compared first before the others.
    private var told: [Told] = []

    init(_ launch: SignalHashes, _ shares: SignalShares) {
        guard !launch.isEmpty else { return }
        for component in SignalHashes.components {
            guard let mark = launch[component] else { continue }
            let share = shares.share(of: mark, component)
            told.append(
                Told(component: component, mark: mark, agreeing: 0.97 / share, differing: 0.03 / (1 - share))
            )
        }
    }

    /// 1 where nothing is told by both: what is not known neither helps nor hurts.
    ///
    /// One component counts, because all that there are tell of one screen: its points add nothing to its pixels.
    func ratio(_ click: SignalHashes) -> Double {
        guard let (told, mark) = compared(click) else { return 1 }
        return mark == told.mark ? told.agreeing : told.differing
    }

    /// Whether anything is told by both.
    func compares(_ click: SignalHashes) -> Bool { compared(click) != nil }

    private func compared(_ click: SignalHashes) -> (Told, UInt16)? {
        guard !click.isEmpty else { return nil }
        for told in told {
            if let mark = click[told.component] { return (told, mark) }
        }
        return nil
    }
}
