import Attribution
import Support

/// What made-up clicks are counted by: a hundred campaigns a year, eight of them at a time.
struct SeededTraits {
    struct Trait {
        let campaign: String
        let source: SourceToken
        let platform: Platform
        let osVersion: String
        /// Everything that such a click is counted under.
        let labels: [CounterLabel]
    }

    private static let campaignCount = 100
    private static let campaignsAtATime = 8
    private static let systems: [(Platform, String)] = [
        (.ios, "17.5"), (.ios, "17.6"), (.ios, "18.1"), (.ios, "18.2"), (.android, "13"), (.android, "14"),
        (.android, "15"),
    ]

    let all: [Trait]
    private var random = SeededGenerator(seed: 3)

    init() {
        all = (0..<Self.campaignCount).flatMap { campaign in
            SourceToken.allCases.flatMap { source in
                Self.systems.map { Self.trait("CAMPAIGN_\(campaign)", source, $0.0, $0.1) }
            }
        }
    }

    /// Which of ``all`` the next click has.
    mutating func next(at moment: Int64) -> Int {
        let word = random.next()
        let campaign =
            (Int(moment / 315_360_000) + Int(word & 0xff) % Self.campaignsAtATime) % Self.campaignCount
        let source = Int(word >> 8 & 0xff) % SourceToken.allCases.count
        let system = Int(word >> 16 & 0xff) % Self.systems.count
        return (campaign * SourceToken.allCases.count + source) * Self.systems.count + system
    }

    private static func trait(
        _ campaign: String,
        _ source: SourceToken,
        _ platform: Platform,
        _ osVersion: String
    ) -> Trait {
        var labels = [
            CounterLabel(.total), CounterLabel(.source, source.rawValue),
            CounterLabel(.platform, platform.rawValue), CounterLabel(.osVersion, osVersion),
        ]
        labels += [
            CounterLabel(campaign: campaign, .total),
            CounterLabel(campaign: campaign, .source, source.rawValue),
            CounterLabel(campaign: campaign, .platform, platform.rawValue),
        ]
        return Trait(
            campaign: campaign,
            source: source,
            platform: platform,
            osVersion: osVersion,
            labels: labels
        )
    }
}
