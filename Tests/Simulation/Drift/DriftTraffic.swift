public import Attribution
import Foundation
import Support

/// The simulated counts of a ``DriftWorld``, one for each group and span of time (a quarter of a day).
struct DriftTraffic {
    static let beginning = Timestamp(milliseconds: 1_767_225_600_000)
    private static let spansPerDay = Int(86_400_000 / DriftHistory.periodMilliseconds)

    private let world: DriftWorld
    private var random: SeededGenerator
    /// For each group, the sums of the counts before each span, and at the end the sum of all counts.
    private(set) var sums: [DriftGroup: [DriftCount]] = [:]
    private var campaigns = 1.0
    private var moods: [Double] = []

    init(_ world: DriftWorld, days: Int, seed: UInt64) {
        self.world = world
        random = SeededGenerator(seed: seed)
        moods = world.launches.map { _ in 1 }
        var spans: [DriftGroup: [DriftCount]] = [:]
        let count = days * Self.spansPerDay
        for span in 0..<count {
            for (group, counted) in play(span) {
                spans[group, default: Array(repeating: DriftCount(), count: count)][span] = counted
            }
        }
        for (group, counts) in spans {
            var sum = DriftCount()
            sums[group] = [sum]
            for count in counts {
                sum += count
                sums[group]?.append(sum)
            }
        }
    }

    /// Returns the history at the end of the given number of spans.
    func history(after spans: Int) -> DriftHistory {
        let end = Self.beginning.advanced(byMilliseconds: Int64(spans) * DriftHistory.periodMilliseconds)
        var history = DriftHistory(end: end)
        for (group, sums) in sums {
            var days: [DriftCount] = []
            var last = spans
            while last > 0, days.count < DriftHistory.retainedDays {
                let first = max(0, last - Self.spansPerDay)
                days.append(sums[last] - sums[first])
                last = first
            }
            if days.contains(where: { $0.trials > 0 }) { history.set(days, of: group) }
        }
        return history
    }

    private mutating func play(_ span: Int) -> [DriftGroup: DriftCount] {
        let day = Double(span) / Double(Self.spansPerDay)
        if span % Self.spansPerDay == 0 {
            campaigns = random.logNormal(median: 1, sigma: world.campaigns)
            moods = moods.map { _ in random.logNormal(median: 1, sigma: world.moods) }
        }
        let hours = 1 + world.diurnal * sin((day - 0.375) * 2 * .pi)
        var counts: [DriftGroup: DriftCount] = [:]
        let shares = shares(on: day)
        for (index, launches) in world.launches.enumerated() where shares[index] > 0 {
            let factors = factors(for: index, on: day)
            let expected = launches.checksPerDay * shares[index] * hours / Double(Self.spansPerDay)
            let conversions = expected * launches.rate / world.found * factors.clicks
            let group = DriftGroup(
                launchOn: launches.platform,
                release: OSRelease(launches.system, on: launches.platform),
                sdk: SDKVersion(header: "sdk/" + launches.sdk)
            )
            let organic = random.poisson(
                expected * (1 - launches.rate / world.found) * factors.organic * moods[index]
            )
            counts[group, default: DriftCount()].trials += organic
            for browser in world.browsers where browser.platform == launches.platform {
                let click = DriftGroup(
                    clickOn: launches.platform,
                    osVersion: launches.system.majorMinorText(for: launches.platform),
                    browser: browser.family
                )
                let (found, idle) = effects(on: browser.family, index, day)
                let arrived = random.poisson(conversions * browser.share)
                let matched = random.binomial(arrived, found)
                counts[group, default: DriftCount()] += DriftCount(trials: arrived, matches: matched)
                let clicks = random.poisson(conversions * browser.share / world.conversion * idle)
                counts[click, default: DriftCount()] += DriftCount(trials: clicks, matches: matched)
            }
        }
        return counts
    }

    /// Returns each group's traffic on a day as a share of its usual traffic; the share changes as releases spread.
    private func shares(on day: Double) -> [Double] {
        var shares = world.launches.map { _ in 1.0 }
        for incident in world.incidents where day >= incident.day {
            guard case .adoption(let old, let new, let days) = incident.kind else { continue }
            let moved = min(1, (day - incident.day) / days) * shares[old]
            shares[old] -= moved
            shares[new] += moved * world.launches[old].checksPerDay / world.launches[new].checksPerDay
        }
        return shares
    }

    private func factors(for index: Int, on day: Double) -> (clicks: Double, organic: Double) {
        let platform = world.launches[index].platform
        let isWeekend = Int(day) % 7 >= 5
        let weekend = isWeekend ? world.weekend * (platform == .ios ? 1 : 0.5) : 0
        var (clicks, organic) = (campaigns * (1 - weekend / 2), 1 + weekend)
        for incident in world.incidents where day >= incident.day && day < incident.end {
            switch incident.kind {
            case .clicks(let only, let factor) where only ?? platform == platform: clicks *= factor
            case .organic(let only, let factor) where only ?? platform == platform: organic *= factor
            case .trend(let groups, let factor) where groups.contains(index):
                organic *= 1 + (factor - 1) * min(1, (day - incident.day) / 28)
            default: break
            }
        }
        return (clicks, organic)
    }

    /// Returns, for a browser and a group of launches, the effects of the incidents on a day.
    ///
    /// - Returns: the share of launches from a click that match, and the factor for the number of clicks.
    private func effects(on browser: BrowserFamily, _ index: Int, _ day: Double) -> (
        found: Double, idle: Double
    ) {
        var (found, idle) = (world.found, 1.0)
        for incident in world.incidents where day >= incident.day && day < incident.end {
            switch incident.kind {
            case .launches(let groups, let factor) where groups.contains(index): found *= factor
            case .browser(let broken, let factor) where broken == browser: found *= factor
            case .idleClicks(let busy, let factor) where busy == browser: idle *= factor
            default: break
            }
        }
        return (found, idle)
    }
}

extension SeededGenerator {
    /// Returns a Poisson-distributed number of events; a mean above 50 uses the normal distribution.
    mutating func poisson(_ mean: Double) -> Int64 {
        if mean > 50 { return Int64(max(0, (mean + mean.squareRoot() * normal()).rounded())) }
        var count: Int64 = 0
        let limit = exp(-mean)
        var product = unit()
        while product > limit {
            count += 1
            product *= unit()
        }
        return count
    }

    mutating func binomial(_ trials: Int64, _ probability: Double) -> Int64 {
        (0..<trials).reduce(0) { count, _ in count + (chance(probability) ? 1 : 0) }
    }
}

extension DriftHistory {
    /// Adds the counts of a group's days, the newest first.
    public mutating func set(_ days: [DriftCount], of group: DriftGroup) {
        for (age, count) in days.enumerated() {
            add(count, of: group, in: end.advanced(byMilliseconds: -Int64(age) * 86_400_000 - 1))
        }
    }
}
