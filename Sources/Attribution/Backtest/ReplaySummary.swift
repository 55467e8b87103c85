/// The older live clicks of one fingerprint as counts, made anew every now and then.
struct ReplaySummary: Sendable {
    /// Rows before this index are in the counts.
    let end: Int
    let madeAt: Timestamp
    let counts: [BackgroundCount]

    /// How old it may be, in milliseconds.
    static let longest: Int64 = 120_000
    /// Destinations that are told apart at most.
    private static let mostDestinations = 64

    private struct Cell: Hashable {
        let destination: CreditedDestination?
        let bin: Int
    }

    private struct Sum {
        var weight = 0.0
        var withAddress = 0.0
        let lane: Lane
    }

    /// - Parameters:
    ///   - clicks: the clicks to count with their weights, the newest first.
    ///   - end: the index behind the last of them.
    ///   - now: the present, by which their ages are told.
    init(
        of clicks: [(click: RecordedClick, fingerprint: RecordedFingerprint)],
        end: Int,
        at now: Timestamp
    ) {
        let told = Self.told(clicks)
        var cells: [Cell: Sum] = [:]
        for (click, fingerprint) in clicks {
            let age = Double(now.milliseconds(since: click.at)) / 1000
            let cell = Cell(
                destination: told.contains(click.destination) ? click.destination : nil,
                bin: DelayBins.bin(forSeconds: age)
            )
            var sum = cells[cell] ?? Sum(lane: Lane(platform: click.platform, form: fingerprint.form))
            sum.weight += fingerprint.weight
            if click.address != nil { sum.withAddress += fingerprint.weight }
            cells[cell] = sum
        }
        self.end = end
        madeAt = now
        counts = cells.map { cell, sum in
            BackgroundCount(
                destination: cell.destination,
                lane: sum.lane,
                ageBin: cell.bin,
                weight: sum.weight,
                shareWithAddress: sum.weight > 0 ? sum.withAddress / sum.weight : 0
            )
        }.sorted { Self.order($0) < Self.order($1) }
    }

    /// Whether ages and claims have moved on.
    func isOld(at now: Timestamp) -> Bool { abs(now.milliseconds(since: madeAt)) > Self.longest }

    /// The destinations that are told apart: the largest.
    private static func told(
        _ clicks: [(click: RecordedClick, fingerprint: RecordedFingerprint)]
    ) -> Set<CreditedDestination> {
        var weights: [CreditedDestination: Double] = [:]
        for (click, fingerprint) in clicks { weights[click.destination, default: 0] += fingerprint.weight }
        guard weights.count > mostDestinations else { return Set(weights.keys) }
        let largest = weights.sorted { ($0.value, $0.key.url) > ($1.value, $1.key.url) }
        return Set(largest.prefix(mostDestinations).map(\.key))
    }

    private static func order(_ count: BackgroundCount) -> (Int, UInt64, UInt64) {
        (count.ageBin, count.destination?.url ?? .max, count.destination?.campaign ?? .max)
    }
}
