internal import CMath

/// How many clicks come, as a multiple of the average: at the present and in the hours before it.
///
/// At an event the launches that come from no click rise with the clicks, within minutes: clicks are many, and tell it
/// before those launches do.
struct RelativeClickRate: Sendable {
    let now: Double
    /// By the slots of ``RelativeOrganicRate``, the present one first.
    let past: [Double]

    private static let slotMilliseconds: Int64 = 120_000
    private static let slotSeconds = 120.0
    private static let slotsOfActivity: UInt64 = 5
    /// Older slots than this are not read, and may be deleted.
    static let slots = RelativeOrganicRate.slots * slotsOfActivity
    /// After how many seconds a click tells half as much of the present.
    private static let halfLife = 180.0
    /// Slots that tell anything of it.
    private static let presentSlots: UInt64 = 15
    /// The clicks by which the average is believed to hold.
    private static let priorClicks = 4.0

    init(_ counters: ModelCounters) {
        let observed = counters.epoch.observedSeconds(.totals, at: counters.at)
        let average = observed > 0 ? counters[.clicks] / observed : 0
        guard average > 0 else {
            now = 1
            past = []
            return
        }
        now = Self.present(counters, average)
        past = (0..<RelativeOrganicRate.slots).map { Self.past(counters, average, back: $0) }
    }

    /// The two minutes since 1970, as a counter's key.
    static func slot(_ moment: Timestamp) -> UInt64 {
        UInt64(max(0, moment.milliseconds) / slotMilliseconds)
    }

    private static func present(_ counters: ModelCounters, _ average: Double) -> Double {
        let slot = slot(counters.at)
        var (clicks, seconds) = (0.0, 0.0)
        for past in PastSlot.all(presentSlots, of: slotMilliseconds, halfLife: halfLife, counters) {
            clicks += past.worth * counters[.clicksByTwoMinutes, slot - past.back]
            seconds += past.worth * past.seconds
        }
        return (clicks + priorClicks) / (average * seconds + priorClicks)
    }

    private static func past(_ counters: ModelCounters, _ average: Double, back: UInt64) -> Double {
        let activity = RelativeOrganicRate.slot(counters.at)
        guard activity >= back else { return 1 }
        let present = slot(counters.at)
        let begun = Double(max(0, counters.at.milliseconds) % slotMilliseconds) / 1000
        let first = (activity - back) * slotsOfActivity
        var (clicks, seconds) = (0.0, 0.0)
        for slot in first..<first + slotsOfActivity where slot <= present {
            clicks += counters[.clicksByTwoMinutes, slot]
            seconds += slot == present ? begun : slotSeconds
        }
        return (clicks + priorClicks) / (average * seconds + priorClicks)
    }
}

/// A multiple of the average in steps of the square root of two, as a counter's key.
enum RelativeClickRateLevel {
    static let count = 29
    /// The level of the average.
    private static let middle = 12.0

    static func of(_ multiple: Double) -> Int {
        let steps = 2 * cmath_log(max(multiple, 1e-3)) / 0.6931471805599453
        return Int(min(max(steps + middle + 0.5, 0), Double(count - 1)))
    }

    static func key(_ multiple: Double) -> UInt64 { UInt64(of(multiple)) }

    static func multiple(ofLevel level: Int) -> Double { cmath_exp2((Double(level) - middle) / 2) }
}
