/// How far launches that come from no click follow the clicks: at an event they do, after a message to customers they
/// do not.
///
/// Learnt from how many of them there were for each click at each level of ``RelativeClickRate``.
struct OrganicResponse: Sendable {
    private let byLevel: [Double]

    /// The clicks by which a level is believed to be like the average time.
    private static let priorClicks = 40.0
    private static let range = 0.1...30

    init(_ counters: ModelCounters) {
        let clicks = (0..<RelativeClickRateLevel.count).map { counters[.clicksByBusyness, UInt64($0)] }
        let organic = (0..<RelativeClickRateLevel.count).map { counters[.organicByBusyness, UInt64($0)] }
        let (all, launches) = (clicks.reduce(0, +), organic.reduce(0, +))
        guard all > 0, launches > 0 else {
            byLevel = [Double](repeating: 1, count: RelativeClickRateLevel.count)
            return
        }
        let mean = launches / all
        byLevel = (0..<RelativeClickRateLevel.count).map { level in
            let multiple = RelativeClickRateLevel.multiple(ofLevel: level)
            let unmoved = Self.priorClicks * mean / multiple
            let perClick = (organic[level] + unmoved) / (clicks[level] + Self.priorClicks)
            return min(max(perClick / mean * multiple, Self.range.lowerBound), Self.range.upperBound)
        }
    }

    /// Launches to be expected at so many times the clicks, as a multiple of their average.
    func expected(at multiple: Double) -> Double { byLevel[RelativeClickRateLevel.of(multiple)] }
}
