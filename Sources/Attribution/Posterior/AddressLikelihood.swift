/// The result of comparing the addresses of a launch and a click.
///
/// The raw value is part of the keys of learnt counters.
public enum AddressAgreement: UInt8, CaseIterable, Sendable {
    /// The same IPv4 address, or the same IPv6 /64.
    case exact = 0
    /// Another address of the same IPv4 /24 or IPv6 /48.
    case near = 1
    case differs = 2
    /// One address is unknown or distinguishes no visitors (a loopback, private, shared or unspecified address,
    /// or a relay's), or the addresses were hashed under different keys.
    case missing = 3

    /// Whether both addresses belong to one network.
    var agrees: Bool { self == .exact || self == .near }
}

/// The age of a click in five steps; the model learns for each step how often a device still has its address.
///
/// The raw value is part of the keys of learnt counters.
public enum ClickAge: UInt8, CaseIterable, Sendable {
    case tenMinutes = 0
    case hour = 1
    case fourHours = 2
    case twelveHours = 3
    case later = 4

    public init(seconds: Double) {
        self =
            switch seconds {
            case ..<600: .tenMinutes
            case ..<3600: .hour
            case ..<14_400: .fourHours
            case ..<43_200: .twelveHours
            default: .later
            }
    }
}

/// The numbers of clicks and launches from a launch's address, which show how many people share it.
public struct AddressTraffic: Equatable, Sendable {
    /// The app's live clicks from the exact address, with any fingerprint; counted up to ``countLimit``.
    public var clicksExact = 0.0
    /// The app's live clicks from near the address, including the exact ones; counted up to ``countLimit``.
    public var clicksNear = 0.0
    /// All live clicks of the app.
    public var liveClicks = 0.0
    /// The launches from the exact address, by the counter ``CounterFamily/launchesAtAddress``.
    public var launchesExact = 0.0
    /// The launches from near the address, including the exact ones, by ``CounterFamily/launchesNearAddress``.
    public var launchesNear = 0.0

    /// The share of the model's launches whose addresses can be compared with this one, 0…1.
    ///
    /// The counts above do not include launches of days whose address keys were destroyed.
    public var coverage: Double = 1

    /// A store may stop counting at this many clicks; above them, ``launchesExact`` shows how common the address is.
    public static let countLimit = 8192.0

    public init() {}
}

/// The evidence of a launch's address: how probably strangers (other people's devices) share it, and how much
/// a click's agreement with it counts.
struct AddressLikelihood {
    private let traffic: AddressTraffic
    private let model: MatchingModel
    private let total: Double
    /// The number of the model's launches whose addresses can be compared with the launch's.
    private let launches: Double
    private let recent: RecentAddressShares

    init(_ evidence: CandidateEvidence, model: MatchingModel) {
        traffic = evidence.addressTraffic
        recent = RecentAddressShares(evidence.candidates)
        self.model = model
        launches = model.launchesWithAddress * min(max(traffic.coverage, 0), 1)
        // The clicks near the address may outnumber the live clicks, if they were counted earlier.
        total = max(traffic.liveClicks, traffic.clicksNear) + launches + 1
    }

    /// Returns the probability that a stranger has exactly the launch's address; `own` is the number of
    /// counted clicks that are the visitor's own.
    func strangerExact(own: Double) -> Double {
        let others = max(0, traffic.clicksExact - own) + traffic.launchesExact
        // The second term is the learnt chance that a stranger launches at the address of one visitor.
        let seen = others / total + model.repeatExact / (launches + 1)
        let share = traffic.launchesExact / (launches + 1)
        let beyondLimit = traffic.clicksExact >= AddressTraffic.countLimit ? share : 0
        return clamped(max(seen, beyondLimit, recent.exact(own: own)))
    }

    /// Returns the probability that a stranger is near the launch's address without sharing it.
    func strangerNear(own: Double) -> Double {
        let clicks = max(0, traffic.clicksNear - traffic.clicksExact - own)
        let others = clicks + max(0, traffic.launchesNear - traffic.launchesExact)
        let seen = others / total + model.repeatNear / (launches + 1)
        return clamped(max(seen, recent.near(own: own)))
    }

    /// Returns P(agreement | same device, age) / P(agreement | stranger).
    ///
    /// A device still has its address, has one near it, or has moved; the address of a device that moved agrees as
    /// often as a stranger's. The average ratio of strangers is therefore 1. Agreement at a busy address proves little,
    /// and disagreement never supports a click. `own` is the number of the visitor's clicks.
    func ratio(_ agreement: AddressAgreement, age: ClickAge, own: Double = 1) -> Double {
        let same = model.agreement(age)
        let moved = 1 - same.exact - same.near
        return switch agreement {
        case .missing: 1
        case .exact: same.exact / strangerExact(own: own) + moved
        case .near: same.near / strangerNear(own: own) + moved
        case .differs: moved
        }
    }

    private func clamped(_ probability: Double) -> Double {
        min(max(probability, ModelConstants.minimumStrangerShare), ModelConstants.maximumStrangerShare)
    }
}

/// The shares of the launch's address among the newest clicks with its fingerprint.
///
/// If many people start to click at one place, such as a stadium or a lecture hall, these shares rise at once. In the
/// counts of a day, the place's address is still rare.
private struct RecentAddressShares {
    private var clicks = 0.0
    private var atExact = 0.0
    private var atNear = 0.0

    /// Creates the shares from the newest candidates; ignores older ones, which are listed only because their
    /// address agrees.
    init(_ candidates: [Candidate]) {
        let live = candidates.filter { $0.claimedAt == nil && $0.hasAddress }
        // Clicks with another address are listed only because they are new, so the list contains every click
        // since the oldest of them.
        guard let since = live.lazy.filter({ $0.address == .differs }).map(\.clickedAt).min() else { return }
        for candidate in live where candidate.clickedAt >= since {
            clicks += 1
            if candidate.address == .exact { atExact += 1 }
            if candidate.address == .near { atNear += 1 }
        }
    }

    /// Returns the share of the listed clicks that other people made at the launch's exact address; 0 with
    /// fewer than ``ModelConstants/minimumRecentClicks`` clicks.
    ///
    /// One click more than the visitor's `own` is left out, because it may be the same person with another browser.
    func exact(own: Double) -> Double { share(atExact - own - 1) }

    /// Returns the share of the listed clicks that other people made near the launch's address, by the rules
    /// of ``exact(own:)``.
    func near(own: Double) -> Double { share(atNear - own - 1) }

    private func share(_ others: Double) -> Double {
        clicks >= ModelConstants.minimumRecentClicks && others > 0 ? others / clicks : 0
    }
}
