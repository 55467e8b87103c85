internal import CMath

/// L(h): the rate per second of organic launches (launches that no click explains) with the fingerprint h.
struct OrganicIntensity {
    /// The intensity for the posterior of a check.
    ///
    /// It starts at 0 and gains weight over six hours. So a new server, which has seen no organic launches, answers by
    /// the plain rule: the newest click matches.
    let stated: Double
    /// The intensity for learning from the launch.
    ///
    /// It starts with a guess: at 0, clicks would always explain every launch with a candidate.
    let learning: Double

    /// - Parameters:
    ///   - organic: the fingerprint's organic launches; older ones count less.
    ///   - clicks: the sum of the weights of the live clicks with the fingerprint.
    ///   - span: the seconds over which these clicks came.
    ///   - share: the share of launches that send a fingerprint of this form.
    ///   - model: the app's model.
    init(organic: Double, clicks: Double, span: Double, share: Double, model: MatchingModel) {
        let observed = model.epoch.observedSeconds(.organic, at: model.at)
        let seen = max(0, organic)
        // The clicks show how common the device is; the model knows the number of organic launches per click.
        let rate = share * clicks / max(span, 3600)
        let activity = model.relativeOrganicRate
        let seconds = Double(model.at.milliseconds(since: model.epoch.began)) / 1000
        let known = 1 - LearningEpoch.decay(seconds / ModelConstants.organicTrustSeconds)
        stated = activity * known * Self.intensity(seen, observed, expected: model.organicPerClick * rate)
        learning = activity * Self.intensity(seen, observed, expected: model.organicPerClickGuess * rate)
    }

    /// Returns the mean of the rate's gamma distribution; its prior weighs
    /// ``ModelConstants/organicPriorLaunches`` launches at the expected rate.
    ///
    /// If an app had launches before its first campaign, the model counts almost no organic launches per click. The
    /// prior would then outweigh many seen launches for years. The rate is therefore at least `lowest`: the number of
    /// seen launches, less ``ModelConstants/organicDeviations`` standard deviations, over the observed time, which is
    /// lengthened by ``ModelConstants/organicTrustSeconds``.
    private static func intensity(_ seen: Double, _ observed: Double, expected: Double) -> Double {
        guard expected > 0 else { return observed > 0 ? seen / observed : 0 }
        let prior = ModelConstants.organicPriorLaunches
        let least = seen - ModelConstants.organicDeviations * seen.squareRoot()
        let lowest = least / (observed + ModelConstants.organicTrustSeconds)
        return max((seen + prior) / (observed + prior / expected), lowest)
    }
}

/// The current rate of organic launches, as a multiple of the average.
///
/// Nights, television advertisements and half-time in a football game change this rate within minutes, but
/// the counts by fingerprint cover days.
enum RelativeOrganicRate {
    private static let slotMilliseconds: Int64 = 600_000
    /// The number of newest ten-minute slots that are read; older ones may be deleted.
    static let slots: UInt64 = 24

    /// Returns the number of ten-minute slots since 1970, as a counter's key.
    static func slot(_ time: Timestamp) -> UInt64 { UInt64(max(0, time.milliseconds) / slotMilliseconds) }

    /// Returns the current rate as a multiple of the average; 1 while nothing is known.
    static func factor(_ counters: ModelCounters, _ clickRate: RelativeClickRate) -> Double {
        let response = OrganicResponse(counters)
        let observed = counters.epoch.observedSeconds(.totals, at: counters.at)
        let total = counters[.organic]
        guard observed > 0, total > 0 else { return 1 }
        let current = slot(counters.at)
        var (launches, seconds) = (0.0, 0.0)
        let halfLife = ModelConstants.organicRateHalfLife
        for past in PastSlot.all(slots, of: slotMilliseconds, halfLife: halfLife, counters) {
            launches += past.weight * max(0, counters[.organicByTenMinutes, current - past.back])
            let level = clickRate.past.isEmpty ? 1 : response.expected(at: clickRate.past[Int(past.back)])
            seconds += past.weight * past.seconds * level
        }
        let prior = ModelConstants.organicRatePriorLaunches
        let residual = (launches + prior) / (total / observed * seconds + prior)
        return min(
            max(residual * response.expected(at: clickRate.now), ModelConstants.minimumRelativeRate),
            ModelConstants.maximumRelativeRate
        )
    }
}

/// The expected rate of organic launches at each rate of clicks, learnt for each app: at a public event, both rates
/// rise; after a message to customers, only the rate of clicks rises.
///
/// It is computed from the organic launches per click at each ``RelativeClickRateLevel``.
private struct OrganicResponse: Sendable {
    private let byLevel: [Double]

    init(_ counters: ModelCounters) {
        let clicks = (0..<RelativeClickRateLevel.count).map { counters[.clicksByRelativeRate, UInt64($0)] }
        let organic = (0..<RelativeClickRateLevel.count).map { counters[.organicByRelativeRate, UInt64($0)] }
        let (all, launches) = (clicks.reduce(0, +), organic.reduce(0, +))
        guard all > 0, launches > 0 else {
            byLevel = [Double](repeating: 1, count: RelativeClickRateLevel.count)
            return
        }
        let mean = launches / all
        let prior = ModelConstants.responsePriorClicks
        byLevel = (0..<RelativeClickRateLevel.count).map { level in
            let multiple = RelativeClickRateLevel.multiple(ofLevel: level)
            let unmoved = prior * mean / multiple
            let perClick = (organic[level] + unmoved) / (clicks[level] + prior)
            return min(
                max(perClick / mean * multiple, ModelConstants.minimumRelativeRate),
                ModelConstants.maximumRelativeRate
            )
        }
    }

    /// Returns the expected rate of launches as a multiple of its average, for a rate of clicks that is
    /// `multiple` times its average.
    func expected(at multiple: Double) -> Double { byLevel[RelativeClickRateLevel.of(multiple)] }
}

/// The rate of clicks as a multiple of the average: now, and in the hours before.
///
/// At a public event, organic launches rise with the clicks within minutes. The clicks show the rise sooner,
/// because there are more clicks.
struct RelativeClickRate: Sendable {
    let now: Double
    /// The rate in each ten-minute slot of ``RelativeOrganicRate``, the current slot first; empty while
    /// nothing is known.
    let past: [Double]

    private static let slotMilliseconds: Int64 = 120_000
    private static let slotSeconds = 120.0
    private static let slotsOfOrganicRate: UInt64 = 5
    /// The number of newest two-minute slots that are read; older ones may be deleted.
    static let slots = RelativeOrganicRate.slots * slotsOfOrganicRate
    /// The number of newest slots that decide the current rate: they cover ten half-lives.
    private static let currentSlots: UInt64 = 15

    init(_ counters: ModelCounters) {
        let observed = counters.epoch.observedSeconds(.totals, at: counters.at)
        let average = observed > 0 ? counters[.clicks] / observed : 0
        guard average > 0 else {
            now = 1
            past = []
            return
        }
        now = Self.current(counters, average)
        past = (0..<RelativeOrganicRate.slots).map { Self.past(counters, average, back: $0) }
    }

    /// Returns the number of two-minute slots since 1970, as a counter's key.
    static func slot(_ time: Timestamp) -> UInt64 { UInt64(max(0, time.milliseconds) / slotMilliseconds) }

    private static func current(_ counters: ModelCounters, _ average: Double) -> Double {
        let slot = slot(counters.at)
        var (clicks, seconds) = (0.0, 0.0)
        let halfLife = ModelConstants.clickRateHalfLife
        for past in PastSlot.all(currentSlots, of: slotMilliseconds, halfLife: halfLife, counters) {
            clicks += past.weight * counters[.clicksByTwoMinutes, slot - past.back]
            seconds += past.weight * past.seconds
        }
        return multiple(clicks, seconds, average)
    }

    private static func past(_ counters: ModelCounters, _ average: Double, back: UInt64) -> Double {
        let organicSlot = RelativeOrganicRate.slot(counters.at)
        guard organicSlot >= back else { return 1 }
        let current = slot(counters.at)
        let elapsed = Double(max(0, counters.at.milliseconds) % slotMilliseconds) / 1000
        let first = (organicSlot - back) * slotsOfOrganicRate
        var (clicks, seconds) = (0.0, 0.0)
        for slot in first..<first + slotsOfOrganicRate where slot <= current {
            clicks += counters[.clicksByTwoMinutes, slot]
            seconds += slot == current ? elapsed : slotSeconds
        }
        return multiple(clicks, seconds, average)
    }

    private static func multiple(_ clicks: Double, _ seconds: Double, _ average: Double) -> Double {
        let prior = ModelConstants.clickRatePriorClicks
        return (clicks + prior) / (average * seconds + prior)
    }
}

/// A multiple of the average rate of clicks, in steps of the square root of two, as a counter's key.
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

/// A slot of time with a counter, relative to the current time.
private struct PastSlot {
    /// The number of slots back from the current one; 0 for the current one.
    let back: UInt64
    /// The number of the slot's seconds that were observed; 0 for a current slot that has just started.
    let seconds: Double
    /// The current weight of an event in the slot's middle.
    let weight: Double

    /// Returns the newest slots since the start of the epoch.
    ///
    /// - Parameters:
    ///   - maximum: the largest number of slots.
    ///   - length: a slot's milliseconds.
    ///   - halfLife: the seconds after which an event counts half.
    ///   - counters: the counters, with the current time and the start of their epoch.
    /// - Returns: the current slot first.
    static func all(
        _ maximum: UInt64,
        of length: Int64,
        halfLife: Double,
        _ counters: ModelCounters
    ) -> [PastSlot] {
        let now = max(0, counters.at.milliseconds)
        let elapsed = Double(now % length) / 1000
        let observed = max(0, Double(counters.at.milliseconds(since: counters.epoch.began)) / 1000)
        guard observed > 0 else { return [] }
        var slots: [PastSlot] = []
        for back in 0..<min(maximum, UInt64(now / length)) {
            let end = back == 0 ? 0 : elapsed + Double(back - 1) * Double(length) / 1000
            let start = min(elapsed + Double(back) * Double(length) / 1000, observed)
            guard start >= end else { break }
            let weight = LearningEpoch.fading((start + end) / 2, halfLife: halfLife)
            slots.append(PastSlot(back: back, seconds: start - end, weight: weight))
        }
        return slots
    }
}
