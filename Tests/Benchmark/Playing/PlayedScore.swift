package import Attribution
package import Simulation
package import Storage

/// The response to a launch, as its client reads it.
package struct PlayedAnswer: Decodable, Equatable {
    /// The metadata of the matched click, with its number in the trace.
    struct Metadata: Decodable, Equatable { let click: Int }

    let matched: Bool
    let url: String?
    let campaignKey: String?
    let confidence: Double?
    let metadata: Metadata?

    /// Whether the response contains a click's link and campaign, apart from the query that the server adds.
    func leads(to link: String, of campaign: String) -> Bool {
        matched && campaignKey == campaign && url?.split(separator: "?").first.map(String.init) == link
    }
}

/// The responses to a trace, compared with its truth.
package struct PlayedScore {
    /// The sums over launches after the first day, which warms the model up.
    package private(set) var sums = ReplayScore()
    /// Launches matched with a click that another launch had got; retries do not count.
    package private(set) var clicksUsedTwice = 0
    /// Retries after a match that got another response.
    ///
    /// After no match, another response is allowed, because a new click may have arrived.
    package private(set) var changedAnswers = 0
    /// Launches that got the match of another visitor with the same fingerprint, address and agent, within
    /// ``replayGrace``.
    package private(set) var strangersRepeated = 0
    private var clicks: [Int: TracedClick] = [:]
    /// The time and the caller of each click's first match.
    private var given: [Int: (at: Timestamp, caller: String)] = [:]
    private var answers: [UInt64: PlayedAnswer] = [:]
    private let judgedFrom: Timestamp

    private static let day: Int64 = 86_400_000
    /// The server's default replay grace, in milliseconds.
    private static let replayGrace: Int64 = 60_000

    package init(beginning: Timestamp) { judgedFrom = beginning.advanced(byMilliseconds: Self.day) }
    package mutating func add(_ click: TracedClick) { clicks[click.number] = click }

    package mutating func add(_ launch: TracedLaunch, _ answer: PlayedAnswer) {
        addUse(launch, answer)
        guard launch.truth != .retry else {
            if let first = answers[launch.person], first.matched, first != answer { changedAnswers += 1 }
            return
        }
        answers[launch.person] = answer
        guard launch.at >= judgedFrom else { return }
        judge(launch, answer)
    }

    private mutating func addUse(_ launch: TracedLaunch, _ answer: PlayedAnswer) {
        guard let click = answer.metadata?.click else { return }
        let caller = "\(launch.fingerprintText) \(launch.address ?? 0) \(launch.agent)"
        guard let earlier = given[click] else {
            given[click] = (launch.at, caller)
            return
        }
        if launch.truth == .retry, answers[launch.person]?.metadata?.click == click { return }
        let isInTime = launch.at.milliseconds(since: earlier.at) <= Self.replayGrace
        if earlier.caller == caller, isInTime { strangersRepeated += 1 } else { clicksUsedTwice += 1 }
    }

    private mutating func judge(_ launch: TracedLaunch, _ answer: PlayedAnswer) {
        var isRight = false
        switch launch.truth {
        case .click(let number):
            guard let click = clicks[number], launch.at.milliseconds(since: click.at) <= Self.day else {
                break
            }
            sums.conversions += 1
            isRight = answer.leads(to: click.link, of: click.campaignKey)
        case .organic:
            sums.organic += 1
            if answer.matched { sums.organicMatched += 1 }
        case .reinstall:
            sums.reinstalls += 1
            if answer.matched { sums.reinstallsMatched += 1 }
        case .retry: return
        }
        sums.launches += 1
        guard answer.matched else { return }
        sums.matches += 1
        sums.knownMatches += 1
        if isRight { sums.rightLink += 1 }
        sums.calibration.add(stated: answer.confidence ?? 0, isRight: isRight)
    }
}
