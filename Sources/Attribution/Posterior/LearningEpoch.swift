internal import CMath

/// From when on an app's traffic has been learnt from, and the moment that stored sums are relative to.
///
/// A count fades with time, yet nothing has to be touched for it: an event at `t` adds to the stored sum what it will
/// be worth when half a life has passed since the landmark as often as it has until `t`, 2^((t − landmark) / half-life),
/// and a reader divides by the same for the present. Increments are therefore plain additions: those of several servers
/// add up in any order to the same state.
///
/// Source: Cormode, Shkapenyuk, Srivastava, Xu: Forward decay (2009).
public struct LearningEpoch: Equatable, Sendable {
    public let began: Timestamp
    public let landmark: Timestamp

    /// After how many seconds the landmark must be moved (see ``factor(movingTo:for:)``), long before a sum overflows:
    /// 400 half-lives of the family that forgets fastest.
    public static let longest: Double =
        400 * (CounterFamily.allCases.compactMap(\.halfLife).min() ?? 86_400)

    /// Exponents beyond this are held there: the sums stay finite whatever the clocks say.
    private static let exponentLimit = 900.0

    public init(began: Timestamp, landmark: Timestamp? = nil) {
        self.began = began
        self.landmark = landmark ?? began
    }

    /// What one event at `moment` adds to a stored sum.
    public func weight(of family: CounterFamily, at moment: Timestamp) -> Double {
        guard let halfLife = family.halfLife else { return 1 }
        let seconds = Double(moment.milliseconds(since: landmark)) / 1000
        let exponent = seconds / halfLife
        return cmath_exp2(min(max(exponent, -Self.exponentLimit), Self.exponentLimit))
    }

    /// What a stored sum is worth at `moment`, in events; never negative nor infinite.
    ///
    /// A sum of ``CounterFamily/organic`` may be below zero, when launches were explained for more than they were.
    public func value(of stored: Double, _ family: CounterFamily, at moment: Timestamp) -> Double {
        guard stored.isFinite, stored > 0 else { return 0 }
        let value = stored / weight(of: family, at: moment)
        return value.isFinite ? value : 0
    }

    /// The seconds of observation that a family's counters stand for at `moment`, older ones counted as they fade.
    public func observedSeconds(_ family: CounterFamily, at moment: Timestamp) -> Double {
        let seconds = max(0, Double(moment.milliseconds(since: began)) / 1000)
        guard let halfLife = family.halfLife else { return seconds }
        let meanLife = halfLife / 0.6931471805599453
        return meanLife * (1 - cmath_exp(-seconds / meanLife))
    }

    /// Which share of what a family's counters stand for at `moment` has come since another one, 0…1.
    public func coverage(of family: CounterFamily, since: Timestamp, at moment: Timestamp) -> Double {
        let all = observedSeconds(family, at: moment)
        guard since > began, all > 0 else { return 1 }
        return min(1, LearningEpoch(began: since).observedSeconds(family, at: moment) / all)
    }

    /// What a count of `seconds` ago is still worth.
    static func fading(_ seconds: Double, halfLife: Double) -> Double {
        cmath_exp2(-max(0, seconds) / halfLife)
    }

    static func power(_ base: Double, _ exponent: Double) -> Double {
        base > 0 ? cmath_exp(exponent * cmath_log(base)) : 0
    }

    /// e to the power of minus `lives`.
    static func decay(_ lives: Double) -> Double { cmath_exp(-max(0, lives)) }

    /// Whether a stored sum is worth too little, or is too old, to be kept.
    public func hasFaded(_ stored: Double, _ counter: CounterKey, at moment: Timestamp) -> Bool {
        let hour = moment.milliseconds / 3_600_000
        switch counter.family {
        case .clicksByHour: return Int64(clamping: counter.key) < hour - 8 * 7 * 24
        case .organicByTenMinutes:
            return Int64(clamping: counter.key) < hour * 6 - 2 * Int64(RelativeOrganicRate.slots)
        case .clicksByTwoMinutes:
            return Int64(clamping: counter.key) < hour * 30 - 2 * Int64(RelativeClickRate.slots)
        case .organic, .launchesAtAddress, .launchesNearAddress, .signals, .releases:
            return value(of: stored, counter.family, at: moment) < Self.leastWorth
        case .totals, .conversions, .clicks, .delays, .agreements, .clicksByBusyness, .organicByBusyness:
            return false
        }
    }

    /// Events that a counter of something frequent must be worth to be kept.
    private static let leastWorth = 0.1

    /// What stored sums are multiplied by when the landmark moves.
    public func factor(movingTo landmark: Timestamp, for family: CounterFamily) -> Double {
        1 / weight(of: family, at: landmark)
    }
}
