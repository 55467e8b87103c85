internal import Attribution

/// Makes recorded events from rows, and counts what the rows do not contain.
struct EventReconstruction {
    private(set) var gaps = HistoryGaps()
    private var remaking: FingerprintReconstruction
    private let firstCheckAt: Timestamp?

    /// - Parameters:
    ///   - remaking: reconstructs fingerprints.
    ///   - firstCheckAt: the time of the first recorded check; nil if no check is recorded. Clicks that were claimed
    ///     before this time have no recorded check.
    init(_ remaking: FingerprintReconstruction, firstCheckAt: Timestamp?) {
        (self.remaking, self.firstCheckAt) = (remaking, firstCheckAt)
    }

    mutating func click(_ record: ClickRecord, claimedAt: Timestamp?) -> RecordedClick {
        let facts = record.facts
        let remade = remaking.fingerprints(
            record.hashes,
            text: record.canonicalText,
            osVersion: facts.osVersion.flatMap { OSVersion($0) },
            platform: facts.platform
        )
        var click = RecordedClick(
            name: record.id.high,
            at: facts.clickedAt,
            platform: facts.platform,
            fingerprints: remade.all,
            visitor: record.visitor ?? record.visit.index,
            destination: CreditedDestination(facts)
        )
        click.address = record.address
        click.window = facts.window
        click.signals = remade.signals
        (click.isRobot, click.isOnlyCounted) = (facts.isRobot, record.isCounted)
        click.recordedAt = facts.recordedAt
        click.visit = record.visit.index
        gaps.clicks += 1
        if record.visitor == nil { gaps.clicksWithoutVisitor += 1 }
        if remade.missing > 0 { gaps.clicksNotReconstructed += 1 }
        if click.address == nil { gaps.clicksWithoutAddress += 1 }
        guard let claimedAt else { return click }
        // A launch before the first recorded check claimed the click.
        if firstCheckAt.map({ claimedAt < $0 }) ?? true {
            click.consumedAt = claimedAt
            gaps.clicksConsumedBefore += 1
        } else {
            gaps.claims += 1
        }
        return click
    }

    mutating func launch(_ facts: CheckFacts) -> RecordedLaunch {
        let isCertain = facts.method?.confidence != nil
        let keys = [facts.fingerprint?.index].compactMap(\.self) + facts.otherFingerprints
        let text = "\(facts.fingerprint?.index ?? 0) \(facts.address?.exact ?? 0)"
        let caller = facts.caller ?? RecordedEvent.hash(text)
        var launch = RecordedLaunch(at: facts.at, fingerprints: keys, caller: caller)
        launch.address = facts.address
        launch.hasInstallID = facts.hasInstallID && facts.caller != nil
        launch.release = facts.release
        launch.signals = facts.signals
        launch.token = isCertain && facts.outcome != .noMatch ? facts.click?.high : nil
        launch.hasFinding = facts.playFinding != nil
        launch.weight = facts.weight
        var answer = RecordedAnswer(facts.outcome)
        answer.click = facts.outcome == .noMatch ? nil : facts.click?.high
        answer.method = facts.method
        answer.isCampaignOnly = facts.isCampaignOnly
        answer.reason = facts.reason
        answer.probability = isCertain ? 1 : facts.probability ?? facts.confidence
        answer.organicShare = facts.organicShare
        launch.answer = answer
        gaps.note(facts, launch, isCertain: isCertain)
        return launch
    }
}

extension HistoryGaps {
    fileprivate mutating func note(_ facts: CheckFacts, _ launch: RecordedLaunch, isCertain: Bool) {
        launches += 1
        minimums[facts.minimumConfidence, default: 0] += 1
        launchesNotRecorded += facts.weight - 1
        if facts.caller == nil { launchesWithoutCaller += 1 }
        if facts.address == nil { launchesWithoutAddress += 1 }
        if facts.outcome == .match { matches += 1 }
        if launch.fingerprints.isEmpty, launch.token == nil { launchesWithoutFingerprint += 1 }
        if facts.namesClick, !isCertain { launchesNamingOtherClick += 1 }
        if facts.outcome == .match, !isCertain, facts.probability == nil { probabilitiesNotKnown += 1 }
    }
}
