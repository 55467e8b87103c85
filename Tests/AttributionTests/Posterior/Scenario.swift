import Attribution

/// A short notation for candidates and launches.
enum Scenario {
    static let noon = TestValues.noon
    static let model = MatchingModel.fresh(at: noon)

    /// Returns a model that has learnt from a thousand clicks and launches in the two days before noon, and then from
    /// `more`.
    static func learnt(_ more: (inout LearntIncrements) -> Void = { _ in }) -> MatchingModel {
        let began = noon.advanced(byMilliseconds: -2 * 86_400_000)
        let epoch = LearningEpoch(began: began)
        var increments = LearntIncrements(epoch: epoch)
        let totals: [AppTotal] = [.launches, .launchesWithAddress, .clicks, .clicksWithAddress]
        for total in totals { increments.add(1000, to: CounterKey(total), at: noon) }
        more(&increments)
        return MatchingModel(sums: increments.sums, epoch: epoch, at: noon)
    }

    static func candidate(
        _ number: UInt64,
        secondsAgo: Double,
        url: UInt64 = 1,
        campaign: UInt64 = 1,
        address: AddressAgreement = .differs,
        visitor: UInt64? = nil,
        form: FingerprintForm? = .a,
        signals: SignalHashes = .none,
        claimedSecondsAgo: Double? = nil
    ) -> Candidate {
        var candidate = Candidate(
            click: ClickID(high: number, low: 0),
            clickedAt: noon.advanced(byMilliseconds: Int64(-secondsAgo * 1000)),
            destination: CreditedDestination(url: url, campaign: campaign),
            platform: .ios,
            form: form,
            visitor: visitor ?? number
        )
        candidate.address = address
        candidate.hasAddress = address != .missing
        candidate.signals = signals
        candidate.claimedAt = claimedSecondsAgo.map { noon.advanced(byMilliseconds: Int64(-$0 * 1000)) }
        return candidate
    }

    static let launch = LaunchTraits(at: noon, hasAddress: true)

    static func posterior(
        _ candidates: [Candidate],
        background: [BackgroundCount] = [],
        organic: Double = 0,
        traffic: AddressTraffic = AddressTraffic(clicksExact: 1, clicksNear: 1, liveClicks: 1000),
        signals: SignalHashes = .none,
        model: MatchingModel = learnt()
    ) -> Posterior {
        let evidence = CandidateEvidence(
            candidates: candidates,
            background: background,
            addressTraffic: traffic,
            organic: organic
        )
        var launch = launch
        launch.signals = signals
        return Posterior(evidence, launch: launch, model: model)
    }

    static func verdict(
        _ candidates: [Candidate],
        background: [BackgroundCount] = [],
        organic: Double = 0,
        policy: MatchPolicy = MatchPolicy(),
        model: MatchingModel = learnt()
    ) -> Verdict {
        let traffic = AddressTraffic(clicksExact: 1, clicksNear: 1, liveClicks: 1000)
        let evidence = CandidateEvidence(
            candidates: candidates,
            background: background,
            addressTraffic: traffic,
            organic: organic
        )
        return Verdict(evidence, launch: launch, model: model, policy: policy)
    }
}
