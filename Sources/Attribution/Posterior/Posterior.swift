/// How likely each destination is to be what a launch came for, and how likely it came from no click at all.
///
/// A launch with fingerprint h at a moment, and live clicks c with it: each is expected to make such launches at the
/// rate n(c) = k · s · w · f(age) · LR(address) · LR(system) · LR(signals), and people who never clicked at the rate
/// L(h); so P(c) = n(c) / (Σ n + L(h)).
public struct Posterior: Sendable {
    /// Every destination with a share, the likeliest first.
    public let destinations: [DestinationShare]
    /// The probability that no click led to the launch.
    public let organic: Double

    public init(_ evidence: CandidateEvidence, launch: LaunchTraits, model: MatchingModel) {
        let rates = LaunchRates(evidence, launch: launch, model: model)
        let withoutClick = rates.reinstalls + rates.intensity.stated
        let total = rates.clicks + withoutClick
        guard total > 0, total.isFinite else {
            destinations = []
            organic = 1
            return
        }
        organic = withoutClick / total
        destinations = Self.summed(rates).map { destination, entry in
            DestinationShare(
                destination: destination,
                probability: entry.rate / total,
                click: entry.best?.last.click,
                clickedAt: entry.best?.last.clickedAt,
                evidence: entry.best?.evidence ?? .fingerprint
            )
        }.sorted(by: DestinationShare.isLikelier)
    }

    /// The probability that a click led to the launch: what it adds to the expected conversions.
    ///
    /// Their spread is the square root of the sum of p · (1 − p).
    public var conversion: Double { max(0, 1 - organic) }

    private struct Entry {
        var rate = 0.0
        var best: LaunchRates.VisitorRate?
    }

    private static func summed(_ rates: LaunchRates) -> [CreditedDestination: Entry] {
        var sums: [CreditedDestination: Entry] = [:]
        for visitor in rates.visitors where visitor.rate > 0 {
            var entry = sums[visitor.last.destination] ?? Entry()
            entry.rate += visitor.rate
            if visitor.rate > entry.best?.rate ?? -1 { entry.best = visitor }
            sums[visitor.last.destination] = entry
        }
        for count in rates.background {
            guard let destination = count.destination else { continue }
            sums[destination, default: Entry()].rate += count.rate
        }
        return sums
    }
}
