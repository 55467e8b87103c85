internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

/// What a loop learns from, in passing.
struct LoopLearner {
    private let shared: SharedState
    private let notes: PendingIncrements
    private var sampling = LaunchSampling()

    init(shared: SharedState) {
        self.shared = shared
        notes = shared.learnt.makeNotes()
    }

    /// From a click that was recorded.
    func learn(from click: NewClick, _ scope: Scope) {
        let facts = click.facts
        guard !facts.isRobot else { return }
        var forms: [FingerprintForm?] = []
        for entry in click.fingerprints where !forms.contains(entry.form) { forms.append(entry.form) }
        // By when it was told: a click of days ago that is told now was not observed then.
        let present = shared.learnt.present(of: scope, at: facts.recordedAt)
        notes.update(scope, present.epoch) { increments in
            ModelUpdates.addClick(
                at: facts.clickedAt,
                platform: facts.platform,
                forms: forms,
                hasAddress: click.evidence.address != nil,
                release: click.fingerprints.first?.release,
                signals: click.evidence.signals,
                relativeClickRate: present.relativeClickRate,
                to: &increments
            )
        }
    }

    /// From a check that was answered, at so many nanoseconds of the store's monotonic clock.
    ///
    /// - Returns: for how many launches it stands: 1 for every match, 0 for a repetition and for one that lost a race,
    ///   and in a flood several, for those that are left out.
    mutating func learn(from report: CheckReport, of check: Check, _ scope: Scope, at now: UInt64) -> Int {
        switch report.ending {
        case .replay: return 0
        case .match(let claim):
            if report.basis.hasLostRace { return 1 }
            if claim.method.confidence != nil {
                learnPair(claim, report, check, scope)
            } else if let key = check.ladder.fingerprints.first {
                _ = learnLaunch(key, report, check, scope, now)
            }
            return 1
        case .noMatch:
            guard !report.basis.hasLostRace, let key = check.ladder.fingerprints.first else { return 0 }
            return learnLaunch(key, report, check, scope, now)
        }
    }

    /// A surer way tells which click led to the launch: how addresses and delays go.
    private func learnPair(_ claim: Claim, _ report: CheckReport, _ check: Check, _ scope: Scope) {
        let candidate = report.basis.evidence?.candidates.first { $0.click.high == claim.click.id.high }
        guard let candidate else { return }
        let delay = Double(check.at.milliseconds(since: candidate.clickedAt)) / 1000
        notes.update(scope, shared.learnt.epoch(of: scope, at: check.at)) { increments in
            ModelUpdates.addCertainPair(
                agreement: candidate.address,
                delaySeconds: delay,
                at: check.at,
                to: &increments
            )
        }
    }

    private mutating func learnLaunch(
        _ key: KeyedHash,
        _ report: CheckReport,
        _ check: Check,
        _ scope: Scope,
        _ now: UInt64
    ) -> Int {
        let times = shared.learnt.isAtOnce ? 1 : sampling.times(at: now)
        guard times > 0 else { return 0 }
        let launch = check.installs.first?.index ?? check.caller.index
        guard shared.learnt.sightings.withLock({ $0.isNew(launch, at: check.at) }) else { return 0 }
        let address = check.details.address
        let model = report.basis.model ?? shared.learnt.model(of: scope) ?? .fresh(at: check.at)
        notes.update(scope, shared.learnt.epoch(of: scope, at: check.at)) { increments in
            increments.counting(times: times) { increments in
                ModelUpdates.addLaunch(
                    check.traits,
                    report.basis.evidence ?? CandidateEvidence(candidates: []),
                    fingerprint: key.index,
                    address: address?.present,
                    model: model,
                    to: &increments
                )
            }
        }
        return times
    }
}
