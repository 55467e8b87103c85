import Attribution
import Support

/// The counts that a store should have, computed by plain addition.
struct CountingModel: Sendable {
    private struct LiveClick: Sendable {
        let id: ClickID
        let facts: Click.Facts
    }

    private(set) var totals: Counts = [:]
    private(set) var campaigns: [String: Counts] = [:]
    private(set) var sources: [String: Counts] = [:]
    private(set) var platforms: [String: Counts] = [:]
    private(set) var browsers: [String: Counts] = [:]
    private(set) var links: [String: Counts] = [:]
    private(set) var hours: [String: Counts] = [:]
    private(set) var delays = TimeToInstallHistogram()
    private(set) var delaysByCampaign: [String: TimeToInstallHistogram] = [:]
    private var moments: [(Timestamp, Metric)] = []
    private var live: [LiveClick] = []
    private var visit: UInt64 = 0

    /// The links that random clicks may belong to; the store contains them.
    private var tappedLinks: [Link] = []

    init() {}

    /// Creates a model, some of whose clicks belong to links, and creates the links.
    init(withLinks count: UInt64, by session: TestSession) async throws {
        for number in 0..<count {
            let link = try SampleLink.make(number)
            try await session.create(link)
            tappedLinks.append(link)
        }
    }

    /// Returns the model after two steps, 5 to 17 hours apart.
    func stepped(_ session: TestSession, _ clock: TestClock, seed: UInt64) async throws -> Self {
        var model = self
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2 {
            clock.advance(seconds: Int64(20_000 + random.next() % 40_000))
            try await model.step(session, at: clock.now, &random)
        }
        return model
    }

    /// Records a random click or matches a random check, and counts it.
    ///
    /// Steps must have equal times, or times more than ten minutes apart. A visit's posts are then one click, or too
    /// far apart for a match to retire the other click.
    mutating func step(_ session: TestSession, at now: Timestamp, _ random: inout SeededGenerator)
        async throws
    {
        let fingerprint = random.next() % 20
        if random.next() % 2 == 0 {
            try await record(session, fingerprint, at: now, &random)
        } else {
            let platform = Platform.allCases[Int(random.next() % 4)]
            var check = Check.sample(fingerprint: fingerprint, at: now, caller: 1, grace: 3_600_000)
            check.platform = platform
            try await match(session, check)
        }
    }

    private mutating func record(
        _ session: TestSession,
        _ fingerprint: UInt64,
        at now: Timestamp,
        _ random: inout SeededGenerator
    ) async throws {
        if random.next() % 4 > 0 { visit += 1 }
        let (campaign, source, platform) = (random.next() % 4, random.next() % 7, random.next() % 4)
        let isRobot = random.next() % 10 == 0
        let (place, browser) = (Int(visit % 5), Self.browsers[Int(visit % 3)])
        let tapped = tappedLinks.indices.contains(place) ? tappedLinks[place].id : nil
        let click = try NewClick.sample(fingerprint: fingerprint, at: now, visit: visit) { facts in
            facts.campaignKey = campaign == 0 ? nil : CampaignKey("c\(campaign)")
            facts.source = SourceToken.allCases[Int(source)]
            facts.platform = Platform.allCases[Int(platform)]
            facts.isRobot = isRobot
            facts.browser = browser
            facts.link = tapped
            facts.window = AttributionWindow(seconds: 10_000) ?? .standard
        }
        switch try await session.record(click) {
        case .recorded(let click):
            count(isRobot ? .robots : .clicks, click.facts, at: now)
            if !isRobot { live.append(LiveClick(id: click.id, facts: click.facts)) }
        case .duplicate(let click, _):
            count(.duplicates, click.facts, at: now)
        case .linkEnded:
            break
        }
    }

    private mutating func match(_ session: TestSession, _ check: Check) async throws {
        count(.checks, check, at: check.at)
        switch try await session.match(check) {
        case .match(let claim):
            count(.matches, claim.click.facts, at: check.at)
            let delay = check.at.milliseconds(since: claim.click.facts.clickedAt)
            let bin = TimeToInstallHistogram.bin(forMilliseconds: delay)
            delays.add(1, inBin: bin)
            if let campaign = claim.click.facts.campaignKey?.text {
                delaysByCampaign[campaign, default: TimeToInstallHistogram()].add(1, inBin: bin)
            }
            // A match retires no other click, because of the steps' times.
            live.removeAll { $0.id == claim.click.id }
        case .replay(let claim):
            count(.replays, claim.click.facts, at: check.at)
        case .noMatch(let reason):
            count(.noMatch(reason), check, at: check.at)
        }
    }

    private mutating func count(_ metric: Metric, _ facts: Click.Facts, at moment: Timestamp) {
        totals[metric, default: 0] += 1
        if let campaign = facts.campaignKey?.text {
            campaigns[campaign, default: [:]][metric, default: 0] += 1
        }
        sources[facts.source.rawValue, default: [:]][metric, default: 0] += 1
        platforms[facts.platform.rawValue, default: [:]][metric, default: 0] += 1
        if facts.browser != .unknown {
            browsers[facts.browser.rawValue, default: [:]][metric, default: 0] += 1
        }
        if let link = facts.link { links[link.text, default: [:]][metric, default: 0] += 1 }
        count(metric, at: moment)
    }

    private mutating func count(_ metric: Metric, at moment: Timestamp) {
        let hour = String(moment.iso8601.dropFirst(11).prefix(2))
        hours[hour, default: [:]][metric, default: 0] += 1
        moments.append((moment, metric))
    }

    private static let browsers = [Browser.unknown, Browser(.chrome, version: 131), Browser(.instagram)]

    private mutating func count(_ metric: Metric, _ check: Check, at moment: Timestamp) {
        totals[metric, default: 0] += 1
        platforms[check.platform.rawValue, default: [:]][metric, default: 0] += 1
        count(metric, at: moment)
    }

    /// The totals of the events from `first` on, before `end`.
    func totals(from first: Timestamp, before end: Timestamp) -> Counts {
        moments.filter { $0.0 >= first && $0.0 < end }.reduce(into: [:]) { $0[$1.1, default: 0] += 1 }
    }

    func series(_ granularity: Granularity, offset: Int64 = 0) -> [StatisticsReport.Period] {
        var periods: [Timestamp: Counts] = [:]
        let shift = offset * 3_600_000
        for (moment, metric) in moments {
            let start = granularity.start(of: moment.advanced(byMilliseconds: shift))
            periods[start.advanced(byMilliseconds: -shift), default: [:]][metric, default: 0] += 1
        }
        return periods.sorted { $0.key < $1.key }.map {
            StatisticsReport.Period(start: $0.key, counts: $0.value)
        }
    }

    func liveClicks(at now: Timestamp) -> Int64 {
        Int64(live.filter { $0.facts.expiresAt.milliseconds / 1000 >= now.milliseconds / 1000 }.count)
    }
}
