public import Attribution
internal import Storage

extension SQLiteSession {
    public func recordOutcome(_ report: CheckReport, of check: Check) {
        guard let scope = knownScope(of: check.app, isTest: check.isTest) else { return }
        let now = turnMoment
        // The record of a match is stored with its claim; of others, as many are stored as can be without harm.
        var facts: CheckFacts?
        var isLeftOut = false
        if CheckOutcome(report.ending) != .match {
            let weight = records.take(from: shared.records, at: now)
            isLeftOut = weight == 0
            if !isLeftOut {
                facts = CheckFacts(report, of: check)
                facts?.weight = weight
            }
        }
        // The number of launches that it stands for.
        let launches = lessons.learn(from: report, of: check, scope, at: now)
        let expectation = launches > 0 ? CheckExpectation(report) : nil
        let sample = CalibrationSample(report)
        let isMuch = updates.withContent { [facts, isLeftOut] content in
            content.count(report.ending, of: check, scope)
            if let facts { content.checks.add(facts, scope) }
            if isLeftOut { content.checks.leaveOut() }
            if let expectation { content.checks.add(expectation, times: launches, of: check, scope) }
            if let sample { content.checks.add(sample, at: check.at, scope) }
            return content.checks.records.count >= PendingCheckRecords.writtenAtOnce
        }
        if isMuch { shared.queue.requestUpdates() }
    }
}

extension PendingUpdates.Content {
    /// Matches are counted with their claims.
    fileprivate mutating func count(_ ending: MatchOutcome, of check: Check, _ scope: Scope) {
        let hour = Granularity.hour.start(of: check.at)
        switch ending {
        case .match: return
        case .noMatch(let reason):
            count(
                PendingUpdates.NoMatch(
                    scope: scope,
                    hour: hour,
                    platform: check.platform,
                    reason: reason,
                    launch: check.launch
                )
            )
        case .replay(let claim):
            let traits = CountedTraits(claim.click.facts)
            let replay = PendingUpdates.Replay(
                scope: scope,
                hour: hour,
                platform: check.platform,
                traits: traits
            )
            replays[replay, default: 0] += 1
        }
    }
}
