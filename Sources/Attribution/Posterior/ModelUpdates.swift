/// What clicks and launches teach: pure increments of learnt counters.
///
/// A click costs a dozen additions in memory, all of them to counters of the app. A launch without a live click costs
/// three to counters of its own (fingerprint, exact and near address) and six to the app's; with candidates some more
/// to the app's, and three counters are read. All of it is gathered by ``LearntIncrements`` and stored in the
/// background: what is lost with the process is some seconds of learning and never a click or a claim.
public enum ModelUpdates {
    /// What a recorded click teaches, robots' and repeated posts' excepted.
    ///
    /// The forms are those under which the click can be found, each once; how busy it was is what the model says.
    public static func click(
        at: Timestamp,
        platform: Platform,
        forms: [FingerprintForm?],
        hasAddress: Bool,
        release: OSRelease? = nil,
        signals: SignalHashes = .none,
        busyness: Double = 1,
        into increments: inout LearntIncrements
    ) {
        increments.add(to: CounterKey(AppTotal.clicks), at: at)
        if hasAddress { increments.add(to: CounterKey(AppTotal.clicksWithAddress), at: at) }
        increments.add(to: CounterKey(.clicksByTwoMinutes, RelativeClickRate.slot(at)), at: at)
        increments.add(to: CounterKey(.clicksByBusyness, RelativeClickRateLevel.key(busyness)), at: at)
        increments.add(to: CounterKey(.clicksByHour, ModelCounters.hour(at)), at: at)
        for form in forms {
            increments.add(to: CounterKey(.clicks, PlatformForm(platform: platform, form: form).code), at: at)
        }
        if let release { increments.add(to: CounterKey(.releases, release.code), at: at) }
        for component in signals.components {
            guard let mark = signals[component] else { continue }
            increments.add(to: CounterKey(component, mark: mark), at: at)
            increments.add(to: CounterKey(allOf: component), at: at)
        }
    }

    /// What a launch teaches that nothing but its fingerprint could recognise and that was no replay and not lost to
    /// another: one for each install id, or for each fingerprint, address and agent within an hour.
    ///
    /// The evidence is what the verdict was made from, and empty for a launch without a live click. Fingerprint and
    /// addresses are the first words of their keyed hashes; the addresses are nil where the launch has none.
    public static func launch(
        _ launch: LaunchTraits,
        _ evidence: CandidateEvidence,
        fingerprint: UInt64,
        exact: UInt64?,
        near: UInt64?,
        model: MatchingModel,
        into increments: inout LearntIncrements
    ) {
        let at = launch.at
        let hasCandidates =
            evidence.candidates.contains { $0.claimedAt == nil } || !evidence.background.isEmpty
        var explained = 0.0
        if hasCandidates {
            let lesson = LaunchUpdate(evidence, launch: launch, model: model)
            explained = lesson.explained
            lesson.teach(at: at, into: &increments)
            increments.add(1 - explained, to: CounterKey(AppTotal.organicWithCandidates), at: at)
            countMeeting(evidence, launch, into: &increments)
        }
        increments.add(to: CounterKey(AppTotal.launches), at: at)
        increments.add(1 - explained, to: CounterKey(AppTotal.organic), at: at)
        increments.add(
            1 - explained,
            to: CounterKey(.organicByTenMinutes, RelativeOrganicRate.slot(at)),
            at: at
        )
        let level = RelativeClickRateLevel.key(model.busyness)
        increments.add(1 - explained, to: CounterKey(.organicByBusyness, level), at: at)
        increments.add(1 - explained, to: CounterKey(.organic, fingerprint), at: at)
        guard let exact, let near, launch.hasAddress else { return }
        increments.add(to: CounterKey(AppTotal.launchesWithAddress), at: at)
        increments.add(to: CounterKey(.launchesAtAddress, exact), at: at)
        increments.add(to: CounterKey(.launchesNearAddress, near), at: at)
    }

    /// What a pair that a token has made certain teaches: how delays and addresses go, but not how many clicks
    /// convert without one.
    public static func certainPair(
        agreement: AddressAgreement,
        delaySeconds: Double,
        at: Timestamp,
        into increments: inout LearntIncrements
    ) {
        increments.add(to: CounterKey(.delays, UInt64(DelayBins.bin(forSeconds: delaySeconds))), at: at)
        guard agreement != .missing else { return }
        let age = ClickAge(seconds: delaySeconds)
        increments.add(to: CounterKey(.agreements, AgreementCount.pairs(age)), at: at)
        guard agreement != .differs else { return }
        increments.add(to: CounterKey(.agreements, AgreementCount.agreeing(agreement, age)), at: at)
    }

    /// How often launches meet others at an address where one was seen: what an address is worth that only one click
    /// has come from.
    private static func countMeeting(
        _ evidence: CandidateEvidence,
        _ launch: LaunchTraits,
        into increments: inout LearntIncrements
    ) {
        // Somebody who has launched here before with the same fingerprint is no stranger to himself.
        let isKnown = evidence.candidates.contains { $0.claimedAt != nil && $0.address == .exact }
        guard launch.hasAddress, !isKnown else { return }
        switch evidence.crowd.launchesExact {
        case ..<0.25: increments.add(to: CounterKey(AppTotal.firstAtAddress), at: launch.at)
        case ..<1.25: increments.add(to: CounterKey(AppTotal.secondAtAddress), at: launch.at)
        default: break
        }
        switch evidence.crowd.launchesNear {
        case ..<0.25: increments.add(to: CounterKey(AppTotal.firstNearAddress), at: launch.at)
        case ..<1.25: increments.add(to: CounterKey(AppTotal.secondNearAddress), at: launch.at)
        default: break
        }
    }
}
