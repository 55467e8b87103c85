/// The click that a launch is given in a replay, by its number in the store.
struct ReplayMatch: Equatable, Sendable {
    let click: Int
    /// The campaign is credited and the link left out.
    let isCampaignOnly: Bool
}

extension ReplayScore {
    /// Counts a launch and what it was answered, before the click is consumed.
    mutating func judge(
        _ launch: RecordedLaunch,
        _ verdict: Verdict,
        _ match: ReplayMatch?,
        in store: ReplayStore
    ) -> Replay.Answer {
        launches += 1
        expected += verdict.expectedConversions
        variance += verdict.variance
        let answered = match.flatMap { store[$0.click]?.click }
        if let match {
            matches += 1
            expectedRight += verdict.probability
            if match.isCampaignOnly { campaignMatches += 1 }
        } else if case .noMatch(let reason) = verdict.outcome {
            reasons[reason, default: 0] += 1
        }
        var isRight: Bool?
        if let truth = launch.truth {
            knownLaunches += 1
            let isCampaignOnly = match?.isCampaignOnly ?? false
            let holds = holds(answered, launch, truth, isCampaignOnly: isCampaignOnly, in: store)
            if answered != nil {
                knownMatches += 1
                if holds { rightLink += 1 }
                calibration.add(stated: verdict.confidence, isRight: holds)
                uncappedCalibration.add(stated: verdict.probability, isRight: holds)
                isRight = holds
            }
        }
        return Replay.Answer(
            click: answered?.name,
            destination: answered?.destination,
            isRight: isRight,
            probability: verdict.probability,
            ageSeconds: answered.map { Double(launch.at.milliseconds(since: $0.at)) / 1000 }
        )
    }

    /// Whether the answer is what the truth says.
    private mutating func holds(
        _ answered: RecordedClick?,
        _ launch: RecordedLaunch,
        _ truth: RecordedLaunch.Truth,
        isCampaignOnly: Bool,
        in store: ReplayStore
    ) -> Bool {
        switch truth {
        case .click(let name):
            guard let number = store.number(of: name) else {
                unknownClicks += 1
                return false
            }
            guard let stored = store[number], stored.end >= launch.at else {
                lateConversions += 1
                return false
            }
            conversions += 1
            guard let answered else { return false }
            if let person = launch.person, answered.person == person { rightPerson += 1 }
            guard isCampaignOnly else { return answered.destination == stored.click.destination }
            return answered.destination.campaign == stored.click.destination.campaign
        case .organic:
            organic += 1
            if answered != nil { organicMatched += 1 }
        case .reinstall:
            reinstalls += 1
            if answered != nil { reinstallsMatched += 1 }
        case .retry: break
        }
        return false
    }

    /// Counts what the fingerprint alone would have answered to a launch that a token gives this click.
    mutating func judge(
        _ verdict: Verdict,
        _ match: ReplayMatch?,
        beside number: Int,
        in store: ReplayStore
    ) {
        guard let truth = store[number]?.click.destination else { return }
        besideTokens.launches += 1
        guard let match, let answered = store[match.click]?.click.destination else { return }
        let isRight = match.isCampaignOnly ? answered.campaign == truth.campaign : answered == truth
        besideTokens.matches += 1
        if isRight { besideTokens.right += 1 }
        besideTokens.calibration.add(stated: verdict.confidence, isRight: isRight)
    }

    /// Counts a launch that brought the click's own token; where the truth is stated, the token is right.
    mutating func judgeToken(_ click: RecordedClick, of launch: RecordedLaunch) -> Replay.Answer {
        let moment = launch.at
        launches += 1
        matches += 1
        tokenMatches += 1
        if launch.truth != nil {
            knownLaunches += 1
            knownMatches += 1
            conversions += 1
            rightLink += 1
            rightPerson += 1
        }
        return Replay.Answer(
            click: click.name,
            destination: click.destination,
            isRight: true,
            probability: 1,
            ageSeconds: Double(moment.milliseconds(since: click.at)) / 1000
        )
    }
}
