/// The rates at which everything that may have led to a launch does so.
struct LaunchRates {
    struct VisitorRate {
        let last: Candidate
        let rate: Double
        /// The same without the evidence of the address.
        let rateWithoutAddress: Double
        let bin: Int
        let evidence: MatchEvidence
    }

    struct BackgroundRate {
        let destination: CreditedDestination?
        let lane: PlatformForm
        let bin: Int
        let rate: Double
    }

    var visitors: [VisitorRate] = []
    var background: [BackgroundRate] = []
    /// What visitors and background add up to.
    var clicks = 0.0
    var reinstalls = 0.0
    let intensity: OrganicIntensity

    /// How often a device that has launched is set up anew within a second: one in twenty a day.
    ///
    /// A launch where the same visitor's click was consumed is rather this than the late conversion of another click.
    private static let reinstallRate = 0.05 / 86_400
    /// The conversions that are left of a click whose visitor has launched since.
    private static let spentShare = 0.02

    init(_ evidence: CandidateEvidence, launch: LaunchTraits, model: MatchingModel) {
        let likelihood = AddressLikelihood(evidence, model: model)
        let release = ReleaseLikelihood(launch.release, model.releaseShares)
        let signals = SignalLikelihood(launch.signals, model.signalShares)
        intensity = Self.intensity(evidence, model: model)
        for visitor in Visitor.groups(of: evidence) {
            visitors.append(Self.rate(of: visitor, launch, likelihood, release, signals, model))
        }
        let isCut = evidence.candidates.count { $0.address.agrees } >= CandidateEvidence.listed
        for count in evidence.background {
            background.append(Self.rate(of: count, launch, isCut ? nil : likelihood, release, model))
        }
        clicks = visitors.reduce(0) { $0 + $1.rate } + background.reduce(0) { $0 + $1.rate }
        for claimed in evidence.candidates {
            guard let at = claimed.claimedAt, claimed.address == .exact else { continue }
            let age = Double(launch.at.milliseconds(since: at)) / 1000
            let ratio = likelihood.ratio(.exact, age: ClickAge(seconds: age))
            reinstalls += Self.reinstallRate * ratio
        }
    }

    private static func intensity(_ evidence: CandidateEvidence, model: MatchingModel) -> OrganicIntensity {
        let live = evidence.candidates.filter { $0.claimedAt == nil }
        let clicks =
            live.reduce(0) { $0 + max(0, $1.weight) }
            + evidence.background.reduce(0) { $0 + max(0, $1.weight) }
        let lane = (live.map(\.lane) + evidence.background.map(\.lane)).min { $0.code < $1.code }
        let observed = model.epoch.observedSeconds(.totals, at: model.at)
        return OrganicIntensity(
            organic: evidence.organic,
            clicks: clicks,
            span: min(max(observed, 6 * 3600), 86_400),
            share: lane.flatMap { model.sharesByPlatformForm[$0.code]?.share } ?? 1,
            model: model
        )
    }

    /// The rate of a visitor is that of his likeliest click: two taps make no two people.
    private static func rate(
        of visitor: Visitor,
        _ launch: LaunchTraits,
        _ likelihood: AddressLikelihood,
        _ release: ReleaseLikelihood,
        _ signals: SignalLikelihood,
        _ model: MatchingModel
    ) -> VisitorRate {
        var best = 0.0
        var withoutAddress = 0.0
        for click in visitor.clicks {
            let age = Double(launch.at.milliseconds(since: click.clickedAt)) / 1000
            let hazard = model.hazard(click.lane, bin: DelayBins.bin(forSeconds: age))
            let ratio = likelihood.ratio(
                click.address,
                age: ClickAge(seconds: age),
                own: Double(visitor.clicks.count)
            )
            let other = release.ratio(click.release, form: click.form) * signals.ratio(click.signals)
            let base = hazard * max(0, click.weight) * other * (visitor.isSpent ? spentShare : 1)
            guard base.isFinite else { continue }
            best = max(best, base * ratio)
            withoutAddress = max(withoutAddress, base)
        }
        let last = visitor.last
        let age = Double(launch.at.milliseconds(since: last.clickedAt)) / 1000
        let isKnown = last.address.agrees || signals.compares(last.signals)
        return VisitorRate(
            last: last,
            rate: best,
            rateWithoutAddress: withoutAddress,
            bin: DelayBins.bin(forSeconds: age),
            evidence: isKnown ? .probabilistic : .fingerprint
        )
    }

    /// Without a likelihood of addresses, nobody knows how many of them agree with the launch's: then they are worth
    /// what strangers are on average.
    private static func rate(
        of count: BackgroundCount,
        _ launch: LaunchTraits,
        _ likelihood: AddressLikelihood?,
        _ release: ReleaseLikelihood,
        _ model: MatchingModel
    ) -> BackgroundRate {
        let age = ClickAge(seconds: DelayBins.middle(ofBin: count.ageBin))
        let known = launch.hasAddress ? min(max(count.shareWithAddress, 0), 1) : 0
        let address = known * (likelihood?.ratio(.differs, age: age) ?? 1) + (1 - known)
        let bin = min(max(count.ageBin, 0), DelayBins.count - 1)
        // Of signals strangers' agreements and differences are worth 1 on average: what is counted is weighed by neither.
        let rate =
            model.hazard(count.lane, bin: bin) * max(0, count.weight) * address
            * release.ratio(count.release, form: count.lane.form)
        return BackgroundRate(
            destination: count.destination,
            lane: count.lane,
            bin: bin,
            rate: rate.isFinite ? rate : 0
        )
    }
}
