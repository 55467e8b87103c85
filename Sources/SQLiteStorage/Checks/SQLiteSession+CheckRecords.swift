internal import Attribution
internal import Storage

extension SQLiteSession {
    /// For how many checks a record of this one is to stand; 0 for none.
    ///
    /// Every match is recorded, and of others as many as can be kept without harm.
    func recordWeight(_ report: CheckReport, at now: UInt64) -> Int {
        if case .match = report.ending { return 1 }
        return records.take(from: shared.records, at: now)
    }

    /// Notes how a check ended, for its record, and what it adds to the statistics of probabilities.
    ///
    /// - Parameters:
    ///   - report: how the check ended.
    ///   - check: the check.
    ///   - weight: see ``recordWeight(_:at:)``.
    ///   - scope: whose it is.
    ///   - now: nanoseconds of the store's monotonic clock.
    func note(_ report: CheckReport, of check: Check, weight: Int, _ scope: Scope, at now: UInt64) {
        // For how many launches it stands.
        let launches = lessons.learn(from: report, of: check, scope, at: now)
        var facts = weight > 0 ? CheckFacts(report, of: check) : nil
        facts?.weight = weight
        let expectation = launches > 0 ? CheckExpectation(report) : nil
        let sample = CalibrationSample(report)
        let isMuch = updates.withContent { [facts] content in
            content.count(report.ending, of: check, scope)
            if let facts { content.checks.add(facts, scope) } else { content.checks.leaveOut() }
            if let expectation { content.checks.add(expectation, times: launches, of: check, scope) }
            if let sample { content.checks.add(sample, at: check.at, scope) }
            return content.checks.records.count >= PendingCheckRecords.writtenAtOnce
        }
        if isMuch { shared.queue.requestUpdates() }
    }
}

extension PendingUpdates.Content {
    /// Matches are counted with their claims.
    fileprivate mutating func count(_ ending: CheckEnding, of check: Check, _ scope: Scope) {
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
