/// The older live clicks of one fingerprint as counts, made anew every now and then.
struct ReplaySummary: Sendable {
    /// Rows before this index are in the counts.
    let end: Int
    let madeAt: Timestamp
    let counts: [BackgroundCount]
    /// The same clicks by the network around their address, the newest first: a launch is told one by one of those from
    /// near its own, however many clicks of other fingerprints came from there.
    let places: [UInt64: [Int]]

    /// How old it may be, in milliseconds.
    static let longest: Int64 = 120_000
    /// Destinations that are told apart at most.
    private static let mostDestinations = 64

    /// A click under the fingerprint.
    struct Member {
        let number: Int
        let click: RecordedClick
        let fingerprint: RecordedFingerprint
    }

    private struct Cell: Hashable {
        let destination: CreditedDestination?
        let bin: Int
    }

    private struct Sum {
        var weight = 0.0
        var withAddress = 0.0
        let platformForm: PlatformForm
    }

    /// - Parameters:
    ///   - members: the clicks to count with their weights, the newest first.
    ///   - end: the index behind the last of them.
    ///   - now: the present, by which their ages are told.
    init(
        of members: [Member],
        end: Int,
        at now: Timestamp
    ) {
        let told = Self.told(members)
        var cells: [Cell: Sum] = [:]
        var places: [UInt64: [Int]] = [:]
        for member in members {
            let (click, fingerprint) = (member.click, member.fingerprint)
            let age = Double(now.milliseconds(since: click.at)) / 1000
            let cell = Cell(
                destination: told.contains(click.destination) ? click.destination : nil,
                bin: DelayBins.bin(forSeconds: age)
            )
            var sum =
                cells[cell]
                ?? Sum(platformForm: PlatformForm(platform: click.platform, form: fingerprint.form))
            sum.weight += fingerprint.weight
            if let address = click.address {
                sum.withAddress += fingerprint.weight
                if places[address.near, default: []].count < CandidateEvidence.maximumListed {
                    places[address.near, default: []].append(member.number)
                }
            }
            cells[cell] = sum
        }
        self.end = end
        madeAt = now
        self.places = places
        counts = cells.map { cell, sum in
            BackgroundCount(
                destination: cell.destination,
                platformForm: sum.platformForm,
                ageBin: cell.bin,
                weight: sum.weight,
                shareWithAddress: sum.weight > 0 ? sum.withAddress / sum.weight : 0
            )
        }.sorted { Self.order($0) < Self.order($1) }
    }

    /// Whether ages and claims have moved on.
    func isOld(at now: Timestamp) -> Bool { abs(now.milliseconds(since: madeAt)) > Self.longest }

    /// The destinations that are told apart: the largest.
    private static func told(_ members: [Member]) -> Set<CreditedDestination> {
        var weights: [CreditedDestination: Double] = [:]
        for member in members { weights[member.click.destination, default: 0] += member.fingerprint.weight }
        guard weights.count > mostDestinations else { return Set(weights.keys) }
        let largest = weights.sorted { ($0.value, $0.key.url) > ($1.value, $1.key.url) }
        return Set(largest.prefix(mostDestinations).map(\.key))
    }

    private static func order(_ count: BackgroundCount) -> (Int, UInt64, UInt64) {
        (count.ageBin, count.destination?.url ?? .max, count.destination?.campaign ?? .max)
    }
}
