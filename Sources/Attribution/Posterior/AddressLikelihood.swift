/// How likely strangers share an address with a launch, and what agreement on it is therefore worth.
struct AddressLikelihood {
    private let crowd: AddressTraffic
    private let model: MatchingModel
    private let total: Double
    /// With an address, as far as they would be counted at the launch's own.
    private let launches: Double
    private let rush: RecentAddressShares

    /// What keeps a likelihood from being certain in either direction.
    private static let smallest = 1e-9

    init(_ evidence: CandidateEvidence, model: MatchingModel) {
        crowd = evidence.crowd
        rush = RecentAddressShares(evidence.candidates)
        self.model = model
        launches = model.launchesWithAddress * min(max(crowd.coverage, 0), 1)
        // Of the clicks near the address some may have been claimed.
        total = max(crowd.liveClicks, crowd.clicksNear) + launches + 1
    }

    /// The probability that a stranger has exactly the launch's address, not counting so many clicks of our own.
    func strangerExact(own: Double) -> Double {
        let others = max(0, crowd.clicksExact - own) + crowd.launchesExact
        // An address nobody else was seen at is as frequent as such addresses turned out to be.
        let seen = others / total + model.repeatExact / (launches + 1)
        let share = crowd.launchesExact / (launches + 1)
        let crowded = crowd.clicksExact >= AddressTraffic.enough ? share : 0
        return clamped(max(seen, crowded, rush.exact(own: own)))
    }

    /// The probability that a stranger is near the launch's address without sharing it.
    func strangerNear(own: Double) -> Double {
        let clicks = max(0, crowd.clicksNear - crowd.clicksExact - own)
        let others = clicks + max(0, crowd.launchesNear - crowd.launchesExact)
        let seen = others / total + model.repeatNear / (launches + 1)
        return clamped(max(seen, rush.near(own: own)))
    }

    /// P(agreement | same device, age) / P(agreement | stranger).
    ///
    /// A device is where it was, near there, or has moved, and then it is met like a stranger. So strangers' ratios are 1
    /// on average, agreement at a crowded address tells nothing, and where it is missing, it never tells for a click.
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
        min(max(probability, Self.smallest), 0.98)
    }
}
