/// Plays recorded clicks and launches again in their own time, under a policy and a window of choice.
///
/// It answers as the service does and by the same rules: posterior, verdict, learning, windows, one launch for each click,
/// repeated answers, duplicates of one visitor. What it leaves out is what the service is about beside them: disks,
/// races, and requests that are refused.
public struct Replay: Sendable {
    /// What a launch was answered.
    public struct Answer: Equatable, Sendable {
        /// Nil for no match.
        public let destination: CreditedDestination?
        /// Whether it is right; nil where the truth is not known.
        public let isRight: Bool?
        /// The probability of the answer, without ``Verdict/highestConfidence``; of the likeliest when there is no match,
        /// and 0 without a candidate.
        public let probability: Double
        /// How old the credited click was, in seconds; nil for no match.
        public let ageSeconds: Double?
    }

    private let plan: ReplayPlan
    private let judgedFrom: Timestamp
    private var store: ReplayStore
    private var model: MatchingModel
    private var pending: LearntIncrements
    private var callers = ReplayCallers()
    public private(set) var score = ReplayScore()

    /// - Parameters:
    ///   - plan: how events are answered.
    ///   - began: the first moment: from then on the traffic is learnt from.
    public init(_ plan: ReplayPlan, began: Timestamp) {
        self.plan = plan
        judgedFrom = began.advanced(byMilliseconds: Int64(plan.warmUpDays) * 86_400_000)
        store = ReplayStore(began: began)
        model = .fresh(at: began)
        pending = LearntIncrements(epoch: store.counters.epoch)
    }

    /// What has been learnt so far.
    public var learntModel: MatchingModel { model }

    /// Plays the next event; they come in the order of time.
    ///
    /// - Returns: what a launch was answered; nil for a click, and for a launch that ``score`` does not count.
    @discardableResult
    public mutating func play(_ event: RecordedEvent) -> Answer? {
        if event.at.milliseconds(since: model.at) >= plan.refresh {
            store.counters.add(pending, at: event.at)
            pending.removeAll()
            model = store.counters.model(at: event.at)
            callers.forget(before: event.at)
        }
        switch event {
        case .click(let click):
            record(click)
            return nil
        case .launch(let launch):
            return answer(launch)
        }
    }

    private mutating func record(_ click: RecordedClick) {
        guard !click.isRobot else { return }
        store.record(click, endingAt: plan.end(of: click))
        var forms: [FingerprintForm?] = []
        for fingerprint in click.fingerprints where !forms.contains(fingerprint.form) {
            forms.append(fingerprint.form)
        }
        Teaching.click(
            at: click.at,
            platform: click.platform,
            forms: forms,
            hasAddress: click.address != nil,
            release: click.release,
            signals: click.signals,
            into: &pending
        )
    }

    private mutating func answer(_ launch: RecordedLaunch) -> Answer? {
        let isCounted = launch.at >= judgedFrom && launch.truth != .retry
        guard !callers.hasAnswer(launch) else {
            if launch.at >= judgedFrom { score.replays += 1 }
            return nil
        }
        if launch.token != nil { return answerToken(launch, isCounted: isCounted) }
        let (fingerprint, evidence) = evidence(for: launch)
        let traits = LaunchTraits(
            at: launch.at,
            hasAddress: launch.address != nil,
            release: launch.release,
            signals: launch.signals
        )
        let verdict = Verdict(evidence, launch: traits, model: model, policy: plan.policy)
        let match = match(verdict, fingerprint)
        let answer = isCounted ? score.judge(launch, verdict, match, in: store) : nil
        if let match { consume(match, for: launch) }
        if callers.isLesson(launch), let fingerprint {
            Teaching.launch(
                traits,
                evidence,
                fingerprint: fingerprint,
                exact: launch.address?.exact,
                near: launch.address?.near,
                model: model,
                into: &pending
            )
        }
        return answer
    }

    /// The first of the fingerprints that live clicks have, else the first.
    private mutating func evidence(for launch: RecordedLaunch) -> (UInt64?, CandidateEvidence) {
        for fingerprint in launch.fingerprints {
            let evidence = store.evidence(fingerprint, address: launch.address, at: launch.at)
            if !evidence.candidates.isEmpty || !evidence.background.isEmpty { return (fingerprint, evidence) }
        }
        return (launch.fingerprints.first, CandidateEvidence(candidates: []))
    }

    private func match(_ verdict: Verdict, _ fingerprint: UInt64?) -> ReplayMatch? {
        switch verdict.outcome {
        case .match(let id, let destination):
            number(id, destination, fingerprint).map { ReplayMatch(click: $0, isCampaignOnly: false) }
        case .campaignOnly(let id, let destination):
            number(id, destination, fingerprint).map { ReplayMatch(click: $0, isCampaignOnly: true) }
        case .noMatch: nil
        }
    }

    private func number(_ id: ClickID?, _ destination: CreditedDestination, _ fingerprint: UInt64?) -> Int? {
        if let id { return Int(id.high) }
        return fingerprint.flatMap { store.newest($0, destination) }
    }

    private mutating func answerToken(_ launch: RecordedLaunch, isCounted: Bool) -> Answer? {
        guard let number = launch.token.flatMap(store.number), let stored = store[number],
            stored.end >= launch.at
        else { return nil }
        guard stored.claimedAt == nil else {
            if isCounted { score.conversions += 1 }
            return nil
        }
        let delay = Double(launch.at.milliseconds(since: stored.click.at)) / 1000
        Teaching.certainPair(
            agreement: RecordedAddress.agreement(stored.click.address, launch.address),
            delaySeconds: delay,
            at: launch.at,
            into: &pending
        )
        consume(ReplayMatch(click: number, isCampaignOnly: false), for: launch)
        return isCounted ? score.judgeToken(stored.click, at: launch.at) : nil
    }

    private mutating func consume(_ match: ReplayMatch, for launch: RecordedLaunch) {
        guard let end = store[match.click]?.end, store.claim(match.click, at: launch.at) else {
            score.clicksUsedTwice += 1
            return
        }
        callers.note(launch, grace: plan.replayGrace, windowEnd: end)
    }
}
