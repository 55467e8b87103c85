/// What a learnt counter counts, and how fast it forgets.
///
/// Everything the model learns is a sum of such counters, kept for each app with its live or its test traffic. The raw
/// value is stored.
public enum CounterFamily: UInt8, CaseIterable, Sendable {
    /// Totals of the app; keys are those of ``AppTotal``.
    case totals = 1
    /// Expected conversions by ``PlatformForm/code``, of launches that only a fingerprint could recognise.
    case conversions = 2
    /// Clicks by ``PlatformForm/code``: how many could have been found so.
    case clicks = 3
    /// Clicks by the hour (since 1970) in which they happened: which delays they have lived to see.
    case clicksByHour = 4
    /// Expected conversions by the ``DelayBins`` bin of their delay.
    case delays = 5
    /// How pairs of one device agree on the address; keys are those of ``AgreementCount``.
    case agreements = 6
    /// Clicks by operating system, keyed by ``OSRelease/code``.
    case releases = 7
    /// Clicks by the mark of a signal in their ``SignalHashes``; the sum of a component under the mark 0.
    case signals = 8
    /// Launches with a fingerprint that no click explains, keyed by the fingerprint's first word.
    case organic = 9
    /// Launches at an exact address, keyed by its hash's first word.
    case launchesAtAddress = 10
    /// Launches near an address (IPv4 /24, IPv6 /48), keyed by its hash's first word.
    case launchesNearAddress = 11
    /// Launches of the app that no click explains, by the ten minutes (since 1970): the time of day.
    case organicByTenMinutes = 12
    /// Clicks by the two minutes (since 1970): how busy the present is.
    case clicksByTwoMinutes = 13
    /// Clicks by how busy the moment was, keyed by ``RelativeClickRateLevel``.
    case clicksByBusyness = 14
    /// Launches that no click explains, by how busy the moment was.
    case organicByBusyness = 15

    /// After how many seconds a count is worth half; nil for one that never fades but is deleted when it is old.
    public var halfLife: Double? {
        switch self {
        case .totals, .organic, .launchesAtAddress, .launchesNearAddress: 2 * 86_400
        case .conversions, .clicks, .releases, .signals, .clicksByBusyness, .organicByBusyness: 7 * 86_400
        case .delays, .agreements: 14 * 86_400
        case .clicksByHour, .organicByTenMinutes, .clicksByTwoMinutes: nil
        }
    }

    /// Whether its counters are few and read together as a ``MatchingModel``.
    ///
    /// The others are read one by one, by key.
    public var belongsToModel: Bool {
        switch self {
        case .organic, .launchesAtAddress, .launchesNearAddress: false
        default: true
        }
    }

    /// Whether there are as many counters as what comes from outside differs: then they are bounded in number.
    public var isOpenEnded: Bool {
        switch self {
        case .releases, .signals: true
        default: !belongsToModel
        }
    }

    /// Open-ended families of the model: few in honest traffic, and read with all of it.
    public static let marks: [CounterFamily] = allCases.filter { $0.belongsToModel && $0.isOpenEnded }
}

/// The keys of ``CounterFamily/totals``.
public enum AppTotal: UInt64, CaseIterable, Sendable {
    /// Launches that only a fingerprint could recognise.
    case launches = 0
    /// Of those that came while a click with their fingerprint was live, what no click explains.
    case organicWithCandidates = 2
    case clicks = 3
    case clicksWithAddress = 4
    /// Launches at addresses where no launch has been seen before, and where one has: how often strangers meet.
    case firstAtAddress = 5
    case secondAtAddress = 6
    case firstNearAddress = 7
    case secondNearAddress = 8
    case launchesWithAddress = 9
    /// What no click explains, of all launches.
    case organic = 10
}

/// One learnt counter of an app.
public struct CounterKey: Hashable, Sendable {
    public let family: CounterFamily
    public let key: UInt64

    public init(_ family: CounterFamily, _ key: UInt64) {
        self.family = family
        self.key = key
    }

    public init(_ total: AppTotal) {
        self.init(.totals, total.rawValue)
    }
}
