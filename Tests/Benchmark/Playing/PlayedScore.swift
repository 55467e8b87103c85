package import Attribution
package import Simulation
package import Storage

/// What a launch was answered, as its client reads it.
package struct PlayedAnswer: Decodable, Equatable {
    /// What its click brought along to be known by.
    struct Metadata: Decodable, Equatable {
        let click: Int
    }

    let matched: Bool
    let url: String?
    let campaignKey: String?
    let confidence: Double?
    let metadata: Metadata?

    /// Whether it leads to the link of a click and credits its campaign; what the server adds to links is behind a `?`.
    func leads(to link: String, of campaign: String) -> Bool {
        matched && campaignKey == campaign && url?.split(separator: "?").first.map(String.init) == link
    }
}

/// How the answers to a trace fare against its truth.
package struct PlayedScore {
    private struct Given: Equatable {
        let at: Timestamp
        let caller: String
    }

    /// Of launches behind the first day, which warms up.
    package private(set) var sums = ReplayScore()
    /// Launches that were given a click which another launch had been given; the answer to a lost one is none of them.
    package private(set) var clicksUsedTwice = 0
    /// Repeated launches that got something else than the match before; behind no match there may be a new click.
    package private(set) var changedAnswers = 0
    /// Strangers who were taken for a visitor who asks again: same device, same address, within the time for that.
    package private(set) var strangersRepeated = 0
    private var clicks: [Int: TracedClick] = [:]
    private var given: [Int: Given] = [:]
    private var answers: [UInt64: PlayedAnswer] = [:]
    private let judgedFrom: Timestamp

    private static let day: Int64 = 86_400_000
    /// The server's default.
    private static let replayGrace: Int64 = 60_000

    package init(beginning: Timestamp) { judgedFrom = beginning.advanced(byMilliseconds: Self.day) }
    package mutating func note(_ click: TracedClick) { clicks[click.number] = click }

    package mutating func note(_ launch: TracedLaunch, _ answer: PlayedAnswer) {
        noteUse(launch, answer)
        guard launch.truth != .retry else {
            if let first = answers[launch.person], first.matched, first != answer { changedAnswers += 1 }
            return
        }
        answers[launch.person] = answer
        guard launch.at >= judgedFrom else { return }
        judge(launch, answer)
    }

    private mutating func noteUse(_ launch: TracedLaunch, _ answer: PlayedAnswer) {
        guard let click = answer.metadata?.click else { return }
        let caller = "\(launch.fingerprintText) \(launch.address ?? 0) \(launch.agent)"
        guard let earlier = given[click] else {
            given[click] = Given(at: launch.at, caller: caller)
            return
        }
        if launch.truth == .retry, answers[launch.person]?.metadata?.click == click { return }
        let isRepeated =
            earlier.caller == caller && launch.at.milliseconds(since: earlier.at) <= Self.replayGrace
        if isRepeated { strangersRepeated += 1 } else { clicksUsedTwice += 1 }
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
