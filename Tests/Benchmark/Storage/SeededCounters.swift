import Attribution

/// Writes the counts of made-up clicks: by hour, by day and of all time, as the server would have.
struct SeededCounters {
    private struct Counts {
        var clicks: Int64 = 0
        var matches: Int64 = 0
    }

    private let counter: PlainStatement
    private let live: PlainStatement
    private let template: ClickTemplate
    private var hour: Int64 = .min
    private var day: Int64 = .min
    /// By the number of the trait.
    private var ofHour: [Int: Counts] = [:]
    private var ofDay: [CounterLabel: Counts] = [:]
    private var ofAll: [CounterLabel: Counts] = [:]
    /// By the second of expiry.
    private var expiries: [Int64: Int64] = [:]

    init(_ template: ClickTemplate, _ database: PlainDatabase) throws {
        guard let row = template.counters.first, let liveRow = template.live.first else {
            throw BenchmarkError("A click moves no counters any more: tell the benchmark's Storage.")
        }
        self.template = template
        counter = try row.inserting(into: database)
        live = try liveRow.inserting(into: database)
    }

    mutating func count(_ trait: Int, of traits: SeededTraits, at moment: Int64, isClaimed: Bool) throws {
        let moment = Timestamp(milliseconds: moment)
        let hour = Granularity.hour.start(of: moment).milliseconds
        if hour != self.hour {
            try endHour(traits)
            self.hour = hour
            let day = Granularity.day.start(of: moment).milliseconds
            if day != self.day {
                try endDay()
                self.day = day
            }
        }
        ofHour[trait, default: Counts()].clicks += 1
        if isClaimed { ofHour[trait, default: Counts()].matches += 1 }
    }

    mutating func countLive(expiringAt moment: Int64) {
        expiries[moment / 1000, default: 0] += 1
    }

    mutating func finish(_ traits: SeededTraits) throws {
        try endHour(traits)
        try endDay()
        try write(ofAll, .all, 0)
        var hours: [Int64: Int64] = [:]
        for (second, count) in expiries {
            try writeLive("second", second, count)
            hours[second / 3600, default: 0] += count
        }
        for (hour, count) in hours { try writeLive("hour", hour, count) }
    }

    private mutating func endHour(_ traits: SeededTraits) throws {
        var sums: [CounterLabel: Counts] = [:]
        for (trait, counts) in ofHour {
            for label in traits.all[trait].labels { Self.add(counts, to: &sums[label, default: Counts()]) }
        }
        try write(sums, .hour, hour)
        ofDay.merge(sums, uniquingKeysWith: Self.sum)
        ofHour.removeAll(keepingCapacity: true)
    }

    private mutating func endDay() throws {
        try write(ofDay, .day, day)
        ofAll.merge(ofDay, uniquingKeysWith: Self.sum)
        ofDay.removeAll(keepingCapacity: true)
    }

    private func write(_ sums: [CounterLabel: Counts], _ granularity: Granularity, _ period: Int64) throws {
        guard let row = template.counters.first else { return }
        let names = ["campaign", "dimension", "granularity", "period", "value", "clicks", "matches"]
        let columns = try names.map(row.parameter)
        // In the order of the primary key, so that pages fill one after another.
        for (label, counts) in sums.sorted(by: { Self.key($0.key) < Self.key($1.key) }) {
            let values: [PlainValue] = [
                .text(label.campaign ?? ""), .text(label.dimension.rawValue), .text(granularity.rawValue),
                .integer(period), .text(label.value), .integer(counts.clicks), .integer(counts.matches),
            ]
            for (column, value) in zip(columns, values) { counter.bind(value, at: column) }
            try counter.run()
        }
    }

    private func writeLive(_ span: String, _ expiresIn: Int64, _ count: Int64) throws {
        guard let row = template.live.first else { return }
        live.bind(.text(span), at: try row.parameter("span"))
        live.bind(expiresIn, at: try row.parameter("expires_in"))
        live.bind(count, at: try row.parameter("count"))
        try live.run()
    }

    private static func key(_ label: CounterLabel) -> String {
        "\(label.campaign ?? "") \(label.dimension.rawValue) \(label.value)"
    }

    private static func add(_ counts: Counts, to other: inout Counts) {
        other = sum(other, counts)
    }

    private static func sum(_ one: Counts, _ other: Counts) -> Counts {
        Counts(clicks: one.clicks + other.clicks, matches: one.matches + other.matches)
    }
}
