/// How busy the present is with launches that come from no click.
///
/// Nights, advertisements on television and the break of a match change it within minutes, while the counts by
/// fingerprint are those of days.
enum RelativeOrganicRate {
    private static let slotMilliseconds: Int64 = 600_000
    /// Older slots than this are not read, and may be deleted.
    static let slots: UInt64 = 24
    /// After how many seconds a launch tells half as much of the present.
    private static let halfLife = 600.0
    /// The launches by which the average is believed to hold.
    private static let priorLaunches = 6.0

    /// The ten minutes since 1970, as a counter's key.
    static func slot(_ moment: Timestamp) -> UInt64 {
        UInt64(max(0, moment.milliseconds) / slotMilliseconds)
    }

    /// The present rate as a multiple of the average; 1 while nothing is known.
    static func factor(_ counters: ModelCounters, _ busyness: RelativeClickRate) -> Double {
        let response = OrganicResponse(counters)
        let observed = counters.epoch.observedSeconds(.totals, at: counters.at)
        let total = counters[.organic]
        guard observed > 0, total > 0 else { return 1 }
        let present = slot(counters.at)
        var (launches, seconds) = (0.0, 0.0)
        for past in PastSlot.all(slots, of: slotMilliseconds, halfLife: halfLife, counters) {
            launches += past.worth * max(0, counters[.organicByTenMinutes, present - past.back])
            let level = busyness.past.isEmpty ? 1 : response.expected(at: busyness.past[Int(past.back)])
            seconds += past.worth * past.seconds * level
        }
        let residual = (launches + priorLaunches) / (total / observed * seconds + priorLaunches)
        return min(max(residual * response.expected(at: busyness.now), 0.1), 30)
    }
}
