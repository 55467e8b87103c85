/// The rates per second at which clicks, and causes other than clicks, lead to launches like this one.
struct LaunchRates {
    struct VisitorRate {
        let last: Candidate
        let rate: Double
        /// The rate without the evidence of the address.
        let rateWithoutAddress: Double
        let bin: Int
        let evidence: AttributionMethod
    }

    struct BackgroundRate {
        let destination: CreditedDestination?
        let platformForm: PlatformForm
        let bin: Int
        let rate: Double
    }

    var visitors: [VisitorRate] = []
    var background: [BackgroundRate] = []
    /// The sum of the rates of visitors and background.
    var clicks = 0.0
    /// The rate of repeated first launches by devices that have claimed a click from the launch's address.
    ///
    /// The device was set up again, or the app was reinstalled.
    ///
    /// Such a launch is more likely a reinstallation than another click's late conversion.
    var reinstalls = 0.0
    let intensity: OrganicIntensity

    init(_ evidence: CandidateEvidence, launch: LaunchTraits, model: MatchingModel) {
        let likelihood = AddressLikelihood(evidence, model: model)
        let release = ReleaseLikelihood(launch.release, model.releaseShares)
        let signals = SignalLikelihood(launch.signals, model.signalShares)
        intensity = Self.intensity(evidence, model: model)
        let weighing = Weighing(
            launch: launch,
            likelihood: likelihood,
            release: release,
            signals: signals,
            model: model
        )
        for visitor in Visitor.groups(of: evidence) { visitors.append(weighing.rate(of: visitor)) }
        let isCut = evidence.candidates.count { $0.address.agrees } >= CandidateEvidence.maximumListed
        for count in evidence.background {
            background.append(weighing.rate(of: count, knowsAddresses: !isCut))
        }
        clicks = visitors.reduce(0) { $0 + $1.rate } + background.reduce(0) { $0 + $1.rate }
        for claimed in evidence.candidates {
            guard let at = claimed.claimedAt, claimed.address == .exact else { continue }
            let age = Double(launch.at.milliseconds(since: at)) / 1000
            let ratio = likelihood.ratio(.exact, age: ClickAge(seconds: age))
            reinstalls += ModelConstants.reinstallRate * ratio
        }
    }

    private static func intensity(_ evidence: CandidateEvidence, model: MatchingModel) -> OrganicIntensity {
        let live = evidence.candidates.filter { $0.claimedAt == nil }
        let clicks =
            live.reduce(0) { $0 + max(0, $1.weight) }
            + evidence.background.reduce(0) { $0 + max(0, $1.weight) }
        let platformForm = (live.map(\.platformForm) + evidence.background.map(\.platformForm))
            .min { $0.code < $1.code }
        let observed = model.epoch.observedSeconds(.totals, at: model.at)
        return OrganicIntensity(
            organic: evidence.organic,
            clicks: clicks,
            span: min(max(observed, ModelConstants.minimumClickSpan), ModelConstants.maximumClickSpan),
            share: platformForm.flatMap { model.sharesByPlatformForm[$0.code]?.share } ?? 1,
            model: model
        )
    }
}

/// The values from which the rates of one launch's clicks are computed.
private struct Weighing {
    let launch: LaunchTraits
    let likelihood: AddressLikelihood
    let release: ReleaseLikelihood
    let signals: SignalLikelihood
    let model: MatchingModel

    /// Returns the rate of a visitor: the rate of the most likely click, because two taps of one person do
    /// not make two people.
    func rate(of visitor: Visitor) -> LaunchRates.VisitorRate {
        var best = 0.0
        var withoutAddress = 0.0
        let remaining = visitor.hasLaunchedSinceLastClick ? ModelConstants.remainingShareAfterLaunch : 1
        for click in visitor.clicks {
            let age = Double(launch.at.milliseconds(since: click.clickedAt)) / 1000
            let hazard = model.hazard(click.platformForm, bin: DelayBins.bin(forSeconds: age))
            let ratio = likelihood.ratio(
                click.address,
                age: ClickAge(seconds: age),
                own: Double(visitor.clicks.count)
            )
            let other = release.ratio(click.release, form: click.form) * signals.ratio(click.signals)
            let base = hazard * max(0, click.weight) * other * remaining
            guard base.isFinite else { continue }
            best = max(best, base * ratio)
            withoutAddress = max(withoutAddress, base)
        }
        let last = visitor.last
        let age = Double(launch.at.milliseconds(since: last.clickedAt)) / 1000
        let isKnown = last.address.agrees || signals.compares(last.signals)
        return LaunchRates.VisitorRate(
            last: last,
            rate: best,
            rateWithoutAddress: withoutAddress,
            bin: DelayBins.bin(forSeconds: age),
            evidence: isKnown ? .probabilistic : .fingerprint
        )
    }

    /// Returns the rate of clicks that the evidence counts but does not list.
    ///
    /// `knowsAddresses` is whether every click that agrees with the launch's address is listed. If false, the
    /// counted clicks get the average address ratio of strangers, which is 1.
    func rate(of count: BackgroundCount, knowsAddresses: Bool) -> LaunchRates.BackgroundRate {
        let age = ClickAge(seconds: DelayBins.middle(ofBin: count.ageBin))
        let known = launch.hasAddress ? min(max(count.shareWithAddress, 0), 1) : 0
        let address = known * (knowsAddresses ? likelihood.ratio(.differs, age: age) : 1) + (1 - known)
        let bin = min(max(count.ageBin, 0), DelayBins.count - 1)
        // The ratio of strangers' signals is 1 on average, so counts are not weighed by signals.
        let rate =
            model.hazard(count.platformForm, bin: bin) * max(0, count.weight) * address
            * release.ratio(count.release, form: count.platformForm.form)
        return LaunchRates.BackgroundRate(
            destination: count.destination,
            platformForm: count.platformForm,
            bin: bin,
            rate: rate.isFinite ? rate : 0
        )
    }
}

/// The clicks of one person, who launches once: if one of them led to the launch, the last click is credited.
struct Visitor {
    /// The clicks, newest first; among clicks with the same time, the one with the larger id comes first.
    ///
    /// There is at least one click.
    let clicks: [Candidate]
    /// Whether the visitor launched after their last click, so that these clicks hardly explain another launch.
    let hasLaunchedSinceLastClick: Bool

    var last: Candidate { clicks[0] }

    /// Returns the visitors behind the live candidates, ordered by their last clicks, newest first.
    static func groups(of evidence: CandidateEvidence) -> [Visitor] {
        let traffic = evidence.addressTraffic
        let live = evidence.candidates.filter { $0.claimedAt == nil }.sorted(by: isNewer)
        let isLowTraffic = evidence.background.isEmpty && live.count <= ModelConstants.lowTrafficClicks
        let claims = evidence.candidates.filter { $0.claimedAt != nil && $0.address == .exact }
        var members: [UInt64: [Candidate]] = [:]
        for candidate in live { members[candidate.visitor, default: []].append(candidate) }
        var visitors: [Visitor] = []
        var grouped: Set<UInt64> = []
        for candidate in live {
            let clicks = members[candidate.visitor] ?? [candidate]
            guard isOne(clicks, traffic, isLowTraffic: isLowTraffic) else {
                visitors.append(Visitor([candidate], claims: claims, traffic: traffic))
                continue
            }
            guard grouped.insert(candidate.visitor).inserted else { continue }
            guard clicks.count > 1 else {
                visitors.append(Visitor(clicks, claims: claims, traffic: traffic))
                continue
            }
            for device in devices(of: clicks) {
                visitors.append(Visitor(device, claims: claims, traffic: traffic))
            }
        }
        return visitors
    }

    private init(_ clicks: [Candidate], claims: [Candidate], traffic: AddressTraffic) {
        self.clicks = clicks
        let last = clicks[0]
        hasLaunchedSinceLastClick =
            last.address == .exact && !Self.isCrowded(traffic, own: clicks.count + claims.count)
            && claims.contains { ($0.claimedAt ?? $0.clickedAt) >= last.clickedAt }
    }

    /// Returns the clicks of each of a visitor's devices: different screens mean two phones in one household,
    /// and therefore two people.
    private static func devices(of clicks: [Candidate]) -> [[Candidate]] {
        var devices: [[Candidate]] = []
        for click in clicks {
            let index = devices.firstIndex { device in
                device.allSatisfy { $0.signals.agrees(with: click.signals) != false }
            }
            if let index { devices[index].append(click) } else { devices.append([click]) }
        }
        return devices
    }

    private static func isOne(_ clicks: [Candidate], _ traffic: AddressTraffic, isLowTraffic: Bool) -> Bool {
        guard clicks.count > 1 else { return true }
        guard let first = clicks.first, first.hasAddress else { return isLowTraffic }
        guard clicks.count <= ModelConstants.maximumVisitorClicks else { return false }
        return first.address != .exact || !isCrowded(traffic, own: clicks.count)
    }

    private static func isCrowded(_ traffic: AddressTraffic, own: Int) -> Bool {
        traffic.clicksExact + traffic.launchesExact - Double(own) >= ModelConstants.crowdedAddressThreshold
    }

    static func isNewer(_ left: Candidate, _ right: Candidate) -> Bool {
        (left.clickedAt, left.click) > (right.clickedAt, right.click)
    }
}
