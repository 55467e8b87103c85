/// The older live clicks of one fingerprint as counts, made anew every now and then.
struct ReplaySummary: Sendable {
    /// Rows before this index are in the counts.
    let end: Int
    let madeAt: Timestamp
    let counts: [BackgroundCount]

    /// How old it may be, in milliseconds.
    static let longest: Int64 = 120_000
    /// So many destinations are told apart at most.
    private static let destinationLimit = 256

    private struct Cell: Hashable {
        let destination: CreditedDestination?
        let bin: Int
        let lane: Lane
    }

    /// - Parameters:
    ///   - clicks: the clicks to count, with their weights.
    ///   - end: the index behind the last of them.
    ///   - now: the present, by which their ages are told.
    init(
        of clicks: [(click: RecordedClick, fingerprint: RecordedFingerprint)],
        end: Int,
        at now: Timestamp
    ) {
        let told = Self.told(clicks.lazy.map(\.click.destination))
        var cells: [Cell: (weight: Double, known: Double)] = [:]
        for (click, fingerprint) in clicks {
            let age = Double(now.milliseconds(since: click.at)) / 1000
            let cell = Cell(
                destination: told.contains(click.destination) ? click.destination : nil,
                bin: DelayBins.bin(forSeconds: age),
                lane: Lane(platform: click.platform, form: fingerprint.form)
            )
            let known = click.address == nil ? 0 : fingerprint.weight
            let before = cells[cell] ?? (0, 0)
            cells[cell] = (before.weight + fingerprint.weight, before.known + known)
        }
        self.end = end
        madeAt = now
        counts = cells.map { cell, sum in
            BackgroundCount(
                destination: cell.destination,
                lane: cell.lane,
                ageBin: cell.bin,
                weight: sum.weight,
                shareWithAddress: sum.weight > 0 ? sum.known / sum.weight : 0
            )
        }.sorted { Self.order($0) < Self.order($1) }
    }

    /// The destinations that are told apart: not those with one click, which cannot weigh much by themselves.
    private static func told(_ destinations: some Sequence<CreditedDestination>) -> Set<CreditedDestination> {
        var counts: [CreditedDestination: Int] = [:]
        for destination in destinations { counts[destination, default: 0] += 1 }
        let several = counts.filter { $0.value > 1 }
        guard several.count > destinationLimit else { return Set(several.keys) }
        let largest = several.sorted {
            ($0.value, $0.key.url, $0.key.campaign) > ($1.value, $1.key.url, $1.key.campaign)
        }
        return Set(largest.prefix(destinationLimit).map(\.key))
    }

    private static func order(_ count: BackgroundCount) -> (Int, UInt64, UInt64, UInt64) {
        (
            count.ageBin, count.destination?.url ?? .max, count.destination?.campaign ?? .max,
            count.lane.code
        )
    }
}
