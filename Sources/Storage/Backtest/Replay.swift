public import Attribution

/// Plays recorded clicks and launches at their recorded times, under any policy and window.
///
/// It follows the rules of the service: posterior, verdict, learning, windows, one launch for each click, repeated
/// answers, duplicates of one visitor. It has no disk, no races and no rejected requests.
public struct Replay: Sendable {
    /// The answer to a launch.
    public struct Answer: Equatable, Sendable {
        /// The name of the credited click; nil for no match.
        public let click: UInt64?
        /// Nil for no match.
        public let destination: CreditedDestination?
        /// The probability of the answer or, without a match, of the most likely answer.
        ///
        /// It may exceed ``Verdict/highestConfidence``. It is 0 without a candidate or a recorded probability.
        public let probability: Double
        /// The age of the credited click in seconds; nil for no match.
        public let ageSeconds: Double?

        /// - Parameters:
        ///   - click: the credited click; nil for no match.
        ///   - launch: the launch that gets the answer.
        ///   - probability: the probability, as in ``probability``.
        init(_ click: RecordedClick?, to launch: RecordedLaunch, probability: Double) {
            self.click = click?.name
            destination = click?.destination
            self.probability = probability
            ageSeconds = click.map { Double(launch.at.milliseconds(since: $0.at)) / 1000 }
        }
    }

    private let plan: ReplayPlan
    private let judgedFrom: Timestamp
    private var store: ReplayStore
    private var model: MatchingModel
    /// Whether the model has been computed from what was learnt.
    private var hasModel = false
    private var pending: LearntIncrements
    private var callers = ReplayCallers()
    private var sightings = RecentLaunches()
    public private(set) var score = ReplayScore()

    /// - Parameters:
    ///   - plan: how events are answered.
    ///   - began: the time from which the model learns from the traffic.
    ///   - judgedFrom: the time from which launches count; nil for the end of the plan's warm-up.
    public init(_ plan: ReplayPlan, began: Timestamp, judgedFrom: Timestamp? = nil) {
        self.plan = plan
        let warmUp = Int64(plan.warmUpDays) * 86_400_000
        self.judgedFrom = judgedFrom ?? began.advanced(byMilliseconds: warmUp)
        store = ReplayStore(began: began, fingerprintWindow: plan.policy.windows.fingerprint)
        model = .fresh(at: began)
        pending = LearntIncrements(epoch: store.counters.epoch)
    }

    /// The model as it was last computed.
    public var learntModel: MatchingModel { model }

    /// Plays the next event; events come in the order of time.
    ///
    /// - Returns: the answer to a launch; nil for a click, and for a launch that repeats an answer, is a retry, or
    ///   belongs to the warm-up.
    @discardableResult
    public mutating func play(_ event: RecordedEvent) -> Answer? {
        switch event {
        case .click(let click):
            record(click)
            return nil
        case .launch(let launch):
            refreshModel(at: launch.at)
            return answer(launch)
        }
    }

    /// Returns whether a launch at this time counts; earlier launches only train the model.
    func judges(_ time: Timestamp) -> Bool { time >= judgedFrom }

    /// Returns a recorded answer as an answer of this replay; nil if its click is not stored.
    func answer(_ recorded: RecordedAnswer, to launch: RecordedLaunch) -> Answer? {
        let click = recorded.click.flatMap(store.number).flatMap { store[$0]?.click }
        guard click != nil || recorded.click == nil else { return nil }
        return Answer(click, to: launch, probability: recorded.probability ?? 0)
    }

    /// Computes the model again if it is old.
    ///
    /// Like the service, a replay does this for launches, and not for clicks.
    private mutating func refreshModel(at now: Timestamp) {
        let age = now.milliseconds(since: model.at)
        guard !hasModel || age >= plan.refresh || age < -plan.refresh else { return }
        hasModel = true
        store.counters.add(pending, at: now)
        pending.removeAll()
        model = store.counters.model(at: now)
        callers.forget(before: now)
    }

    private mutating func record(_ click: RecordedClick) {
        guard !click.isRobot else { return }
        if !click.isOnlyCounted { store.record(click, endingAt: plan.end(of: click)) }
        var forms: [FingerprintForm?] = []
        for fingerprint in click.fingerprints where !forms.contains(fingerprint.form) {
            forms.append(fingerprint.form)
        }
        ModelUpdates.addClick(
            at: click.at,
            platform: click.platform,
            forms: forms,
            hasAddress: click.address != nil,
            release: click.fingerprints.first?.release,
            signals: click.signals,
            relativeClickRate: model.relativeClickRate,
            to: &pending
        )
    }

    private mutating func answer(_ launch: RecordedLaunch) -> Answer? {
        guard !isRepetition(launch) else {
            if launch.at >= judgedFrom { score.replays += 1 }
            return nil
        }
        let isCounted = launch.at >= judgedFrom && launch.truth != .retry
        let evidence = store.evidence(launch.fingerprints, address: launch.address, at: launch.at)
        let (traits, address) = (launch.traits, launch.address)
        let verdict = Verdict(evidence, launch: traits, model: model, policy: plan.policy)
        let match = match(verdict, launch)
        if let number = clickOfToken(launch) {
            if isCounted, !launch.hasFinding { score.judge(verdict, match, beside: number, in: store) }
            return answer(launch, number, evidence, isCounted: isCounted)
        }
        let answer = isCounted ? score.judge(launch, verdict, match, in: store) : nil
        if let match { consume(match, for: launch) }
        guard let key = launch.fingerprints.first, sightings.isNew(launch.caller, at: launch.at)
        else { return answer }
        for _ in 0..<max(1, launch.weight) {
            ModelUpdates
                .addLaunch(traits, evidence, fingerprint: key, address: address, model: model, to: &pending)
        }
        return answer
    }

    /// Whether the launch gets the answer of an earlier launch again.
    private mutating func isRepetition(_ launch: RecordedLaunch) -> Bool {
        guard let given = callers.answer(to: launch) else { return false }
        return !given.endsWithNextClick || !store.hasClick(of: launch, after: given.at)
    }

    private func match(_ verdict: Verdict, _ launch: RecordedLaunch) -> ReplayMatch? {
        guard let choice = ClickChoice(verdict) else { return nil }
        let click: Int? =
            switch choice.target {
            case .click(let id): Int(id.high)
            case .newest(let destination): store.newest(launch.fingerprints, destination)
            }
        return click.map { ReplayMatch(click: $0, isCampaignOnly: choice.isCampaignOnly) }
    }

    /// Returns the click of the launch's token; nil without a token, or if the click is unknown, closed or expired.
    ///
    /// If it is nil, only the fingerprint can find a click.
    private func clickOfToken(_ launch: RecordedLaunch) -> Int? {
        guard let number = launch.token.flatMap(store.number), let stored = store[number],
            stored.isOpen, stored.end >= launch.at,
            plan.policy.windows.deterministic?.covers(clickedAt: stored.click.at, now: launch.at) ?? true
        else { return nil }
        return number
    }

    /// Answers a launch by the click of its token.
    ///
    /// If the launch's fingerprint finds the click too, and Google Play's report casts no doubt on the click,
    /// the model learns how the addresses of the two agree, and how long after the click the launch came.
    private mutating func answer(
        _ launch: RecordedLaunch,
        _ number: Int,
        _ evidence: CandidateEvidence,
        isCounted: Bool
    ) -> Answer? {
        guard let click = store[number]?.click else { return nil }
        if !launch.hasFinding,
            let candidate = evidence.candidates.first(where: { $0.click.high == UInt64(number) })
        {
            ModelUpdates.addCertainPair(
                agreement: candidate.address,
                delaySeconds: Double(launch.at.milliseconds(since: click.at)) / 1000,
                at: launch.at,
                to: &pending
            )
        }
        consume(ReplayMatch(click: number, isCampaignOnly: false), for: launch)
        return isCounted ? score.judgeToken(click, of: launch) : nil
    }

    private mutating func consume(_ match: ReplayMatch, for launch: RecordedLaunch) {
        guard let end = store[match.click]?.end, store.claim(match.click, at: launch.at) else {
            score.clicksUsedTwice += 1
            return
        }
        callers.add(launch, grace: plan.replayGrace, windowEnd: end)
    }
}

/// The settings of a replay.
public struct ReplayPlan: Equatable, Sendable {
    public var policy: MatchPolicy
    /// The window of every click; nil for the recorded window of each click.
    public var window: AttributionWindow?
    /// The window of clicks without a recorded window.
    public var standardWindow: AttributionWindow
    /// How long a caller without install id gets an answer again, in milliseconds.
    public var replayGrace: Int64
    /// The number of days at the start whose launches train the model and are not counted.
    public var warmUpDays: Int
    /// If the model is this many milliseconds old, by the events' times, it is computed again.
    public var refresh: Int64

    public init(
        policy: MatchPolicy = MatchPolicy(),
        window: AttributionWindow? = nil,
        standardWindow: AttributionWindow = .standard,
        replayGrace: Int64 = 60_000,
        warmUpDays: Int = 1,
        refresh: Int64 = 30_000
    ) {
        (self.policy, self.window, self.standardWindow) = (policy, window, standardWindow)
        (self.replayGrace, self.warmUpDays, self.refresh) = (replayGrace, warmUpDays, refresh)
    }

    func end(of click: RecordedClick) -> Timestamp {
        (window ?? click.window ?? standardWindow).end(ofClickAt: click.at)
    }
}

/// The callers that got a match, to recognise repeated checks.
struct ReplayCallers: Sendable {
    /// An answer that its caller may get again.
    struct Given: Sendable {
        let at: Timestamp
        /// The last time at which the caller gets the answer again.
        let until: Timestamp
        /// Whether a later click ends the repetition; false with an install id.
        let endsWithNextClick: Bool
    }

    private var answers: [UInt64: Given] = [:]
    private var forgottenAt: Timestamp?

    private static let hour: Int64 = 3_600_000

    /// Returns the earlier answer that the launch's caller may get again.
    func answer(to launch: RecordedLaunch) -> Given? {
        answers[launch.caller].flatMap { launch.at <= $0.until ? $0 : nil }
    }

    /// Adds a match; a caller with an install id gets it again until the click's window ends.
    mutating func add(_ launch: RecordedLaunch, grace: Int64, windowEnd: Timestamp) {
        let until = launch.hasInstallID ? windowEnd : launch.at.advanced(byMilliseconds: grace)
        guard launch.hasInstallID || grace > 0 else { return }
        answers[launch.caller] = Given(at: launch.at, until: until, endsWithNextClick: !launch.hasInstallID)
    }

    /// Removes, once an hour, the callers whose answers can no longer be repeated.
    mutating func forget(before now: Timestamp) {
        let since = forgottenAt ?? now
        forgottenAt = since
        guard now.milliseconds(since: since) >= Self.hour else { return }
        forgottenAt = now
        answers = answers.filter { $0.value.until >= now }
    }
}

/// The learnt counters of a replay, which the service stores in the database.
struct ReplayCounters: Sendable {
    private(set) var epoch: LearningEpoch
    /// The model's sums, which are read together.
    private var model: [CounterKey: Double] = [:]
    /// The sums by fingerprint and address, which are read one by one.
    private var keyed: [CounterKey: Double] = [:]
    private var prunedAt: Timestamp

    /// The interval at which faded sums are deleted, in milliseconds.
    private static let pruning: Int64 = 86_400_000

    init(began: Timestamp) {
        epoch = LearningEpoch(began: began)
        prunedAt = began
    }

    mutating func add(_ increments: LearntIncrements, at now: Timestamp) {
        for (key, sum) in increments.sums {
            if key.family.belongsToModel {
                model[key, default: 0] += sum
            } else {
                keyed[key, default: 0] += sum
            }
        }
        guard now.milliseconds(since: prunedAt) >= Self.pruning else { return }
        prunedAt = now
        for (key, sum) in model where epoch.hasFaded(sum, key, at: now) { model[key] = nil }
        for (key, sum) in keyed where epoch.hasFaded(sum, key, at: now) { keyed[key] = nil }
    }

    func model(at now: Timestamp) -> MatchingModel { MatchingModel(sums: model, epoch: epoch, at: now) }

    /// Returns the sum of a counter by fingerprint or address, relative to the epoch.
    func sum(_ family: CounterFamily, _ key: UInt64) -> Double { keyed[CounterKey(family, key)] ?? 0 }
}
