internal import Attribution
internal import Threads

/// Collects the increments that a loop learns from clicks and checks.
struct LoopLearner {
    private let learnt: LearningState
    private let pending: PendingIncrements
    private let clock: JobClock
    private var sampling = LaunchSampling()

    init(_ learnt: LearningState, _ clock: JobClock) {
        (self.learnt, self.clock) = (learnt, clock)
        pending = learnt.makePendingIncrements()
    }

    /// Learns from a recorded click.
    func learn(from click: NewClick, _ scope: Scope) {
        let facts = click.facts
        guard !facts.isRobot, clock.allowsLearning(at: facts.recordedAt) else { return }
        var forms: [FingerprintForm?] = []
        for entry in click.fingerprints where !forms.contains(entry.form) { forms.append(entry.form) }
        // If this click starts an epoch, the epoch begins at the recording, even if the click is some days older.
        let basis = learnt.incrementBasis(of: scope, at: facts.recordedAt)
        pending.update(scope, basis.epoch) { increments in
            ModelUpdates.addClick(
                at: facts.clickedAt,
                platform: facts.platform,
                forms: forms,
                hasAddress: click.evidence.address != nil,
                release: click.fingerprints.first?.release,
                signals: click.evidence.signals,
                relativeClickRate: basis.relativeClickRate,
                to: &increments
            )
        }
    }

    /// Learns from a check; `now` is the time of the store's monotonic clock in nanoseconds.
    ///
    /// - Returns: the number of launches that the check represents: 1 for a match, 0 for a repeated answer.
    ///   Without a match, it is 0 if the learner skips the launch; under load, a launch that is not skipped
    ///   also represents skipped ones.
    mutating func learn(from report: CheckReport, of check: Check, _ scope: Scope, at now: UInt64)
        -> Int
    {
        switch report.ending {
        case .replay: return 0
        case .match(let claim):
            if report.basis.hasLostRace || claim.hasFinding || !clock.allowsLearning(at: check.at) {
                return 1
            }
            if claim.method.confidence != nil {
                learnPair(claim, report, check, scope)
            } else if let key = check.ladder.fingerprints.first {
                _ = learnLaunch(key, report, check, scope, now)
            }
            return 1
        case .noMatch:
            guard !report.basis.hasLostRace, let key = check.ladder.fingerprints.first,
                clock.allowsLearning(at: check.at)
            else { return 0 }
            return learnLaunch(key, report, check, scope, now)
        }
    }

    /// Learns from a certain match how addresses agree and how long launches take.
    private func learnPair(_ claim: Claim, _ report: CheckReport, _ check: Check, _ scope: Scope) {
        let candidate = report.basis.evidence?.candidates.first { $0.click.high == claim.click.id.high }
        guard let candidate else { return }
        let (agreement, now) = (candidate.address, check.at)
        let delay = Double(now.milliseconds(since: candidate.clickedAt)) / 1000
        pending.update(scope, learnt.incrementBasis(of: scope, at: now).epoch) { increments in
            ModelUpdates.addCertainPair(agreement: agreement, delaySeconds: delay, at: now, to: &increments)
        }
    }

    private mutating func learnLaunch(
        _ key: KeyedHash,
        _ report: CheckReport,
        _ check: Check,
        _ scope: Scope,
        _ now: UInt64
    ) -> Int {
        let times = learnt.isAtOnce ? 1 : sampling.times(at: now)
        guard times > 0 else { return 0 }
        let launch = check.installs.first?.index ?? check.caller.index
        guard learnt.sightings.withLock({ $0.isNew(launch, at: check.at) }) else { return 0 }
        let address = check.details.address
        let model = report.basis.model ?? learnt.model(of: scope) ?? .fresh(at: check.at)
        pending.update(scope, learnt.incrementBasis(of: scope, at: check.at).epoch) { increments in
            increments.counting(times: times) { increments in
                ModelUpdates.addLaunch(
                    check.traits,
                    report.basis.evidence ?? CandidateEvidence(),
                    fingerprint: key.index,
                    address: address?.current,
                    model: model,
                    to: &increments
                )
            }
        }
        return times
    }
}

/// Selects the launches to learn from: all up to a thousand a second, then one in two, one in four, and so on.
///
/// This limits the cost of learning. A selected launch also counts for the skipped ones, so the sums stay right.
struct LaunchSampling {
    /// The maximum number of launches to learn from in a second.
    ///
    /// A second with more launches than the second before may exceed it, because that earlier second sets the share.
    private static let maximumPerSecond = 1000
    private static let second: UInt64 = 1_000_000_000

    private var begun: UInt64 = 0
    private var seen = 0
    private var every = 1

    /// Returns the number of launches that this launch represents; 0 if it is skipped.
    mutating func times(at now: UInt64) -> Int {
        if now >= begun + Self.second {
            every = 1
            while seen / every > Self.maximumPerSecond { every *= 2 }
            begun = now
            seen = 0
        }
        seen += 1
        return seen % every == 0 ? every : 0
    }
}
