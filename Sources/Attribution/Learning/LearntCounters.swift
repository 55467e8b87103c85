internal import CMath

/// The subject of a learnt counter, and its half-life: the time after which an event counts half.
///
/// The model is computed from such counters, which are stored for each app, separately for live and test
/// traffic. The raw value is stored.
public enum CounterFamily: UInt8, CaseIterable, Sendable {
    /// Totals of the app, keyed by ``AppTotal``.
    case totals = 1
    /// Expected conversions by ``PlatformForm/code``: for launches that only a fingerprint could recognise, the
    /// sums of the probabilities that a click led to the launch.
    case conversions = 2
    /// Clicks, each counted under the ``PlatformForm/code`` of every form with which a launch could find it.
    case clicks = 3
    /// Clicks by their hour since 1970. Their ages show which share of the clicks is old enough for each delay of a
    /// launch: see ``ClickExposure``.
    case clicksByHour = 4
    /// Expected conversions by the ``DelayBins`` bin of their delay.
    case delays = 5
    /// The address agreement of a click and a launch of one device, keyed by ``AgreementCount``.
    case agreements = 6
    /// Clicks by operating system, keyed by ``OSRelease/code``.
    case releases = 7
    /// Clicks by each hash in their ``SignalHashes``; all clicks with a component also count under the component's hash
    /// 0.
    case signals = 8
    /// Launches that no click explains, keyed by their fingerprint's first word.
    case organic = 9
    /// Launches at an exact address, keyed by its hash's first word.
    case launchesAtAddress = 10
    /// Launches near an address (IPv4 /24, IPv6 /48), keyed by its hash's first word.
    case launchesNearAddress = 11
    /// Launches that no click explains, by their ten-minute slot since 1970, for the current rate.
    case organicByTenMinutes = 12
    /// Clicks by their two-minute slot since 1970, for the current rate.
    case clicksByTwoMinutes = 13
    /// Clicks by the ``RelativeClickRateLevel`` (rate of clicks relative to the average) at their time.
    case clicksByRelativeRate = 14
    /// Launches that no click explains, by the ``RelativeClickRateLevel`` at their time.
    case organicByRelativeRate = 15
    /// The number of launches that only a fingerprint could recognise, with the key 0: unlike ``AppTotal/launches``, old
    /// launches count in full.
    case allLaunches = 16

    /// A count is worth half after this many seconds; nil for counts that do not decrease, most of which are deleted
    /// when they are old.
    public var halfLife: Double? {
        switch self {
        case .totals, .organic, .launchesAtAddress, .launchesNearAddress: ModelConstants.trafficHalfLife
        case .conversions, .clicks, .releases, .signals, .clicksByRelativeRate, .organicByRelativeRate:
            ModelConstants.shareHalfLife
        case .delays, .agreements: ModelConstants.habitHalfLife
        case .clicksByHour, .organicByTenMinutes, .clicksByTwoMinutes, .allLaunches: nil
        }
    }

    /// Whether the family's counters are few and are read together as a ``MatchingModel``.
    ///
    /// The others are read one by one, by key.
    public var belongsToModel: Bool {
        switch self {
        case .organic, .launchesAtAddress, .launchesNearAddress: false
        default: true
        }
    }

    /// Whether the number of counters grows with the values that clients send, so that it must be bounded.
    public var isOpenEnded: Bool {
        switch self {
        case .releases, .signals: true
        default: !belongsToModel
        }
    }

    /// The open-ended families that are read with the model; they have few counters in honest traffic.
    public static let openEndedModelFamilies: [CounterFamily] = allCases.filter {
        $0.belongsToModel && $0.isOpenEnded
    }
}

/// The keys of ``CounterFamily/totals``.
public enum AppTotal: UInt64, CaseIterable, Sendable {
    /// Launches that only a fingerprint could recognise.
    case launches = 0
    /// The launches that no click explains (organic ones), although a click with their fingerprint was live.
    case organicWithCandidates = 2
    case clicks = 3
    case clicksWithAddress = 4
    /// Launches at addresses without an earlier launch; with ``secondAtAddress``, this shows how often
    /// strangers share an address.
    case firstAtAddress = 5
    case secondAtAddress = 6
    case firstNearAddress = 7
    case secondNearAddress = 8
    case launchesWithAddress = 9
    /// All launches that no click explains.
    case organic = 10
}

/// The keys of ``CounterFamily/agreements``.
public enum AgreementCount {
    /// The key of the pairs of a click and a launch of one device, by the age of the click.
    public static func pairs(_ age: ClickAge) -> UInt64 { UInt64(age.rawValue) << 8 | 0xff }

    /// The key of the pairs whose addresses agreed in this way.
    public static func agreeing(_ agreement: AddressAgreement, _ age: ClickAge) -> UInt64 {
        UInt64(age.rawValue) << 8 | UInt64(agreement.rawValue)
    }
}

/// One learnt counter of an app.
public struct CounterKey: Hashable, Sendable {
    public let family: CounterFamily
    public let key: UInt64

    public init(_ family: CounterFamily, _ key: UInt64) {
        self.family = family
        self.key = key
    }

    public init(_ total: AppTotal) { self.init(.totals, total.rawValue) }
}

/// The start of learning from an app's traffic, and the landmark: the time that stored sums are relative to.
///
/// Counts decrease with time (fade) without changes to rows: an event at `t` adds 2^((t − landmark) /
/// half-life) to the stored sum, and a read at `s` divides the sum by 2^((s − landmark) / half-life). Increments are
/// therefore plain additions, and the increments of several servers add up in any order to the same state.
///
/// Source: Cormode, Shkapenyuk, Srivastava, Xu: Forward decay (2009).
public struct LearningEpoch: Equatable, Sendable {
    public let began: Timestamp
    public let landmark: Timestamp

    /// The age in seconds before which the landmark must be moved: 400 half-lives of the family that fades fastest.
    ///
    /// A job moves it at half this age. This is long before a sum overflows; see ``factor(movingTo:for:)``.
    public static let maximumSpan: Double =
        400 * (CounterFamily.allCases.compactMap(\.halfLife).min() ?? 86_400)

    /// The largest exponent, which keeps sums finite even with wrong clocks.
    private static let exponentLimit = 900.0
    /// An open-ended counter with a lower value than this, in events, is deleted.
    private static let minimumValue = 0.1

    public init(began: Timestamp, landmark: Timestamp? = nil) {
        self.began = began
        self.landmark = landmark ?? began
    }

    /// Returns the amount that one event at a time adds to a stored sum.
    public func weight(of family: CounterFamily, at time: Timestamp) -> Double {
        guard let halfLife = family.halfLife else { return 1 }
        let seconds = Double(time.milliseconds(since: landmark)) / 1000
        let exponent = seconds / halfLife
        return cmath_exp2(min(max(exponent, -Self.exponentLimit), Self.exponentLimit))
    }

    /// Returns the value of a stored sum at a time, in events; never negative or infinite.
    ///
    /// A sum of ``CounterFamily/organic`` may be negative, if clicks explained more launches than there were.
    public func value(of stored: Double, _ family: CounterFamily, at time: Timestamp) -> Double {
        guard stored.isFinite, stored > 0 else { return 0 }
        let value = stored / weight(of: family, at: time)
        return value.isFinite ? value : 0
    }

    /// Returns the seconds of observation that a family's counters represent; older seconds count less if the
    /// family has a half-life.
    public func observedSeconds(_ family: CounterFamily, at time: Timestamp) -> Double {
        let seconds = max(0, Double(time.milliseconds(since: began)) / 1000)
        guard let halfLife = family.halfLife else { return seconds }
        let meanLife = halfLife / 0.6931471805599453
        return meanLife * (1 - cmath_exp(-seconds / meanLife))
    }

    /// Returns the share of a family's ``observedSeconds(_:at:)`` that is later than `since`, 0…1.
    public func coverage(of family: CounterFamily, since: Timestamp, at time: Timestamp) -> Double {
        let all = observedSeconds(family, at: time)
        guard since > began, all > 0 else { return 1 }
        return min(1, LearningEpoch(began: since).observedSeconds(family, at: time) / all)
    }

    /// Returns whether a stored sum is too small or too old to be retained; always false for a family with a
    /// fixed set of keys.
    public func hasFaded(_ stored: Double, _ counter: CounterKey, at time: Timestamp) -> Bool {
        let hour = time.milliseconds / 3_600_000
        switch counter.family {
        case .clicksByHour: return Int64(clamping: counter.key) < hour - 8 * 7 * 24
        case .organicByTenMinutes:
            return Int64(clamping: counter.key) < hour * 6 - 2 * Int64(RelativeOrganicRate.slots)
        case .clicksByTwoMinutes:
            return Int64(clamping: counter.key) < hour * 30 - 2 * Int64(RelativeClickRate.slots)
        case .organic, .launchesAtAddress, .launchesNearAddress, .signals, .releases:
            return value(of: stored, counter.family, at: time) < Self.minimumValue
        case .totals, .conversions, .clicks, .delays, .agreements, .clicksByRelativeRate,
            .organicByRelativeRate, .allLaunches:
            return false
        }
    }

    /// Returns the factor by which a family's stored sums must be multiplied if the landmark moves.
    public func factor(movingTo landmark: Timestamp, for family: CounterFamily) -> Double {
        1 / weight(of: family, at: landmark)
    }

    /// Returns the current value of one event that came `seconds` ago; `halfLife` is in seconds.
    static func fading(_ seconds: Double, halfLife: Double) -> Double {
        cmath_exp2(-max(0, seconds) / halfLife)
    }

    static func power(_ base: Double, _ exponent: Double) -> Double {
        base > 0 ? cmath_exp(exponent * cmath_log(base)) : 0
    }

    /// Returns e to the power of minus `lives`.
    static func decay(_ lives: Double) -> Double { cmath_exp(-max(0, lives)) }
}

/// The values of an app's counters at one time, to which older events contribute less.
struct ModelCounters {
    let epoch: LearningEpoch
    let at: Timestamp
    private let values: [CounterKey: Double]

    init(sums: [CounterKey: Double], epoch: LearningEpoch, at: Timestamp) {
        self.epoch = epoch
        self.at = at
        var values: [CounterKey: Double] = [:]
        for (key, sum) in sums where key.family.belongsToModel {
            values[key] = epoch.value(of: sum, key.family, at: at)
        }
        self.values = values
    }

    subscript(family: CounterFamily, key: UInt64) -> Double { values[CounterKey(family, key)] ?? 0 }
    subscript(total: AppTotal) -> Double { self[.totals, total.rawValue] }

    /// Returns the counters of one family by their keys.
    func all(_ family: CounterFamily) -> [UInt64: Double] {
        var result: [UInt64: Double] = [:]
        for (key, value) in values where key.family == family { result[key.key] = value }
        return result
    }

    /// Returns the number of hours since 1970, as a counter's key.
    static func hour(_ time: Timestamp) -> UInt64 { UInt64(max(0, time.milliseconds) / 3_600_000) }
}

/// Additions to an app's learnt counters, gathered in memory until they are stored.
///
/// They are relative to an epoch's landmark. The increments of several servers, and of several loops of one
/// server, may be added in any order.
///
/// The number of counters by fingerprint and address grows with the number of different launches, so a
/// flood of launches could fill memory and database. Above a limit only one of two such keys is counted, then
/// one of four, and so on. Each counted key gets the weight of the omitted ones, so sums stay right on
/// average. Only a flood makes them coarse.
public struct LearntIncrements: Equatable, Sendable {
    public let epoch: LearningEpoch
    public private(set) var sums: [CounterKey: Double] = [:]
    /// The sampling of keys by fingerprint and address: one of this many is counted; a power of two.
    public private(set) var keptOneOf: UInt64 = 1

    private var keyedCount = 0
    private var openEndedCount = 0
    private let keyLimit: Int
    /// The largest number of counters of systems and signals in one gathering; more come only from a flood of
    /// invented values, and are omitted.
    private static let maximumOpenEnded = 512
    /// The number of the current gathering: the time until the next ``removeAll()``, in which increments are added up.
    ///
    /// It decides which keys are dropped, so that a flood drops other keys in each gathering.
    private var turn: UInt64
    /// The number of events that each added event represents.
    private var timesEach = 1.0

    /// - Parameters:
    ///   - epoch: the epoch that the sums are relative to.
    ///   - keyLimit: the largest number of counters by fingerprint and address.
    ///   - turn: a number that differs from one gathering to the next.
    public init(epoch: LearningEpoch, keyLimit: Int = 8192, turn: UInt64 = 0) {
        self.epoch = epoch
        self.keyLimit = max(1, keyLimit)
        self.turn = turn
    }

    /// Adds `amount` events at a time; ignores an infinite amount and NaN.
    public mutating func add(_ amount: Double = 1, to key: CounterKey, at time: Timestamp) {
        guard amount.isFinite, amount != 0 else { return }
        let sum = amount * timesEach * epoch.weight(of: key.family, at: time)
        guard !key.family.belongsToModel else {
            if key.family.isOpenEnded, sums[key] == nil {
                guard openEndedCount < Self.maximumOpenEnded || key.isOfAll else { return }
                openEndedCount += 1
            }
            sums[key, default: 0] += sum
            return
        }
        guard isKept(key) else { return }
        let before = sums[key]
        sums[key] = (before ?? 0) + sum * Double(keptOneOf)
        if before == nil { keyedCount += 1 }
        while keyedCount > keyLimit, keptOneOf < 1 << 40 { thin() }
    }

    /// Adds everything that `teach` adds, multiplied by `times`.
    public mutating func counting(times: Int, _ teach: (inout LearntIncrements) -> Void) {
        timesEach = Double(times)
        teach(&self)
        timesEach = 1
    }

    /// Adds the sums of other increments, which must have the same epoch.
    public mutating func merge(_ other: LearntIncrements) {
        for (key, sum) in other.sums {
            let before = sums[key]
            sums[key] = (before ?? 0) + sum
            guard before == nil, key.family.isOpenEnded else { continue }
            if key.family.belongsToModel { openEndedCount += 1 } else { keyedCount += 1 }
        }
    }

    /// Removes all sums and starts the next gathering, which drops other keys in a flood.
    public mutating func removeAll() {
        sums.removeAll(keepingCapacity: true)
        keptOneOf = 1
        keyedCount = 0
        openEndedCount = 0
        turn &+= 1
    }

    private mutating func thin() {
        keptOneOf *= 2
        for (key, sum) in sums where !key.family.belongsToModel {
            if isKept(key) {
                sums[key] = sum * 2
            } else {
                sums[key] = nil
                keyedCount -= 1
            }
        }
    }

    private func isKept(_ key: CounterKey) -> Bool {
        guard keptOneOf > 1 else { return true }
        // The finalizer of MurmurHash3, in which every bit of the key changes the lowest bits.
        var bits = key.key ^ turn &* 0x9e37_79b9_7f4a_7c15
        bits = (bits ^ bits >> 33) &* 0xff51_afd7_ed55_8ccd
        bits = (bits ^ bits >> 33) &* 0xc4ce_b9fe_1a85_ec53
        return (bits ^ bits >> 33) & (keptOneOf - 1) == 0
    }
}
