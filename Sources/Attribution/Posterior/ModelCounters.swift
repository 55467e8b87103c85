/// The counters of an app at their present worth.
struct ModelCounters {
    let epoch: LearningEpoch
    let at: Timestamp
    private let values: [CounterKey: Double]

    init(sums: [CounterKey: Double], epoch: LearningEpoch, at: Timestamp) {
        self.epoch = epoch
        self.at = at
        var values: [CounterKey: Double] = [:]
        for (key, sum) in sums where key.family.belongsToModel {
            values[key] = epoch.value(of: sum, key.family, at: at)
        }
        self.values = values
    }

    subscript(family: CounterFamily, key: UInt64) -> Double { values[CounterKey(family, key)] ?? 0 }

    subscript(total: AppTotal) -> Double { self[.totals, total.rawValue] }

    /// The counters of one family by their keys.
    func all(_ family: CounterFamily) -> [UInt64: Double] {
        var result: [UInt64: Double] = [:]
        for (key, value) in values where key.family == family { result[key.key] = value }
        return result
    }

    /// The hour since 1970, as a counter's key.
    static func hour(_ moment: Timestamp) -> UInt64 {
        UInt64(max(0, moment.milliseconds) / 3_600_000)
    }
}

/// How many of the counted clicks have lived to see a delay: of those of a minute ago none has led to a launch after
/// an hour yet.
struct ClickExposure {
    /// By ``DelayBins`` bin, above 0 and at most 1.
    let byBin: [Double]

    init(_ counters: ModelCounters) {
        let now = counters.at.milliseconds
        var live = [Double](repeating: 0, count: DelayBins.count)
        var total = 0.0
        for (hour, clicks) in counters.all(.clicksByHour) {
            let age = Double(now - Int64(clamping: hour) * 3_600_000) / 1000
            let halfLife = CounterFamily.clicks.halfLife ?? 604_800
            guard clicks > 0, age > 0, age < 8 * halfLife else { continue }
            let worth = clicks * LearningEpoch.fading(age, halfLife: halfLife)
            total += worth
            for bin in live.indices {
                // The clicks of an hour lie evenly in it, as far as it has passed.
                let span = min(age, 3600)
                let seen = (age - DelayBins.middle(ofBin: bin)) / span
                live[bin] += worth * min(max(seen, 0), 1)
            }
        }
        byBin = live.map { total > 0 ? min(max($0 / total, 0.02), 1) : 1 }
    }

    /// The share of all conversions that the counted clicks can have led to by now.
    func share(density: [Double]) -> Double {
        var share = 0.0
        var whole = 0.0
        for bin in byBin.indices {
            let range = DelayBins.bounds(ofBin: bin)
            let mass = density[bin] * (range.upperBound - range.lowerBound)
            share += mass * byBin[bin]
            whole += mass
        }
        return whole > 0 ? min(max(share / whole, 0.05), 1) : 1
    }
}
