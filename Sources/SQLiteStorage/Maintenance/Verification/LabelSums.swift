internal import Attribution
internal import SQLite

/// What the counts of one label, or of some together, add up to by span.
struct LabelSums {
    /// `scope, campaign, dimension, value`.
    let key: [RowKeyPart]
    /// Hours and days are both kept from here on; `min` where they are kept for ever.
    let start: Timestamp
    private(set) var all = Tally()
    private(set) var earlyDays = Tally()
    private(set) var days = Tally()
    private(set) var hours = Tally()

    init(key: [RowKeyPart], start: Timestamp) {
        self.key = key
        self.start = start
    }

    var isThinned: Bool { start.milliseconds > .min }

    /// Of the whole, what was not counted in earlier days.
    func late(_ metric: Metric) -> Int64 { all[metric] - earlyDays[metric] }

    /// Adds the columns of `counters` from the seventh on.
    mutating func add(_ row: Statement, _ granularity: Granularity, isEarly: Bool) {
        switch granularity {
        case .all: all.add(row, from: 6)
        case .day where isEarly && isThinned: earlyDays.add(row, from: 6)
        case .day: days.add(row, from: 6)
        // Some may still be there, of a day that is being thinned out or came anew when the clock was set back.
        case .hour where isEarly && isThinned: break
        case .hour: hours.add(row, from: 6)
        }
    }

    mutating func add(_ other: LabelSums) {
        all = all + other.all
        earlyDays = earlyDays + other.earlyDays
        days = days + other.days
        hours = hours + other.hours
    }
}

/// Labels whose counts may have been added to each other's: apart in hours and days that are not thinned out, together
/// in all.
struct FoldedSums {
    /// By the label that they are added to, in this order.
    private var together: [LabelSums] = []
    /// Labels whose days and hours differ, by the place of what they are part of.
    private var odd: [(place: Int, label: LabelSums)] = []

    mutating func add(_ label: LabelSums, to overflow: [RowKeyPart]) {
        // Few: a campaign's sources and platforms, sources, and OS versions of each scope.
        let place = together.firstIndex { $0.key == overflow } ?? together.count
        if place == together.count { together.append(LabelSums(key: overflow, start: label.start)) }
        together[place].add(label)
        guard Metric.allCases.contains(where: { label.days[$0] != label.hours[$0] }) else { return }
        odd.append((place, label))
    }

    func differences(_ describe: (LabelSums, Metric, _ isFolded: Bool) -> String) -> [CounterSums.Difference]
    {
        var differences: [CounterSums.Difference] = []
        for (place, sums) in together.enumerated() {
            let labels = odd.filter { $0.place == place }.map(\.label)
            for metric in Metric.allCases {
                let errors = labels.map { $0.days[metric] - $0.hours[metric] }
                // Errors that make up for each other could be of days and of hours.
                let isOneSided = errors.allSatisfy { $0 >= 0 } || errors.allSatisfy { $0 <= 0 }
                let isDays = isOneSided && sums.late(metric) == sums.hours[metric]
                func add(_ label: LabelSums, _ wrong: Granularity?, isFolded: Bool) {
                    differences.append(
                        CounterSums.Difference(
                            key: label.key,
                            metric: metric,
                            wrong: wrong,
                            start: label.start,
                            text: describe(label, metric, isFolded)
                        )
                    )
                }
                for (label, error) in zip(labels, errors) where error != 0 {
                    add(label, isDays ? .day : nil, isFolded: false)
                }
                if errors.allSatisfy({ $0 == 0 }), sums.late(metric) != sums.days[metric] {
                    add(sums, nil, isFolded: true)
                }
            }
        }
        return differences
    }
}
